// Caches of package managers that this machine does not have.
//
// A tool makes its cache below the home directory on its first use; inside a
// sandbox it cannot. So a line that runs such a tool finds the directory there,
// empty at first. What it writes is the workspace's own: it lies below gate's
// state directory, where no other workspace, no raw command and no program of
// the person finds it, since such a cache holds what is run later. A cache that
// the person has, with something in it, is what it was.
#pragma once

#include <string>

#include "gateway/gateway.h"

namespace gate::app {

// Below the state directory, with a leading slash.
inline constexpr const char* kOwnCaches = "/caches";

// Whether `directory` holds nothing. False when that cannot be told.
bool IsEmpty(const std::string& directory);

// Whether that backend can show something in the place of what a home has.
bool CanShow(Gateway& gateway, const std::string& backend);

// Adds the caches that the line of `authorization` may use first to `profile`
// (Profile::substitutes), which must write a workspace and be run by a backend
// that can show them. Makes the directories that they stand at in the home:
// empty, of mode 0700, only in the home of this user, never through a link. One
// that is a link, a file, somebody else's or cannot be made is left as it is,
// and its tool does without. Takes away what workspaces that are gone had, and
// those not used for a month, a few of them each time. Some 30 calls of the
// kernel where nothing is made.
void GiveToolCaches(Gateway& gateway, const Authorization& authorization,
                    backends::Profile* profile);

}  // namespace gate::app
