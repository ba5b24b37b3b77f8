// One rule against one command of the line, or against the line.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "parser/analysis.h"
#include "rules/index.h"
#include "rules/match/context.h"
#include "rules/match/facts.h"
#include "rules/match/tri.h"
#include "rules/policy_impl.h"

namespace gate::rules {

// What a match says, beside three truths: kError, a budget was exhausted.
struct Verdict {
  Tri tri = Tri::kNo;
  bool error = false;
};

// How much of a rule that missed would have held, for people.
struct NearMiss {
  uint32_t held = 0, parts = 0;  // conditions; each word of a prefix is one
  std::string failed;            // names of those that do not hold

  void Fails(std::string_view what);  // adds a name
};

// True when argv[0] is a bare name or names a system directory, so that the
// program is what its name says and not a file of the workspace.
bool IsCalledByName(const parser::Invocation& invocation);

// Not thread-safe: one Matcher for one evaluation.
class Matcher {
 public:
  Matcher(const Policy::Impl& policy, const parser::Analysis& analysis,
          const Facts& facts, OptionReader reader)
      : context_(policy, analysis, facts, reader) {}

  // `strict`: the rule loosens, so what it says must hold as written: a
  // program named without directories must be found by PATH or in a system
  // directory, and a prefix stands at the very start of the words.
  Verdict Match(const LoadedLayer& layer, uint32_t rule, const Subject& subject,
                bool strict);

  // For a rule that tightens and that Match calls possible: whether all it asks
  // for is certain, and in doubt are only options that its `unless` names.
  // Costs one more Match.
  bool HoldsButForOptions(const LoadedLayer& layer, uint32_t rule,
                          const Subject& subject);

  // Numbers of the effects of invocation `owner`, or of those that belong to
  // none of the line's. The first call costs O(effects), each other O(1).
  std::span<const uint32_t> EffectsOf(uint32_t owner) {
    return context_.EffectsOf(owner);
  }

  // For a rule that Match said no to.
  NearMiss ExplainMiss(const LoadedLayer& layer, uint32_t rule,
                       const Subject& subject, bool strict);

  // Whether the allow rule `rule` allows effect number `effect` of `subject`
  // by speaking of it, and not only the command that has it.
  bool CoversEffect(const LoadedLayer& layer, uint32_t rule,
                    const Subject& subject, uint32_t effect);

 private:
  void Count(uint32_t node, NearMiss* out, int depth);  // near_miss.cc

  MatchContext context_;
};

}  // namespace gate::rules
