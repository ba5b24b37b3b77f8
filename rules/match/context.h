// What matchers (rules/matchers) see of one evaluation: the line, the rule's
// layer, and what is worked out once and used by several of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "parser/analysis.h"
#include "rules/index.h"
#include "rules/match/facts.h"
#include "rules/match/paths.h"
#include "rules/match/tri.h"
#include "rules/policy_impl.h"

namespace gate::rules {

// What matchers need to know of one invocation, made when first asked for.
struct PreparedInvocation {
  bool lines_made = false;
  std::string line, line_by_name;
  // The line with nothing quoted, for rules that tighten: what needs quotes
  // must not hide a word from them. Empty where quotes make no difference.
  std::string bare, bare_by_name;
  // Made when first asked for: LinesToTry with gaps (rules/match/gaps.h);
  // empty when every word is known.
  bool gapped_made = false;
  std::vector<std::u32string> gapped;
  // The words in lower case, for RegexRecord::atoms; empty when a character
  // might have a lower case that is not its own.
  bool lower_made = false;
  std::string lower;
  // The lines in lower case, for those atoms that have a quote.
  bool lower_lines_made = false;
  std::string lower_lines;
  const parser::OptionsRead* options = nullptr;
  std::optional<parser::OptionsRead> own_options;
  // The characters of words that may be options, as bits of c & 63.
  bool letters_made = false;
  uint64_t letters = 0;
};

struct MatchContext {
  MatchContext(const Policy::Impl& policy_in,
               const parser::Analysis& analysis_in, const Facts& facts_in,
               OptionReader reader_in)
      : policy(policy_in),
        analysis(analysis_in),
        facts(facts_in),
        reader(reader_in),
        paths(policy_in, facts_in.bases, facts_in.first_looks,
              facts_in.secrets) {}

  Tri Eval(uint32_t node);
  // Counts a step; true, with `error` set, when there were too many.
  bool OutOfSteps();
  // TextGlob; that its budget ran out is an error, not a possibility.
  Tri Fits(std::string_view pattern, std::string_view text);
  // Whether `value` is one of `names`, or with `globs` matches one.
  Tri Names(Range names, std::string_view value, bool globs);
  // IsCalledByName (rules/match.h) of the invocation.
  bool FirstWordIsPlain() const;
  PreparedInvocation& Prepare();
  const parser::OptionsRead& ReadOptions();
  std::span<const uint32_t> EffectsOf(uint32_t owner);
  std::span<const FlatText> Strings(Range range) const {
    return view->In(view->strings, range);
  }

  const Policy::Impl& policy;
  const parser::Analysis& analysis;
  const Facts& facts;
  OptionReader reader;
  PathMatcher paths;
  std::vector<PreparedInvocation> prepared;
  // Made when first asked for. Effects by the invocation that has them, those
  // of the line last; where each invocation's begin.
  std::vector<uint32_t> effects, effects_begin;
  // By pipeline: the last of its commands that talks to another machine.
  std::optional<std::unordered_map<uint32_t, uint32_t>> senders;
  uint64_t steps = 0;
  // Combinations that are being followed, one inside the other. No rule file
  // makes more than half of kMaxDepth; a damaged image may.
  static constexpr int kMaxDepth = 64;
  int depth = 0;

  // Where the rule that is being tried comes from.
  const LoadedLayer* layer = nullptr;
  const RuleView* view = nullptr;
  const Subject* subject = nullptr;
  const parser::Invocation* invocation = nullptr;  // null: the line
  bool strict = false;  // see Matcher::Match; the opposite below `unless`
  // Options of an `unless` that are only possible are not there.
  bool doubted_options_fail = false;
  uint32_t only_effect = UINT32_MAX;  // look at this effect only
  bool error = false;

  // What patterns of the whole line say, by the pattern.
  std::unordered_map<const RegexRecord*, Tri> found_in_line;
  // Facts::line in lower case, made when first asked for; empty when it is not
  // all ASCII.
  bool line_lowered = false;
  std::string line_lower;
};

}  // namespace gate::rules
