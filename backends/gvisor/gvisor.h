// gVisor behind gate's interface: the command's system calls are answered by a
// kernel of its own (runsc), not by this machine's.
//
// The container's root is the host's root directory, read-only, and over it
// the same view as native's and bwrap's (backends/view/view.h); so a command
// finds the tools it finds outside. No capabilities, no new privileges, no
// device or unix socket of the host, its own /dev, /proc and /sys. Works as
// root and, by a user namespace of runsc's, as an ordinary user, whom the
// command then sees as uid 0.
//
// Its platform (systrap, ptrace; kvm only by configuration of runsc itself) is
// the one that runsc was built for. Probing starts nothing: it looks for runsc
// and whether an ordinary user may have a user namespace; what works is proved
// by the run, or by `gate backends probe`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/view/view.h"
#include "base/result.h"

namespace gate::backends {

struct Gvisor {
  std::vector<std::string> paths = {"/usr/bin/runsc", "/usr/local/bin/runsc"};
  std::string place;  // where a run's files are kept; empty: chosen
};

std::unique_ptr<Backend> MakeGvisor(Gvisor gvisor = {});

struct BundleInputs {
  View view;
  std::string empty;  // a file that nobody can open, for hidden files
  std::vector<std::string> argv, environment;
  std::string cwd;
  uid_t uid = 0;
  gid_t gid = 0;
  Network network = Network::kNone;
  Limits limits;
};

// The bundle's config.json. kInvalid for a path, argument or variable that is
// not UTF-8, which JSON cannot say. Pure.
Result<std::string> GvisorBundle(const BundleInputs& inputs);

// The words before the sub-command. Pure.
std::vector<std::string> GvisorOptions(const std::string& bundle,
                                       Network network, bool rootless);

}  // namespace gate::backends
