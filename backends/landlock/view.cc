// Landlock grants; it cannot take back below what it granted. A hidden path is
// therefore hidden by granting everything beside it: each directory on the way
// to one is replaced by its entries.
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <set>

#include "backends/landlock/backend.h"
#include "backends/listing.h"
#include "backends/symlinks.h"
#include "backends/view/hidden_links.h"
#include "backends/view/mounts.h"
#include "base/file.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

constexpr auto kPrivatePlaces = std::to_array<const char*>(
    {"/dev", "/dev/shm", "/run", "/tmp", "/var/run", "/var/tmp"});
constexpr auto kDevices =
    std::to_array<const char*>({"/dev/null", "/dev/zero", "/dev/full",
                                "/dev/random", "/dev/urandom", "/dev/tty"});

class Builder {
 public:
  explicit Builder(const Profile& profile)
      : profile_(profile), links_(profile) {}

  Result<LandlockView> Run(const std::string& tmp) {
    for (const char* place : kPrivatePlaces)
      if (const std::string path = RealPath(place); !path.empty())
        hidden_.insert(path);
    const std::set<std::string> covers = hidden_;
    for (const std::string& root : profile_.write) {
      const std::string path = RealPath(root);
      if (path.empty() && root != profile_.workspace) continue;
      if (path.empty())
        return Fail(ErrorCode::kNotFound, "no workspace `" + root + "`");
      if (path != root) return SymlinkChanged(root);
      if (path == "/")
        return Fail(ErrorCode::kInvalid,
                    "without namespaces not everything can be writable");
      for (const char* system : {"/proc", "/sys", "/dev"})
        if (IsWithin(path, system) && !covers.contains(path) &&
            !IsWithin(path, "/dev/shm"))
          return Fail(ErrorCode::kInvalid,
                      "`" + root + "` cannot be a writable root");
      if (!covers.contains(path)) view_.write.push_back(path);
    }
    if (!tmp.empty()) view_.write.push_back(RealPath(tmp));
    GATE_TRY(mounts_, ReadMounts());
    for (const std::string& path : profile_.deny_read) GATE_CHECK(Hide(path));
    shown_.insert(view_.write.begin(), view_.write.end());
    for (const char* device : kDevices) {
      if (RealPath(device) != device) continue;
      view_.devices.emplace_back(device);
      shown_.insert(device);
    }
    Show(profile_.workspace);
    if (profile_.network == Network::kOpen) Show("/etc/resolv.conf");
    for (const std::string& path : hidden_)
      for (const std::string& root : view_.write)
        if (IsWithin(path, root))
          return Fail(ErrorCode::kInvalid,
                      "without namespaces `" + path +
                          "` cannot be hidden inside a writable root");
    GATE_CHECK(Grant("/"));
    return std::move(view_);
  }

 private:
  Status Hide(const std::string& name) {
    const std::string path = RealPath(name);
    struct stat info = {};
    if (path.empty() || stat(path.c_str(), &info) != 0) return {};
    if (name == "/")
      return Fail(ErrorCode::kInvalid, "the root cannot be hidden");
    if (path != name && !links_.MayHide(name, path, info)) return {};
    Insert(path);
    if (!S_ISDIR(info.st_mode) || links_.IsWritten(path)) return {};
    // A hidden directory may hold links to where its content really is.
    for (const std::string& link : LinksBelow(path)) {
      const std::string target = RealPath(link);
      if (!target.empty() && stat(target.c_str(), &info) == 0 &&
          S_ISREG(info.st_mode) && links_.MayHide(link, target, info))
        Insert(target);
    }
    return {};
  }

  // With what names it has by other mounts: what is granted of one directory is
  // granted wherever it is mounted.
  void Insert(const std::string& path) {
    hidden_.insert(path);
    for (const OtherName& other : OtherNames(mounts_, path))
      if (IsSame(other)) hidden_.insert(RealPath(other.name));
  }

  void Show(const std::string& name) {
    if (const std::string path = RealPath(name); !path.empty())
      shown_.insert(path);
  }

  bool HasBelow(const std::set<std::string>& paths,
                const std::string& directory) const {
    const std::string prefix = directory == "/" ? "/" : directory + "/";
    const auto at = paths.lower_bound(prefix);
    return at != paths.end() && at->starts_with(prefix);
  }

  // Everything at and below `path` that may be read.
  Status Grant(const std::string& path) {
    if (view_.read.size() >= kMaxLandlockRules)
      return Fail(ErrorCode::kTooLarge,
                  "too many rules to hide what is hidden");
    if (hidden_.contains(path) && !shown_.contains(path)) {
      for (const std::string& shown : shown_)
        if (shown != path && IsWithin(shown, path)) GATE_CHECK(Grant(shown));
      return {};
    }
    if (!HasBelow(hidden_, path)) {
      view_.read.push_back(path);
      return {};
    }
    DIR* list = opendir(path.c_str());
    // What cannot be listed is not granted.
    if (list == nullptr) return {};
    std::vector<std::string> entries;
    while (const dirent* entry = readdir(list)) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == ".." || entry->d_type == DT_LNK) continue;
      entries.push_back((path == "/" ? "" : path) + "/" + entry->d_name);
    }
    closedir(list);
    for (const std::string& entry : entries) GATE_CHECK(Grant(entry));
    return {};
  }

  const Profile& profile_;
  HiddenLinks links_;
  std::vector<HostMount> mounts_;
  std::set<std::string> hidden_, shown_;
  LandlockView view_;
};

}  // namespace

Result<LandlockView> MakeLandlockView(const Profile& profile,
                                      const std::string& tmp) {
  return Builder(profile).Run(tmp);
}

}  // namespace gate::backends
