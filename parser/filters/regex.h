// A small part of POSIX regular expressions, exactly: what sed and grep would
// find. No alternation, no nesting of groups, no repeated groups, no
// back-references, ASCII only; anything else does not compile.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace gate::parser::filters {

class SimpleRegex {
 public:
  // nullopt when the expression is beyond this class, or not an expression.
  static std::optional<SimpleRegex> Compile(std::string_view pattern,
                                            bool extended, bool ignore_case);

  struct Match {
    size_t begin = 0, end = 0;
    // Groups 1…9; npos when there is no such group.
    std::array<std::pair<size_t, size_t>, 10> groups;
  };
  // 1 found, 0 not found, -1 too much work. The leftmost, then longest match
  // at or after `from`; groups as POSIX: earlier parts as long as possible.
  int Search(std::string_view text, size_t from, Match* match) const;

  int groups() const { return groups_; }

 private:
  struct Item {
    enum Kind : uint8_t { kChar, kOpen, kClose, kBegin, kEnd } kind = kChar;
    std::bitset<128> set;
    size_t least = 1, most = 1;
    int group = 0;
  };

  // Marks every end that a match beginning at `from` can have.
  bool Ends(std::string_view text, size_t from, size_t* longest,
            size_t* work) const;
  bool Capture(std::string_view text, size_t item, size_t at, size_t end,
               Match* match, size_t* work) const;

  std::vector<Item> items_;
  int groups_ = 0;
};

}  // namespace gate::parser::filters
