// The second isolation layer: what a mount was missed on, Landlock still
// refuses.
//
// Reading and executing stay free; every way of changing the file system is
// refused outside the given roots. TCP is refused altogether when `no_tcp`.
// From ABI 6 on, abstract unix sockets and signals end at the sandbox.
#pragma once

#include <cstddef>

namespace gate::backends {

// The kernel's Landlock ABI; 0 when there is none (asked by the system call;
// the LSM list in /sys is absent in many places that have Landlock).
int LandlockAbi();

struct LandlockRoot {
  const char* path = nullptr;
  bool devices = false;  // only writing to what is there, not creating
};

// Restricts the calling thread, which must have no_new_privs set. A root that
// cannot be opened is left out, which means less may be written. Files that
// are open for writing as descriptor 1 or 2 may be opened again (as
// /dev/stdout), unless only for appending. 0, or -1 with errno.
// Async-signal-safe.
int RestrictWrites(int abi, const LandlockRoot* roots, size_t count,
                   bool no_tcp);

// Only what does not concern files, and so leaves mounting possible: the scope
// (ABI 6). Nothing, successfully, on older kernels.
int RestrictScope(int abi);
// The scope, for a process whose children restrict files on top: each ruleset
// that says nothing of moving files between directories refuses it then, so
// this one allows it. There is no mounting any more.
int RestrictScopeBelowOthers(int abi);

}  // namespace gate::backends
