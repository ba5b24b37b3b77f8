// What the names in a profile lead to, for whoever builds a view of it.
#pragma once

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "base/paths.h"
#include "base/result.h"

namespace gate::backends {

struct Found {
  std::string path;  // no links in it
  struct stat info = {};
};

// Resolves links. Directories that were found to have none on the way to them
// are remembered, so that what lies in them takes one call and not one for each
// component.
class LinkResolver {
 public:
  // `path` with its links resolved. kNotFound when it is not there or out of
  // the caller's (and so of the command's) reach.
  Result<Found> operator()(const std::string& path) {
    char buffer[PATH_MAX];
    Found found;
    if (IsStraight(path)) {
      if (lstat(path.c_str(), &found.info) != 0) return Failed(path);
      if (!S_ISLNK(found.info.st_mode)) {
        found.path = path;
        return found;
      }
    }
    // Most of what a profile names is not there: one call says so, and realpath
    // would make one for each directory on the way.
    if (stat(path.c_str(), &found.info) != 0 ||
        realpath(path.c_str(), buffer) == nullptr ||
        lstat(buffer, &found.info) != 0)
      return Failed(path);
    found.path = buffer;
    Remember(DirName(found.path));
    if (S_ISDIR(found.info.st_mode)) Remember(found.path);
    return found;
  }

 private:
  static constexpr size_t kMaxStraight = 32;

  static std::unexpected<Error> Failed(const std::string& path) {
    // A name that no call gets through leads nowhere: a run can make links that
    // lead to each other.
    if (errno == ENOENT || errno == ENOTDIR || errno == EACCES ||
        errno == ELOOP || errno == ENAMETOOLONG)
      return Fail(ErrorCode::kNotFound, "no `" + path + "`");
    return FailErrno("cannot resolve `" + path + "`");
  }

  // Whether only the last component of `path` may be a link.
  bool IsStraight(std::string_view path) const {
    const std::string_view parent = DirName(path), name = BaseName(path);
    return name != "." && name != ".." && !name.empty() &&
           path.size() == parent.size() + 1 + name.size() &&
           std::find(straight_.begin(), straight_.end(), parent) !=
               straight_.end();
  }

  void Remember(std::string_view directory) {
    if (straight_.size() < kMaxStraight &&
        std::find(straight_.begin(), straight_.end(), directory) ==
            straight_.end())
      straight_.emplace_back(directory);
  }

  std::vector<std::string> straight_;
};

}  // namespace gate::backends
