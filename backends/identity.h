// Which user a contained command runs as.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "backends/backend.h"

namespace gate::backends {

// An ordinary caller runs commands as itself. When root calls:
// - and the workspace belongs to root, the command is uid 0 without
//   capabilities, unless it could not even walk there (a project of root's in a
//   home that is closed to others): see the last case;
// - and it belongs to somebody else, the command runs as that owner: the files
//   stay writable without any capability, and what root alone may read is out
//   of reach;
// - and the owner cannot walk there (a project below /root), the command
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

// Whether a directory on the way to `path` is closed to `user`, who has
// capabilities over what is its own and over nothing else. The bits of the
// group bound every entry of an access list as well (acl(5)), so that they
// count as open whoever is in the group. Meant for a caller that is root.
bool IsClosedTo(const RunUser& user, const std::string& path);

// What must change in the environment of a switched user (HOME, USER and
// LOGNAME, since the caller's home is not readable for it) and of a uid 0 that
// cannot give files away (TAR_OPTIONS: tar would fail with every archive of
// somebody else's).
void SwitchEnvironment(const RunUser& user,
                       std::vector<std::string>* environment);

}  // namespace gate::backends
