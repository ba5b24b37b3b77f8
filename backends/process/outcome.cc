#include "backends/process/outcome.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <utility>

#include "backends/process/supervise.h"
#include "base/paths.h"

namespace gate::backends {

std::unexpected<Error> NotRun(std::string why) {
  return Fail(ErrorCode::kUnavailable, std::move(why));
}

Outcome OutcomeOf(Result<Outcome> ran) {
  if (ran) return *std::move(ran);
  Outcome outcome;
  outcome.reason = std::move(ran.error().message);
  return outcome;
}

Outcome Backend::Run(const Profile& profile, const Command& command,
                     const Io& io) {
  const uint64_t begin = MonotonicMs();
  Outcome outcome = OutcomeOf(TryRun(profile, command, io));
  if (outcome.status != OutcomeStatus::kSetupFailed && outcome.duration_ms == 0)
    outcome.duration_ms = MonotonicMs() - begin;
  return outcome;
}

void SetExited(int code, Outcome* outcome) {
  outcome->status = OutcomeStatus::kExited;
  outcome->exit_code = code;
  outcome->reason = "exited";
}

void SetSignalled(int signal, std::string reason, Outcome* outcome) {
  outcome->status = OutcomeStatus::kSignalled;
  outcome->signal = signal;
  outcome->reason = std::move(reason);
}

void SetTimedOut(const Limits& limits, Outcome* outcome) {
  outcome->status = OutcomeStatus::kTimeout;
  outcome->reason =
      "the wall clock limit of " + std::to_string(limits.wall_ms) + " ms";
}

void SetLimit(std::string which, Outcome* outcome) {
  outcome->status = OutcomeStatus::kLimit;
  outcome->signal = SIGKILL;
  outcome->reason = std::move(which);
}

void SetPlainEnd(int status, Outcome* outcome) {
  if (WIFEXITED(status))
    SetExited(WEXITSTATUS(status), outcome);
  else
    SetSignalled(WTERMSIG(status),
                 std::string("ended by ") + strsignal(WTERMSIG(status)),
                 outcome);
}

void SetEnd(int status, Outcome* outcome) {
  SetPlainEnd(status, outcome);
  if (WIFEXITED(status)) return;
  if (outcome->signal == SIGXCPU || outcome->signal == SIGXFSZ) {
    outcome->status = OutcomeStatus::kLimit;
    outcome->reason = outcome->signal == SIGXCPU ? "the processor time limit"
                                                 : "the file size limit";
  } else if (outcome->signal == SIGSYS) {
    outcome->status = OutcomeStatus::kViolation;
    outcome->reason = "a system call of another architecture";
    outcome->violations.push_back(
        {ViolationKind::kSystemCall, outcome->reason});
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
