// Where variables of the caller put what else lies in a home directory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gate::router {

struct RelocatedDir {
  std::string path;       // absolute and normal
  std::string_view name;  // what it is below a home: ".config", ".gnupg"
  bool file = false;      // the variable names a file
  // False: other things lie there too (the root, a home, a system's directory),
  // so what is below it may be meant, but not the whole of it.
  bool whole = true;
};

// The places that `environment` (NAME=VALUE) names beside those below `home`.
// Values that are relative or empty name none.
std::vector<RelocatedDir> RelocatedDirs(
    const std::vector<std::string>& environment, const std::string& home);

// Where `name` of a home (".config/gh") lies by `place`; empty when the place
// says nothing of it.
std::string At(const RelocatedDir& place, std::string_view name);

}  // namespace gate::router
