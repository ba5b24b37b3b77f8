// gate's own sandbox: namespaces, Landlock and seccomp by direct system calls.
//
// One clone3 makes a process in a user and a pid namespace of its own. It makes
// the other namespaces while gate still plans, reads the plan from memory that
// both see, builds the mounts while gate records the decision, gives up every
// capability, waits for gate's word that the command may start (permit.h), and
// starts it; it only reaps and forwards after that. No helper program and no
// shell take part, and nothing is created on the host.
//
// Promises:
// - What the profile asks for and cannot be had is kSetupFailed with the step
//   that failed; the command never starts with less.
// - When the run is over no process of it is left: process 1 ends with the
//   command, and with it everything in the namespace. The same when gate is
//   killed.
// - The command has no descriptor of gate's but its three streams. A stream
//   that is a directory is refused, because it would reach around the mounts.
// - When stdin is not a terminal the command has a session of its own and no
//   controlling terminal. On a terminal it stays in the caller's session, so
//   that job control works; pushing characters into the terminal (TIOCSTI,
//   TIOCLINUX) is refused by the filter.
//
// Limits: what is summed over the run is sampled (backends/native/account.h);
// host sockets bound to a path outside /run, /tmp and the hidden paths are
// hidden only when they existed before the start (docs/backends/native.md).
#pragma once

#include <memory>

#include "backends/backend.h"

namespace gate::backends {

std::unique_ptr<Backend> MakeNative();

}  // namespace gate::backends
