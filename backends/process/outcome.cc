#include "backends/process/outcome.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <utility>

#include "base/paths.h"

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

void SetNotExecuted(const std::string& program, const std::string& cwd,
                    int error, Outcome* outcome) {
  outcome->status = OutcomeStatus::kExited;
  outcome->not_found = error == ENOENT;
  outcome->exit_code = outcome->not_found ? 127 : 126;
  outcome->reason = program + ": ";
  struct stat info = {};
  if (error != ENOENT) {
    outcome->reason += strerror(error);
  } else if (program.find('/') != std::string::npos &&
             stat(Normalise(program, cwd).c_str(), &info) == 0) {
    // The file is there, so what it is to be run by is not.
    outcome->reason += "the interpreter that it names was not found";
  } else {
    outcome->reason += "not found";
  }
}

}  // namespace gate::backends
