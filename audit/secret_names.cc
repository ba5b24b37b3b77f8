#include "audit/secret_names.h"

#include <algorithm>
#include <iterator>

#include "audit/redact.h"

namespace gate::audit {
namespace {

constexpr size_t kNone = std::string_view::npos;

// Names of which a part says that the value is secret.
constexpr std::string_view kSecretParts[] = {
    "TOKEN",       "SECRET",      "PASSW",          "PASSPHRASE", "PASSCODE",
    "CREDENTIAL",  "CREDS",       "APIKEY",         "API_KEY",    "ACCESS_KEY",
    "ACCESSKEY",   "PRIVATE_KEY", "PRIVATEKEY",     "ACCOUNTKEY", "SHAREDKEY",
    "SIGNING_KEY", "SIGNINGKEY",  "ENCRYPTION_KEY", "MASTER_KEY", "AUTH_KEY",
    "AUTHKEY",     "BEARER",      "AUTHORIZATION",
};
constexpr std::string_view kSecretEnds[] = {"_PASS",  "_PWD", "_PW", "_CRED",
                                            "COOKIE", "_JWT", "_PSK"};
constexpr std::string_view kSecretNames[] = {"PASS", "PASSWD", "PWORD", "JWT",
                                             "AUTH", "CRED",   "PSK"};
// Only as names of variables and members: as options these name files.
constexpr std::string_view kSecretValueEnds[] = {"_KEY", "_AUTH"};
constexpr std::string_view kHarmlessKeys[] = {
    "PUBLIC_KEY", "PRIMARY_KEY",   "FOREIGN_KEY", "SORT_KEY", "CACHE_KEY",
    "HOST_KEY",   "PARTITION_KEY", "GROUP_KEY",   "ROW_KEY"};
// What speaks about a secret without being one.
constexpr std::string_view kHarmlessEnds[] = {
    "_FILE",         "_PATH",       "_DIR",     "_FD",       "_STDIN",
    "_ENV",          "_NAME",       "_LENGTH",  "_LEN",      "_TYPE",
    "_TTL",          "_COUNT",      "_LIMIT",   "_HELPER",   "_POLICY",
    "_PROMPT",       "_FIELD",      "_ENABLED", "_REQUIRED", "_EXPIRY",
    "_URI_TEMPLATE", "_PARALLELISM"};
constexpr std::string_view kHarmlessStarts[] = {
    "NO_", "ASK_",  "WITH_", "MAX_", "MIN_",      "NUM_",
    "N_",  "SKIP_", "HAS_",  "IS_",  "TOKENIZER", "TOKENIZE"};

template <class List>
bool EndsWithAny(std::string_view name, const List& ends) {
  return std::any_of(std::begin(ends), std::end(ends),
                     [&](std::string_view end) { return name.ends_with(end); });
}

}  // namespace

bool IsSecret(std::string_view raw, bool value_name) {
  const PlainName plain(raw);
  const std::string_view name = plain.view();
  if (name.size() < 3 || EndsWithAny(name, kHarmlessEnds)) return false;
  for (const std::string_view start : kHarmlessStarts) {
    if (name.starts_with(start)) return false;
  }
  for (const std::string_view part : kSecretParts) {
    if (name.find(part) != kNone) return true;
  }
  if (EndsWithAny(name, kSecretEnds)) return name != "OLD_PWD";
  for (const std::string_view whole : kSecretNames) {
    if (name == whole) return true;
  }
  if (!value_name || EndsWithAny(name, kHarmlessKeys)) return false;
  return EndsWithAny(name, kSecretValueEnds) || raw == "KEY";
}

bool IsSecretName(std::string_view name) {
  return IsSecret(name, !name.starts_with("-"));
}

}  // namespace gate::audit
