// Taking secrets out of what is stored. Internal to audit/; the public
// function is Redact in audit/log.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gate::audit {

// A range of a text that looks like a secret. `kind` has static lifetime.
struct SecretSpan {
  size_t begin = 0;
  size_t end = 0;
  const char* kind = "";
};

// Well-known formats, wherever they stand: access keys, tokens, private keys,
// passwords in URLs. Appends to `out`. Linear.
void FindSecretPatterns(std::string_view text, std::vector<SecretSpan>* out);

// Where the line of a key that begins at `at`, perhaps behind blanks, ends: a
// single run of base64 that is no ordinary word. 0 when there is none.
size_t KeyLineEnd(std::string_view text, size_t at);

// Where the value begins that is assigned to the name at [begin, end) with
// blanks around the sign or by an index: `name = "value"`, d["name"] = value,
// a[name]=value. 0 when none is, and for what the shell itself assigns.
size_t AssignedValue(std::string_view text, size_t begin, size_t end);

// Where the value of the XML element ends whose name is at [begin, end):
// <name>value</name>, a single word. 0 when it is none.
size_t ElementEnd(std::string_view text, size_t begin, size_t end);

// Whether name=value follows, as after a cookie's semicolon.
bool BeginsCookie(std::string_view text, size_t at);

// Whether what follows a | is the rest of a token (12|AbC…) and no pipe.
bool IsTokenTail(std::string_view text, size_t at);

// What stands where a secret stands: assignments, options, headers, query
// parameters. Appends to `out`. Linear.
void FindSecretPlaces(std::string_view text, std::vector<SecretSpan>* out);

// Values that are no secrets: references to where the secret is, switches,
// what was redacted before.
bool IsHarmlessValue(std::string_view name, std::string_view value);

// True for a variable, option, header or member name that says its value is
// secret: GITHUB_TOKEN, db-password, X-Api-Key.
bool IsSecretName(std::string_view name);

// Redacts every string of a JSON text, values by their member's name too. What
// is not JSON is redacted as plain text. Linear; JSON stays JSON.
std::string RedactDetail(std::string_view json,
                         std::vector<std::string>* kinds);

}  // namespace gate::audit
