// What every backend refuses before it starts anything.
#pragma once

#include <string>

#include "backends/backend.h"
#include "base/result.h"

namespace gate::backends {

// kInvalid when there is no program, when a stream may not be handed on
// (backends/process/streams.h), or when `features`, all that `who` gives on
// this machine, lacks what the profile requires or uses: a feature, a preview,
// a network limited to domains. The message is for a person. Costs a few system
// calls.
Status CheckRequest(const std::string& who, const FeatureSet& features,
                    const Profile& profile, const Command& command,
                    const Io& io);

// kInvalid when the working directory is none on the host.
Status CheckDirectory(const Command& command);

}  // namespace gate::backends
