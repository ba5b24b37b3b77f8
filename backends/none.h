// No containment: the command runs as the caller would run it. It keeps the
// contract of Outcome (exact exit code and signal, wall-clock limit, signals
// forwarded, its process group ended) and nothing else: background processes
// that left the group survive, and the environment is the caller's.
#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/unsafe/no_sandbox.h"

namespace gate::backends {

std::unique_ptr<Backend> MakeNone(unsafe::NoSandbox);

}  // namespace gate::backends
