// Which rules of a layer can match at all.
#pragma once

#include <cstdint>
#include <vector>

#include "parser/analysis.h"
#include "rules/rule.h"

namespace gate::rules {

// What the index needs to know of one command of the line, or of the line
// itself (invocation == null).
struct Subject {
  const parser::Invocation* invocation = nullptr;
  uint32_t number = UINT32_MAX;  // index of the invocation
  uint16_t effect_kinds = 0;     // kinds of this subject's effects
  uint16_t flow_kinds = 0;       // of the whole line
  uint16_t unknown_codes = 0;    // of the whole line
  bool has_env = false;
  SubjectBits bits;  // of all this, as MakeSubjectBits has it
};

// Positions of argv at which a sub-command may stand: bit i for argv[i], the
// options before it skipped with and without a value. Bit 1 first. No more than
// kFollowedWords words are followed; where options go on beyond them,
// StartsGoOn and any later word may be the sub-command.
inline constexpr uint32_t kFollowedWords = 28;
uint32_t SubcommandStarts(const parser::Invocation& invocation);
inline bool StartsGoOn(uint32_t starts) {
  return starts >> kFollowedWords != 0;
}

// What prefilters ask of `subject`. `any_kinds`: kinds of effects of the whole
// line.
SubjectBits MakeSubjectBits(const Subject& subject, uint16_t any_kinds);

// Appends the rules of `view` that may match `subject`, each once, ascending.
// kAll is every rule: what tests compare the index with. kNear adds those that
// are about the same program, which explanations tell near misses of.
enum class Reach : uint8_t { kMayMatch, kNear, kAll };
void FindCandidates(const RuleView& view, const Subject& subject, Reach reach,
                    std::vector<uint32_t>* out);

}  // namespace gate::rules
