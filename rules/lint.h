// What is wrong or doubtful in rules that load.
//
// Loading refuses what cannot be understood (unknown keys, regexes that do not
// compile, empty patterns, duplicate ids within a layer); these findings are
// about rules that load and are still a mistake. That an example fails is
// found by engine/examples.h, which can evaluate.
#pragma once

#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "rules/policy.h"

namespace gate::rules {

// Codes: lint-duplicate-id (an id of another layer), lint-broad-allow,
// lint-allow-interpreter, lint-no-suggestion, lint-no-severity,
// lint-no-examples, lint-expired, lint-unknown-exception, lint-project-network.
// Rules of the builtin layer are held to more: examples (two each way),
// severity and, for ask and deny, a suggestion or "no_alternative" among tags.
std::vector<Diagnostic> Lint(const Policy& policy, uint64_t now_ms);

// Whether the program runs what it is given (shells, interpreters, wrappers):
// a rule that lets it through lets everything through.
bool RunsWhatItIsGiven(std::string_view program);

}  // namespace gate::rules
