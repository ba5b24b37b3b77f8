// Walking trees that a command shaped: relative to a descriptor, never through
// a link.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "preview/preview.h"

namespace gate::backends {

// openat2 below `root`; "" is `root` itself. `path` holds no "..".
Fd OpenBelow(int root, const std::string& path, uint64_t flags);
// lstat, likewise. False with errno.
bool StatBelow(int root, const std::string& path, struct stat* info);
// The names in a directory, sorted. `open_up`: a directory of the preview that
// its own mode keeps closed is opened for the owner.
Result<std::vector<std::string>> ListBelow(int root, const std::string& path,
                                           bool open_up);
// A regular file for reading; `open_up` as above. Never blocks.
Fd OpenFileBelow(int root, const std::string& path, bool open_up);
Result<std::string> ReadLinkBelow(int root, const std::string& path);
// Hex SHA-256 of what `fd` still has to say; with `copy` >= 0 the same bytes
// are written there.
Result<std::string> HashContent(int fd, int copy = -1);

// Parts of a path below a root: the directory that holds it ("" for the root),
// and its last name.
std::string ParentOf(const std::string& path);
std::string NameOf(const std::string& path);
std::string JoinBelow(const std::string& base, const std::string& name);
PreviewType TypeOf(mode_t mode);
// The bits of a mode that a commit sets. Set-group-id of a directory gives
// nobody a right: what is made in it belongs to the directory's group.
uint32_t CommittedBits(PreviewType type);
int64_t Nanoseconds(const timespec& time);
LowerState StateOf(const struct stat& info);

}  // namespace gate::backends
