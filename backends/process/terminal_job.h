// Job control of a command on gate's terminal.
//
// A command on a terminal stays in gate's process group, as a shell's pipeline
// does, so that Ctrl-Z and `fg` reach both alike. What stops the command alone
// (`kill -STOP $$`) stops gate's group as well: the person's shell watches
// gate.
//
// A shell with job control makes a group of its own inside (`bash -m`), which
// the person's shell does not know, so that gate follows it:
// - One that stops before it held the terminal asked for it (SIGTTIN, SIGTTOU):
//   it is given the terminal and goes on.
// - One that stops later was told to (`suspend`): gate takes the terminal and
//   stops its own group. When the person continues gate (`fg`), that group gets
//   the terminal back and goes on.
// Where no shell above has job control the kernel stops nobody, and such a
// group goes on at once.
#pragma once

#include <sys/types.h>

#include <functional>

#include "backends/process/supervise.h"

namespace gate::backends {

// How long a stop may stay unseen.
inline constexpr int kTerminalLookMs = 100;

// Adds the above to `watch`, which must not outlive `command`. `terminal`: the
// command's, gate's own controlling one; anything else does nothing. `command`:
// its process, 0 as long as there is none. Costs a read of /proc each
// kTerminalLookMs.
void FollowTerminalJob(int terminal, std::function<pid_t()> command,
                       Watch* watch);

// The first child of `process`; 0: none, or that cannot be read.
pid_t FirstChildOf(pid_t process);

}  // namespace gate::backends
