#include "parser/expand/escapes.h"

#include <cstdint>
#include <cstdio>

namespace gate::parser {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xC0 | (code >> 6));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *out += static_cast<char>(0xE0 | (code >> 12));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    *out += static_cast<char>(0xF0 | ((code >> 18) & 0x07));
    *out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

}  // namespace

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
    while (digits < most && i < text.size() && HexDigit(text[i]) >= 0) {
      *value = *value * 16 + static_cast<uint32_t>(HexDigit(text[i++]));
      ++digits;
    }
    return digits > 0;
  };
  uint32_t value = 0;
  switch (c) {
    case 'a':
      *out += '\a';
      return 2;
    case 'b':
      *out += '\b';
      return 2;
    case 'e':
    case 'E':
      *out += '\x1b';
      return 2;
    case 'f':
      *out += '\f';
      return 2;
    case 'n':
      *out += '\n';
      return 2;
    case 'r':
      *out += '\r';
      return 2;
    case 't':
      *out += '\t';
      return 2;
    case 'v':
      *out += '\v';
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
    switch (c) {
      case '\a':
        out += "\\a";
        continue;
      case '\b':
        out += "\\b";
        continue;
      case '\x1b':
        out += "\\E";
        continue;
      case '\f':
        out += "\\f";
        continue;
      case '\n':
        out += "\\n";
        continue;
      case '\r':
        out += "\\r";
        continue;
      case '\t':
        out += "\\t";
        continue;
      case '\v':
        out += "\\v";
        continue;
      case '\\':
        out += "\\\\";
        continue;
      case '\'':
        out += "\\'";
        continue;
      default:
        break;
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
