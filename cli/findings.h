// What is printed of rules: the findings of `gate rules lint`, and errors.
#pragma once

#include <span>
#include <string>

#include "rules/lint.h"
#include "rules/policy.h"

namespace gate::app {

// For people: FILE:LINE:COLUMN: severity: message [CODE], help and witness.
// Findings that a rule accepts are left out.
std::string FindingsAsText(std::span<const rules::Finding> findings);

// One object a line, schema "gate.finding/1".
std::string FindingsAsJson(std::span<const rules::Finding> findings);

// One SARIF 2.1.0 log. Accepted findings are in it as suppressed.
std::string FindingsAsSarif(std::span<const rules::Finding> findings,
                            const std::string& version);

// Prints what is wrong with a policy that does not load. True when it does not.
bool TellPolicyErrors(const rules::Policy& policy);

}  // namespace gate::app
