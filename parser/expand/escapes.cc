#include "parser/expand/escapes.h"

#include <cstdint>
#include <cstdio>

#include "base/ascii.h"
#include "base/text.h"

namespace gate::parser {

size_t DecodeEscape(std::string_view text, EscapeStyle style, std::string* out,
                    bool* stop) {
  if (text.size() < 2) {
    *out += '\\';
    return 1;
  }
  const char c = text[1];
  size_t i = 2;
  const auto octal = [&](size_t most) {
    uint32_t value = 0;
    size_t digits = 0;
    while (digits < most && i < text.size() && text[i] >= '0' &&
           text[i] <= '7') {
      value = value * 8 + static_cast<uint32_t>(text[i++] - '0');
      ++digits;
    }
    // A NUL ends or vanishes in everything the shell does with text.
    if ((value & 0xFF) != 0) *out += static_cast<char>(value);
    return i;
  };
  const auto hex = [&](size_t most, uint32_t* value) {
    size_t digits = 0;
    *value = 0;
    while (digits < most && i < text.size() && HexValue(text[i]) >= 0) {
      *value = *value * 16 + static_cast<uint32_t>(HexValue(text[i++]));
      ++digits;
    }
    return digits > 0;
  };
  if (const auto control = ControlEscape(c)) {
    *out += *control;
    return 2;
  }
  uint32_t value = 0;
  switch (c) {
    case 'e':
    case 'E':
      *out += '\x1b';
      return 2;
    case '\\':
      *out += '\\';
      return 2;
    case 'c':
      if (style == EscapeStyle::kEcho || style == EscapeStyle::kPrintfB) {
        *stop = true;
        return text.size();
      }
      break;
    case '\'':
    case '"':
    case '?':
      if (style == EscapeStyle::kEcho) break;
      *out += c;
      return 2;
    case 'x':
      if (!hex(2, &value)) break;
      if (value != 0) *out += static_cast<char>(value);
      return i;
    case 'u':
    case 'U':
      if (!hex(c == 'u' ? 4 : 8, &value)) break;
      if (value != 0) AppendUtf8(value, out);
      return i;
    case '0':
      if (style == EscapeStyle::kEcho || style == EscapeStyle::kPrintfB)
        return octal(3);
      [[fallthrough]];
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
      if (style == EscapeStyle::kEcho) break;
      i = 1;
      return octal(3);
    default:
      break;
  }
  *out += '\\';
  *out += c;
  return 2;
}

std::string AnsiQuote(std::string_view word) {
  std::string out = "$'";
  for (const char c : word) {
    const auto u = static_cast<unsigned char>(c);
    constexpr std::string_view kFrom = "\a\b\x1b\f\n\r\t\v\\'";
    constexpr std::string_view kTo = "abEfnrtv\\'";
    if (const size_t at = kFrom.find(c); at != kFrom.npos) {
      out += '\\';
      out += kTo[at];
      continue;
    }
    if (u < 0x20 || u == 0x7f) {
      char octal[8];
      std::snprintf(octal, sizeof octal, "\\%03o", u);
      out += octal;
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace gate::parser
