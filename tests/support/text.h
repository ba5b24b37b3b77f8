// Questions about what a program printed.
#pragma once

#include <string>
#include <string_view>

namespace gate::test {

inline bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// How often `part` is in `text`, without overlaps.
inline size_t Count(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size()))
    ++count;
  return count;
}

}  // namespace gate::test
