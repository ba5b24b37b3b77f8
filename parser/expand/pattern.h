// Shell patterns (bash(1), Pattern Matching), compiled.
//
// A pattern is matched by sets of positions: each element maps the positions
// where it may begin to those where it may end, so that no backtracking
// happens and work is bounded by (elements x text) per `!(…)` level. What
// takes more than a budget, or depends on the locale, has no answer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gate::parser {

struct PatternOptions {
  bool extglob = true;
  bool ignore_case = false;
  bool bytes = false;  // a locale of single bytes; else UTF-8
};

class Pattern {
 public:
  Pattern(std::string_view pattern, PatternOptions options);
  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  using Positions = std::vector<uint32_t>;  // ascending

  // Whether it matches the whole of `text`; nullopt when there is no answer.
  std::optional<bool> Matches(std::string_view text);
  // Where a match that begins at `at` may end. False: no answer.
  bool EndsFrom(std::string_view text, uint32_t at, Positions* ends);
  // Where a match that ends with `text` may begin. False: no answer.
  bool StartsOf(std::string_view text, Positions* starts);
  // No `*` and no `?`, `[`, extended pattern: only the text itself matches.
  const std::string* literal() const;
  // One star, and besides only elements of one character.
  bool star_then_fixed() const;
  bool fixed_then_star() const;
  // When nothing matches from a position, nothing does from a later one.
  bool begins_with_star() const;

 private:
  struct Element;
  struct Compiler;
  struct Matching;
  using Sequence = std::vector<Element>;

  bool StarAnd(bool first) const;

  PatternOptions options_;
  std::unique_ptr<Sequence> sequence_;
  std::string literal_;
  bool is_literal_ = false;
  bool valid_ = true;     // false: matches nothing (an unclosed `+(`)
  bool unclear_ = false;  // depends on what is not followed
  size_t steps_ = 0;
};

}  // namespace gate::parser
