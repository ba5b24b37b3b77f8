// Which commands load settings of the project.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "approvals/trust.h"
#include "base/ascii.h"
#include "base/hash.h"
#include "base/paths.h"
#include "base/text.h"
#include "hooks/capabilities.h"

namespace gate::app {
namespace {

using parser::Invocation;

constexpr std::array<std::string_view, 8> kRunners = {
    "npx", "bunx", "pnpx", "npm", "pnpm", "yarn", "bun", "uvx"};
// Git commands that only look; every other one may run a hook.
constexpr std::array<std::string_view, 24> kLooks = {
    "status",       "log",      "diff",      "show",        "blame",
    "ls-files",     "ls-tree",  "rev-parse", "rev-list",    "help",
    "version",      "config",   "grep",      "describe",    "cat-file",
    "shortlog",     "reflog",   "remote",    "ls-remote",   "merge-base",
    "for-each-ref", "show-ref", "name-rev",  "check-ignore"};

// Options of git itself whose value is the next word.
constexpr std::array<std::string_view, 7> kTakesValue = {
    "-C",          "-c",           "--git-dir",    "--work-tree",
    "--namespace", "--config-env", "--attr-source"};

bool StartsAgent(const Invocation& invocation) {
  if (hooks::IsAgentProgram(invocation.program)) {
    // These print and end.
    return invocation.argv.size() != 2 || !invocation.argv[1].known ||
           (invocation.argv[1].text != "--version" &&
            invocation.argv[1].text != "--help");
  }
  if (!Contains(kRunners, invocation.program)) return false;
  return std::ranges::any_of(invocation.argv, [](const parser::Argument& word) {
    return hooks::NamesAgentPackage(word.text);
  });
}

// Where git would look for the hooks it may run; nothing when it runs none.
std::optional<std::string> HookDirectory(const Invocation& invocation,
                                         std::string directory) {
  if (invocation.program != "git") return std::nullopt;
  for (size_t i = 1; i < invocation.argv.size(); ++i) {
    const parser::Argument& word = invocation.argv[i];
    if (!word.known) return directory;
    const bool has_value = i + 1 < invocation.argv.size();
    if (word.text == "-C" && has_value && invocation.argv[i + 1].known)
      directory = Normalise(invocation.argv[i + 1].text, directory);
    if (Contains(kTakesValue, word.text)) {
      ++i;
    } else if (!word.text.starts_with('-')) {
      if (Contains(kLooks, word.text)) return std::nullopt;
      return directory;
    }
  }
  return std::nullopt;
}

// What of `items` differs from what was trusted; empty for nothing.
UntrustedUse Untrusted(const std::vector<TrustItem>& items,
                       const TrustRecord& record,
                       const std::string& workspace) {
  UntrustedUse use;
  std::string all;
  for (const TrustItem& item : items) {
    const auto known = record.files.find(item.path);
    if (known != record.files.end() && !item.hash.empty() &&
        known->second == item.hash)
      continue;
    std::string path = Visible(item.path);
    if (IsWithin(item.path, workspace) && item.path.size() > workspace.size())
      path = Visible(item.path.substr(workspace.size() + 1));
    all += item.path + '\0' + item.hash + item.problem + '\0';
    if (!use.why.empty()) continue;
    use.why = !item.problem.empty() ? path + ": " + item.problem
              : known == record.files.end()
                  ? path + ", which nobody trusted"
                  : path + ", which has changed since it was trusted";
  }
  if (!use.why.empty()) use.mark = Hex(Sha256(all)).substr(0, 32);
  return use;
}

}  // namespace

UntrustedUse FindUntrustedUse(const std::string& state_dir,
                              const std::string& workspace,
                              const parser::Analysis& analysis) {
  if (workspace.empty()) return {};
  std::optional<Result<TrustRecord>> record;
  for (const Invocation& invocation : analysis.invocations) {
    const bool agent = StartsAgent(invocation);
    if (!agent && invocation.program != "git") continue;
    std::vector<std::string> directories = parser::DirectoriesOf(invocation);
    if (directories.empty()) directories = {workspace};
    for (const std::string& directory : directories) {
      const auto hooks = HookDirectory(invocation, directory);
      if (!agent && !hooks) continue;
      if (!record) record = LoadTrust(state_dir, workspace);
      // A record that does not verify trusts nothing, and says so.
      const TrustRecord none;
      const TrustRecord& trusted = *record ? **record : none;
      if (agent) {
        const UntrustedUse use = Untrusted(
            FindAgentSettings(workspace, directory), trusted, workspace);
        if (!use.why.empty())
          return {"the agent would load " + use.why, use.mark};
        continue;
      }
      // Until somebody trusted this project, its hooks are code of the
      // workspace like any other, and stay in the sandbox.
      if (*record && trusted.files.empty()) continue;
      const UntrustedUse use =
          Untrusted(FindGitHooks(*hooks), trusted, workspace);
      if (!use.why.empty())
        return {"git may run the hook " + use.why, use.mark};
    }
  }
  return {};
}

}  // namespace gate::app
