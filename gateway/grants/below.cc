#include "gateway/grants/below.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>

namespace gate::app {

Fd OpenBelow(int directory, const std::string& name, uint64_t flags) {
  open_how how = {};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return Fd(static_cast<int>(
      ::syscall(SYS_openat2, directory, name.c_str(), &how, sizeof(how))));
}

bool EntriesOf(int directory, size_t most, std::vector<std::string>* names) {
  const int copy = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(
      copy < 0 ? nullptr : ::fdopendir(copy), ::closedir);
  if (entries == nullptr) {
    if (copy >= 0) ::close(copy);
    return false;
  }
  while (names->size() < most) {
    errno = 0;
    const dirent* entry = ::readdir(entries.get());
    if (entry == nullptr) return errno == 0;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names->emplace_back(name);
  }
  return true;
}

}  // namespace gate::app
