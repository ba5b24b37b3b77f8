// The network namespace that the lines of one session share, and gate-session,
// which keeps it (base/session_wire.h, service/gate_session.cc).
//
// The namespace has a loopback device and nothing else. It belongs to a user
// namespace of its own below the caller's; a line runs in a user namespace
// below that one, in which it has no right over the network. The socket of each
// session stands in a directory of the caller's that no line sees.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace gate::backends {

// Below the state directory.
inline constexpr const char* kSessionNetworks = "networks";
inline constexpr const char* kSessionSupervisor = "gate-session";

struct JoinedNetwork {
  Fd network, user;  // the namespace and the one that it belongs to
  Fd held;           // open for as long as a line is there
};

// The namespace of the session `key` (hex digits), whose socket is, or will be,
// in `directory`. Where none is kept, makes one and starts `supervisor`, a
// program, once however many ask; `label` is for people. Where something else
// answers, or the directory is not the caller's alone, nothing is joined:
// kPermission. kTimeout where no answer comes, kTooLarge for a name that no
// socket can have, kUnavailable where the kernel refuses. Never waits longer
// than a second.
//
// 60 us where it is kept, some milliseconds else.
Result<JoinedNetwork> JoinSessionNetwork(const std::string& directory,
                                         const std::string& key,
                                         const std::string& label,
                                         const std::string& supervisor);

// gate-session beside the program that runs; empty where there is none.
std::string FindSessionSupervisor();

struct KeptNetwork {
  std::string key, label;
  pid_t pid = 0;
  uint32_t lines = 0;  // there now
  uint32_t idle_s = 0;
  uint64_t age_s = 0;
};
// All that are kept in `directory`; none where it is not there. What is left of
// those that have ended is removed. Errors as above.
Result<std::vector<KeptNetwork>> KeptNetworks(const std::string& directory);

// Ends the one that keeps `key`: later lines get a new one. What still runs
// there goes on there (lasting::End ends it). kNotFound where none is kept.
Status EndSessionNetwork(const std::string& directory, const std::string& key);

// A process like that of fork, in the namespaces `flags` (clone(2)), of which
// that of users must be one, below those of `joined`, as a child of the caller,
// which is not changed. `child` runs in it and does not return. The process's
// number, or -1 and errno. `cgroup` as in sys::Clone.
pid_t CloneBelow(const JoinedNetwork& joined, uint64_t flags, int cgroup,
                 void (*child)(const void* context), const void* context);

}  // namespace gate::backends
