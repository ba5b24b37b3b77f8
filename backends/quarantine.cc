#include "backends/quarantine.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/paths.h"

namespace gate::backends {
namespace {

constexpr size_t kMaxCopyBytes = size_t{64} << 20;

Fd OpenNoLinks(const std::string& path, uint64_t flags) {
  open_how how = {};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return Fd(static_cast<int>(
      syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof(how))));
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

}  // namespace

Fd OpenPath(const std::string& path) {
  return OpenNoLinks(path, O_PATH | O_NOFOLLOW);
}

bool StatPath(const std::string& path, struct stat* info) {
  const Fd fd = OpenPath(path);
  return fd && fstat(fd.get(), info) == 0;
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
  fd = Fd(openat(parent.get(), name.c_str(),
                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                 mode & 0777));
  if (!fd) return FailErrno("cannot create " + path);
  if (geteuid() == 0 && fchown(fd.get(), info.st_uid, info.st_gid) != 0)
    return FailErrno("cannot give " + path + " to its owner");
  return WriteAll(fd.get(), content);
}

Result<std::string> MoveAside(const std::string& path,
                              const std::string& directory,
                              const std::string& name) {
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
      return directory + "/" + name;
    if (to && S_ISREG(info.st_mode)) {
      const Result<std::string> content = ReadRegular(path, kMaxCopyBytes);
      if (content && WriteRegular(directory + "/" + name, *content, 0600) &&
          unlinkat(parent.get(), last.c_str(), 0) == 0)
        return directory + "/" + name;
    }
  }
  if (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode)) {
    if (unlinkat(parent.get(), last.c_str(), 0) == 0) return std::string();
    return FailErrno("cannot remove " + path);
  }
  if (S_ISDIR(info.st_mode) &&
      unlinkat(parent.get(), last.c_str(), AT_REMOVEDIR) == 0)
    return std::string();
  // Beside it, under a name that nothing reads.
  const std::string beside = ".gate-quarantine-" + name;
  if (!Rename(parent.get(), last.c_str(), parent.get(), beside.c_str()))
    return FailErrno("cannot move " + path);
  return std::string(DirName(path)) + "/" + beside;
}

}  // namespace gate::backends
