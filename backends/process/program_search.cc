#include "backends/process/program_search.h"

#include <errno.h>
#include <sys/stat.h>

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

int MissingProgram(const std::string& program, const std::string& cwd,
                   const std::vector<std::string>& environment) {
  if (program.find('/') != std::string::npos) return Runnable(At(cwd, program));
  std::string_view search = "/usr/local/bin:/usr/bin:/bin";
  for (const std::string& entry : environment)
    if (entry.starts_with("PATH=")) search = std::string_view(entry).substr(5);
  int seen = ENOENT;
  while (true) {
    const size_t colon = search.find(':');
    const std::string directory(search.substr(0, colon));
    const int found = Runnable(
        At(cwd, directory.empty() ? program : directory + "/" + program));
    if (found == 0) return 0;
    if (found == EACCES) seen = EACCES;
    if (colon == std::string_view::npos) return seen;
    search.remove_prefix(colon + 1);
  }
}

}  // namespace gate::backends
