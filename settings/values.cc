#include "settings/values.h"

#include <algorithm>
#include <array>

#include "backends/environment.h"
#include "base/ascii.h"
#include "base/text.h"

namespace gate::settings {
namespace {

// A longer word of a value, without blanks and slashes, may be a token.
constexpr size_t kMaxWordBytes = 40, kMaxPlainBytes = 15;
// Of a part of a URL's path, which services also put tokens in.
constexpr size_t kMaxPartWithDigits = 12, kMaxPart = 24;
constexpr size_t kMaxTextBytes = 1024;
// How often letters and digits, or cases, change within a word of a text.
constexpr size_t kMaxTurns = 4, kShortestTurning = 12;
constexpr size_t kMaxNameBytes = 128;

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool HasDigit(Text text) { return std::ranges::any_of(text, IsDigit); }

// Whether no part of a URL's path is as long as what a service would call by a
// number, a key or an identifier.
bool IsShortPath(Text path) {
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const Text part = path.substr(at, end - at);
    if (part.size() > (HasDigit(part) ? kMaxPartWithDigits : kMaxPart))
      return false;
    at = end + 1;
  }
  return true;
}

bool IsPlainFile(Text path) {
  return (path.starts_with('/') || path.starts_with("~/")) &&
         IsOf(path, "/.-_~+@") && IsPlainPath(path);
}

// Random characters change between letters and digits, and from small to
// capital ones, more often than what people write.
bool Turns(Text word) {
  if (word.size() < kShortestTurning) return false;
  size_t turns = 0;
  char before = 0;
  for (const char c : word) {
    if (!IsLetter(c) && !IsDigit(c)) continue;
    turns += (before != 0 && IsDigit(before) != IsDigit(c)) ||
             (IsLower(before) && IsUpper(c));
    before = c;
  }
  return turns > kMaxTurns;
}

// A URL with a name in it, but for the one that all have (ssh://git@HOST).
bool NamesUser(Text text) {
  for (size_t at = text.find("://"); at != Text::npos;
       at = text.find("://", at + 3)) {
    const Text authority =
        text.substr(at + 3, text.find_first_of("/ \"'", at + 3) - at - 3);
    const size_t user = authority.rfind('@');
    if (user != Text::npos && authority.substr(0, user) != "git") return true;
  }
  return false;
}

// As a variable would be called: httpProxyPassword is HTTP_PROXY_PASSWORD.
std::string AsVariable(Text name) {
  std::string variable;
  char before = 0;
  for (const char c : name) {
    if (IsLower(before) && IsUpper(c)) variable += '_';
    variable += !IsLetter(c) && !IsDigit(c) ? '_'
                : IsLower(c)                ? static_cast<char>(c - 32)
                                            : c;
    before = c;
  }
  return variable;
}

// A key as gpg names it, or ssh: its number, its file, or what it is.
bool IsPublicName(Text value) {
  constexpr size_t kShortest = 8, kLongest = 40;
  Text hex = value;
  if (hex.starts_with("0x")) hex.remove_prefix(2);
  if (hex.ends_with('!')) hex.remove_suffix(1);
  if (hex.size() >= kShortest && hex.size() <= kLongest &&
      hex.find_first_not_of("0123456789abcdefABCDEF") == Text::npos)
    return true;
  if (value.starts_with("key::")) value.remove_prefix(5);
  const size_t blank = value.find(' ');
  if (blank == Text::npos) return IsPlainFile(value);
  return IsPublicKey(value.substr(0, blank), value.substr(blank + 1));
}

bool IsPlain(Kind kind, Text value) {
  switch (kind) {
    case Kind::kNone:
      return false;
    case Kind::kSource:
    case Kind::kUrl:
      return IsPlainUrl(value);
    case Kind::kPath:
      return IsPlainFile(value);
    case Kind::kWord:
      return IsOf(value, "._~^:,@*+%-") && IsPlainPath(value);
    case Kind::kText:
      return IsPlainText(value) && !GivesLogin(value);
    case Kind::kPublic:
      return IsPublicName(value);
  }
  return false;
}

bool MatchesPart(Text pattern, Text part) {
  const size_t star = pattern.find('*');
  if (star == Text::npos) return pattern == part;
  const Text head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  return part.size() > head.size() + tail.size() &&
         part.size() <= kMaxNameBytes && part.starts_with(head) &&
         part.ends_with(tail) && IsPlainText(part) &&
         // No name has what some formats write otherwise than others.
         part.find_first_of("\"'\\\n\t") == Text::npos;
}

}  // namespace

