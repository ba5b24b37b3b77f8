// All that a command without containment has started, also what left its
// process group and session, or has outlived its parent.
#pragma once

#include <sys/types.h>

#include <set>

namespace gate::backends {

// While it lives, processes of this one's children whose parents end come to
// this one. Children that it has when this is made, and what they start, do not
// count.
class Descendants {
 public:
  Descendants();
  ~Descendants();
  Descendants(const Descendants&) = delete;  // a state of the whole process
  Descendants& operator=(const Descendants&) = delete;

  // To each of them; what runs as another user may not be reached.
  void Signal(int signal) const;
  // SIGKILL until none is left, half a second at most. They are halted first,
  // so that they start no more.
  void End() const;
  // Waits for those that have ended and came here, except `own`.
  void Reap(pid_t own) const;

 private:
  struct Family {
    std::set<pid_t> running;
    std::set<pid_t> parents;  // with this process, and those that have ended
  };
  Family All() const;

  std::set<pid_t> others_;
  bool mine_ = false;  // this asked for what is orphaned
};

}  // namespace gate::backends
