// bubblewrap behind gate's interface.
//
// Gives the view, filter, protected paths and environment that native gives,
// made by the bwrap program on PATH. What it cannot give: Landlock (bwrap must
// mount, which Landlock forbids), and the difference between exit code 128+n
// and an end by signal n (it reports both as 128+n, and so does the outcome).
// Versions before 0.12.0 follow a symbolic link in a parent while they make a
// mount point (CVE-2026-87766).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/view/view.h"

namespace gate::backends {

std::unique_ptr<Backend> MakeBwrap();

struct BwrapInputs {
  View view;
  std::string cwd;
  Network network = Network::kNone;
  bool terminal = false;  // stdin is a terminal: keep the session
  int seccomp_fd = -1;
  int status_fd = -1;
  uint64_t tmpfs_bytes = 0;  // 0: the kernel's default
};

// bwrap's options, without the program's name and the command. Pure.
std::vector<std::string> BwrapArguments(const BwrapInputs& inputs);

}  // namespace gate::backends
