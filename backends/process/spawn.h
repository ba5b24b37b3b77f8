// Starting a program exactly: streams, directory, signals, nothing inherited.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/process/limits.h"
#include "base/file.h"

namespace gate::backends {

struct SpawnRequest {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH
  std::vector<std::string> environment;
  std::string cwd;        // empty: the caller's
  DirectoryId directory;  // ESTALE when `cwd` is another one; if known
  Io io;
  sigset_t mask = {};      // what the program starts with
  bool own_group = false;  // a process group of its own
  bool own_session = false;
  bool die_with_parent = false;
  // A process between the caller and the program, which ends as the program
  // does. When the caller dies it also ends children that the program left to
  // nobody, however early. Implies die_with_parent. The pid is the
  // supervisor's.
  bool supervisor = false;
  std::vector<int> keep;  // descriptors that stay, with their numbers
  uid_t uid = 0;          // with `switch_user`
  gid_t gid = 0;
  bool switch_user = false;
  std::vector<Limit> limits;
  // no_new_privs, and what of Landlock does not forbid mounting: signals and
  // abstract unix sockets end at the program and its children.
  bool scope = false;
};

enum class SpawnStage : int {
  kNone,
  kFork,
  kUser,
  kDirectory,
  kLimits,
  kWalls,
  kExec
};

struct Spawned {
  pid_t pid = -1;
  Fd pidfd;
  int error = 0;  // errno of `stage`; 0: it runs
  SpawnStage stage = SpawnStage::kNone;
};

// Every other descriptor than the streams and `keep` is closed.
Spawned Spawn(const SpawnRequest& request);

}  // namespace gate::backends
