// Which runs go on after their command has ended.
//
// A line may leave a server behind; then its run goes on, and a process of
// gate's, the supervisor, stays with it (backends/lasting.h). Each such run has
// an entry, a file below `lasting` of the state directory, called like the id
// of its decision. The supervisor holds a lock on the file for as long as it
// lives and removes it when it has recorded the outcome. So an entry without a
// lock is of a supervisor that was killed: the run has ended with it, its
// outcome is not on record yet, and what is to be recorded is in the entry.
//
// A state directory is one user's. Runs cannot reach it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace gate::lasting {

struct Entry {
  std::string id;  // of the decision
  std::string agent, session, workspace, cwd, command;
  std::string backend, profile, policy_revision;
  // The key of its session's network (backends/session_network.h), which it
  // was to join; empty: it has one of its own.
  std::string network;
  std::vector<std::string> roots;  // that it may write
  // Where others find what to look at in these (backends/protected_paths.h);
  // empty: there is nothing.
  std::string note;
  uint64_t started_ms = 0;  // UTC, when its command had ended
  // How the command ended, and what was found then: kind and detail.
  std::string status;
  int exit_code = 0;
  int signal = 0;
  uint64_t duration_ms = 0;
  std::vector<std::pair<std::string, std::string>> violations;
  // The supervisor and the run's process with number 1 (0: not known), in the
  // pid namespace of that number.
  pid_t supervisor = 0;
  pid_t process_one = 0;
  uint64_t pid_namespace = 0;
};

// An entry in the making, and then that of this process or its child.
class Holder {
 public:
  // Before the supervisor is forked, which has the lock by that. kIo,
  // kPermission.
  static Result<Holder> Begin(const std::string& state);
  Holder(Holder&&) = default;
  Holder& operator=(Holder&&) = delete;  // would forget one
  ~Holder();  // as Remove where this process began it and nobody left it

  // Others see it from here on. `entry.supervisor` is alive and waits for this.
  Status Publish(Entry entry);
  // In the process that began it: it is the supervisor's now.
  void Leave();
  // In the supervisor, when the outcome is on record. `id`: the published one.
  void Remove(const std::string& id);

 private:
  Holder() = default;
  std::string directory_, path_;
  Fd lock_;
  bool mine_ = false;
};

// The runs that go on, the oldest first. Next to nothing where there are none.
// kIo, kPermission when that cannot be told.
Result<std::vector<Entry>> ListRunning(const std::string& state);

// Whether a run goes on that can write at or below `path`, or a directory above
// it; true where that cannot be told.
bool IsReached(const std::string& state, const std::string& path);

// An entry whose supervisor was killed, for whoever finishes it: nobody else
// does as long as `lock` is held.
struct Dead {
  Entry entry;
  Fd lock;
  std::string path;
};
std::vector<Dead> TakeDead(const std::string& state);
void Remove(const Dead& dead);

// Tells the supervisor of the run `id` to end it, and does not wait: SIGTERM to
// all of it, SIGKILL five seconds later. kNotFound: no such run goes on;
// kUnavailable: its supervisor cannot be reached from this pid namespace.
Status End(const std::string& state, const std::string& id);

}  // namespace gate::lasting
