// Whether a repository's index names other repositories.
//
// `git status` and `git diff` start git again in every such directory (a
// gitlink, whether or not it is a declared submodule), under the configuration
// found there. The format is gitformat-index(5), versions 2 to 4.
#pragma once

#include <string>

namespace gate {

enum class Gitlinks {
  kNone,
  kSome,
  kUnknown,  // unreadable, damaged, too large, split, or another hash
};

// Reads the index file at `path`; an absent one names nothing. Linear in the
// file, some 20 ns an entry; at most 64 MiB are read.
Gitlinks FindGitlinks(const std::string& path);

}  // namespace gate
