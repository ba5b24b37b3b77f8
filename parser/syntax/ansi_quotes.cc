// $'…': the escapes of bash(1), QUOTING.
#include "base/ascii.h"
#include "base/text.h"
#include "parser/syntax/lexer.h"

namespace gate::parser::reading {
// $'…': bash(1), QUOTING. An escape that gives NUL ends the string.
std::string Reader::DecodeAnsi(uint32_t begin, uint32_t end) const {
  std::string out;
  uint32_t p = begin;
  auto digits = [&](int base, int most, uint32_t* value) {
    int count = 0;
    *value = 0;
    while (count < most && p < end) {
      const int digit = HexValue(text_[p]);
      if (digit < 0 || digit >= base) break;
      *value =
          *value * static_cast<uint32_t>(base) + static_cast<uint32_t>(digit);
      ++p;
      ++count;
    }
    return count;
  };
  while (p < end) {
    char c = text_[p++];
    if (c != '\\' || p >= end) {
      out += c;
      continue;
    }
    c = text_[p++];
    uint32_t value = 0;
    constexpr std::string_view kFrom = "abeEfnrtv\\'\"?";
    constexpr std::string_view kTo = "\a\b\033\033\f\n\r\t\v\\'\"?";
    if (const size_t at = kFrom.find(c); at != std::string_view::npos) {
      out += kTo[at];
    } else if (c >= '0' && c <= '7') {
      --p;
      digits(8, 3, &value);
      value &= 0xFF;
      if (value == 0) return out;
      out += static_cast<char>(value);
    } else if (c == 'x') {
      const bool braces = p < end && text_[p] == '{';
      if (braces) ++p;
      const int count = digits(16, braces ? 64 : 2, &value);
      if (braces && p < end && text_[p] == '}') ++p;
      if (count == 0 && !braces) {
        out += "\\x";
        continue;
      }
      value &= 0xFF;
      if (value == 0) return out;
      out += static_cast<char>(value);
    } else if (c == 'u' || c == 'U') {
      if (digits(16, c == 'u' ? 4 : 8, &value) == 0) {
        out += '\\';
        out += c;
        continue;
      }
      if (value == 0) return out;
      AppendUtf8(value, &out);
    } else if (c == 'c' && p < end) {
      char of = text_[p++];
      if (of == '\\' && p < end && text_[p] == '\\') ++p;
      if (of == '?') {
        out += '\x7f';
      } else {
        if (of >= 'a' && of <= 'z') of = static_cast<char>(of - 'a' + 'A');
        const char control = static_cast<char>(of & 0x1f);
        if (control == 0) return out;
        out += control;
      }
    } else {
      out += '\\';
      out += c;
    }
  }
  return out;
}

}  // namespace gate::parser::reading
