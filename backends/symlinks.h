// The way that the kernel goes to a place, there or not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gate::backends {

struct SymlinkTrace {
  struct Link {
    std::string path, target;
  };
  std::string place;              // where it leads; no link that is followed
  std::vector<Link> links;        // in the order of the way
  std::vector<std::string> left;  // what a `..` goes out of, there or not
};

// The way of an absolute path, which need not be normal.
SymlinkTrace ResolveSymlinks(const std::string& path);

// Why nothing starts where a writable root is not what was judged.
std::unexpected<Error> SymlinkChanged(const std::string& root);

// `path` as seen from `directory`, which has no link in it. `..` is resolved
// only at the beginning: behind a name it may be that of a link's target.
std::string PathFrom(std::string_view directory, std::string_view path);

}  // namespace gate::backends
