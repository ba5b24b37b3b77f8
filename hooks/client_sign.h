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

// Whether it is a program that stands between a client and its hook.
bool IsShell(const ProcessView& process);

// The ancestors of this process, its parent first, up to the first that is no
// shell, with that one; at most eight. About 50 us each.
std::vector<ProcessView> NearestAncestors();

}  // namespace gate::hooks
