// How a run ended, told alike by every backend.
#pragma once

#include <string>

#include "backends/backend.h"

namespace gate::backends {

// Nothing was run: kSetupFailed, and why.
Outcome Failed(std::string reason);

// Puts in the end of a command that gate or its process 1 waited for itself, so
// that a signal is seen as one; `status` is as waitpid gives it. The limits and
// the filter of the kernel end a command by signals of their own.
void SetEnd(int status, Outcome* outcome);

// Puts in that `program` could not be executed in `cwd`: why, by errno.
void SetNotExecuted(const std::string& program, const std::string& cwd,
                    int error, Outcome* outcome);

}  // namespace gate::backends
