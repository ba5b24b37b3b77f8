// Which refs the pushes of a line may change: those that it names, so that a
// hook, or what else runs beside them, cannot use their way out for others.
#pragma once

#include <string_view>

#include "credentials/push_guard.h"
#include "parser/analysis.h"

namespace gate::app {

// What all `git push` of `line`, read as `analysis`, may push. No sessions
// where there is none. A refspec gives what stands behind its colon, or the
// branch and the tag of its name; one that is only known when it runs gives all
// branches; none at all gives the branch that is checked out now, and those
// that the line's own checkout, switch and branch name. What only the
// workspace's configuration says (push.default, remote.*.push) gives nothing.
// One look at HEAD for each push without a refspec.
credentials::PushScope PushScopeOf(const parser::Analysis& analysis,
                                   std::string_view line);

}  // namespace gate::app