Text Trim(Text text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == Text::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

bool IsLetter(char c) { return IsLower(c) || IsUpper(c); }

bool IsOf(Text text, Text more) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return IsLetter(c) || IsDigit(c) || more.find(c) != Text::npos;
  });
}

bool IsPlainWord(Text word, size_t max_letters) {
  if (word.size() > kMaxWordBytes || backends::LooksSecret("", word))
    return false;
  for (size_t at = 0; at < word.size();) {
    const size_t end =
        std::min(word.find_first_of("-_.~^@:,+%", at), word.size());
    const Text run = word.substr(at, end - at);
    if (run.size() > (HasDigit(run) ? kMaxPlainBytes : max_letters) ||
        Turns(run))
      return false;
    at = end + 1;
  }
  return true;
}

bool IsPlainPath(Text path) {
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    if (!IsPlainWord(path.substr(at, end - at))) return false;
    at = end + 1;
  }
  return true;
}

bool IsPlainText(Text text) {
  if (text.size() > kMaxTextBytes || !IsUtf8(text) ||
      std::ranges::any_of(text,
                          [](char c) {
                            return (static_cast<unsigned char>(c) < 32 &&
                                    c != '\n' && c != '\t') ||
                                   c == 127;
                          }) ||
      backends::LooksSecret("", text) || NamesUser(text))
    return false;
  for (size_t at = 0; at < text.size();) {
    // What a token in base64, or one with dashes, is made of.
    const auto is_part = [&](char c) {
      return IsLetter(c) || IsDigit(c) || Text("+/=_-~.").contains(c) ||
             static_cast<unsigned char>(c) >= 128;
    };
    size_t end = at;
    while (end < text.size() && is_part(text[end])) ++end;
    const Text word = text.substr(at, end - at);
    for (size_t from = 0; from < word.size();) {
      size_t to = from;
      while (to < word.size() && (IsLetter(word[to]) || IsDigit(word[to])))
        ++to;
      const Text run = word.substr(from, to - from);
      if (run.size() > (HasDigit(run) ? kMaxPlainBytes : kMaxLetters))
        return false;
      from = to + 1;
    }
    // Directories of a path are words of their own.
    for (size_t from = 0; from <= word.size();) {
      const bool path = word.starts_with('/') || word.starts_with("~/") ||
                        word.find('/') == word.rfind('/');
      const size_t to =
          path ? std::min(word.find('/', from), word.size()) : word.size();
      if (Turns(word.substr(from, to - from))) return false;
      from = to + 1;
    }
    at = end + 1;
  }
  return true;
}

bool GivesLogin(Text text) {
  constexpr std::array<Text, 15> kTakers = {
      "curl",  "htpasswd", "ldapsearch", "lftp",      "mariadb",
      "mongo", "mongosh",  "mysql",      "ncftp",     "mysqldump",
      "wget",  "openssl",  "redis-cli",  "smbclient", "sshpass"};
  constexpr Text kApart = " \t\r\f\v\n;|&(){}`!\"'\\";
  bool user = false;  // the next word is a user's name
  for (size_t at = 0;
       (at = text.find_first_not_of(kApart, at)) != Text::npos;) {
    const size_t end = std::min(text.find_first_of(kApart, at), text.size());
    const Text word = text.substr(at, end - at);
    at = end;
    const size_t equals = std::min(word.find('='), word.size());
    const Text name = word.substr(0, equals);
    if ((name.starts_with('-') || equals < word.size()) &&
        backends::LooksSecret(AsVariable(name), word.substr(equals)))
      return true;
    // NAME:PASSWORD, as curl and its like take it.
    const size_t colon = word.find(':');
    if (user && colon != Text::npos && !word.substr(colon).starts_with("://"))
      return true;
    user = word == "-u" || word == "-U" || word == "-a";
    // Alone it is a name.
    if (word.size() < text.size() &&
        std::ranges::find(kTakers, name.substr(name.rfind('/') + 1)) !=
            kTakers.end())
      return true;
  }
  return false;
}

