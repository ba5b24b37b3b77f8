// Which user a contained command runs as.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "backends/backend.h"

namespace gate::backends {

// An ordinary caller runs commands as itself. When root calls and the
// workspace belongs to somebody else, the command runs as the workspace's
// owner: its files stay writable without any capability, and what root alone
// may read is out of reach. When the workspace belongs to root the command is
// uid 0 without capabilities.
struct RunUser {
  uid_t uid = 0;
  gid_t gid = 0;
  bool switched = false;  // not the caller
};

RunUser ChooseUser(const Profile& profile);

// What must change in the environment of a switched user: HOME, USER and
// LOGNAME, since the caller's home is not readable for it.
void SwitchEnvironment(const RunUser& user,
                       std::vector<std::string>* environment);

}  // namespace gate::backends
