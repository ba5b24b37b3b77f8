#include "cli/execute.h"

#include <cstdio>

#include "backends/none.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/log.h"

namespace gate::cli {
namespace {

using backends::Outcome;
using backends::OutcomeStatus;

Outcome NotStarted(std::string why) {
  Outcome outcome;
  outcome.reason = std::move(why);
  return outcome;
}

backends::Command ToCommand(const Gateway& gateway, const Question& question) {
  // After `--` a line that begins with a dash is no option of bash.
  backends::Command command;
  command.argv =
      question.is_argv
          ? question.argv
          : std::vector<std::string>{"/bin/bash", "-c", "--", question.command};
  command.cwd = question.cwd;
  command.environment = gateway.facts().environment;
  return command;
}

}  // namespace

Outcome RunPlanned(Gateway& gateway, Judgement* judgement) {
  const backends::Command command = ToCommand(gateway, judgement->question);
  const router::Plan& plan = judgement->plan;
  switch (plan.mode) {
    case router::Mode::kRefused:
      return NotStarted("refused: " + plan.why);
    case router::Mode::kDirect:
      // The policy allowed exactly this, or a person did.
      return backends::MakeNone(backends::unsafe::NoSandbox())
          ->Run(plan.profile, command, {});
    case router::Mode::kSandbox:
      break;
  }
  if (!plan.profile.private_tmp.empty()) {
    if (auto made = PrepareSessionTmp(gateway.facts(), plan.profile.private_tmp,
                                      NowMs());
        !made)
      return NotStarted("the private /tmp cannot be made: " +
                        made.error().message);
  }
  backends::Backend* backend = gateway.FindBackend(plan.backend);
  if (backend == nullptr)
    return NotStarted("there is no backend `" + plan.backend + "`");
  LogDebug("runs in " + plan.backend + ", profile " + plan.profile.name);
  return backend->Run(plan.profile, command, {});
}

Outcome Execute(Gateway& gateway, Judgement* judgement,
                const std::string& parent, const std::string& mode) {
  // SQLite's connection must not be carried into what is started.
  gateway.CloseLog();
  Outcome outcome = RunPlanned(gateway, judgement);
  if (auto stored = gateway.RecordOutcome(parent, *judgement, outcome, mode);
      !stored)
    Complain("the outcome could not be recorded: " + stored.error().message);
  return outcome;
}

int Report(const Outcome& outcome) {
  for (const backends::Violation& violation : outcome.violations)
    Complain("blocked " + Visible(violation.detail) + " (" + violation.kind +
             ")");
  switch (outcome.status) {
    case OutcomeStatus::kExited:
      return outcome.exit_code;
    case OutcomeStatus::kSignalled:
      return 128 + outcome.signal;
    case OutcomeStatus::kTimeout:
      Complain("timed out: " + Visible(outcome.reason));
      return kExitTimeout;
    case OutcomeStatus::kLimit:
    case OutcomeStatus::kViolation:
      Complain("stopped: " + Visible(outcome.reason));
      return outcome.signal != 0 ? 128 + outcome.signal : kExitGateFailed;
    case OutcomeStatus::kSetupFailed:
    case OutcomeStatus::kUnobserved:
      break;
  }
  Complain((outcome.not_found ? "not found: " : "did not start: ") +
           Visible(outcome.reason));
  return outcome.not_found ? kExitNotFound : kExitGateFailed;
}

}  // namespace gate::cli
