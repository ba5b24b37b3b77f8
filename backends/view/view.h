// What a contained command sees, as a list of mounts in the order in which
// they must be made: the same for every backend that builds on the host's own
// file system. Native and bwrap differ only in how they make them.
//
// Everything that is not named is the host's, read-only. The list says what
// covers it (private /tmp, /var/tmp, /dev/shm, /run; empty places for hidden
// paths), what is writable in it, and what is protected in that.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/identity.h"
#include "backends/native/calls/seccomp.h"
#include "backends/protected_paths.h"

namespace gate::backends {

enum class MountKind : uint8_t {
  kDevices,   // the minimal /dev
  kFresh,     // an empty private directory
  kBacked,    // a private directory kept on the host in `source`
  kShown,     // the host's own `target`, as it is or `read_only`
  kBind,      // what stands at `target` by then, onto itself (ProtectedPaths's)
  kHidden,    // an empty directory or file that nobody can open
  kLent,      // `source` of the host, or a private copy of it
  kResolver,  // kResolverText, as /etc/resolv.conf (Network::kDomains)
};

// The name server of the filter (FilterSocket::kDns), and no search list.
inline constexpr const char* kResolverText = "nameserver 127.0.0.1\n";

struct ViewMount {
  MountKind kind = MountKind::kFresh;
  std::string target;   // no symbolic link in it
  std::string source;   // kBacked, kLent
  std::string overlay;  // kShown: the place of an overlay over `target`
  bool directory = true;
  bool read_only = false;
  bool make = false;  // the target is below a cover: make it there first
  size_t cover = 0;   // with `make`: how much of the target is that cover's
  bool holds_others = false;  // something is made below this cover
  bool optional = false;      // out of reach for the run's user: leave it out
  bool fleeting = false;      // may be gone by the time it is covered
  mode_t mode = 0755;         // kFresh
  dev_t device = 0;  // of what was seen at `target` (kBacked, kLent: `source`)
  ino_t inode = 0;
  long depth = 0;  // components of `target`
};

struct View {
  std::vector<ViewMount> mounts;      // outermost first
  std::vector<std::string> writable;  // private places and writable roots
  bool write_everything = false;      // "/" is a writable root
  // Where the command begins, and what must be found there (inode 0: a private
  // place, or nothing that can be told before).
  std::string cwd;
  dev_t cwd_device = 0;
  ino_t cwd_inode = 0;
  // Not empty: sockets of the host's may be seen that nothing covers, and why
  // (backends/view/unix_sockets.h). Then the command must not make any by which
  // it could reach them.
  std::string unknown_sockets;
};

// What of local sockets a command may make that sees this; the report of it,
// when that is not all.
inline LocalSockets LocalSocketsOf(const View& view) {
  return view.unknown_sockets.empty() ? LocalSockets::kAll
                                      : LocalSockets::kPairsOnly;
}
inline void ReportSockets(const std::string& unknown, Outcome* outcome) {
  if (unknown.empty() || outcome->status == OutcomeStatus::kSetupFailed) return;
  outcome->violations.push_back(
      {ViolationKind::kUnixSockets, "unix sockets: " + unknown});
}

// kInvalid for a root that cannot be writable or a hidden "/", and for a `cwd`
// that a private place covers; kNotFound for a workspace that is not there.
// Makes the sub-directories tmp, var-tmp and shm of `profile.private_tmp`.
// Where there is no workspace, `cwd` below /tmp stays visible in its place,
// unless it is hidden.
// `show`: `profile.host_tmp_binds`, from a backend whose places for mounts can
// be written when the mount is gone (those of others stay behind in the private
// places).
Result<View> MakeView(const Profile& profile,
                      const ProtectedPaths& protected_paths,
                      const RunUser& user, const std::string& cwd,
                      const std::vector<std::string>& show = {});

}  // namespace gate::backends
