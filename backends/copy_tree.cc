#include "backends/copy_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace gate::backends {
namespace {

struct Budget {
  size_t entries = kMaxTreeEntries;
  uint64_t bytes = kMaxTreeBytes;
};

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
              Budget* budget) {
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
  for (off_t at = lseek(in.get(), 0, SEEK_DATA); at >= 0 && at < info.st_size;
       at = lseek(in.get(), at, SEEK_DATA)) {
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
  return true;
}

bool Copy(int from, const char* name, int to, const char* new_name, int depth,
          Budget* budget) {
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

bool Remove(int at, const char* name, int depth) {
  if (unlinkat(at, name, 0) == 0) return true;
  if ((errno != EISDIR && errno != EPERM) || depth > kMaxTreeDepth)
    return false;
  const Fd fd = OpenDirectoryAt(at, name);
  std::vector<std::string> names;
  if (!fd || !NamesOf(fd.get(), kMaxTreeEntries, &names)) return false;
  for (const std::string& each : names)
    Remove(fd.get(), each.c_str(), depth + 1);
  return unlinkat(at, name, AT_REMOVEDIR) == 0;
}

}  // namespace

bool MoveTree(int from, const char* name, int to, const char* new_name,
              bool* removed) {
  struct stat info = {};
  if (fstatat(to, new_name, &info, AT_SYMLINK_NOFOLLOW) == 0) return false;
  Budget budget;
  if (!Copy(from, name, to, new_name, 0, &budget)) {
    Remove(to, new_name, 0);
    return false;
  }
  *removed = Remove(from, name, 0);
  return true;
}

}  // namespace gate::backends