bool IsPlainUrl(Text url) {
  const std::string lower = LowerAscii(url);
  const size_t scheme = lower.starts_with("https://")  ? 8
                        : lower.starts_with("http://") ? 7
                                                       : 0;
  if (scheme == 0) return false;
  const Text rest = url.substr(scheme);
  const size_t slash = std::min(rest.find('/'), rest.size());
  const Text host = rest.substr(0, slash), path = rest.substr(slash);
  const size_t colon = host.find(':');
  const Text port = colon == Text::npos
                        ? "80"
                        : host.substr(std::min(colon + 1, host.size()));
  return IsOf(host.substr(0, colon), ".-_") &&
         // The name of a host is as long as its owner likes.
         IsPlainWord(host.substr(0, colon), kMaxWordBytes) && !port.empty() &&
         port.size() <= 5 && std::ranges::all_of(port, IsDigit) &&
         (path.empty() ||
          (IsOf(path, "/.-_~+@") && IsPlainPath(path) && IsShortPath(path)));
}

bool IsPublicKey(Text type, Text key) {
  constexpr Text kLength = "AAAA";  // of a name shorter than 64 bytes
  constexpr std::array<Text, 3> kBegin = {"ssh-", "ecdsa-sha2-", "sk-"};
  return IsOf(type, "-.@") &&
         std::ranges::any_of(
             kBegin, [&](Text begin) { return type.starts_with(begin); }) &&
         key.starts_with(kLength) && IsOf(key, "+/=") &&
         key.size() > 2 * kLength.size();
}

std::optional<Text> Unquoted(Text value) {
  if (value.size() < 2 || (value[0] != '"' && value[0] != '\''))
    return value.find_first_of("\"'") == Text::npos ? std::optional<Text>(value)
                                                    : std::nullopt;
  const Text inner = value.substr(1, value.size() - 2);
  if (value.back() != value[0] || inner.find_first_of("\"'\\") != Text::npos)
    return std::nullopt;
  return inner;
}

KeyKind KindOfName(const rules::SettingsFile& file, Text key) {
  return KindOf(file, [&](Text pattern) {
    const size_t star = pattern.find('*');
    if (star == Text::npos) return LowerAscii(pattern) == LowerAscii(key);
    return MatchesPart(pattern, key) && IsOf(key, "@:-_.~") &&
           IsPlainWord(key.substr(star, key.size() + 1 - pattern.size()));
  });
}

KeyKind KindOfPath(const rules::SettingsFile& file,
                   const std::vector<Text>& path) {
  return KindOf(file, [&](Text pattern) {
    for (const Text part : path) {
      const size_t end = std::min(pattern.find('/'), pattern.size());
      if (pattern.empty() || !MatchesPart(pattern.substr(0, end), part))
        return false;
      pattern.remove_prefix(std::min(end + 1, pattern.size()));
    }
    return pattern.empty();
  });
}

std::optional<std::string> Value(KeyKind kind, Text key, Text value,
                                 Copy* copy) {
  const bool secret = backends::LooksSecret(AsVariable(key), value);
  // What the data names by itself may be called like a secret.
  if (!(kind.any && secret) && IsPlain(kind.kind, value))
    return std::string(value);
  copy->left_out = true;
  copy->secret |= secret || kind.kind == Kind::kSource || !IsPlainText(value) ||
                  GivesLogin(value);
  if (kind.kind == Kind::kSource) return std::string(kWithheldSource);
  return std::nullopt;
}

}  // namespace gate::settings
