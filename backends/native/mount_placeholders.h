// Places for mounts in a private directory that is kept.
//
// What a run is shown of the host's /tmp (Profile::show) is mounted on an empty
// file or directory of the session's own /tmp. A later command to which it is
// not shown must not take that for the thing itself and succeed on nothing. So
// such a place can be neither read nor written, and the last run that uses it
// takes it away: removing it while another one still does would take that one's
// mount away with it (detach_mounts() in the kernel's fs/namei.c).
//
// A place of gate's making bears the sticky bit, which has no other meaning on
// a file; each run that uses it holds a shared lock, and removes what it can
// lock alone. One that is left when gate is killed goes with the next run that
// is shown the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/identity.h"
#include "base/file.h"

namespace gate::backends {

class MountPlaceholders {
 public:
  MountPlaceholders() = default;
  MountPlaceholders(const MountPlaceholders&) = delete;  // who removes them?
  MountPlaceholders& operator=(const MountPlaceholders&) = delete;
  ~MountPlaceholders() { Remove(); }

  // A place for a mount at `rest` (relative) below `root`, which belongs to
  // `user`. An empty file or directory of a command's own is used as it is.
  // False: something else is there, or it cannot be made.
  bool Make(const std::string& root, std::string_view rest, bool directory,
            const RunUser& user);
  // Removes those that no other run uses and nobody has filled. The mounts on
  // them may be there still, when nobody uses them any more.
  void Remove();
  // In one of two processes that hold them since a fork: the other removes
  // them.
  void Leave() { places_.clear(); }

 private:
  struct Place {
    Fd directory;  // that it is in
    std::string name;
    Fd lock;
  };
  std::vector<Place> places_;  // outermost first
};

}  // namespace gate::backends
