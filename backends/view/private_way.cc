#include "backends/view/private_way.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/file.h"

namespace gate::backends {
namespace {

bool PutAside(int directory, const char* name) {
  constexpr int kTries = 4;
  for (int i = 0; i < kTries; ++i) {
    // Not to be guessed, and so not to be taken, by an earlier command.
    timespec now = {};
    clock_gettime(CLOCK_REALTIME, &now);
    const std::string aside = ".in-the-way-" + std::to_string(now.tv_sec) +
                              "-" + std::to_string(now.tv_nsec);
    if (syscall(SYS_renameat2, directory, name, directory, aside.c_str(),
                1u /* RENAME_NOREPLACE */) == 0)
      return true;
    if (errno != EEXIST) return false;
  }
  return false;
}

// Opens `name`, after what is of another kind was put aside. Empty where
// nothing is there, or it cannot be.
Fd Enter(int directory, const char* name, bool is_directory) {
  Fd fd(openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat info = {};
  if (!fd || fstat(fd.get(), &info) != 0) return {};
  const mode_t wanted = is_directory ? S_IFDIR : S_IFREG;
  if ((info.st_mode & S_IFMT) != wanted) {
    PutAside(directory, name);
    return {};
  }
  if (is_directory && (info.st_mode & S_IRWXU) != S_IRWXU) {
    // fchmod takes no O_PATH handle.
    const std::string path = "/proc/self/fd/" + std::to_string(fd.get());
    (void)chmod(path.c_str(), (info.st_mode | S_IRWXU) & 07777);
  }
  return fd;
}

void Clear(const std::string& place, std::string_view rest, bool directory) {
  Fd at(open(place.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  while (at && !rest.empty()) {
    rest.remove_prefix(1);  // a slash
    const size_t end = std::min(rest.find('/'), rest.size());
    const std::string name(rest.substr(0, end));
    rest.remove_prefix(end);
    at = Enter(at.get(), name.c_str(), directory || !rest.empty());
  }
}

}  // namespace

void ClearPrivateWays(const View& view) {
  for (const ViewMount& mount : view.mounts) {
    if (!mount.make) continue;
    const std::string_view target = mount.target;
    for (const ViewMount& cover : view.mounts)
      if (cover.kind == MountKind::kBacked &&
          cover.target == target.substr(0, mount.cover))
        Clear(cover.source, target.substr(mount.cover), mount.directory);
  }
}

}  // namespace gate::backends
