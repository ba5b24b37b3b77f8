// Characters of code in another language. Internal to parser/embedded.
#pragma once

#include <cctype>
#include <cstddef>
#include <string_view>

#include "base/ascii.h"

namespace gate::parser {

inline bool IsName(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}
// The first place at or behind `at` that is no blank.
inline size_t SkipBlanks(std::string_view code, size_t at) {
  while (at < code.size() && IsSpace(code[at])) ++at;
  return at;
}

}  // namespace gate::parser
