#include "backends/protect/quarantine.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/paths.h"

namespace gate::backends {
namespace {

constexpr size_t kMaxCopyBytes = size_t{64} << 20;

thread_local ScopedOwnerAccess* owners_way = nullptr;
thread_local const HeldRoots* held_roots = nullptr;

Fd OpenAt(int from, const std::string& path, uint64_t flags) {
  open_how how = {};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return Fd(static_cast<int>(
      syscall(SYS_openat2, from, path.c_str(), &how, sizeof(how))));
}

// The kernel takes no path of PATH_MAX bytes, but directories nest deeper.
Fd OpenPieces(const std::string& full, uint64_t flags) {
  std::string path;
  const int from = HeldFrom(full, &path);
  Fd at;
  size_t begin = 0;
  while (path.size() - begin >= PATH_MAX) {
    const size_t slash = path.rfind('/', begin + PATH_MAX - 1);
    if (slash == std::string::npos || slash <= begin) {
      errno = ENAMETOOLONG;
      return {};
    }
    Fd next = OpenAt(at ? at.get() : from, path.substr(begin, slash - begin),
                     O_PATH | O_DIRECTORY);
    if (!next) return {};
    at = std::move(next);
    begin = slash + 1;
  }
  Fd fd = OpenAt(at ? at.get() : from, path.substr(begin), flags);
  const int error = errno;
  at = {};
  errno = error;
  return fd;
}

Fd OpenNoLinks(const std::string& path, uint64_t flags) {
  Fd fd = OpenPieces(path, flags);
  if (!fd && errno == EACCES && OpenToOwner(path)) fd = OpenPieces(path, flags);
  return fd;
}

bool SetMode(const Fd& fd, mode_t mode) {
  // fchmod takes no O_PATH handle.
  const std::string name = "/proc/self/fd/" + std::to_string(fd.get());
  return chmod(name.c_str(), mode & 07777) == 0;
}

Fd OpenParent(const std::string& path) {
  return OpenNoLinks(std::string(DirName(path)), O_PATH | O_DIRECTORY);
}

bool Rename(int from, const char* name, int to, const char* new_name) {
  if (syscall(SYS_renameat2, from, name, to, new_name,
              1u /* RENAME_NOREPLACE */) == 0)
    return true;
  // A kernel or file system (NFS) without that. The new names are gate's own,
  // and nobody else makes such ones.
  if (errno != ENOSYS && errno != EINVAL) return false;
  struct stat info = {};
  return fstatat(to, new_name, &info, AT_SYMLINK_NOFOLLOW) != 0 &&
         errno == ENOENT && renameat(from, name, to, new_name) == 0;
}

// The directory that the outermost of `roots` around `path` lies in; empty
// where there is none. What that root holds is what a run can write.
std::string OutsideOf(const std::string& path,
                      const std::vector<std::string>& roots) {
  const std::string* outermost = nullptr;
  for (const std::string& root : roots)
    if (IsWithin(path, root) &&
        (outermost == nullptr || root.size() < outermost->size()))
      outermost = &root;
  if (outermost == nullptr || *outermost == "/") return {};
  return std::string(DirName(*outermost));
}

}  // namespace

HeldRoots::HeldRoots(const std::vector<Root>& roots)
    : roots_(roots), outer_(held_roots) {
  held_roots = this;
}

HeldRoots::~HeldRoots() { held_roots = outer_; }

int HeldFrom(const std::string& path, std::string* rest) {
  const HeldRoots::Root* best = nullptr;
  if (held_roots != nullptr)
    for (const HeldRoots::Root& root : held_roots->roots_)
      if (IsWithin(path, root.path) &&
          (best == nullptr || root.path.size() > best->path.size()))
        best = &root;
  if (best == nullptr) {
    *rest = path;
    return AT_FDCWD;
  }
  *rest = path.size() == best->path.size() ? "."
                                           : path.substr(best->path.size() + 1);
  return best->fd.get();
}

ScopedOwnerAccess::ScopedOwnerAccess(const std::vector<std::string>& roots)
    : roots_(roots), outer_(owners_way) {
  owners_way = this;
}

ScopedOwnerAccess::~ScopedOwnerAccess() {
  // The inner ones first: the outer ones may lead to them.
  std::reverse(closed_.begin(), closed_.end());
  for (const Closed& closed : closed_) {
    const Fd fd = OpenPieces(closed.path, O_PATH | O_NOFOLLOW);
    struct stat info = {};
    if (fd && fstat(fd.get(), &info) == 0 &&
        info.st_ino == closed.info.st_ino && info.st_dev == closed.info.st_dev)
      SetMode(fd, closed.info.st_mode);
  }
  owners_way = outer_;
}

bool OpenToOwner(const std::string& path) {
  const int error = errno;
  bool opened = false;
  if (owners_way != nullptr) {
    const std::vector<std::string>& roots = owners_way->roots_;
    for (size_t end = 0; end != std::string::npos;) {
      end = path.find('/', end + 1);
      const std::string part = path.substr(0, end);
      if (std::none_of(
              roots.begin(), roots.end(),
              [&](const std::string& root) { return IsWithin(part, root); }))
        continue;
      const Fd fd = OpenPieces(part, O_PATH | O_NOFOLLOW);
      struct stat info = {};
      if (!fd || fstat(fd.get(), &info) != 0) break;
      if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() ||
          (info.st_mode & S_IRWXU) == S_IRWXU)
        continue;
      if (!SetMode(fd, info.st_mode | S_IRWXU)) break;
      owners_way->closed_.push_back({part, info});
      opened = true;
    }
  }
  errno = error;
  return opened;
}

