// What the person's and the system's configuration of git say, for what gate
// does outside in the person's name.
#pragma once

#include <string>
#include <vector>

#include "facts/process_facts.h"
#include "git/config.h"

namespace gate::app {

// The entries of /etc/gitconfig and of the person's files with all that they
// include, whatever the condition, in their order. Files in `writable` places
// are passed over, and so is what cannot be read. Two or three files.
std::vector<GitEntry> PersonsGitEntries(
    const ProcessFacts& facts, const std::vector<std::string>& writable);

// Whether no contained run and no other user can have put something at `path`:
// a file, or an agent's socket (also one in the host's /tmp, which is not the
// one that runs see).
bool IsPersonsPlace(const ProcessFacts& facts, const std::string& path,
                    const std::vector<std::string>& writable);

}  // namespace gate::app
