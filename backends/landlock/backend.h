// A sandbox without namespaces: Landlock, seccomp and resource limits.
//
// For machines and containers that forbid user namespaces. Works as root and
// as an ordinary user, and needs Linux 6.2 (Landlock ABI 3). What it gives:
//
// - content outside the writable roots is neither changed nor created; hidden
//   paths, the host's /tmp, /var/tmp, /dev/shm and /run, and devices are not
//   read or executed;
// - network none: no socket can be made at all (pairs excepted). Network open
//   is the host's without unix sockets, through which other programs of the
//   user could be told to act;
// - no capabilities, no new privileges, a clean environment, a TMPDIR of its
//   own; a supervisor process that the command cannot signal (ABI 6) and that
//   ends everything it started, also when gate is killed.
//
// What it cannot give is in the list of losses (docs/backends/landlock.md), and
// a profile that requires such a feature is refused: no private view (names in
// hidden directories can be listed, command lines of other processes seen),
// no protection of existing paths inside a writable root, no loopback-only
// network, modes and times of the user's own files outside (refused too when
// nothing is writable).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "base/result.h"

namespace gate::backends {

std::unique_ptr<Backend> MakeLandlock();

inline constexpr int kMinLandlockAbi = 3;
inline constexpr size_t kMaxLandlockRules = 20000;

// What Landlock is told. Paths have no symbolic link in them.
struct LandlockView {
  std::vector<std::string> write;    // roots
  std::vector<std::string> devices;  // written to, not created
  std::vector<std::string> read;     // everything else is not read
};

// `tmp`: the run's own directory for temporary files. kInvalid when a hidden
// path lies in a writable root or everything is writable, which Landlock
// cannot express; kTooLarge beyond kMaxLandlockRules.
Result<LandlockView> MakeLandlockView(const Profile& profile,
                                      const std::string& tmp);

}  // namespace gate::backends
