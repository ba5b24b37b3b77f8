#include "hooks/client_sign.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/ascii.h"
#include "base/paths.h"

namespace gate::hooks {
namespace {

constexpr int kMaxSteps = 8;
// What stands between a client and its hook.
constexpr std::string_view kShells[] = {"sh",  "dash", "bash", "zsh",    "fish",
                                        "ksh", "mksh", "env",  "timeout"};

}  // namespace

bool IsShell(const ProcessView& process) {
  const std::string_view name =
      BaseName(process.executable.empty() ? process.name : process.executable);
  return std::ranges::find(kShells, name) != std::ranges::end(kShells);
}

std::vector<ProcessView> NearestAncestors() {
  std::vector<ProcessView> ancestors;
  int pid = ::getppid();
  for (int step = 0; step < kMaxSteps && pid > 1; ++step) {
    auto process = ReadProcess(pid);
    if (!process) break;
    pid = process->parent;
    ancestors.push_back(std::move(*process));
    if (!IsShell(ancestors.back())) break;
  }
  return ancestors;
}

}  // namespace gate::hooks
