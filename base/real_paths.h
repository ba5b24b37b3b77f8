// Symbolic links of many paths, resolved with one look at each directory.
#pragma once

#include <map>
#include <string>

namespace gate {

// What was seen once holds for as long as this lives: for one decision, never
// for a later run. Not for several threads.
class RealPaths {
 public:
  // As RealPath (base/file.h): `path` without links; empty when it is not there
  // or out of reach. One system call for each part that is new, where no part
  // is a link.
  const std::string& Of(const std::string& path);

 private:
  std::map<std::string, std::string> known_;
};

}  // namespace gate
