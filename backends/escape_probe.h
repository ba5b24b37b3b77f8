// Whether a backend's isolation holds, tried from outside.
#pragma once

#include <string>

#include "backends/backend.h"

namespace gate::backends {

// Runs a command in `backend` that tries to change a file and to make one in a
// fresh directory below `place`, and to reach a port of this host; then looks
// at the directory and the port. Empty when nothing got through and the command
// did run; else what went wrong. Starts what the backend needs: an engine's
// container, its image.
std::string ProveContainment(Backend* backend, const std::string& place);

// Proves a configured image (Profile::image): that it is here and starts,
// and that the directory is not written.
std::string ProveImage(Backend* backend, const std::string& image,
                       const std::string& place);

}  // namespace gate::backends
