// Running what was decided.
#pragma once

#include <functional>
#include <string>

#include "gateway/gateway.h"
#include "gateway/lasting.h"

namespace gate::app {

struct Executed {
  backends::Outcome outcome;
  Status recorded;  // of the outcome
  std::string id;   // of the decision, under which both are on record
};

// Carries out `authorization->plan` (direct or sandbox) with the process's own
// stdin, stdout and stderr. The decision record is committed before the command
// starts, while the sandbox is being built where the backend can do that; the
// outcome's after it, by the supervisor where something of the run lasts
// (`outcome.lasts`). An error: the decision could not be recorded, and nothing
// has run. A mode of kRefused is kSetupFailed.
Result<Executed> RecordAndExecute(Gateway& gateway,
                                  Authorization* authorization,
                                  const std::string& mode, Leftovers leftovers);

// Executes a decision that is on record as `parent`.
Executed Execute(Gateway& gateway, Authorization* authorization,
                 const std::string& parent, const std::string& mode,
                 Leftovers leftovers);

// Whether a shell can stand in this process's place for `plan`: it is direct,
// and nothing of the run is to be counted.
bool CanBecome(const router::Plan& plan);

// Puts the shell with the command of `authorization`, on record as `parent`, in
// this process's place, so that it runs as if gate had not been there: with its
// terminal, signals, process group and streams. What is recorded before it is
// that gate does not see the end. Returns only if it did not start: an error
// with the reason.
Status Become(Gateway& gateway, const Authorization& authorization,
              const std::string& parent);

// The outcome of a decision that let something run, where nothing was started.
// Without it the log would look like that of a killed gate.
Status RecordNotStarted(Gateway& gateway, const Authorization& authorization,
                        const std::string& parent, const std::string& mode,
                        const std::string& why);

// The middle of it: runs with `permit`, records nothing. The log must be
// closed. `ended`: as in backends::Command.
backends::Outcome RunPlanned(
    Gateway& gateway, Authorization* authorization, backends::Permit permit,
    Leftovers leftovers,
    std::function<void(const backends::Outcome&)> ended = nullptr);

}  // namespace gate::app
