// Directories that git takes for repositories because of what a preview adds,
// or of what is there already when it does.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "preview/preview.h"

namespace gate::backends {

// Which entries of a directory decide whether git takes it for its own.
struct GitNames {
  bool head = false, objects = false, refs = false, common = false;

  void Add(const std::string& name);
  bool Whole() const { return head && (common || (objects && refs)); }
  // Also what a linked worktree can use as its common directory.
  bool Usable() const { return Whole() || (objects && refs); }
};

// Whether the file `commondir` at `path` (absolute) says what git writes there.
bool IsOwnCommonDir(const std::string& path, const std::string& text);

// Why some of `entries`, all of the manifest's root `index`, may not be
// committed to `real`, the directory at that root, as it is now:
//   - what makes a directory a repository that holds hooks or configuration
//     that runs programs already, put there when nobody judged it as git's;
//   - a `.git` file or `commondir` that names such a directory;
//   - hooks and configuration of what is a repository by now.
// `content(entry, true)` is the entry's, `content(entry, false)` what it
// replaces. Costs nothing where no entry has a name that git looks for.
std::map<const PreviewEntry*, std::string> RefusedForRepositories(
    int real, const std::string& root,
    const std::vector<const PreviewEntry*>& entries,
    const std::function<std::string(const PreviewEntry&, bool)>& content);

}  // namespace gate::backends
