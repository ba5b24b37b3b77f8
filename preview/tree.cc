#include "preview/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/sha256.h"
#include "base/text.h"

namespace gate::backends {
namespace {

constexpr size_t kChunk = size_t{128} << 10;

// Changes the mode of what a handle stands for.
bool ChangeMode(int handle, mode_t mode) {
  return chmod(("/proc/self/fd/" + std::to_string(handle)).c_str(), mode) == 0;
}

void OpenUp(int root, const std::string& path, mode_t bits) {
  const Fd handle = OpenBelow(root, path, O_PATH | O_NOFOLLOW);
  struct stat info = {};
  if (!handle || fstat(handle.get(), &info) != 0 || S_ISLNK(info.st_mode) ||
      (info.st_mode & bits) == bits)
    return;
  ChangeMode(handle.get(), (info.st_mode & 07777) | bits);
}

bool Dots(const char* name) {
  return name[0] == '.' &&
         (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

Result<std::vector<std::string>> ListSome(int root, const std::string& path,
                                          size_t most) {
  Fd fd = OpenBelow(root, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!fd) return FailErrno("cannot list a directory");
  DIR* directory = fdopendir(fd.get());
  if (directory == nullptr) return FailErrno("cannot list a directory");
  fd.release();
  std::vector<std::string> names;
  errno = 0;
  while (names.size() < most) {
    const dirent* entry = readdir(directory);
    if (entry == nullptr) break;
    if (!Dots(entry->d_name)) names.emplace_back(entry->d_name);
    errno = 0;
  }
  const int error = errno;
  closedir(directory);
  errno = error;
  if (error != 0) return FailErrno("cannot list a directory");
  return names;
}

// Whether what was just read from `fd` is a hole, so that it is not written.
bool IsHole(int fd, std::string_view part) {
  if (part[0] != '\0' || part.substr(1) != part.substr(0, part.size() - 1))
    return false;
  const off_t end = lseek(fd, 0, SEEK_CUR);
  if (end < 0) return false;
  const off_t data =
      lseek(fd, end - static_cast<off_t>(part.size()), SEEK_DATA);
  const bool hole = data < 0 ? errno == ENXIO : data >= end;
  // Not set back, the content is not what was shown, and the commit ends.
  return lseek(fd, end, SEEK_SET) == end && hole;
}

}  // namespace

Fd OpenBelow(int root, const std::string& path, uint64_t flags) {
  open_how how = {};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
                RESOLVE_NO_XDEV;
  return Fd(static_cast<int>(syscall(SYS_openat2, root,
                                     path.empty() ? "." : path.c_str(), &how,
                                     sizeof(how))));
}

bool StatBelow(int root, const std::string& path, struct stat* info) {
  const Fd fd = OpenBelow(root, path, O_PATH | O_NOFOLLOW);
  return fd && fstat(fd.get(), info) == 0;
}

Result<std::vector<std::string>> ListBelow(int root, const std::string& path,
                                           bool open_up) {
  if (open_up) OpenUp(root, path, 0700);
  GATE_TRY(auto names, ListSome(root, path, kMaxPreviewEntries + 1));
  if (names.size() > kMaxPreviewEntries)
    return Fail(ErrorCode::kTooLarge, "a directory has too many entries");
  std::sort(names.begin(), names.end());
  return names;
}

Fd OpenFileBelow(int root, const std::string& path, bool open_up) {
  if (open_up) OpenUp(root, path, 0400);
  Fd fd = OpenBelow(root, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  struct stat info = {};
  if (fd && (fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode))) {
    errno = EINVAL;
    return Fd();
  }
  return fd;
}

Result<std::string> ReadLinkBelow(int root, const std::string& path) {
  const Fd handle = OpenBelow(root, path, O_PATH | O_NOFOLLOW);
  char buffer[PATH_MAX];
  const ssize_t size =
      handle ? readlinkat(handle.get(), "", buffer, sizeof(buffer)) : -1;
  if (size < 0) return FailErrno("cannot read a link");
  return std::string(buffer, static_cast<size_t>(size));
}

Result<std::string> HashContent(int fd, int copy) {
  Sha256Stream hash;
  std::string buffer(kChunk, '\0');
  bool ends_with_hole = false;
  while (true) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FailErrno("cannot read a file");
    if (got == 0) break;
    const std::string_view part(buffer.data(), static_cast<size_t>(got));
    hash.Add(part);
    if (copy < 0) continue;
    ends_with_hole = IsHole(fd, part);
    if (!ends_with_hole)
      GATE_CHECK(WriteAll(copy, part));
    else if (lseek(copy, static_cast<off_t>(part.size()), SEEK_CUR) < 0)
      return FailErrno("cannot write a file");
  }
  if (ends_with_hole && ftruncate(copy, lseek(copy, 0, SEEK_CUR)) != 0)
    return FailErrno("cannot write a file");
  return Hex(hash.Finish());
}

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string NameOf(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::string JoinBelow(const std::string& base, const std::string& name) {
  return base.empty() ? name : base + "/" + name;
}

PreviewType TypeOf(mode_t mode) {
  if (S_ISREG(mode)) return PreviewType::kFile;
  if (S_ISDIR(mode)) return PreviewType::kDirectory;
  if (S_ISLNK(mode)) return PreviewType::kLink;
  return PreviewType::kOther;
}

uint32_t CommittedBits(PreviewType type) {
  return type == PreviewType::kDirectory ? 03777 : 01777;
}

int64_t Nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

LowerState StateOf(const struct stat& info) {
  LowerState state;
  state.exists = true;
  state.type = TypeOf(info.st_mode);
  state.device = info.st_dev;
  state.inode = info.st_ino;
  state.size = static_cast<uint64_t>(info.st_size);
  state.mode = info.st_mode & 07777;
  state.mtime_ns = Nanoseconds(info.st_mtim);
  state.ctime_ns = Nanoseconds(info.st_ctim);
  return state;
}

// Directories below the first level are moved up to it before they are
// emptied, so that neither depth nor descriptors grow with the tree.
bool RemoveTree(int directory, const std::string& name, size_t* budget) {
  constexpr size_t kAtOnce = 4096;
  if (unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) return true;
  OpenUp(directory, name, 0700);
  const Fd top =
      OpenBelow(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!top) return false;
  uint64_t moved = 0;
  // A name that no earlier, interrupted removal has left.
  const std::string stem = "moved-" + Hex(RandomBytes(8)) + "-";
  // Empties one directory of the first level.
  const auto empty = [&](int at) {
    while (true) {
      const auto names = ListSome(at, "", kAtOnce);
      if (!names) return false;
      if (names->empty()) return true;
      for (const std::string& entry : *names) {
        if (*budget == 0) return false;
        --*budget;
        if (unlinkat(at, entry.c_str(), 0) == 0 ||
            unlinkat(at, entry.c_str(), AT_REMOVEDIR) == 0)
          continue;
        OpenUp(at, entry, 0700);
        const std::string place = stem + std::to_string(++moved);
        if (renameat(at, entry.c_str(), top.get(), place.c_str()) != 0)
          return false;
      }
    }
  };
  while (true) {
    const auto names = ListSome(top.get(), "", kAtOnce);
    if (!names) return false;
    if (names->empty()) break;
    for (const std::string& entry : *names) {
      if (*budget == 0) return false;
      --*budget;
      if (unlinkat(top.get(), entry.c_str(), 0) == 0) continue;
      OpenUp(top.get(), entry, 0700);
      const Fd child =
          OpenBelow(top.get(), entry, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      if (!child || !empty(child.get()) ||
          unlinkat(top.get(), entry.c_str(), AT_REMOVEDIR) != 0)
        return false;
    }
  }
  return unlinkat(directory, name.c_str(), AT_REMOVEDIR) == 0;
}

}  // namespace gate::backends
