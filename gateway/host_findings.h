// What `gate rules lint` finds that depends on the machine.
#pragma once

#include <string>
#include <vector>

#include "gateway/gateway.h"
#include "rules/lint.h"

namespace gate::app {

// lint-file-writable: others can exchange the rules, which loading then
// refuses. lint-no-backend: the profile that a rule names cannot be given here.
std::vector<rules::Finding> HostFindings(Gateway& gateway,
                                         const std::string& workspace);

}  // namespace gate::app
