// Remembers which large index files name no other repository.
//
// Reading the index of a repository with 100,000 files takes some 10 ms, and
// hardly ever has it changed since the last command. What is remembered is that
// a file of this device, inode, size and times named none. It is remembered
// only where nobody had the file open for writing, nor mapped (a read lease of
// fcntl(2) is refused then), after its times were over for a while, and on file
// systems that keep the time of every change (ctime, which no program can set
// back): whoever writes it later gives it another time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "git/format.h"
#include "git/index.h"

namespace gate {

// A smaller index is read as fast as a memory of it.
inline constexpr size_t kSmallIndex = size_t{256} << 10;
// What changed this short a while ago may change again within the same tick of
// the file system's clock.
inline constexpr uint64_t kSettledMs = 2000;

// FindGitlinks, by what the file `memory` remembers, which it updates; a memory
// that cannot be read or written is none. `memory` must be a file that nobody
// else writes, in a directory that is there; when it is empty, nothing is
// remembered. `now_ms` is the time since the epoch. Safe to call from several
// processes at a time: one may forget what another remembered.
Gitlinks FindGitlinksRemembered(const std::string& path, GitHash hash,
                                const std::string& worktree,
                                const std::string& memory, uint64_t now_ms);

}  // namespace gate
