// docker and podman behind gate's interface: one implementation over their
// command-line clients.
//
// The container's root is an image of gate's own into which the host's
// directories are bound read-only, and over them the same view as native's and
// bwrap's (backends/view/view.h), so that a command finds the tools it finds
// outside; or the image of Profile::image, with the workspace and the other
// places of the view that are the command's (backends/engine_image.h).
//
// No capabilities, no new privileges, a read-only root, gate's filter on
// system calls (container_seccomp.h), its own pid, ipc, uts, mount and (unless
// open) network namespaces, the user's or the workspace owner's uid. Limits by
// control groups, and by gate's own sums (engine_account.h).
//
// A watchdog process removes the container by force when the run is over and
// when gate is killed. Probing starts nothing: it looks for the client and
// asks the socket; what works is proved by the run, or by `gate backends
// probe`. Engines elsewhere (DOCKER_HOST over tcp or ssh) are not taken, since
// the host's files are not there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/engines/client.h"
#include "backends/view/view.h"
#include "base/result.h"

namespace gate::backends {

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
  bool configured = false;  // `image` is the user's: it brings its own tools
  std::string init;         // on the host, for process 1; empty: none
  // podman's tmpfs would copy what it covers, and it would raise these limits
  // above what the caller may.
  bool podman = false;
  std::string open_files = "-1", processes = "-1";  // the caller's
  std::vector<std::string> environment;
};

// The words after `run`, up to the command. kInvalid for a path with a line
// break. Pure.
Result<std::vector<std::string>> ContainerArguments(
    const ContainerInputs& inputs);

}  // namespace gate::backends
