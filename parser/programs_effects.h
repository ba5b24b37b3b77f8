// The small language of the descriptions' strings: effects and conditions
// (docs/programs.md). Internal to the compiler of descriptions.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "parser/programs_image.h"

namespace gate::parser::programs {

// Finds an option of the node being compiled by a name; kNone when unknown.
using OptionLookup = std::function<uint32_t(std::string_view)>;

// Everything an effect or condition needs from its surroundings.
struct EffectContext {
  ImageWriter* writer = nullptr;
  std::vector<Term>* terms = nullptr;
  OptionLookup lookup;
};

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

}  // namespace gate::parser::programs
