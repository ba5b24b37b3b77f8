// No containment: the command runs as the caller would run it. It keeps the
// contract of Outcome (exact exit code and signal, wall-clock limit, signals
// forwarded) and nothing else: background processes survive a command that ends
// by itself, and the environment is the caller's. A limit ends all that the
// command has started (backends/process/descendants.h).
#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/unsafe/no_sandbox.h"

namespace gate::backends {

std::unique_ptr<Backend> MakeNone(unsafe::NoSandbox);

}  // namespace gate::backends
