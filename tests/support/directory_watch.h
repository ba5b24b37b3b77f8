// The moments of a run, as its changes to directories tell of them.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/file.h"

namespace gate::test {

// For tests that strike (with a signal, say) at ever other moments of what a
// process does: after the first change that it makes, the second, and so on.
class DirectoryWatch {
 public:
  // What happens directly in `directories` from here on counts: a name that
  // comes or goes, content or a mode that changes.
  explicit DirectoryWatch(const std::vector<std::string>& directories);

  // Waits for `changes` of them, or until `process`, a child, has ended.
  void Await(unsigned changes, pid_t process) const;

 private:
  Fd events_;
};

}  // namespace gate::test
