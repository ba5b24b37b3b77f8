// Which allow rules lift which sandbox rules, as far as the two rules tell.
#pragma once

#include <cstdint>

#include "rules/policy_impl.h"

namespace gate::rules {

// Whether the allow rule `by` of `layer` lifts the sandbox rule `other` of
// `other_layer` on commands that both match; without an `except`, which takes
// back more. True only for a rule that names its commands (RuleRecord::lifts)
// of the system, the user, or a project's trusted files, and a shipped sandbox
// rule that is neither locked nor says `"lift": "except"`. A project's reaches
// ordinary work only: no credentials, and the open network only of rules of
// severity `low`. O(1).
bool Lifts(const LoadedLayer& layer, uint32_t by,
           const LoadedLayer& other_layer, uint32_t other);

}  // namespace gate::rules