Fd OpenPath(const std::string& path) {
  return OpenNoLinks(path, O_PATH | O_NOFOLLOW);
}

bool StatPath(const std::string& path, struct stat* info) {
  const Fd fd = OpenPath(path);
  return fd && fstat(fd.get(), info) == 0;
}

bool NearbyStat::operator()(const std::string& path, struct stat* info) {
  if (const std::string_view parent = DirName(path);
      !fd_ || parent != directory_) {
    directory_ = parent;
    fd_ = OpenParent(path);
  }
  const std::string name(BaseName(path));
  if (fd_ && !name.empty()) {
    if (fstatat(fd_.get(), name.c_str(), info,
                AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0)
      return true;
    if (errno == ENOENT) return false;
  }
  return StatPath(path, info);  // what else is wrong, by its errno
}

std::optional<std::string> LinkText(const std::string& path) {
  const Fd fd = OpenPath(path);
  char buffer[PATH_MAX];
  const ssize_t size =
      fd ? readlinkat(fd.get(), "", buffer, sizeof(buffer)) : -1;
  if (size <= 0) return std::nullopt;
  return std::string(buffer, static_cast<size_t>(size));
}

Fd OpenToList(const std::string& path) {
  return OpenNoLinks(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

Result<std::string> ReadRegular(const std::string& path, size_t limit) {
  const Fd fd =
      OpenNoLinks(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (!fd) return FailErrno("cannot open " + path);
  struct stat info = {};
  if (fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return Fail(ErrorCode::kInvalid, path + " is not a regular file");
  return ReadAll(fd.get(), limit);
}

Status WriteRegular(const std::string& path, const std::string& content,
                    mode_t mode) {
  Fd fd = OpenNoLinks(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  struct stat info = {};
  if (fd) {
    if (fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode))
      return Fail(ErrorCode::kInvalid, path + " is not a regular file");
    if (ftruncate(fd.get(), 0) != 0) return FailErrno("cannot write " + path);
    return WriteAll(fd.get(), content);
  }
  if (errno != ENOENT) return FailErrno("cannot open " + path);
  const Fd parent = OpenParent(path);
  if (!parent || fstat(parent.get(), &info) != 0)
    return FailErrno("cannot open the directory of " + path);
  const std::string name(BaseName(path));
  const auto create = [&] {
    return Fd(openat(parent.get(), name.c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                     mode & 0777));
  };
  fd = create();
  if (!fd && errno == EACCES && OpenToOwner(std::string(DirName(path))))
    fd = create();
  if (!fd) return FailErrno("cannot create " + path);
  if (geteuid() == 0 && fchown(fd.get(), info.st_uid, info.st_gid) != 0)
    return FailErrno("cannot give " + path + " to its owner");
  return WriteAll(fd.get(), content);
}

Result<Aside> MoveAside(const std::string& path, const std::string& directory,
                        const std::string& name,
                        const std::vector<std::string>& roots,
                        const CopyLimits& limits) {
  // Its directory must be writable, and so must a directory that moves.
  if (geteuid() != 0) OpenToOwner(path);
  const Fd parent = OpenParent(path);
  if (!parent) return FailErrno("cannot open the directory of " + path);
  const std::string last(BaseName(path));
  struct stat info = {};
  if (fstatat(parent.get(), last.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return FailErrno("cannot look at " + path);
  if (!directory.empty() && MakeDirectories(directory, 0700)) {
    const Fd to(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    // A file with another name is copied: that name would stay a way into the
    // quarantine.
    const bool shared = S_ISREG(info.st_mode) && info.st_nlink > 1;
    if (to && !shared &&
        Rename(parent.get(), last.c_str(), to.get(), name.c_str()))
      return Aside{directory + "/" + name, ""};
    if (to && S_ISREG(info.st_mode)) {
      const Result<std::string> content = ReadRegular(path, kMaxCopyBytes);
      if (content && WriteRegular(directory + "/" + name, *content, 0600) &&
          unlinkat(parent.get(), last.c_str(), 0) == 0)
        return Aside{directory + "/" + name, ""};
    }
    // The state directory is on another file system: what stayed in the
    // workspace would be committed, or be read under its new name.
    bool removed = false;
    if (to && (S_ISDIR(info.st_mode) || S_ISREG(info.st_mode)) &&
        MoveTree(parent.get(), last.c_str(), to.get(), name.c_str(), limits,
                 &removed) &&
        removed)
      return Aside{directory + "/" + name, ""};
  }
  if (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode)) {
    if (unlinkat(parent.get(), last.c_str(), 0) == 0) return Aside{};
    return FailErrno("cannot remove " + path);
  }
  if (S_ISDIR(info.st_mode) &&
      unlinkat(parent.get(), last.c_str(), AT_REMOVEDIR) == 0)
    return Aside{};
  const std::string hidden = ".gate-quarantine-" + name;
  if (const std::string outside = OutsideOf(path, roots); !outside.empty()) {
    const Fd to = OpenNoLinks(outside, O_PATH | O_DIRECTORY);
    if (to && Rename(parent.get(), last.c_str(), to.get(), hidden.c_str()))
      return Aside{(outside == "/" ? "" : outside) + "/" + hidden, ""};
  }
  const std::string told = TellTree(parent.get(), last.c_str());
  if (RemoveTree(parent.get(), last.c_str())) return Aside{"", told};
  if (!Rename(parent.get(), last.c_str(), parent.get(), hidden.c_str()))
    return FailErrno("cannot move " + path);
  return Aside{std::string(DirName(path)) + "/" + hidden, ""};
}

}  // namespace gate::backends
