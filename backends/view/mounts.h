// Other names of a path, by what is mounted twice (mountinfo, proc(5)).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gate::backends {

struct HostMount {
  std::string device;  // "major:minor" of the file system
  std::string root;    // what of it stands at `place`
  std::string place;
};

// mountinfo writes blanks and the like as \ooo.
std::string UnescapeMount(std::string_view text);

// In the order of the kernel: of two at one place the later covers the other.
std::vector<HostMount> ParseMounts(std::string_view mountinfo);

// The mounts that this or another process sees (`of`: its number). An error
// when they cannot be read or are too many.
Result<std::vector<HostMount>> ReadMounts(const std::string& of = "self");

// The first place below `directory` where something is mounted; empty when
// there is none.
std::string MountBelow(const std::vector<HostMount>& mounts,
                       const std::string& directory);

struct OtherName {
  std::string name;  // may be covered by something else
  std::string same;  // the path that it is another name of
};

// The names that `path`, which has no link in it, what is mounted below it and
// what of it is mounted alone have by other mounts. Linear in the mounts.
std::vector<OtherName> OtherNames(const std::vector<HostMount>& mounts,
                                  const std::string& path);
// The names by `mounts` of what a process with the mounts `theirs` calls
// `path`. None where none of theirs holds it.
std::vector<std::string> NamesOf(const std::vector<HostMount>& mounts,
                                 const std::vector<HostMount>& theirs,
                                 const std::string& path);
// Whether it still is one.
bool IsSame(const OtherName& other);

}  // namespace gate::backends
