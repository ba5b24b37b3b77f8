#include "backends/view/hidden_links.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "backends/symlinks.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

// Programs, libraries and their data.
constexpr auto kPrograms = std::to_array<std::string_view>(
    {"/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin", "/usr"});
// Of the kernel; each run has its own, or nothing of it can be covered.
constexpr auto kKernel =
    std::to_array<std::string_view>({"/dev", "/proc", "/sys"});
// What holds these and everything else.
constexpr auto kWhole = std::to_array<std::string_view>(
    {"/", "/boot", "/etc", "/home", "/media", "/mnt", "/opt", "/root", "/run",
     "/srv", "/tmp", "/var"});

// What is not hidden because a link leads to it. A file below /usr that not
// everybody may read is somebody's secret all the same.
bool IsCommon(const std::string& path, const struct stat& info) {
  const auto holds = [&](std::string_view place) {
    return IsWithin(path, std::string(place));
  };
  if (std::ranges::any_of(kKernel, holds)) return true;
  if (std::ranges::find(kWhole, path) != kWhole.end()) return true;
  return std::ranges::any_of(kPrograms, holds) && info.st_uid == 0 &&
         (info.st_mode & S_IROTH) != 0;
}

}  // namespace

bool HiddenLinks::IsWritten(const std::string& path) {
  if (!known_) {
    known_ = true;
    const auto add = [&](const std::string& place) {
      if (place.empty() || place == "/") return;
      written_.push_back(place);
      if (std::string real = RealPath(place); !real.empty() && real != place)
        written_.push_back(std::move(real));
    };
    for (const std::string* place :
         {&profile_.state_dir, &profile_.private_tmp, &profile_.quarantine_dir,
          &profile_.runs_dir})
      add(*place);
    for (const std::string& root : profile_.write) add(root);
  }
  return std::ranges::any_of(written_, [&](const std::string& place) {
    return IsWithin(path, place);
  });
}

bool HiddenLinks::MayHide(const std::string& path, const std::string& target,
                          const struct stat& info) {
  if (IsCommon(target, info)) return false;
  const SymlinkTrace way = ResolveSymlinks(path);
  return std::ranges::none_of(way.links, [&](const SymlinkTrace::Link& link) {
    return IsWritten(link.path);
  });
}

}  // namespace gate::backends
