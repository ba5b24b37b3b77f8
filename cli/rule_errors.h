// What is wrong with a policy, on stderr.
#pragma once

#include "rules/policy.h"

namespace gate::app {

// Prints what is wrong with a policy that does not load. True when it does not.
bool TellPolicyErrors(const rules::Policy& policy);

}  // namespace gate::app
