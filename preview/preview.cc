// Before the run: the places of the overlays.
#include "preview/preview.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "backends/identity.h"
#include "backends/symlinks.h"
#include "base/paths.h"
#include "preview/tree.h"

namespace gate::backends {
namespace {

struct Root {
  std::string path;
  struct stat info = {};
};

// The writable roots without links and without those below another. Files and
// what is not there stay read-only in a preview.
Result<std::vector<Root>> OuterRoots(const Profile& profile,
                                     const RunUser& user) {
  std::vector<Root> all, outer;
  for (const std::string& path : profile.write) {
    char buffer[PATH_MAX];
    Root root;
    if (realpath(path.c_str(), buffer) == nullptr) continue;
    root.path = buffer;
    if (root.path != path) return SymlinkChanged(path);
    if (root.path == "/")
      return Fail(ErrorCode::kInvalid,
                  "a profile that writes everywhere has no preview");
    if (lstat(buffer, &root.info) != 0 || !S_ISDIR(root.info.st_mode)) continue;
    // The workspace's owner cannot write these of gate's own user.
    if (user.switched && root.info.st_uid != user.uid) continue;
    all.push_back(std::move(root));
  }
  std::sort(all.begin(), all.end(),
            [](const Root& a, const Root& b) { return a.path < b.path; });
  for (Root& root : all) {
    const bool inside = std::any_of(
        outer.begin(), outer.end(),
        [&](const Root& other) { return IsWithin(root.path, other.path); });
    if (!inside) outer.push_back(std::move(root));
  }
  return outer;
}

Status MakeOwned(const std::string& path, mode_t mode, uid_t uid, gid_t gid) {
  if (mkdir(path.c_str(), 0700) != 0)
    return FailErrno("cannot make `" + path + "`");
  // The group is a wish for anybody but root.
  if (chown(path.c_str(), geteuid() == 0 ? uid : static_cast<uid_t>(-1), gid) !=
          0 &&
      geteuid() == 0)
    return FailErrno("cannot give `" + path + "` to its user");
  if (chmod(path.c_str(), mode) != 0)
    return FailErrno("cannot set the mode of `" + path + "`");
  return {};
}

// Returns a time that every change of a file from now on is later than, and
// every change so far is not. Files are stamped with the coarse clock, so this
// waits for its next tick (at most some milliseconds).
int64_t StartOfChanges() {
  timespec start = {}, coarse = {};
  clock_gettime(CLOCK_REALTIME, &start);
  for (int i = 0; i < 1000; ++i) {
    clock_gettime(CLOCK_REALTIME_COARSE, &coarse);
    if (Nanoseconds(coarse) > Nanoseconds(start)) break;
    const timespec pause = {0, 200000};
    nanosleep(&pause, nullptr);
  }
  return Nanoseconds(start);
}

}  // namespace

const char* Name(PreviewChange change) {
  constexpr std::array<const char*, 4> kNames = {"added", "modified", "mode",
                                                 "deleted"};
  return kNames[static_cast<size_t>(change)];
}

const char* Name(PreviewType type) {
  constexpr std::array<const char*, 4> kNames = {"file", "directory", "link",
                                                 "other"};
  return kNames[static_cast<size_t>(type)];
}

Status PreparePreview(Profile* profile, const std::string& directory,
                      const std::vector<std::string>& kept,
                      PreviewManifest* manifest) {
  const RunUser user = ChooseUser(*profile);
  GATE_TRY(const std::vector<Root> roots, OuterRoots(*profile, user));
  *manifest = PreviewManifest();
  profile->overlays.clear();
  profile->write.clear();
  for (const Root& root : roots) {
    PreviewRoot preview;
    preview.root = root.path;
    preview.place = directory + "/" + std::to_string(manifest->roots.size());
    preview.device = root.info.st_dev;
    preview.inode = root.info.st_ino;
    preview.keep =
        std::any_of(kept.begin(), kept.end(), [&](const std::string& path) {
          char buffer[PATH_MAX];
          return realpath(path.c_str(), buffer) != nullptr &&
                 IsWithin(buffer, root.path);
        });
    if (mkdir(preview.place.c_str(), 0700) != 0)
      return FailErrno("cannot make `" + preview.place + "`");
    GATE_CHECK(MakeOwned(preview.place + "/upper", root.info.st_mode & 07777,
                         root.info.st_uid, root.info.st_gid));
    GATE_CHECK(MakeOwned(preview.place + "/work", 0700, user.uid, user.gid));
    profile->write.push_back(root.path);
    profile->overlays.push_back({root.path, preview.place});
    manifest->roots.push_back(std::move(preview));
  }
  if (profile->overlays.empty())
    return Fail(ErrorCode::kInvalid,
                "nothing is writable here, so there is nothing to preview");
  profile->required.Add(Feature::kOverlay);
  manifest->start_ns = StartOfChanges();
  return {};
}

}  // namespace gate::backends
