// The processes of the landlock backend.
//
// gate forks a supervisor, and the supervisor forks the command. The supervisor
// stands in a Landlock domain of its own, the command in one nested in that:
// from ABI 6 on the supervisor's kill(-1) reaches the command and all it
// started and nothing else, at once, and the command's signals do not reach the
// supervisor. Async-signal-safe throughout.
#pragma once

#include <signal.h>

#include <cstdint>
#include <vector>

#include "backends/identity.h"
#include "backends/landlock.h"
#include "backends/native/calls/seccomp.h"
#include "backends/process/limits.h"

namespace gate::backends {

// What is refused beyond MakeFilter, since no namespace stands in its way:
// sockets, kernel IPC, other processes' limits and scheduling, set-user-id
// bits, and with `freeze` every change of a mode, an owner, a time or an
// attribute. To be installed after MakeFilter's, which checks the architecture.
Filter MakeLandlockFilter(bool sockets, bool freeze);

struct SupervisorPlan {
  std::vector<const char*> programs;  // candidates, in order
  std::vector<char*> argv, envp;      // ending in null
  const char* cwd = "/";
  std::vector<LandlockRoot> write;
  std::vector<const char*> read;
  std::vector<Limit> limits;
  int abi = 0;
  bool no_tcp = true;
  bool terminal = false;
  Filter filter, more;
  RunUser user;
};

struct SupervisorReport {
  enum Kind : uint32_t { kNothing, kFailed, kNotExecuted, kEnded };
  uint32_t kind = kNothing;
  const char* step = "";  // kFailed; a literal, valid in every fork of gate
  int error = 0;
  int wait_status = 0;
};

// Bytes on the control pipe that are no signals.
inline constexpr unsigned char kTerminateAll = 255;
inline constexpr unsigned char kKillAll = 254;

struct SupervisorContext {
  const SupervisorPlan* plan = nullptr;
  int in = 0, out = 1, err = 2;
  int report = -1;   // write end
  int control = -1;  // read end; its end means gate is gone
  pid_t gate = 0;
  sigset_t mask;  // what the command starts with
};

[[noreturn]] void RunSupervisor(const SupervisorContext& context);

}  // namespace gate::backends
