// Whether an event that came as Claude Code's is Claude Code's.
#pragma once

#include "hooks/client_sign.h"

namespace gate::hooks {

// Tells the client of `event`, which came to the adapter `claude`. In this
// order: the nearest ancestor that is no shell; the environment of the hook,
// which clients set; what the event has or lacks. `ancestors`: from gate's
// parent on, as many as can be seen. `environment`: NAME=VALUE. Pure but for
// the identity of the client's own file, which stands for a version that
// nothing tells. An event without any sign of Claude Code's is an unknown
// client's.
ClientSign TellClaude(const Event& event,
                      const std::vector<std::string>& environment,
                      const std::vector<ProcessView>& ancestors);

}  // namespace gate::hooks
