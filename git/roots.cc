#include "git/roots.h"

#include <algorithm>
#include <string_view>

#include "base/file.h"
#include "base/paths.h"
#include "git/config.h"

namespace gate::app {
namespace {

constexpr size_t kMaxPathBytes = size_t{1} << 13;
// Git itself takes the directory for a repository of its own.
bool IsRepository(const std::string& directory) {
  return FindGitDirectories(directory).own == directory;
}

// Whether the work tree that `path` (of a file or key of the repository `own`)
// names is `worktree`.
bool Names(std::string_view path, const std::string& own,
           const std::string& worktree) {
  return !path.empty() && RealPath(Normalise(path, own)) == worktree;
}

bool PointsBack(const std::string& own, const std::string& worktree) {
  if (!IsRepository(own)) return false;
  if (auto text = ReadFile(own + "/gitdir", kMaxPathBytes)) {
    while (text->ends_with('\n')) text->pop_back();
    if (BaseName(*text) == ".git" && Names(DirName(*text), own, worktree))
      return true;
  }
  const auto text = ReadFile(own + "/config", kMaxGitConfigBytes);
  std::vector<GitEntry> entries;
  if (!text || !ParseGitConfig(*text, &entries)) return false;
  // The last one counts.
  const auto entry = std::find_if(
      entries.rbegin(), entries.rend(),
      [](const GitEntry& each) { return each.key == "core.worktree"; });
  return entry != entries.rend() && Names(entry->value, own, worktree);
}

}  // namespace

std::vector<std::string> WritableGitDirectories(const std::string& workspace) {
  const GitDirectories git = FindGitDirectories(workspace);
  const std::string root = RealPath(workspace);
  const std::string worktree = RealPath(git.worktree);
  const std::string own = RealPath(git.own);
  if (own.empty() || root.empty() || worktree.empty()) return {};
  const bool in_place = own == (worktree == "/" ? "" : worktree) + "/.git";
  if (!IsWithin(own, root) && !in_place && !PointsBack(own, worktree))
    return {};
  std::vector<std::string> found = {own};
  const std::string common = RealPath(git.common);
  if (common.empty() || common == own) return found;
  // Git makes worktrees' directories there, and nowhere else.
  const std::string_view parent = DirName(own);
  if (IsWithin(common, root) ||
      (BaseName(parent) == "worktrees" && DirName(parent) == common &&
       IsRepository(common)))
    found.push_back(common);
  return found;
}

}  // namespace gate::app
