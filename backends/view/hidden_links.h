// Whether a link may decide what is hidden.
//
// A hidden path may be a link, and a hidden directory may hold links to where
// its content really is, so links are followed. A run can make links as well:
// one to /bin/bash in its private /tmp would take bash from every later run.
// So a link counts only where no run can have made it, and no link takes what
// everybody needs and may read.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "backends/backend.h"

namespace gate::backends {

class HiddenLinks {
 public:
  explicit HiddenLinks(const Profile& profile) : profile_(profile) {}

  // Whether commands write at `path` (no link in it), now or in earlier runs of
  // whatever workspace: gate's own directory, which holds their private
  // places and what was taken from them, and the writable roots.
  bool IsWritten(const std::string& path);

  // Whether `path`, which goes by links to `target` (that no link is in, with
  // `info`), means what it leads to: no link on the way lies where commands
  // write, and `target` is no program, device or the like. Costs one readlink
  // for each component.
  bool MayHide(const std::string& path, const std::string& target,
               const struct stat& info);

 private:
  const Profile& profile_;
  std::vector<std::string> written_;
  bool known_ = false;
};

}  // namespace gate::backends
