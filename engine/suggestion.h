// What a rule advises to do instead of a command.
#pragma once

#include <string_view>

#include "parser/analysis.h"
#include "rules/rule.h"

namespace gate::engine {

// The one of the rule's `suggestions` for the most words of `invocation`: it is
// called by the first, and the others stand in it in their order. Else, and for
// a rule that met the line as a whole (null), its `suggestion`. Linear in the
// words.
std::string_view SuggestionFor(const rules::RuleView& view,
                               const rules::RuleRecord& rule,
                               const parser::Invocation* invocation);

}  // namespace gate::engine
