// RE2 answers from a lazy DFA and falls back to an NFA when the DFA's memory
// is used up. The NFA needs (program size x text size) steps, which an agent
// that chooses the text could make minutes. So a pair that could be slow is
// answered by a one-pattern RE2::Set, which uses the DFA only and says so when
// its budget ends. RE2::Match itself has no hidden failure left then: the
// pattern is known to be good, and the NFA always answers.
#include "base/regex.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <mutex>

#include "base/text.h"

namespace gate {
namespace {

// About 40 ms of the NFA.
constexpr size_t kMaxNfaSteps = size_t{4} << 20;

RE2::Options QuietOptions() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(Regex::kMaxProgramBytes);
  return options;
}

}  // namespace

struct Regex::Impl {
  explicit Impl(std::string_view pattern)
      : re(re2::StringPiece(pattern.data(), pattern.size()), QuietOptions()) {}

  RE2 re;
  std::once_flag once;
  std::unique_ptr<RE2::Set> set;  // null when it could not be built
};

Regex::Regex(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::Compile(std::string_view pattern) {
  if (pattern.size() > kMaxPatternBytes) {
    return Fail(ErrorCode::kInvalid, "pattern is longer than " +
                                         std::to_string(kMaxPatternBytes) +
                                         " bytes");
  }
  auto impl = std::make_unique<Impl>(pattern);
  if (!impl->re.ok()) return Fail(ErrorCode::kInvalid, impl->re.error());
  return Regex(std::move(impl));
}

MatchResult Regex::Search(std::string_view text) const {
  if (impl_ == nullptr) return MatchResult::kError;  // moved from
  std::string repaired;
  if (!IsUtf8(text)) {
    // To RE2 an ill-formed byte is matched by nothing, not even by a dot.
    repaired = ToUtf8(text);
    text = repaired;
  }
  const re2::StringPiece piece(text.data(), text.size());
  const auto program =
      static_cast<size_t>(std::max(1, impl_->re.ProgramSize()));
  if (text.size() <= kMaxNfaSteps / program) {
    return impl_->re.Match(piece, 0, text.size(), RE2::UNANCHORED, nullptr, 0)
               ? MatchResult::kYes
               : MatchResult::kNo;
  }
  std::call_once(impl_->once, [impl = impl_.get()] {
    auto set = std::make_unique<RE2::Set>(QuietOptions(), RE2::UNANCHORED);
    if (set->Add(impl->re.pattern(), nullptr) == 0 && set->Compile())
      impl->set = std::move(set);
  });
  if (impl_->set == nullptr) return MatchResult::kError;
  RE2::Set::ErrorInfo error = {RE2::Set::kNotCompiled};
  if (impl_->set->Match(piece, nullptr, &error)) return MatchResult::kYes;
  return error.kind == RE2::Set::kNoError ? MatchResult::kNo
                                          : MatchResult::kError;
}

}  // namespace gate
