// Moving a tree to another file system, which a rename cannot.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gate::backends {

inline constexpr size_t kMaxTreeEntries = 100000;
inline constexpr uint64_t kMaxTreeBytes = uint64_t{1}
                                          << 30;  // holes not counted
inline constexpr int kMaxTreeDepth = 256;         // a descriptor or two each

// Moves `name` of the directory `from` to `new_name` of `to`, which must not be
// there: directories, files and links as they are, for their new owner alone
// (0700, 0600); sockets, FIFOs and devices are left out. No link is followed.
// False when it was too large, too deep or could not be read or written: then
// the old one is whole, and nothing of the new one is there. True once all is
// copied and the old one has been removed; what could not be removed of it
// stays
// (`removed`).
bool MoveTree(int from, const char* name, int to, const char* new_name,
              bool* removed);

}  // namespace gate::backends
