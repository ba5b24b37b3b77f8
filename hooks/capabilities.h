// What is known of each client whose settings gate writes, and of the programs
// that agents are. The only place that names a client for what it can do.
//
// Sources are in docs/hooks.md and docs/clients. Values only; thread-safe.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <span>
#include <string_view>

namespace gate::hooks {

struct Version {
  std::array<int, 3> parts{};
  auto operator<=>(const Version&) const = default;
};

struct Capabilities {
  std::string_view client;  // as `gate install` and the record call it
  // Earlier ones run the command itself in place of what the hook rewrote.
  Version first_that_rewrites;
  // From this one on it blocks by itself when a hook that says so fails.
  std::optional<Version> first_that_blocks;
  // Other programs call themselves so, of which it is not known that they run
  // what the hook rewrote (hooks/client_sign.h).
  bool has_lookalikes = false;
  // It contains what its hook lets through, so that gate may only deny and ask
  // (`--mode intent`).
  bool has_own_sandbox = false;
  // Its own deny and ask rules are matched against the rewritten line.
  bool matches_rewritten_lines = false;
  // Its settings can turn all hooks off.
  bool may_disable_hooks = false;
  // How its person makes it run a hook that is new or changed; empty: it does.
  std::string_view review;
};

// Every client that `gate install` knows, in the order of its help.
std::span<const Capabilities> AllCapabilities();
// Null for a client that is not among them.
const Capabilities* CapabilitiesOf(std::string_view client);

// Whether a program called `name` is an agent.
bool IsAgentProgram(std::string_view name);
// Whether `word` of a package runner (npx, uvx) has an agent's package in it.
bool NamesAgentPackage(std::string_view word);

}  // namespace gate::hooks
