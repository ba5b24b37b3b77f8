// Which user a contained command runs as.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "backends/backend.h"

namespace gate::backends {

// An ordinary caller runs commands as itself. When root calls:
// - and the workspace belongs to root, the command is uid 0 without
//   capabilities;
// - and it belongs to somebody else, the command runs as that owner: the files
//   stay writable without any capability, and what root alone may read is out
//   of reach;
// - and the owner cannot even walk there (a project below /root), the command
//   is uid 0 with the capabilities that let it write the owner's files
//   (DAC_OVERRIDE, FOWNER, CHOWN), valid in its own user namespace, which maps
//   every id. Only native can do this; what it may write is still only what
//   the profile names.
struct RunUser {
  uid_t uid = 0;
  gid_t gid = 0;
  bool switched = false;  // not the caller
  bool all_ids = false;   // the third case
};

RunUser ChooseUser(const Profile& profile);

// What must change in the environment of a switched user (HOME, USER and
// LOGNAME, since the caller's home is not readable for it) and of a uid 0 that
// cannot give files away (TAR_OPTIONS: tar would fail with every archive of
// somebody else's).
void SwitchEnvironment(const RunUser& user,
                       std::vector<std::string>* environment);

}  // namespace gate::backends
