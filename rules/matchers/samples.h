// A command in the making, that a rule may match (MatcherType::sample).
#pragma once

#include <string>
#include <string_view>

#include "rules/rule.h"

namespace gate::rules {

struct Draft {
  std::string program, subcommand, options, operands;
  std::string whole;  // of a glob or an effect, when nothing else is said
};

// A text that a glob matches.
std::string Instance(std::string_view glob);
// A path that a pattern matches, as a shell would write it; empty when none is
// known.
std::string PathInstance(const RuleView& view, const PathRecord& path);

void AddWord(std::string* to, std::string_view word);

}  // namespace gate::rules
