// The version of a client that is in PATH.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>

namespace gate::app {

struct Version {
  std::array<int, 3> parts{};
  auto operator<=>(const Version&) const = default;
};

// From this version on Claude Code itself blocks when a hook that says so
// fails (docs/clients/claude-code.md).
inline constexpr Version kClaudeBlocks = {{2, 1, 295}};

// What `CLIENT --version` prints, for claude and codex; nothing when it does
// not, or not in time. Runs the client.
std::optional<Version> AskVersion(const std::string& client);

// What is wrong with a client of this version (docs/clients/); empty when
// nothing is, or the version is not known.
std::string WhyTooOld(const std::string& client,
                      const std::optional<Version>& version);

}  // namespace gate::app
