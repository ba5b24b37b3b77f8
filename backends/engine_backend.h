// docker and podman behind gate's interface: one implementation over their
// command-line clients.
//
// The container's root is an image of gate's own that holds nothing but the
// names and links of the host's root directory; the host's directories are
// bound into it read-only, and over them the same view as native's and bwrap's
// (backends/view.h). A command therefore finds the tools it finds outside.
// Nothing is downloaded.
//
// No capabilities, no new privileges, a read-only root, gate's filter on
// system calls (container_seccomp.h), its own pid, ipc, uts, mount and (unless
// open) network namespaces, the user's or the workspace owner's uid, limits by
// cgroups.
//
// A guardian process removes the container by force when the run is over and
// when gate is killed. Probing starts nothing: it looks for the client and
// asks the socket; what works is proved by the run, or by `gate backends
// probe`. Engines elsewhere (DOCKER_HOST over tcp or ssh) are not taken, since
// the host's files are not there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/view.h"
#include "base/result.h"

namespace gate::backends {

struct Engine {
  std::string name;                      // docker, podman
  std::vector<std::string> paths;        // where its client may be
  std::vector<std::string> options;      // of every call
  std::vector<std::string> environment;  // of the client
  std::string socket;  // must accept connections; empty: no daemon
  int priority = 50;
};

Engine Docker();
Engine Podman();
std::unique_ptr<Backend> MakeEngineBackend(Engine engine);

struct ContainerInputs {
  std::string name, image;
  std::string seccomp;  // a file with the filter on system calls
  View view;
  std::vector<std::string> roots;  // the host's directories below /
  std::string cwd;
  Network network = Network::kNone;
  Limits limits;
  uid_t uid = 0;
  gid_t gid = 0;
  bool keep_id = false;  // podman without root
  bool terminal = false;
  // podman's tmpfs would copy what it covers, and it would raise these limits
  // above what the caller may.
  bool podman = false;
  std::string open_files = "-1", processes = "-1";  // the caller's
  std::vector<std::string> environment;
};

// The words after `run`, without the command. kInvalid for a path with a line
// break. Pure.
Result<std::vector<std::string>> ContainerArguments(
    const ContainerInputs& inputs);

// A tar archive with the host's links below / and an empty directory for each
// of `roots`. Pure.
std::string BaseImage(
    const std::vector<std::string>& roots,
    const std::vector<std::pair<std::string, std::string>>& links);

}  // namespace gate::backends
