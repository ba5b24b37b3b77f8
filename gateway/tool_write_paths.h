// Where a file tool of an agent would write.
#pragma once

#include <string>
#include <vector>

namespace gate::app {

// The places that `path` of a tool may stand for, normalised: as it is written
// and where links lead to. Clients take blanks off its ends, `~/` for the home
// directory, and servers `file:` URLs, so that what they may make of it is
// among them.
std::vector<std::string> WrittenPlaces(const std::string& path,
                                       const std::string& cwd,
                                       const std::string& home);

}  // namespace gate::app
