// What is known of each client whose settings gate writes, and of the programs
// that agents are (rules.d/clients).
//
// Sources are in docs/hooks.md and docs/clients. Values only; thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "clients/clients.h"

namespace gate::hooks {

using clients::AllCapabilities;
using clients::Capabilities;
using clients::CapabilitiesOf;
using clients::Version;

// The clients that `gate install` knows, as "a, b"; those with a sandbox of
// their own.
std::string InstallableClients();
std::string ClientsWithOwnSandbox();

// The shell that a client was told to run commands in, by a variable of its own
// in `environment` (NAME=VALUE); empty where it was told none.
std::string ChosenShell(std::span<const std::string> environment);

// Whether a program called `name` is an agent.
bool IsAgentProgram(std::string_view name);
// Whether `word` of a package runner (npx, uvx) has an agent's package in it.
bool NamesAgentPackage(std::string_view word);

}  // namespace gate::hooks
