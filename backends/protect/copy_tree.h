// Trees that a rename cannot take to another file system: moved, told, removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace gate::backends {

inline constexpr size_t kMaxTreeEntries = size_t{1} << 20;
inline constexpr int kMaxTreeDepth = 256;      // a descriptor or two each
inline constexpr size_t kMaxToldEntries = 64;  // of a tree that is removed

// What a copy may take. What is not set is what the other file system has room
// for: half of what is free there.
struct CopyLimits {
  size_t entries = kMaxTreeEntries;
  uint64_t bytes = UINT64_MAX;  // holes not counted
};

// Moves `name` of the directory `from` to `new_name` of `to`, which must not be
// there: directories, files and links as they are, for their new owner alone
// (0700, 0600); sockets, FIFOs and devices are left out. No link is followed.
// False when it was too large, too deep or could not be read or written: then
// the old one is whole, and nothing of the new one is there. True once all is
// copied and the old one has been removed; what could not be removed of it
// stays (`removed`). Costs what it copies.
bool MoveTree(int from, const char* name, int to, const char* new_name,
              const CopyLimits& limits, bool* removed);

// What `name` of `at` holds, for a record: how much of what, and the first
// kMaxToldEntries entries by their paths and sizes. Looks at kMaxTreeEntries
// entries and kMaxTreeDepth levels; says "at least" where there are more.
std::string TellTree(int at, const char* name);

// Removes `name` of `at` with all that is below it, however deep and however
// many. No link is followed. False: a part could not be removed, and is there.
bool RemoveTree(int at, const char* name);

}  // namespace gate::backends
