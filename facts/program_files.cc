#include "facts/program_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/file.h"
#include "base/paths.h"

namespace gate::app {

bool IsWritablePlace(const std::string& path,
                     const std::vector<std::string>& writable) {
  if (IsTemporaryPlace(path)) return true;
  for (const std::string& place : writable)
    if (!place.empty() && IsWithin(path, place)) return true;
  return false;
}

ProgramFile ResolveProgram(const std::string& program, const std::string& path,
                           const std::string& cwd) {
  if (program.empty()) return {};
  if (program.find('/') != std::string::npos) {
    // Not normalised before it is resolved: `link/..` is not lexical.
    const std::string file = program[0] == '/' ? program : cwd + "/" + program;
    return {Normalise(file, cwd), RealPath(file)};
  }
  std::string_view rest = path;
  while (true) {
    const size_t colon = rest.find(':');
    const std::string_view entry = rest.substr(0, colon);
    // An empty entry is the current directory, as execvp(3) has it.
    const std::string file =
        Normalise(entry.empty() ? "." : entry, cwd) + "/" + program;
    struct stat info{};
    if (::stat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        ::access(file.c_str(), X_OK) == 0)
      return {file, RealPath(file)};
    if (colon == std::string_view::npos) return {};
    rest.remove_prefix(colon + 1);
  }
}

bool IsVersionManagerShim(const ProgramFile& file) {
  constexpr std::array<std::string_view, 10> kManagers = {
      "asdf",  "fnm", "mise",   "proto-shim", "pyenv",
      "rbenv", "rtx", "rustup", "volta",      "volta-shim"};
  const std::string_view name = BaseName(file.real);
  return file.found.find("/shims/") != std::string::npos ||
         file.real.find("/corepack/") != std::string::npos ||
         (name != BaseName(file.found) &&
          std::find(kManagers.begin(), kManagers.end(), name) !=
              kManagers.end());
}

}  // namespace gate::app
