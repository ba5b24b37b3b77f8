// A process that outlives gate to remove what a run has outside of it.
#pragma once

#include <string>
#include <vector>

#include "backends/process/spawn.h"
#include "base/file.h"
#include "base/result.h"

namespace gate::backends {

// Who owns a run, as part of a name: "NAMESPACE-PID", the inode of the pid
// namespace and the pid in it. What a run left behind may be removed by a later
// one when that namespace is its own and has no such pid any more.
std::string OwnerTag();

class CleanupWatchdog {
 public:
  // Runs the shell text `prune` at once, with $owner set to this namespace and
  // the function `gone PID` saying whether a process of it has ended. Then
  // waits for word from gate. On `Remove`, or when gate dies, it runs `remove`;
  // after gate's death a second time, for what was still being made. `words`
  // are the positional parameters of both.
  static Result<CleanupWatchdog> Start(
      const std::string& prune, const std::string& remove,
      const std::vector<std::string>& words,
      const std::vector<std::string>& environment);
  CleanupWatchdog(CleanupWatchdog&&) = default;
  CleanupWatchdog& operator=(CleanupWatchdog&&) =
      delete;          // would forget one unremoved
  ~CleanupWatchdog();  // as Remove

  void Remove();   // returns when `remove` has run; once
  void Dismiss();  // there is nothing to remove
  // As Remove, and `remove` runs again a little later, on its own: for what an
  // engine may still be making.
  void RemoveUnfinished();
  bool over() const { return !leash_; }

 private:
  CleanupWatchdog() = default;
  void End(const char* word);
  Fd leash_;
  Fd reader_;  // kept, so that writing to a dead watchdog raises no SIGPIPE
  pid_t pid_ = -1;
};

}  // namespace gate::backends
