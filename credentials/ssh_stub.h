// The program that git inside a sandbox starts in the place of ssh: gate
// itself, which asks the broker outside (credentials/ssh_broker.h).
#pragma once

#include <string>
#include <vector>

namespace gate::credentials {

// The first argument by which gate is this program.
inline constexpr const char* kGitSshCommand = "git-ssh-transport";
// Where the broker's socket is inside.
inline constexpr const char* kTransportSocket = "/run/gate-transport";

// Sends `words` (git's arguments to ssh) to the broker, then passes stdin,
// stdout and stderr. Returns ssh's exit code; 255, as ssh does, with a line on
// stderr, where there is no broker or it refuses.
int RunGitSsh(const std::vector<std::string>& words);

}  // namespace gate::credentials
