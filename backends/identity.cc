#include "backends/identity.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"

namespace gate::backends {

RunUser ChooseUser(const Profile& profile) {
  RunUser user{geteuid(), getegid(), false};
  struct stat info = {};
  if (user.uid != 0 || profile.workspace.empty() ||
      stat(profile.workspace.c_str(), &info) != 0 || info.st_uid == 0)
    return user;
  return {info.st_uid, info.st_gid, true};
}

void SwitchEnvironment(const RunUser& user,
                       std::vector<std::string>* environment) {
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
