// macOS's own sandbox: a profile in its language (SBPL), run by sandbox-exec.
//
// Closed by default: what the profile does not allow is refused. Reading is
// allowed except for hidden paths and the system's places for temporary files;
// writing only in the writable roots, there not to protected paths, whatever
// the case of their letters (its file systems ignore it), and their directories
// cannot be renamed away. No network, or the host's; no service of the session
// but the look-up of users.
//
// There are no namespaces: what a command leaves running is ended only as far
// as it stays in the command's process group, there is no network of its own,
// and /tmp is out of reach (TMPDIR is the run's).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "base/result.h"

namespace gate::backends {

struct SeatbeltInputs {
  std::vector<std::string> write;    // roots; no symbolic link in them
  std::vector<std::string> hidden;   // neither read nor written
  std::vector<std::string> shown;    // readable though below a hidden one
  std::vector<std::string> protect;  // exact paths
  std::vector<std::string> names;    // in every root, at any depth
  Network network = Network::kNone;
};

// The profile. kInvalid for a path that is not absolute, not UTF-8 or has a
// control character in it, which the language has no sure way to say. Pure.
Result<std::string> SeatbeltProfile(const SeatbeltInputs& inputs);

// `text` as a string of the language; and, before that, as a part of a regular
// expression that matches it in any case of its ASCII letters. Pure.
std::string SeatbeltString(const std::string& text);
std::string SeatbeltPattern(const std::string& text);

struct Seatbelt {
  std::string program = "/usr/bin/sandbox-exec";
#ifdef __APPLE__
  bool here = true;
#else
  bool here = false;
#endif
};
std::unique_ptr<Backend> MakeSeatbelt(Seatbelt seatbelt = {});

}  // namespace gate::backends
