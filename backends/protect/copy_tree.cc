#include "backends/protect/copy_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace gate::backends {
namespace {

// Names of a directory that are removed between two looks at it.
constexpr size_t kRemovedAtOnce = size_t{1} << 14;

// Half of what is free is left to whoever else writes there.
CopyLimits RoomAt(int to, CopyLimits limits) {
  struct statvfs info = {};
  if (fstatvfs(to, &info) != 0) return {0, 0};
  limits.bytes = std::min<uint64_t>(
      limits.bytes, static_cast<uint64_t>(info.f_bavail) * info.f_frsize / 2);
  if (info.f_files != 0)  // some file systems do not count them
    limits.entries = std::min<size_t>(limits.entries, info.f_favail / 2);
  return limits;
}

// The names in the directory `fd`; false when there are more than `most`.
bool NamesOf(int fd, size_t most, std::vector<std::string>* names) {
  const int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return false;
  DIR* list = fdopendir(copy);
  if (list == nullptr) {
    close(copy);
    return false;
  }
  bool all = true;
  while (const dirent* entry = readdir(list)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names->size() == most) {
      all = false;
      break;
    }
    names->emplace_back(name);
  }
  closedir(list);
  return all;
}

// A directory, opened to its owner first where its mode closes it.
Fd OpenDirectoryAt(int at, const char* name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Fd fd(openat(at, name, kFlags));
  struct stat info = {};
  if ((!fd && errno != EACCES) ||
      fstatat(at, name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
      (fd && (info.st_mode & S_IRWXU) == S_IRWXU))
    return fd;
  const Fd handle(openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat held = {};
  if (handle && fstat(handle.get(), &held) == 0 && S_ISDIR(held.st_mode))
    // fchmod takes no O_PATH handle.
    (void)chmod(("/proc/self/fd/" + std::to_string(handle.get())).c_str(),
                (held.st_mode | S_IRWXU) & 07777);
  return Fd(openat(at, name, kFlags));
}

bool CopyFile(int from, const char* name, int to, const char* new_name,
              CopyLimits* budget) {
  const Fd in(openat(
      from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat info = {};
  if (!in || fstat(in.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return false;
  const Fd out(openat(to, new_name,
                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                      0600));
  if (!out || ftruncate(out.get(), info.st_size) != 0) return false;
  constexpr size_t kBuffer = size_t{1} << 16;
  const auto buffer = std::make_unique<char[]>(kBuffer);
  // A file of holes is as large as it likes to say.
  off_t at = lseek(in.get(), 0, SEEK_DATA);
  for (; at >= 0 && at < info.st_size; at = lseek(in.get(), at, SEEK_DATA)) {
    const off_t end = lseek(in.get(), at, SEEK_HOLE);
    if (end < 0) return false;
    while (at < end) {
      const size_t most = std::min<size_t>(
          kBuffer, static_cast<size_t>(std::min<off_t>(end - at, kBuffer)));
      const ssize_t got = pread(in.get(), buffer.get(), most, at);
      if (got <= 0 || static_cast<uint64_t>(got) > budget->bytes ||
          pwrite(out.get(), buffer.get(), static_cast<size_t>(got), at) != got)
        return false;
      budget->bytes -= static_cast<uint64_t>(got);
      at += got;
    }
  }
  return at >= 0 || errno == ENXIO;  // behind the last data
}

bool Copy(int from, const char* name, int to, const char* new_name, int depth,
          CopyLimits* budget) {
  struct stat info = {};
  if (depth > kMaxTreeDepth || budget->entries == 0 ||
      fstatat(from, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
    return false;
  --budget->entries;
  if (S_ISREG(info.st_mode)) return CopyFile(from, name, to, new_name, budget);
  if (S_ISLNK(info.st_mode)) {
    char target[PATH_MAX];
    const ssize_t size = readlinkat(from, name, target, sizeof(target));
    return size > 0 && static_cast<size_t>(size) < sizeof(target) &&
           symlinkat(std::string(target, static_cast<size_t>(size)).c_str(), to,
                     new_name) == 0;
  }
  if (!S_ISDIR(info.st_mode)) return true;
  const Fd in = OpenDirectoryAt(from, name);
  if (!in || mkdirat(to, new_name, 0700) != 0) return false;
  const Fd out = OpenDirectoryAt(to, new_name);
  std::vector<std::string> names;
  return out && NamesOf(in.get(), budget->entries, &names) &&
         std::all_of(names.begin(), names.end(), [&](const std::string& each) {
           return Copy(in.get(), each.c_str(), out.get(), each.c_str(),
                       depth + 1, budget);
         });
}

// Removing, without descriptors for each level of a deep tree.
struct Removal {
  int top;  // where directories go that are too deep
  uint64_t next_name;
  bool hoisted = false;
};

bool Remove(int at, const char* name, int depth, Removal* removal);

bool RemoveBelow(int fd, int depth, Removal* removal) {
  for (;;) {
    std::vector<std::string> names;
    NamesOf(fd, kRemovedAtOnce, &names);
    if (names.empty()) return true;
    const auto removed =
        std::count_if(names.begin(), names.end(), [&](const auto& each) {
          return Remove(fd, each.c_str(), depth + 1, removal);
        });
    if (removed == 0) return false;
  }
}

bool Remove(int at, const char* name, int depth, Removal* removal) {
  if (unlinkat(at, name, 0) == 0) return true;
  if (errno != EISDIR && errno != EPERM) return false;
  if (unlinkat(at, name, AT_REMOVEDIR) == 0) return true;
  Fd fd = OpenDirectoryAt(at, name);
  if (!fd) return false;
  if (depth > kMaxTreeDepth) {
    // A name that the tree cannot have taken beforehand.
    const std::string hoisted =
        "gate-removes-" + std::to_string(removal->next_name++);
    if (renameat(at, name, removal->top, hoisted.c_str()) != 0) return false;
    return removal->hoisted = true;
  }
  RemoveBelow(fd.get(), depth, removal);
  fd = {};
  return unlinkat(at, name, AT_REMOVEDIR) == 0;
}

struct Told {
  size_t directories = 0, files = 0, others = 0, named = 0;
  uint64_t bytes = 0;
  bool more = false;
  std::string names;
};

void Tell(int at, const char* name, const std::string& path, int depth,
          Told* told) {
  struct stat info = {};
  if (told->directories + told->files + told->others >= kMaxTreeEntries) {
    told->more = true;
    return;
  }
  if (fstatat(at, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return;
  const bool directory = S_ISDIR(info.st_mode);
  ++(directory               ? told->directories
     : S_ISREG(info.st_mode) ? told->files
                             : told->others);
  if (S_ISREG(info.st_mode)) told->bytes += static_cast<uint64_t>(info.st_size);
  if (depth != 0 && told->named < kMaxToldEntries) {
    if (++told->named > 1) told->names += ", ";
    told->names += path;
    if (directory)
      told->names += "/";
    else if (S_ISREG(info.st_mode))
      told->names += " (" + std::to_string(info.st_size) + ")";
  }
  if (!directory) return;
  const Fd fd = depth < kMaxTreeDepth ? OpenDirectoryAt(at, name) : Fd();
  std::vector<std::string> names;
  if (!fd || !NamesOf(fd.get(), kMaxTreeEntries, &names)) told->more = true;
  std::sort(names.begin(), names.end());
  for (const std::string& each : names)
    Tell(fd.get(), each.c_str(),
         told->named < kMaxToldEntries && depth != 0 ? path + "/" + each : each,
         depth + 1, told);
}

}  // namespace

bool MoveTree(int from, const char* name, int to, const char* new_name,
              const CopyLimits& limits, bool* removed) {
  struct stat info = {};
  if (fstatat(to, new_name, &info, AT_SYMLINK_NOFOLLOW) == 0) return false;
  CopyLimits budget = RoomAt(to, limits);
  if (!Copy(from, name, to, new_name, 0, &budget)) {
    RemoveTree(to, new_name);
    return false;
  }
  *removed = RemoveTree(from, name);
  return true;
}

std::string TellTree(int at, const char* name) {
  Told told;
  Tell(at, name, name, 0, &told);
  const auto count = [](size_t number, const char* one, const char* many) {
    return std::to_string(number) + " " + (number == 1 ? one : many);
  };
  std::string text = (told.more ? "at least " : "") +
                     count(told.directories, "directory", "directories") +
                     ", " + count(told.files, "file", "files") + " of " +
                     std::to_string(told.bytes) + " bytes";
  if (told.others != 0) text += ", " + count(told.others, "other", "others");
  if (!told.names.empty()) text += ": " + told.names;
  if (told.named == kMaxToldEntries) text += ", ...";
  return text;
}

bool RemoveTree(int at, const char* name) {
  if (unlinkat(at, name, 0) == 0) return true;
  if (errno != EISDIR && errno != EPERM) return false;
  const Fd top = OpenDirectoryAt(at, name);
  if (!top) return false;
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  Removal removal = {top.get(), static_cast<uint64_t>(now.tv_nsec) << 32};
  do {
    removal.hoisted = false;
    RemoveBelow(top.get(), 0, &removal);
  } while (removal.hoisted);
  return unlinkat(at, name, AT_REMOVEDIR) == 0;
}

}  // namespace gate::backends
