// Small file operations that cannot be led astray by a symbolic link.
//
// They act on a tree that a contained command may have shaped (and another
// one may still be shaping): every directory on the way is opened without
// following links, and the last name is never followed.
#pragma once

#include <sys/stat.h>

#include <string>

#include "base/file.h"
#include "base/result.h"

namespace gate::backends {

// A handle on what stands at `path` itself. Empty with errno ELOOP when a
// directory on the way is a link, ENOENT when there is nothing.
Fd OpenPath(const std::string& path);

// lstat of `path` by OpenPath. False with the same errno.
bool StatPath(const std::string& path, struct stat* info);

// The regular file at `path`, at most `limit` bytes. Never blocks.
Result<std::string> ReadRegular(const std::string& path, size_t limit);

// Replaces the content of the regular file at `path`, or makes it, with the
// owner of its directory, when nothing is there.
Status WriteRegular(const std::string& path, const std::string& content,
                    mode_t mode);

// Takes `path` away: into `directory` under `name`, or, when that is another
// file system or `directory` is empty, copied there (a regular file) or moved
// to a hidden directory beside it. Sockets, pipes and empty directories that
// cannot be moved are removed. Returns where it is now (empty: removed).
Result<std::string> MoveAside(const std::string& path,
                              const std::string& directory,
                              const std::string& name);

}  // namespace gate::backends
