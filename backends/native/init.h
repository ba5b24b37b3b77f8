// Process 1 of the sandbox.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstdint>

#include "backends/native/setup.h"

namespace gate::backends {

// What process 1 tells gate, once, before it ends; where something goes on
// after the command, once when that has ended (`stays`), too. The command never
// holds the descriptor it goes through.
struct InitReport {
  enum Kind : uint32_t {
    kNothing,  // process 1 ended without a word: it was killed
    kSetupFailed,
    kNotExecuted,  // the program: `error` is ENOENT, EACCES, …
    kEnded,        // `wait_status`
    kProbed,       // `works`
    kLimit,        // `limit` was exceeded and everything ended
  };
  uint32_t kind = kNothing;
  SetupError setup;
  int error = 0;
  int wait_status = 0;
  uint32_t works = 0;
  TreeLimit limit = TreeLimit::kNone;
  uint32_t left = 0;       // kEnded: processes that still ran and were ended
  uint16_t listening = 0;  // kEnded: Outcome::left_listening
  bool tried_to_leave = false;  // kEnded, not with 0: Outcome::tried_to_leave
  // No other process was left in the sandbox: nothing of the command can
  // happen any more, and only process 1 itself ends after this.
  bool alone = false;
  // The command has ended and others go on, until the control pipe ends. Who
  // made process 1 may end before: only that pipe counts from here on.
  bool stays = false;
};

// Bits of InitReport::works, each tried from inside the finished sandbox.
enum Works : uint32_t {
  kWorksReadOnly = 1,     // a file could not be made in the root
  kWorksProcessOne = 2,   // this is process 1 of its namespace
  kWorksFilter = 4,       // a refused call was refused
  kWorksTmp = 8,          // the private /tmp can be written
  kWorksOverlay = 32,     // an overlay could be made; only previews need it
  kWorksOwnNetwork = 16,  // another network than outside, its loopback is up
};

// Bytes on the control pipe. kPlanReady and kMayStart come once each, in this
// order, kMoreClones before them, any number of times; after them each byte is
// a signal to forward, or kExpired. Its end means that gate is gone: process 1
// ends, and has started nothing if the end came before kMayStart. A signal
// after the command's end is for all that goes on.
inline constexpr unsigned char kMoreClones = 'c';  // NativePlan::early
inline constexpr unsigned char kPlanReady = 'g';   // and the maps are written
inline constexpr unsigned char kMayStart = 'p';    // the permit was given
inline constexpr unsigned char kExpired = 255;     // the wall clock has run out

struct InitContext {
  const PlanSpace* space = nullptr;  // read only after kPlanReady
  RunUser user;
  bool new_network = true;
  bool joined = false;  // that network is a session's, and entered already
  int in = 0, out = 1, err = 2;
  int report = -1;   // write end: the InitReport; a socket where the plan
                     // asks for the filter's listener, which goes first
  int control = -1;  // read end
  pid_t gate = 0;
  uid_t uid = 0;  // of gate
  gid_t gid = 0;
  sigset_t mask;          // what the command starts with
  rlimit open_files;      // RLIMIT_NOFILE, likewise
  cpu_set_t processors;   // likewise, when `confined`
  bool confined = false;  // gate takes some of them from process 1 until the
                          // command may start
  bool probe = false;     // try the isolation instead of running a command
};

// Makes the namespaces and waits for the plan; builds the sandbox and waits for
// the permit; runs the command, reports. Ends the process, and with it
// everything else in its namespace.
[[noreturn]] void RunInit(const InitContext& context);

}  // namespace gate::backends
