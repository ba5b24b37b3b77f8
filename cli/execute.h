// Running what was decided.
#pragma once

#include <functional>
#include <string>

#include "cli/gateway.h"

namespace gate::cli {

// Carries out `judgement->plan` (direct or sandbox) with the process's own
// stdin, stdout and stderr. The decision record is committed before the command
// starts, while the sandbox is being built where the backend can do that; the
// outcome's after it. An error: the decision could not be recorded, and nothing
// has run. A mode of kRefused is kSetupFailed.
Result<backends::Outcome> RecordAndExecute(Gateway& gateway,
                                           Judgement* judgement,
                                           const std::string& mode);

// The same for a decision that is on record as `parent`.
backends::Outcome Execute(Gateway& gateway, Judgement* judgement,
                          const std::string& parent, const std::string& mode);

// The middle of it: runs with `permit`, records nothing. The log must be
// closed. `ended`: as in backends::Command.
backends::Outcome RunPlanned(
    Gateway& gateway, Judgement* judgement, backends::Permit permit,
    std::function<void(const backends::Outcome&)> ended = nullptr);

// The exit code that stands for `outcome` (docs/decisions.md), after telling
// on stderr what the command itself cannot: failed set-up, time-out, limits,
// violations.
int Report(const backends::Outcome& outcome);

}  // namespace gate::cli
