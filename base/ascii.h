// Characters and words of ASCII, whatever the locale says. All are pure and
// accept any bytes; what is beyond ASCII belongs to no class and stays as it
// is.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace gate {

constexpr bool IsAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }
constexpr bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAscii(c); });
}

constexpr char LowerAscii(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
// A blank, a tab or an end of a line.
constexpr bool IsSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
// The value of a hexadecimal digit of either case; -1 for any other character.
constexpr int HexValue(char c) {
  if (IsDigit(c)) return c - '0';
  c = LowerAscii(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
// What `\c` is in a string of C, of a control character: \n, \t, ….
constexpr std::optional<char> ControlEscape(char c) {
  constexpr std::string_view kLetters = "abfnrtv", kMeant = "\a\b\f\n\r\t\v";
  const size_t at = kLetters.find(c);
  return at == kLetters.npos ? std::nullopt : std::optional(kMeant[at]);
}

inline std::string LowerAscii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = LowerAscii(c);
  return lower;
}

// Whether `list`, an array or a container of texts, holds `text`. Linear.
template <class List>
constexpr bool Contains(const List& list, std::string_view text) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}
// Whether `text` begins with an element of `list`.
template <class List>
constexpr bool StartsWithAny(const List& list, std::string_view text) {
  return std::any_of(
      std::begin(list), std::end(list),
      [&](std::string_view prefix) { return text.starts_with(prefix); });
}

}  // namespace gate
