// RE2, quiet, budgeted, with every error explicit.
//
// The only place that sees RE2's headers' version differences. Compiling costs
// tens of microseconds; a caller with many patterns compiles each when it is
// first needed.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gate {

// What a match attempt says. kError (it could take too long) must be
// treated by callers as the answer that is safe for them.
enum class MatchResult : unsigned char { kNo, kYes, kError };

class Regex {
 public:
  // kInvalid with RE2's message when `pattern` does not compile or needs more
  // than kMaxProgramBytes. Compiles at once.
  static Result<Regex> Compile(std::string_view pattern);

  static constexpr size_t kMaxProgramBytes = 1 << 20;
  static constexpr size_t kMaxPatternBytes = 4096;

  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  // Whether the pattern matches anywhere in `text`. Thread-safe. Linear; kError
  // when the pattern's size times the text's could cost more than about 0.13 s
  // (a pattern of 100 instructions: 320 KiB of text). In
  // text that is not UTF-8 each ill-formed sequence is matched as U+FFFD.
  MatchResult Search(std::string_view text) const;

  // Strings of lower-case letters of which at least one stands, in any case,
  // in every ASCII text that `pattern` matches; empty when RE2 finds no such
  // set or the pattern does not compile. None of them could be left out; long
  // ones are preferred. Costs as much as two Compile calls and a walk for each
  // string of the pattern: for one who stores the answer and spares later
  // ones.
  static std::vector<std::string> RequiredAny(std::string_view pattern);

 private:
  struct Impl;
  explicit Regex(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gate
