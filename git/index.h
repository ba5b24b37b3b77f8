// A repository's index: whether it names other repositories, and what git knows
// of one file.
//
// `git status` and `git diff` start git again in every such directory (a
// gitlink, whether or not it is a declared submodule), under the configuration
// found there. The format is gitformat-index(5), versions 2 to 4; what decides
// is how git's read-cache.c reads it, from version 2.39 on: an entry's name has
// the length in its flags, the hash is the repository's, and threads of git go
// by an offset table that must agree with the entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "git/format.h"

namespace gate {

// A larger index is not read.
inline constexpr size_t kMaxGitIndexBytes = size_t{64} << 20;

enum class Gitlinks {
  kNone,
  kSome,
  // Unreadable, too large, of another hash, with a directory in place of its
  // entries that may be there (a sparse index), or not as git writes it.
  kUnknown,
};

// Reads the index file at `path` of a repository with objects named by `hash`,
// and the shared index beside it that a split index names, whose entries all
// count. An absent index names nothing. Linear in the file, some 20 ns an
// entry; at most 64 MiB are read.
//
// A sparse index has a directory in place of the entries below it. What is
// among them, only its tree says; git starts itself in none of them as long as
// the work tree, at `worktree`, does not have the directory. So such an index
// names nothing where none of them is there, and is unknown else; always when
// `worktree` is empty. One look at the file system for each directory.
Gitlinks FindGitlinks(const std::string& path, GitHash hash,
                      const std::string& worktree = "");

// What the bytes of one index file say. `*shared` becomes the name of the
// shared index (`sharedindex.…`) whose entries git adds, or empty. Unknown for
// a sparse index.
Gitlinks GitlinksIn(std::string_view index, GitHash hash, std::string* shared);

// The directories that stand for their entries in the bytes of a sparse index
// without gitlinks, each without its final slash. Nothing when it is not as git
// writes one, has too many, or is split.
std::optional<std::vector<std::string>> CollapsedIn(std::string_view index,
                                                    GitHash hash);

// What git noted of a file when it wrote or compared it last. A file that still
// has these is, for git, the tracked content.
struct IndexedFile {
  uint32_t ctime_s = 0, ctime_ns = 0, mtime_s = 0, mtime_ns = 0;
  uint32_t inode = 0, size = 0;  // the lower 32 bits
};

// The entry of the regular file `name` (below the work tree) in `index`, the
// bytes of an index file. Nothing when it has none, is in conflict, is not
// compared by git (assume-valid, skip-worktree, intent-to-add), or the index is
// split, out of order or not understood.
std::optional<IndexedFile> FindIndexed(std::string_view index, GitHash hash,
                                       std::string_view name);

}  // namespace gate
