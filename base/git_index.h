// A repository's index: whether it names other repositories, and what git knows
// of one file.
//
// `git status` and `git diff` start git again in every such directory (a
// gitlink, whether or not it is a declared submodule), under the configuration
// found there. The format is gitformat-index(5), versions 2 to 4.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gate {

enum class Gitlinks {
  kNone,
  kSome,
  kUnknown,  // unreadable, damaged, too large, split, or another hash
};

// Reads the index file at `path`; an absent one names nothing. Linear in the
// file, some 20 ns an entry; at most 64 MiB are read.
Gitlinks FindGitlinks(const std::string& path);

// What git noted of a file when it wrote or compared it last. A file that still
// has these is, for git, the tracked content.
struct IndexedFile {
  uint32_t ctime_s = 0, ctime_ns = 0, mtime_s = 0, mtime_ns = 0;
  uint32_t inode = 0, size = 0;  // the lower 32 bits
};

// The entry of the regular file `name` (below the work tree) in `index`, the
// bytes of an index file. Nothing when it has none, is in conflict, or the
// index is not understood.
std::optional<IndexedFile> FindIndexed(std::string_view index,
                                       std::string_view name);

}  // namespace gate
