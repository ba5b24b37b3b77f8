// Running what was decided.
#pragma once

#include <functional>
#include <string>

#include "cli/gateway.h"
#include "cli/lasting.h"

namespace gate::cli {

struct Executed {
  backends::Outcome outcome;
  Status recorded;  // of the outcome
  std::string id;   // of the decision, under which both are on record
};

// Carries out `judgement->plan` (direct or sandbox) with the process's own
// stdin, stdout and stderr. The decision record is committed before the command
// starts, while the sandbox is being built where the backend can do that; the
// outcome's after it, by the keeper where something of the run lasts
// (`outcome.lasts`). An error: the decision could not be recorded, and nothing
// has run. A mode of kRefused is kSetupFailed.
Result<Executed> RecordAndExecute(Gateway& gateway, Judgement* judgement,
                                  const std::string& mode, Leftovers leftovers);

// The same for a decision that is on record as `parent`.
Executed Execute(Gateway& gateway, Judgement* judgement,
                 const std::string& parent, const std::string& mode,
                 Leftovers leftovers);

// Whether a shell can stand in this process's place for `plan`: it is direct,
// and nothing of the run is to be counted.
bool CanBecome(const router::Plan& plan);

// Puts the shell with the command of `judgement`, on record as `parent`, in
// this process's place, so that it runs as if gate had not been there: with its
// terminal, signals, process group and streams. What is recorded before it is
// that gate does not see the end. Returns an exit code only if it did not
// start.
int Become(Gateway& gateway, const Judgement& judgement,
           const std::string& parent);

// The outcome of a decision that let something run, where nothing was started.
// Without it the log would look like that of a killed gate.
Status RecordNotStarted(Gateway& gateway, const Judgement& judgement,
                        const std::string& parent, const std::string& mode,
                        const std::string& why);

// The middle of it: runs with `permit`, records nothing. The log must be
// closed. `ended`: as in backends::Command.
backends::Outcome RunPlanned(
    Gateway& gateway, Judgement* judgement, backends::Permit permit,
    Leftovers leftovers,
    std::function<void(const backends::Outcome&)> ended = nullptr);

// The exit code that stands for `outcome` (docs/decisions.md), after telling
// on stderr what the command itself cannot: failed set-up, time-out, limits,
// violations (the first kMaxToldViolations), a search that ended early. `id`:
// where the rest of it is on record.
inline constexpr size_t kMaxToldViolations = 20;
int Report(const backends::Outcome& outcome, const std::string& id);
// The same. An outcome that is not on record is gate's failure, whatever the
// command returned: it must not be able to hide it by filling the disk.
int Report(const Executed& executed);

// `gate run --json`: how the command ended, one object (gate.outcome/1).
std::string OutcomeToJson(const Executed& executed);

}  // namespace gate::cli
