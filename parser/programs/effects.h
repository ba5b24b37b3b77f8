// The small language of the descriptions' strings: effects and conditions
// (docs/programs.md). Internal to the compiler of descriptions.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "parser/programs/image.h"

namespace gate::parser::programs {

// Finds an option of the node being compiled by a name; kNone when unknown.
using OptionLookup = std::function<uint32_t(std::string_view)>;

// Everything an effect or condition needs from its surroundings.
struct EffectContext {
  FlatWriter* writer = nullptr;
  std::vector<Term>* terms = nullptr;
  OptionLookup lookup;
};

// The Node flags of a word of `is`; 0 when there is no such word.
uint32_t FlagOf(std::string_view word);

// kRoles when `name` is no role.
int ParseRole(std::string_view name);

// `tokens` separated by blanks; 'quoted' and <bracketed> ones may hold blanks.
std::vector<std::string> SplitTokens(std::string_view text);

// One effect, "2.. command append if !-I". kInvalid with what is wrong.
Result<EffectRecord> ParseEffect(const std::vector<std::string>& tokens,
                                 const EffectContext& context);

// A condition, "-c !-t | #>1 @1=start,stop". Empty text is always true.
Result<Condition> ParseCondition(std::span<const std::string> tokens,
                                 const EffectContext& context);

// Parses "NAME[,NAME…][ARITY]" into names and arity; kInvalid.
struct OptionSpec {
  std::vector<std::string> names;
  Option option;
};
Result<OptionSpec> ParseOptionSpec(std::string_view text);

// One option of a `help` or `rehearse`: "--dry-run", or with the values that
// count, "--dry-run=client,server". kInvalid when it is no option.
struct SpecialSpec {
  std::string name;
  std::string values;  // by newlines
  uint8_t kind = Option::kOrdinary;
};
Result<SpecialSpec> ParseSpecial(std::string_view text, uint8_t kind);

// Orders the names of sub-commands: exact names by their bytes, then patterns,
// the more specific (the longer text before the `*`, then behind it) first.
bool ChildBefore(std::string_view a, std::string_view b);

}  // namespace gate::parser::programs
