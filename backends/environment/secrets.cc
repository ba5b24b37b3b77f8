// What looks like a secret, by its name or by its value.
#include <algorithm>
#include <array>
#include <string>

#include "backends/environment.h"
#include "base/ascii.h"
#include "known/known.h"

namespace gate::backends {
namespace {

using known::List;
using std::string_view;

constexpr auto kSwitches = std::to_array<string_view>(
    {"", "0", "1", "n", "y", "no", "yes", "off", "on", "false", "true", "none",
     "never", "always", "auto", "required", "optional"});
constexpr size_t kShortestSecret = 16;
// What stands before the colon of user:password@host when it is something else,
// and after the @.
constexpr auto kNoUsers = std::to_array<string_view>(
    {"mailto", "npm", "workspace", "file", "acct", "sip", "xmpp"});
constexpr auto kNoHosts = std::to_array<string_view>({"sha256:", "sha512:"});

template <class Values>
bool StartsWithAny(const Values& list, string_view value) {
  return std::any_of(list.begin(), list.end(),
                     [&](string_view part) { return value.starts_with(part); });
}

using CharacterSet = std::array<bool, 256>;
constexpr CharacterSet SetOf(string_view characters) {
  CharacterSet set{};
  for (const char c : characters) set[static_cast<unsigned char>(c)] = true;
  return set;
}
bool IsIn(const CharacterSet& set, char c) {
  return set[static_cast<unsigned char>(c)];
}

char Upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

string_view WithoutNumber(string_view text) {
  while (!text.empty() && IsAsciiDigit(text.back())) text.remove_suffix(1);
  return text;
}

// Without the number or the form at its end.
string_view Bare(string_view text) {
  string_view bare = WithoutNumber(text);
  if (bare.ends_with("_V")) bare.remove_suffix(1);
  if (bare.size() < text.size()) {
    if (bare.ends_with('_')) bare.remove_suffix(1);
    return bare;
  }
  for (const string_view form : known::Names(List::kForms))
    if (text.ends_with(form)) return text.substr(0, text.size() - form.size());
  return text;
}

bool IsSwitch(string_view value) {
  return Contains(kSwitches, LowerAscii(value));
}

bool HasSecretName(string_view name, string_view value) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(), Upper);
  string_view text = upper;
  // BASE64 is a form and ends in a number.
  text = known::EndsWithAny(List::kForms, text) ? Bare(text) : Bare(Bare(text));
  const bool is_switch = IsSwitch(value);
  if (!is_switch)
    for (const string_view last : known::Names(List::kVariableLastHints))
      if (text == last ||
          (text.ends_with(last) && text[text.size() - last.size() - 1] == '_'))
        return true;
  if (known::HoldsAny(List::kVariableParts, text) ||
      known::EndsWithAny(List::kVariableEndings, text) ||
      known::Contains(List::kVariableNames, text))
    return true;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('_', begin), text.size());
    const string_view whole = text.substr(begin, end - begin);
    const string_view word = WithoutNumber(whole);
    if (!known::Contains(List::kNoVariableWords, whole) &&
        !known::Contains(List::kNoVariableWords, word) &&
        (known::Contains(List::kVariableWords, word) ||
         known::EndsWithAny(List::kVariableWordEndings, word) ||
         (!is_switch && known::Contains(List::kVariableHints, word))))
      return true;
    begin = end + 1;
  }
  return false;
}

// A URL whose authority carries a password or a token.
bool HasUrlSecret(string_view value) {
  for (size_t at = value.find("://"); at != string_view::npos;
       at = value.find("://", at + 3)) {
    const string_view authority =
        value.substr(at + 3, value.find_first_of("/ ", at + 3) - at - 3);
    const size_t end = authority.rfind('@');
    if (end == string_view::npos) continue;
    const string_view user = authority.substr(0, end);
    if (user.find(':') != string_view::npos || user.size() >= kShortestSecret)
      return true;
  }
  return false;
}

// user:password@host without a scheme, as Go's data source names have it.
bool HasAccount(string_view value) {
  static constexpr CharacterSet kEnds = SetOf("/ \t\n\"';,=<>");
  if (value.find('@') == string_view::npos) return false;
  size_t begin = 0, colon = string_view::npos;
  for (size_t at = 0; at < value.size(); ++at) {
    const char c = value[at];
    if (IsIn(kEnds, c)) {
      begin = at + 1;
      colon = string_view::npos;
    }
    if (c == ':' && colon == string_view::npos) colon = at;
    if (c != '@' || at + 1 == value.size() || colon == string_view::npos ||
        colon == begin || colon + 1 == at)
      continue;
    const string_view host = value.substr(at + 1);
    if (Contains(kNoUsers, value.substr(begin, colon - begin)) ||
        StartsWithAny(kNoHosts, host))
      continue;
    if (IsAsciiAlnum(host[0]) || host[0] == '(' || host[0] == '[' ||
        host[0] == '/')
      return true;
  }
  return false;
}

// What begins a token without a fixed beginning (known/secret_prefixes.h).
constexpr CharacterSet kStarts = SetOf("0123456789pMNO");

// Whether `rest` begins with a known key. Of beginnings that ordinary words
// have as well, what follows is looked at.
bool BeginsWithKey(string_view rest) {
  if (!IsIn(kStarts, rest.front()) &&
      !IsIn(known::SecretStarts(), rest.front()))
    return false;
  for (const SecretPrefix& prefix : known::SecretPrefixes()) {
    if (!rest.starts_with(prefix.prefix)) continue;
    if (!prefix.digit && prefix.kind != SecretClass::kHex) return true;
    size_t end = prefix.prefix.size();
    bool digit = false;
    while (end < rest.size() && IsIn(prefix.kind, rest[end]))
      digit |= IsAsciiDigit(rest[end++]);
    if (end - prefix.prefix.size() >= prefix.least && (digit || !prefix.digit))
      return true;
  }
  return TelegramTokenEnd(rest, 0) > 0 || DottedTokenEnd(rest, 0) > 0 ||
         known::BeginsWithAny(List::kValueStarts, rest);
}

// A known key's beginning, where a word of the value begins.
bool HasSecretValue(string_view value) {
  static constexpr CharacterSet kBefore = SetOf(" =:,;\"'");
  for (size_t at = 0; at < value.size(); ++at) {
    if (at > 0 && !IsIn(kBefore, value[at - 1])) continue;
    const string_view rest = value.substr(at);
    if (rest.size() < kShortestSecret) break;
    if (BeginsWithKey(rest)) return true;
  }
  // A webhook is one by where it leads.
  for (const SecretPrefix& prefix : known::SecretPrefixes())
    if (prefix.keep_prefix && value.find(prefix.prefix) != string_view::npos)
      return true;
  if (value.find('=') != string_view::npos &&
      known::HoldsAny(List::kValueFields, value))
    return true;
  return HasUrlSecret(value) || HasAccount(value);
}

}  // namespace

bool LooksSecret(string_view name, string_view value) {
  return HasSecretName(name, value) || HasSecretValue(value);
}

}  // namespace gate::backends
