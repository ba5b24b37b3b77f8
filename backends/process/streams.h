// The three streams a command is given: the only descriptors it has.
#pragma once

#include "backends/backend.h"
#include "base/file.h"
#include "base/result.h"

namespace gate::backends {

inline constexpr size_t kMaxInputCopy = size_t{256} << 20;

// kInvalid when a stream is not open, or is a directory: from a directory the
// host's own mounts could be walked, around everything that covers them.
Status CheckStreams(const Io& io);

// When `fd` is a regular file, a private copy of what is left of it; else an
// empty Fd (use `fd` itself). For sandboxes without Landlock. kTooLarge beyond
// kMaxInputCopy.
Result<Fd> CopyInput(int fd);

// An anonymous file with `content`, to be read from its start.
Result<Fd> MemoryFile(const char* name, const void* content, size_t size);

}  // namespace gate::backends
