// What /proc/self/mountinfo says (proc(5)).
#pragma once

#include <string>
#include <string_view>

namespace gate::backends {

// A path of it, which writes blanks and the like as \ooo.
std::string UnescapeMountPoint(std::string_view text);

// The first place below `directory` where something is mounted, by the text of
// mountinfo; empty when there is none. Pure.
std::string MountBelow(std::string_view mountinfo,
                       const std::string& directory);

}  // namespace gate::backends
