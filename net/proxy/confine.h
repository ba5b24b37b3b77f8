// What gate-net gives up before it listens: it reads what contained commands
// send, so it must not be worth taking over.
#pragma once

#include <cstddef>

namespace gate::net::proxy {

// No new privileges, no capability, no core file, not dumpable, no access to
// any file (Landlock, where the kernel has it), as many descriptors as the hard
// limit allows, and no system call beyond those of the event loop: none that
// opens a file, starts a program or a process, or touches another process. Any
// other call ends the process. False, with nothing promised, where the kernel
// refuses. `*descriptors`: how many may be open.
bool Confine(size_t* descriptors);

}  // namespace gate::net::proxy
