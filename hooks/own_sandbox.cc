#include "hooks/own_sandbox.h"

#include <unistd.h>

#include "base/paths.h"
#include "base/text.h"
#include "hooks/person.h"

namespace gate::hooks {
namespace {

// The guard line, the person's shell and `timeout` stand between.
constexpr int kMaxAncestors = 8;

}  // namespace

std::string Describe(const OwnSandbox& sandbox) {
  if (sandbox.mode == SandboxMode::kUnknown) return Visible(sandbox.why);
  return sandbox.name + ", by " + Visible(sandbox.from);
}

std::optional<std::vector<std::string>> WordsOfClient(std::string_view client) {
  int pid = ::getppid();
  for (int step = 0; step < kMaxAncestors && pid > 1; ++step) {
    const auto process = ReadProcess(pid);
    if (!process) break;
    // A wrapper is called otherwise (`.codex-wrapped`), or starts it as that.
    const std::string_view first =
        process->words.empty() ? "" : BaseName(process->words.front());
    if (process->name.find(client) != std::string::npos ||
        first.find(client) != first.npos)
      return process->words;
    pid = process->parent;
  }
  return std::nullopt;
}

}  // namespace gate::hooks
