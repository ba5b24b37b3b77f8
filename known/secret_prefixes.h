// How secrets look: what follows a known beginning (rules.d/known/secrets.json,
// `shape`), and tokens that have no fixed one.
#pragma once

#include <cstddef>
#include <string_view>

namespace gate {

enum class SecretClass : unsigned char {
  kUpper,   // A-Z 0-9
  kHex,     // 0-9 a-f
  kAlnum,   // A-Z a-z 0-9
  kWord,    // and _
  kDash,    // and -
  kDotted,  // and .
  kPath,    // letters, digits, / and :
  kBase64,  // A-Z a-z 0-9 + / =
};

constexpr bool IsAsciiAlnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9');
}

constexpr bool IsAsciiDigit(char c) { return c >= '0' && c <= '9'; }

constexpr bool IsIn(SecretClass kind, char c) {
  switch (kind) {
    case SecretClass::kUpper:
      return (c >= 'A' && c <= 'Z') || IsAsciiDigit(c);
    case SecretClass::kHex:
      return (c >= 'a' && c <= 'f') || IsAsciiDigit(c);
    case SecretClass::kAlnum:
      return IsAsciiAlnum(c);
    case SecretClass::kWord:
      return IsAsciiAlnum(c) || c == '_';
    case SecretClass::kDash:
      return IsAsciiAlnum(c) || c == '_' || c == '-';
    case SecretClass::kDotted:
      return IsAsciiAlnum(c) || c == '_' || c == '-' || c == '.';
    case SecretClass::kPath:
      return IsAsciiAlnum(c) || c == '_' || c == '-' || c == '/' || c == ':';
    case SecretClass::kBase64:
      return IsAsciiAlnum(c) || c == '+' || c == '/' || c == '=';
  }
  return false;
}

// A prefix at the start of a word, and what follows it.
struct SecretPrefix {
  std::string_view prefix;
  SecretClass kind;
  unsigned char least;  // characters after the prefix
  bool digit;           // one of them must be a digit
  const char* name;
  bool keep_prefix = false;
};

// Where the token of a Telegram bot ends that begins at `at` (123456789:AA…);
// 0 when none does.
constexpr size_t TelegramTokenEnd(std::string_view text, size_t at) {
  constexpr size_t kFewest = 6, kMost = 12, kToken = 30;
  size_t colon = at;
  while (colon < text.size() && colon - at <= kMost &&
         IsAsciiDigit(text[colon]))
    ++colon;
  if (colon - at < kFewest || !text.substr(colon).starts_with(":AA")) return 0;
  size_t end = colon + 1;
  while (end < text.size() && IsIn(SecretClass::kDash, text[end])) ++end;
  return end - colon > kToken ? end : 0;
}

// Where a token of parts between dots ends that begins at `at`: Airtable's
// (pat and 14 characters, 64 of hex; gitleaks) and a Discord bot's (its number
// in base64, a time, a MAC; trufflehog). 0 when none does.
constexpr size_t DottedTokenEnd(std::string_view text, size_t at) {
  const auto run = [&](size_t from, SecretClass kind) {
    while (from < text.size() && IsIn(kind, text[from])) ++from;
    return from;
  };
  const std::string_view rest = text.substr(at);
  const bool airtable = rest.starts_with("pat");
  if (!airtable && (rest.empty() || rest[0] < 'M' || rest[0] > 'O')) return 0;
  const size_t first = run(at, SecretClass::kDash);
  if (first >= text.size() || text[first] != '.') return 0;
  if (airtable) {
    const size_t end = run(first + 1, SecretClass::kHex);
    return first - at == 17 && end - first == 65 ? end : 0;
  }
  if (first - at < 23 || first - at > 28) return 0;
  const size_t second = run(first + 1, SecretClass::kDash);
  if (second - first < 7 || second - first > 8 || second >= text.size() ||
      text[second] != '.') {
    return 0;
  }
  const size_t end = run(second + 1, SecretClass::kDash);
  return end - second > 27 ? end : 0;
}

}  // namespace gate
