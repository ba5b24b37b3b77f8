#include "backends/native/mount_placeholders.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace gate::backends {
namespace {

constexpr mode_t kMark = S_ISVTX;
// A run that removes a place holds it alone for two calls.
constexpr int kTries = 50;
constexpr useconds_t kPauseUs = 1000;

bool IsMarked(const struct stat& info) { return (info.st_mode & kMark) != 0; }

bool StandsAt(int directory, const char* name, int fd, struct stat* info) {
  struct stat there = {};
  return fstat(fd, info) == 0 &&
         fstatat(directory, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
         there.st_dev == info->st_dev && there.st_ino == info->st_ino;
}

// Makes a marked place; -1 and errno when something is there already.
Fd MakeMarked(int directory, const char* name, bool file, mode_t mode,
              const RunUser& user) {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC;
  Fd made;
  if (file) {
    made = Fd(openat(directory, name, kFlags | O_CREAT | O_EXCL, kMark));
  } else if (mkdirat(directory, name, kMark | 0700) == 0) {
    made = Fd(openat(directory, name, kFlags | O_DIRECTORY));
    if (made) fchmod(made.get(), kMark | mode);
  }
  // Where that fails nobody inside may write in it.
  if (made && user.switched) (void)!fchown(made.get(), user.uid, user.gid);
  return made;
}

// Opens a marked place, whose mode lets nobody read it.
Fd OpenMarked(int directory, const char* name, const struct stat& info) {
  constexpr int kFlags = O_RDONLY | O_NONBLOCK | O_CLOEXEC;
  Fd fd(openat(directory, name, kFlags | O_NOFOLLOW));
  if (fd || errno != EACCES) return fd;
  const Fd handle(openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat there = {};
  if (!handle || fstat(handle.get(), &there) != 0 ||
      there.st_dev != info.st_dev || there.st_ino != info.st_ino)
    return fd;
  const std::string path = "/proc/self/fd/" + std::to_string(handle.get());
  if (chmod(path.c_str(), kMark | 0500) != 0) return fd;
  fd = Fd(open(path.c_str(), kFlags));
  chmod(path.c_str(), info.st_mode & 07777);
  return fd;
}

}  // namespace

bool MountPlaceholders::Make(const std::string& root, std::string_view rest,
                             bool directory, const RunUser& user) {
  constexpr int kWalk = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Fd at(open(root.c_str(), kWalk));
  while (at && !rest.empty()) {
    const size_t end = std::min(rest.find('/'), rest.size());
    const std::string name(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const bool file = rest.empty() && !directory;
    const mode_t mode = rest.empty() ? 0 : 0755;
    bool found = false;
    for (int i = 0; i < kTries && !found; ++i) {
      Fd place = MakeMarked(at.get(), name.c_str(), file, mode, user);
      struct stat info = {};
      if (!place) {
        if (errno != EEXIST) return false;
        if (fstatat(at.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
          continue;
        if (S_ISREG(info.st_mode) != file || S_ISDIR(info.st_mode) == file ||
            (file && info.st_size != 0))
          return false;
        found = !IsMarked(info);
        if (found) break;
        place = OpenMarked(at.get(), name.c_str(), info);
        if (!place) continue;
      }
      if (flock(place.get(), LOCK_SH | LOCK_NB) != 0) {
        usleep(kPauseUs);
        continue;
      }
      if (!StandsAt(at.get(), name.c_str(), place.get(), &info)) continue;
      found = true;
      Fd in(fcntl(at.get(), F_DUPFD_CLOEXEC, 0));
      places_.push_back({std::move(in), name, std::move(place)});
    }
    if (!found) return false;
    if (!rest.empty()) at = Fd(openat(at.get(), name.c_str(), kWalk));
  }
  return bool(at);
}

void MountPlaceholders::Remove() {
  for (; !places_.empty(); places_.pop_back()) {
    const Place& place = places_.back();
    const int lock = place.lock.get();
    struct stat info = {};
    if (flock(lock, LOCK_EX | LOCK_NB) == 0 &&
        StandsAt(place.directory.get(), place.name.c_str(), lock, &info) &&
        IsMarked(info) && (S_ISDIR(info.st_mode) || info.st_size == 0))
      unlinkat(place.directory.get(), place.name.c_str(),
               S_ISDIR(info.st_mode) ? AT_REMOVEDIR : 0);
    // Another process's copy would hold it on.
    flock(lock, LOCK_UN);
  }
}

}  // namespace gate::backends
