// Small file operations that cannot be led astray by a symbolic link.
//
// They act on a tree that a contained command may have shaped (and another
// one may still be shaping): every directory on the way is opened without
// following links, and the last name is never followed.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "backends/protect/copy_tree.h"
#include "base/file.h"
#include "base/result.h"

namespace gate::backends {

// While one lives, what its thread does here opens the directories below
// `roots` that a mode closes to their owner (chmod 0311): whoever owns them
// can, and a command must not keep gate out of what it leaves. The end puts the
// modes back, of directories that are still there.
class ScopedOwnerAccess {
 public:
  explicit ScopedOwnerAccess(const std::vector<std::string>& roots);
  ~ScopedOwnerAccess();
  ScopedOwnerAccess(const ScopedOwnerAccess&) = delete;
  ScopedOwnerAccess& operator=(const ScopedOwnerAccess&) = delete;

 private:
  friend bool OpenToOwner(const std::string& path);
  struct Closed {
    std::string path;
    struct stat info;
  };
  const std::vector<std::string>& roots_;
  std::vector<Closed> closed_;
  ScopedOwnerAccess* outer_;
};

// While one lives, what its thread opens below a held root, here and in
// backends/symlinks.h and listing.h, is what the descriptor leads to, whatever
// has the root's name by then and wherever the root was moved.
class HeldRoots {
 public:
  struct Root {
    std::string path;  // no symbolic link in it, not "/"
    Fd fd;
  };
  explicit HeldRoots(const std::vector<Root>& roots);
  ~HeldRoots();
  HeldRoots(const HeldRoots&) = delete;
  HeldRoots& operator=(const HeldRoots&) = delete;

 private:
  friend int HeldFrom(const std::string& path, std::string* rest);
  const std::vector<Root>& roots_;
  const HeldRoots* outer_;
};

// The descriptor of the innermost held root that `path` lies in, and the path
// from there ("." for itself). AT_FDCWD and `path` where there is none.
int HeldFrom(const std::string& path, std::string* rest);

// Opens what such a mode closes, on the way to `path` and there. False, with
// errno as it was: nothing was closed, or nothing can be done about it.
bool OpenToOwner(const std::string& path);

// A handle on what stands at `path` itself. Empty with errno ELOOP when a
// directory on the way is a link, ENOENT when there is nothing.
Fd OpenPath(const std::string& path);

// lstat of `path` by OpenPath. False with the same errno.
bool StatPath(const std::string& path, struct stat* info);

// StatPath for many paths of which most lie in one directory: that of the
// newest stays open.
class NearbyStat {
 public:
  bool operator()(const std::string& path, struct stat* info);

 private:
  std::string directory_;
  Fd fd_;
};

// The directory at `path`, to be listed. Same errno; EACCES: closed.
Fd OpenToList(const std::string& path);

// The regular file at `path`, at most `limit` bytes. Never blocks.
Result<std::string> ReadRegular(const std::string& path, size_t limit);

// What the link at `path` says; empty when there is none or it cannot be read.
std::optional<std::string> LinkText(const std::string& path);

// Replaces the content of the regular file at `path`, or makes it, with the
// owner of its directory, when nothing is there.
Status WriteRegular(const std::string& path, const std::string& content,
                    mode_t mode);

struct Aside {
  std::string place;    // where it is now; empty: removed
  std::string removed;  // what a removed tree held (TellTree)
};

// Takes `path` away: into `directory` under `name`, by a copy where that is
// another file system (backends/protect/copy_tree.h). Where `directory` is
// empty or cannot take it, it gets a hidden name beside the outermost of
// `roots` that it lies in, so that it is outside of all of them; where that is
// another file system or may not be written, it is removed. Sockets, pipes and
// empty directories that cannot be moved are removed. Only what can be neither
// moved nor removed gets a hidden name where it is. The error: it is still
// there.
Result<Aside> MoveAside(const std::string& path, const std::string& directory,
                        const std::string& name,
                        const std::vector<std::string>& roots,
                        const CopyLimits& limits = {});

}  // namespace gate::backends
