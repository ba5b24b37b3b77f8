#include "backends/outcome.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <utility>

namespace gate::backends {

Outcome Failed(std::string reason) {
  Outcome outcome;
  outcome.reason = std::move(reason);
  return outcome;
}

void SetEnd(int status, Outcome* outcome) {
  if (WIFEXITED(status)) {
    outcome->status = OutcomeStatus::kExited;
    outcome->exit_code = WEXITSTATUS(status);
    outcome->reason = "exited";
    return;
  }
  outcome->status = OutcomeStatus::kSignalled;
  outcome->signal = WTERMSIG(status);
  outcome->reason = std::string("ended by ") + strsignal(outcome->signal);
  if (outcome->signal == SIGXCPU || outcome->signal == SIGXFSZ) {
    outcome->status = OutcomeStatus::kLimit;
    outcome->reason = outcome->signal == SIGXCPU ? "the processor time limit"
                                                 : "the file size limit";
  } else if (outcome->signal == SIGSYS) {
    outcome->status = OutcomeStatus::kViolation;
    outcome->reason = "a system call of another architecture";
    outcome->violations.push_back({"system-call", outcome->reason});
  }
}

}  // namespace gate::backends
