// The programs that a command may mean, as a shell searches for them.
#pragma once

#include <signal.h>

#include <span>
#include <string>
#include <vector>

namespace gate::backends {

// What to try for `program`, in order, with the PATH of `environment`.
std::vector<std::string> ProgramCandidates(
    const std::string& program, const std::vector<std::string>& environment);

// Executes the first of `programs` that can be, with SIGPIPE as it is by
// default and this mask of signals. Returns only when none can: ENOENT, or the
// errno that says more. For the time between clone and exec.
int ExecuteFirst(std::span<const char* const> programs, char* const* argv,
                 char* const* envp, const sigset_t& mask);

// Asked outside, as several sandboxes fail without saying why; what is found
// outside is what is found inside. Why a shell's search in `cwd` with
// `environment` would not find `program`: ENOENT, EACCES, or 0 when it would.
int MissingProgram(const std::string& program, const std::string& cwd,
                   const std::vector<std::string>& environment);

}  // namespace gate::backends
