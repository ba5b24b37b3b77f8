#include "hooks/capabilities.h"

#include <algorithm>

namespace gate::hooks {
namespace {

// First versions: CHANGELOG.md of anthropics/claude-code, 2.0.10;
// openai/codex#20527, which 0.130.0 does not have (rtk-ai/icm#237) and 0.131.0
// has (mpecan/tokf#368). Blocking: docs/clients/claude-code.md.
constexpr auto kClients = std::to_array<Capabilities>({
    {.client = "claude",
     .first_that_rewrites = {{2, 0, 10}},
     .first_that_blocks = Version{{2, 1, 295}},
     .has_lookalikes = true,
     .matches_rewritten_lines = true,
     .may_disable_hooks = true},
    {.client = "codex",
     .first_that_rewrites = {{0, 131, 0}},
     .first_that_blocks = std::nullopt,
     .has_own_sandbox = true,
     .review = "skips this hook until it is reviewed in Codex: /hooks, once "
               "after every change"},
});

constexpr auto kPrograms =
    std::to_array<std::string_view>({"claude", "codex", "gemini", "opencode",
                                     "cursor-agent", "cursor", "crush", "amp"});
constexpr auto kPackages = std::to_array<std::string_view>(
    {"claude-code", "@openai/codex", "gemini-cli", "opencode-ai"});

}  // namespace

std::span<const Capabilities> AllCapabilities() { return kClients; }

const Capabilities* CapabilitiesOf(std::string_view client) {
  const auto found = std::ranges::find(kClients, client, &Capabilities::client);
  return found == kClients.end() ? nullptr : &*found;
}

bool IsAgentProgram(std::string_view name) {
  return std::ranges::find(kPrograms, name) != kPrograms.end();
}

bool NamesAgentPackage(std::string_view word) {
  return std::ranges::any_of(kPackages, [&](std::string_view package) {
    return word.find(package) != word.npos;
  });
}

}  // namespace gate::hooks
