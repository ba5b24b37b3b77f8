// Which git directories a sandbox for a workspace may write beside it.
#pragma once

#include <string>
#include <vector>

namespace gate::app {

// The git directory of `workspace` and the one that it shares with other
// worktrees, real paths, of those that exist and are the workspace's beyond
// doubt. A `.git` file is text that a command of an earlier run may have
// written, and it can name any place: what lies outside the workspace must be a
// repository that itself says that this is its work tree (a linked worktree's
// `gitdir`, a submodule's core.worktree; gitrepository-layout(5)), or be
// the `.git` directory of the work tree. What says nothing (`git init
// --separate-git-dir`) is left out: it can be read, but not written, unless the
// person names it in the settings. Some 10 us.
std::vector<std::string> WritableGitDirectories(const std::string& workspace);

}  // namespace gate::app
