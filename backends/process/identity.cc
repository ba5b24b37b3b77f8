#include "backends/identity.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"

namespace gate::backends {

namespace {

// Whether every directory on the way to `path` may be passed by `uid`.
bool CanWalk(const std::string& path, uid_t uid, gid_t gid) {
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) == nullptr) return false;
  for (std::string at(DirName(resolved)); at.size() > 1;
       at = std::string(DirName(at))) {
    struct stat info = {};
    if (stat(at.c_str(), &info) != 0) return false;
    const mode_t bit = info.st_uid == uid   ? S_IXUSR
                       : info.st_gid == gid ? S_IXGRP
                                            : S_IXOTH;
    if ((info.st_mode & bit) == 0) return false;
  }
  return true;
}

}  // namespace

bool IsClosedTo(const RunUser& user, const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    struct stat info = {};
    if (stat(path.substr(0, slash).c_str(), &info) != 0) return false;
    if (info.st_uid != user.uid && (info.st_mode & (S_IXGRP | S_IXOTH)) == 0)
      return true;
  }
  return false;
}

RunUser ChooseUser(const Profile& profile) {
  RunUser user{geteuid(), getegid(), false};
  struct stat info = {};
  if (user.uid != 0 || profile.workspace.empty() ||
      stat(profile.workspace.c_str(), &info) != 0)
    return user;
  if (info.st_uid == 0) {
    user.all_ids = IsClosedTo(user, profile.workspace);
    return user;
  }
  if (!CanWalk(profile.workspace, info.st_uid, info.st_gid)) {
    user.all_ids = true;
    return user;
  }
  return {info.st_uid, info.st_gid, true, false};
}

void SwitchEnvironment(const RunUser& user,
                       std::vector<std::string>* environment) {
  // It would give files away as root does, which this uid 0 cannot.
  if (user.uid == 0 && !user.all_ids)
    environment->push_back("TAR_OPTIONS=--no-same-owner");
  if (!user.switched) return;
  std::erase_if(*environment, [](const std::string& entry) {
    return entry.starts_with("HOME=") || entry.starts_with("USER=") ||
           entry.starts_with("LOGNAME=") || entry.starts_with("MAIL=");
  });
  const std::optional<std::string> name = UserName(user.uid);
  std::optional<std::string> home;
  if (name) home = HomeOf(*name);
  // A private, writable place when the owner has no usable home of its own.
  struct stat info = {};
  if (!home || *home == "/" || stat(home->c_str(), &info) != 0 ||
      info.st_uid != user.uid)
    home = "/tmp";
  environment->push_back("HOME=" + *home);
  if (name) {
    environment->push_back("USER=" + *name);
    environment->push_back("LOGNAME=" + *name);
  }
}

}  // namespace gate::backends
