// Looking at system calls of the sandbox before they happen, for three ends:
// judging every program start (Profile::watch_execs), reporting exactly which
// writes and connections the sandbox refused (Profile::report_blocked), and
// passing signals on (Command::relay_signal).
//
// The kernel holds the calling thread and asks gate (seccomp user
// notification). None isolates. A report only says what the mounts and the
// network namespace are about to refuse, by trying the same path in the
// sandbox's own view. A program start that is denied never happens; one that
// is let through reads its arguments again after gate has looked, so what
// really runs is compared with what was judged (start_check.h), and anything
// else there ends the run. Containment must not, and does not, depend on any of
// this.
#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "backends/native/calls/start_check.h"
#include "backends/native/plan.h"
#include "backends/process/supervise.h"
#include "backends/protected_paths.h"
#include "base/file.h"

namespace gate::backends {

inline constexpr size_t kMaxReported = 32;  // violations of one run

// A socket for the report of process 1 that can carry a descriptor.
// kNotFound: the message that came carries none and is in `*message`.
Result<Fd> ReceiveListener(int socket, void* message, size_t size,
                           ssize_t* got);
inline constexpr int kMaxDescriptors = 4;
// One message, and the descriptors that came with it (kMaxDescriptors). The
// bytes of the message, -1 with errno.
ssize_t ReceiveMessage(int socket, void* message, size_t size, int* files,
                       int* count);
// Descriptors from gate to process 1 and back, over a socket of that kind. 0,
// or -1 with errno. Async-signal-safe.
int SendDescriptors(int socket, const int* files, int count);
int ReceiveDescriptors(int socket, int* files, int count);
// Sends `listener` over it. 0, or -1 with errno. Async-signal-safe.
int SendListener(int socket, int listener);

class CallWatch {
 public:
  CallWatch(const Profile& profile, const Command& command,
            const NativePlan& plan, const ProtectedPaths& protected_paths);

  void SetListener(Fd listener);
  // Adds itself to `watch`, whose `kill` is called on a mismatch.
  void Join(Watch* watch);
  // What was seen, and the violation that ended the run.
  void Finish(Outcome* outcome);

 private:
  void Serve();
  int Tick();
  void EndRun(const std::string& why);  // unless it is empty

  // 0: it may go on; kDone: gate did it in the kernel's place; else the errno
  // it gets.
  static constexpr int kDone = -1;
  int Look(const seccomp_notif& call);
  // Whether the caller still waits for the answer; not once it was ended.
  bool StillWaits(const seccomp_notif& call) const;
  int LookAtExec(const seccomp_notif& call);
  bool IsFirstExec(const seccomp_notif& call);
  int LookAtSignal(const seccomp_notif& call);
  void LookAtOpen(const seccomp_notif& call, int directory, uint64_t path,
                  uint64_t flags);
  void LookAtEntry(const seccomp_notif& call, int directory, uint64_t path,
                   bool removes, const char* verb);
  void LookAtEntry(pid_t thread, const std::string& full, bool removes,
                   const char* verb);
  // What a name stands for itself, links not followed.
  enum class Entry : uint8_t { kUnknown, kAbsent, kDirectory, kOther };
  Entry EntryAt(pid_t thread, int directory, uint64_t path);
  void LookAtRemoval(const seccomp_notif& call, int directory, uint64_t path,
                     bool is_directory);
  void LookAtLink(const seccomp_notif& call, int from_directory, uint64_t from,
                  int directory, uint64_t path, uint64_t flags);
  void LookAtRename(const seccomp_notif& call, int from_directory,
                    uint64_t from, int directory, uint64_t path,
                    uint64_t flags);
  // `type`: the only one of which the call is true (S_IFMT); 0: any.
  void LookAtTarget(const seccomp_notif& call, int directory, uint64_t path,
                    const char* verb, mode_t type = 0);
  void LookAtOwner(const seccomp_notif& call, int directory, uint64_t path,
                   uint64_t owner, bool follow);
  void LookAtConnect(const seccomp_notif& call);
  void LookAtBind(const seccomp_notif& call);

  bool OpenRoot(pid_t thread);
  std::string PathOf(pid_t thread, int directory, uint64_t path);
  bool Blocked(int there, const std::string& path) const;
  bool RefusedFifo(int there) const;
  bool HoldsSomething(const std::string& path) const;  // a directory
  bool DirectoryBlocked(const std::string& path);
  bool Hidden(const std::string& path) const;
  bool MeetsHidden(std::string path, bool follow);
  void ReportPath(const char* verb, const std::string& path,
                  bool hidden = false);
  void Report(ViolationKind kind, const std::string& detail);

  const Profile& profile_;
  const Command& command_;
  const NativePlan& plan_;
  std::vector<std::string> protected_;  // what ProtectedPaths holds read-only
  std::vector<std::string> pinned_;
  Fd listener_, root_;
  // The directory in which something could be made last, until a call may have
  // put another one in its place. Whoever unpacks makes many files in one.
  std::string writable_;
  bool knows_hidden_ = false;
  std::set<std::pair<dev_t, ino_t>> hidden_;  // what stands in their places
  FileIdentity self_;
  pid_t first_ = 0;
  int first_index_ = -1;  // of the last candidate of the command itself
  StartCheck starts_going_;
  std::function<void()> kill_;
  std::string ended_;  // why the run was ended
  std::set<std::string> reported_;
  std::vector<Violation> violations_;
  uint64_t more_ = 0;
  std::vector<StartedProgram> programs_;
  uint64_t starts_ = 0;
};

// What changing a protected path is, by its name alone: kShellStartup …
// kOtherProtected.
ViolationKind ProtectedKind(const std::string& path);

}  // namespace gate::backends
