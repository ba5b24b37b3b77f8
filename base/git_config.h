// What of git's configuration makes git run programs.
//
// A repository's configuration is written by whoever may write the workspace;
// git runs what it names (git-config(1): core.fsmonitor, core.pager, filters,
// `!` aliases, …) even for commands that only look. The reader follows git's
// syntax (git-config(1), "Syntax"; git 2.39) and gives no benefit of doubt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gate {

// The git directory that git finds from a directory: its own one, and the one
// it shares with other worktrees. Both empty when there is none.
struct GitDirectories {
  std::string worktree;  // where .git was found
  std::string own;       // .git, or what the .git file points to
  std::string common;    // the same, or what `commondir` in it names
};
GitDirectories FindGitDirectories(const std::string& directory);

// The keys in configuration `text`, lower-case section and variable
// ("core.fsmonitor", "alias.x", "filter.lfs.clean"), that make git run a
// program or read other configuration files. Malformed lines count as the key
// "malformed".
std::vector<std::string> GitProgramKeysIn(std::string_view text);

// The same of a file; empty when it does not exist. kTooLarge, kInvalid (not a
// regular file) otherwise.
Result<std::vector<std::string>> GitProgramKeys(const std::string& file);

}  // namespace gate
