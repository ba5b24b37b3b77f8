// Inside rules/: the parts of lint.
#pragma once

#include <vector>

#include "rules/lint.h"
#include "rules/policy_impl.h"

namespace gate::rules {

// lint-conflict, lint-shadowed, lint-weaker: what one rule is to another.
void LintPairs(const Policy::Impl& policy, std::vector<Finding>* found);

// lint-unknown-option: names of options that no description knows.
void LintOptions(const Policy::Impl& policy, std::vector<Finding>* found);

}  // namespace gate::rules
