// RE2 answers from a lazy DFA and falls back to an NFA when the DFA's memory
// is used up. The NFA needs (program size x text size) steps, which an agent
// that chooses the text could make minutes; a pair beyond kMaxSteps is not
// tried. Within it RE2::Match has no hidden failure left: the pattern is known
// to be good, and the NFA always answers.
#include "base/regex.h"

#include <re2/filtered_re2.h>
#include <re2/re2.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/text.h"

namespace gate {
namespace {

// About 0.13 s of the NFA (4 ns a step), far below a hook's deadline.
constexpr size_t kMaxSteps = size_t{32} << 20;

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
  if (text.size() > kMaxSteps / program) return MatchResult::kError;
  return impl_->re.Match(piece, 0, text.size(), RE2::UNANCHORED, nullptr, 0)
             ? MatchResult::kYes
             : MatchResult::kNo;
}

std::vector<std::string> Regex::RequiredAny(std::string_view pattern) {
  // Shorter ones stand in too many texts to spare anything.
  constexpr int kMinAtomBytes = 2;
  if (pattern.size() > kMaxPatternBytes) return {};
  re2::FilteredRE2 filter(kMinAtomBytes);
  int id = 0;
  if (filter.Add(re2::StringPiece(pattern.data(), pattern.size()),
                 QuietOptions(), &id) != RE2::NoError)
    return {};
  std::vector<std::string> atoms;
  filter.Compile(&atoms);
  // Whether a text without those that are needed may match.
  std::vector<bool> needed(atoms.size(), true);
  const auto may_match = [&] {
    std::vector<int> present, possible;
    for (size_t i = 0; i < atoms.size(); ++i)
      if (!needed[i]) present.push_back(static_cast<int>(i));
    filter.AllPotentials(present, &possible);
    return !possible.empty();
  };
  if (may_match()) return {};
  // All of them will do, but short ones stand in many texts, and what a pattern
  // begins with is mostly a program, in all that is tried against it. Those go
  // first, as long as the rest is enough.
  std::string_view begin = pattern;
  for (const std::string_view sign : {"(?i)", "^"})
    if (begin.starts_with(sign)) begin.remove_prefix(sign.size());
  std::vector<size_t> order(atoms.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) {
    return std::tuple(!begin.starts_with(atoms[i]), atoms[i].size(), i);
  });
  for (const size_t i : order) {
    needed[i] = false;
    if (may_match()) needed[i] = true;
  }
  std::vector<std::string> required;
  for (size_t i = 0; i < atoms.size(); ++i)
    if (needed[i]) required.push_back(std::move(atoms[i]));
  return required;
}

}  // namespace gate
