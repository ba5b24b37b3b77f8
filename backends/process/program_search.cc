#include "backends/process/program_search.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

namespace gate::backends {
namespace {

int Runnable(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return errno == EACCES ? EACCES : ENOENT;
  if (!S_ISREG(info.st_mode)) return EACCES;
  return (info.st_mode & 0111) != 0 ? 0 : EACCES;
}

std::string At(const std::string& cwd, const std::string& path) {
  return path.starts_with('/') ? path : cwd + "/" + path;
}

}  // namespace

std::vector<std::string> ProgramCandidates(
    const std::string& program, const std::vector<std::string>& environment) {
  if (program.empty() || program.find('/') != std::string::npos)
    return {program};
  std::string_view search = "/usr/local/bin:/usr/bin:/bin";
  for (const std::string& entry : environment)
    if (entry.starts_with("PATH=")) search = std::string_view(entry).substr(5);
  std::vector<std::string> all;
  while (true) {
    const size_t colon = search.find(':');
    const std::string directory(search.substr(0, colon));
    all.push_back((directory.empty() ? "." : directory) + "/" + program);
    if (colon == std::string_view::npos) return all;
    search.remove_prefix(colon + 1);
  }
}

int MissingProgram(const std::string& program, const std::string& cwd,
                   const std::vector<std::string>& environment) {
  int seen = ENOENT;
  for (const std::string& path : ProgramCandidates(program, environment)) {
    const int found = Runnable(At(cwd, path));
    if (found == 0) return 0;
    if (found == EACCES) seen = EACCES;
  }
  return seen;
}

int ExecuteFirst(std::span<const char* const> programs, char* const* argv,
                 char* const* envp, const sigset_t& mask) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(SIGPIPE, &action, nullptr);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  int seen = ENOENT;
  for (const char* program : programs) {
    execve(program, argv, envp);
    // As a shell's search does: a file that may not be run is remembered, a
    // missing one is passed over.
    if (errno != ENOENT && errno != ENOTDIR) seen = errno;
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) break;
  }
  return seen;
}

}  // namespace gate::backends
