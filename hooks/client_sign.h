// Which client asks, and whether it is known to run what a hook puts in place
// of a command.
#pragma once

#include <string>
#include <vector>

#include "hooks/adapter.h"
#include "hooks/person.h"

namespace gate::hooks {

struct ClientSign {
  bool applies_rewrites = false;
  std::string name;     // "claude", "qwen"; "an unknown client"
  std::string version;  // "2.1.330", or what stands for it; may be "unknown"
  std::string why;      // not applies_rewrites: one line for people
};

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

// The ancestors of this process, its parent first, up to the first that is no
// shell, with that one; at most eight. About 50 us each.
std::vector<ProcessView> NearestAncestors();

}  // namespace gate::hooks
