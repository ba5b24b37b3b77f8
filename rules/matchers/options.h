// Accept-lists of options, which leave the operands.
#pragma once

#include <vector>

#include "rules/match/context.h"
#include "rules/matchers/command_nodes.h"

namespace gate::rules {

// Whether all options of the invocation are in `only` of the kOptions node
// number `options`. Adds what is left, the operands, when they are asked for.
// kPossible when there is no such node.
Tri HasOnly(MatchContext& context, uint32_t options,
            std::vector<const parser::Argument*>* operands);

}  // namespace gate::rules
