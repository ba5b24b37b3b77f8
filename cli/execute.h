// Running what was decided.
#pragma once

#include <string>

#include "cli/gateway.h"

namespace gate::cli {

// Carries out `judgement->plan` (direct or sandbox) with the process's own
// stdin, stdout and stderr, then commits the outcome record under `parent`.
// Returns what happened; a mode of kRefused is kSetupFailed.
backends::Outcome Execute(Gateway& gateway, Judgement* judgement,
                          const std::string& parent, const std::string& mode);

// The first half of it: runs, records nothing. The log must be closed.
backends::Outcome RunPlanned(Gateway& gateway, Judgement* judgement);

// The exit code that stands for `outcome` (docs/decisions.md), after telling
// on stderr what the command itself cannot: failed set-up, time-out, limits,
// violations.
int Report(const backends::Outcome& outcome);

}  // namespace gate::cli
