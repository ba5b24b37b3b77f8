#include "base/real_paths.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"

namespace gate {

const std::string& RealPaths::Of(const std::string& path) {
  if (const auto found = known_.find(path); found != known_.end())
    return found->second;
  std::string real;
  // Each part of a path that the kernel takes is one step down.
  if (!path.starts_with('/') || path.size() >= PATH_MAX ||
      path.find('\0') != std::string::npos || path != Normalise(path, "/")) {
    real = RealPath(path);
  } else if (path == "/") {
    real = path;
  } else if (const std::string above = Of(std::string(DirName(path)));
             !above.empty()) {
    real = (above == "/" ? "" : above) + "/" + std::string(BaseName(path));
    char first = 0;
    if (readlink(real.c_str(), &first, 1) >= 0)
      real = RealPath(real);
    else if (errno != EINVAL)  // there, and no link (readlink(2))
      real.clear();
  }
  return known_.emplace(path, std::move(real)).first->second;
}

}  // namespace gate
