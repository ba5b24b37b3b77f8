// How a run ended, told alike by every backend.
#pragma once

#include <string>

#include "backends/backend.h"
#include "base/result.h"

namespace gate::backends {

// Nothing was run, and why: of a function that returns Result<Outcome>.
std::unexpected<Error> NotRun(std::string why);
// Such a function's answer, kSetupFailed where nothing was run.
Outcome OutcomeOf(Result<Outcome> ran);

// Puts in one way to end.
void SetExited(int code, Outcome* outcome);
void SetSignalled(int signal, std::string reason, Outcome* outcome);
void SetTimedOut(const Limits& limits, Outcome* outcome);
void SetLimit(std::string which, Outcome* outcome);  // killed at it

// Puts in an end as waitpid gives it, which says nothing of limits.
void SetPlainEnd(int status, Outcome* outcome);
// Puts in the end of a command that gate or its process 1 waited for itself, so
// that a signal is seen as one; `status` is as waitpid gives it. The limits and
// the filter of the kernel end a command by signals of their own.
void SetEnd(int status, Outcome* outcome);

// Puts in that `program` could not be executed in `cwd`: why, by errno.
void SetNotExecuted(const std::string& program, const std::string& cwd,
                    int error, Outcome* outcome);

}  // namespace gate::backends
