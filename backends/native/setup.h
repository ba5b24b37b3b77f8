// The child's part: mounts, identity, isolation. Async-signal-safe throughout.
#pragma once

#include "backends/native/plan.h"

namespace gate::backends {

class NetworkMaker;

// Steps of the child, for error messages.
enum class Stage : uint32_t {
  kNone,
  kStreams,
  kIdentity,
  kLoopback,
  kOpenSource,
  kScratch,
  kReadOnlyRoot,
  kProc,
  kMakeTarget,
  kOpenTarget,
  kChanged,
  kMount,
  kDevpts,
  kWorkingDirectory,
  kNoNewPrivileges,
  kLandlock,
  kCapabilities,
  kSeccomp,
  kFork,
  kLimits,
  kProbe,
  kOverlay,
  kNamespaces,
  kCgroup,
  kProcessors,
  kListen,
};
const char* Name(Stage stage);

struct SetupError {
  Stage stage = Stage::kNone;
  int error = 0;
  int index = -1;  // of the mount
};

// What needs no plan, in this order. The user and pid namespaces came with the
// process, that of the network is network.h's.
bool MakeNamespaces(SetupError* error);
// Maps the user into the user namespace, where gate has not written the maps.
// Numbers the processes of this process's namespace from `last` on: what is
// named after a number (pid files, /tmp/job.$$) does not meet that of every
// other run. Only where the kernel can (CONFIG_CHECKPOINT_RESTORE); needs the
// host's /proc.
void NumberProcessesFrom(pid_t last);
bool MapSelf(uid_t uid, gid_t gid, SetupError* error);

// Mounts that are the same for every plan, not attached yet; what could not be
// made is made when it is attached.
struct Early {
  int proc = -1, terminals = -1;
};
Early MakeEarly();
// Empties the capability bounding set, of which nothing is needed for the rest.
bool DropBounds(bool keep_file_owner, SetupError* error);

// Clones what gate has found so far, from place `*next` on. What cannot be had,
// or is not what gate saw, is left to BuildView.
void CloneEarly(NativePlan* plan, uint32_t* next);

// Where gate has written the maps: becomes the plan's user.
bool BecomeUser(NativePlan* plan, SetupError* error);

// Everything from the mounts to the working directory.
bool BuildView(NativePlan* plan, const Early& early, SetupError* error);

// no_new_privs, Landlock, the network, capabilities, seccomp; the last thing
// before the command is started. `report`: takes what listens for the plan's
// ports. `listener`: of the filter, when the plan asks for one.
bool RaiseWalls(const NativePlan& plan, NetworkMaker* network, int report,
                int* listener, SetupError* error);

}  // namespace gate::backends
