// What stands between a writable root and a place that something takes orders
// from. A link there is remembered with what it says; where no link was, none
// may be after the run, whether anything was there before or not.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "backends/protect/quarantine.h"
#include "backends/protected_paths.h"
#include "backends/symlinks.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

// Where the components of `path` begin that lie in a writable root. One root
// may lie in another, where what is between them can be renamed.
size_t BeginOfWay(const std::vector<std::string>& roots,
                  const std::string& path) {
  size_t begin = path.size();
  for (const std::string& root : roots)
    if (IsWithin(path, root))
      begin = std::min(begin, root == "/" ? 0 : root.size());
  return begin;
}

}  // namespace

std::string ProtectedPaths::RecordWay(const std::string& path) {
  SymlinkTrace way = ResolveSymlinks(path);
  for (SymlinkTrace::Link& link : way.links) {
    const std::string* root = RootOf(link.path);
    if (root == nullptr || !bound_.insert(link.path).second) continue;
    Pin(*root, link.path);
    links_.push_back({std::move(link.path), std::move(link.target)});
  }
  for (std::string& left : way.left)
    if (const std::string* root = RootOf(left);
        root != nullptr && *root != left &&
        std::find(ways_.begin(), ways_.end(), left) == ways_.end())
      ways_.push_back(std::move(left));
  return way.place;
}

void ProtectedPaths::ClearWay(const std::string& path, ViolationKind kind) {
  struct stat info = {};
  for (size_t end = BeginOfWay(roots_, path); end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    const std::string part = path.substr(0, end);
    if (!StatPath(part, &info)) break;
    if (!S_ISLNK(info.st_mode)) continue;
    Quarantine(
        part, kind,
        part == path ? "a link that was none" : "a link that leads to " + path);
    cleared_.push_back(part);
    return;
  }
  // The link is above the roots, or somebody is still changing them.
  outcome_->sweep_complete = false;
  Report(kind, path + ": not looked at: a link is on the way");
}

bool ProtectedPaths::IsCleared(const std::string& path) const {
  return std::any_of(
      cleared_.begin(), cleared_.end(),
      [&](const std::string& link) { return IsWithin(path, link); });
}

bool ProtectedPaths::MissedOnTheWay(const std::string& path,
                                    ViolationKind kind) {
  if (errno == ELOOP)
    ClearWay(path, kind);
  else
    Unopened(path);
  return IsCleared(path);
}

void ProtectedPaths::MakeWay(const std::string& path) {
  struct stat above = {}, info = {};
  size_t end = BeginOfWay(roots_, path);
  if (!StatPath(end == 0 ? "/" : path.substr(0, end), &above)) return;
  while ((end = path.find('/', end + 1)) != std::string::npos) {
    const std::string part = path.substr(0, end);
    if (StatPath(part, &info) && !S_ISDIR(info.st_mode))
      Quarantine(part, ViolationKind::kProtectedPath,
                 "in the place of " + path);
    if (StatPath(part, &info)) {
      above = info;
      continue;
    }
    const std::string parent(DirName(part)), name(BaseName(part));
    OpenToOwner(parent);
    const Fd directory = OpenPath(parent);
    if (!directory || mkdirat(directory.get(), name.c_str(), 0755) != 0) return;
    if (geteuid() == 0)
      (void)!fchownat(directory.get(), name.c_str(), above.st_uid, above.st_gid,
                      AT_SYMLINK_NOFOLLOW);
  }
}

void ProtectedPaths::SweepLinks() {
  for (const Link& link : links_) {
    if (OpenPath(link.path)) {
      if (LinkText(link.path) == link.target) continue;
      Quarantine(link.path, ViolationKind::kProtectedPath,
                 "a protected link was replaced");
    } else {
      MissedOnTheWay(link.path, ViolationKind::kProtectedPath);
      Report(ViolationKind::kProtectedPath,
             link.path + ": a protected link was removed; put back");
    }
    MakeWay(link.path);
    const std::string parent(DirName(link.path));
    OpenToOwner(parent);
    const Fd directory = OpenPath(parent);
    if (!directory || symlinkat(link.target.c_str(), directory.get(),
                                std::string(BaseName(link.path)).c_str()) != 0)
      Report(ViolationKind::kProtectedPath,
             link.path + ": the link could not be restored");
  }
  for (const std::string& way : ways_) {
    struct stat info = {};
    if (StatPath(way, &info) ? S_ISLNK(info.st_mode) : errno == ELOOP)
      ClearWay(way, ViolationKind::kProtectedPath);
  }
}

}  // namespace gate::backends
