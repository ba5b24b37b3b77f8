// What a line names of the host's temporary files.
#pragma once

#include <string>
#include <vector>

#include "parser/analysis.h"

namespace gate::app {

inline constexpr size_t kMaxHostTmpBinds = 16;

// Paths below /tmp, /var/tmp and /dev/shm that the line only reads or runs, as
// far as they are known before: Profile::show. None that the line changes
// something in, and none in or above the workspace, which is seen anyway.
// Whether something is there is not looked at. Linear.
std::vector<std::string> HostTmpBinds(const parser::Analysis& analysis,
                                      const std::string& workspace);

}  // namespace gate::app
