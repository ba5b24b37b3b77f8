// Codex's own sandbox, by what its settings and its command line say
// (docs/clients/codex.md).
#pragma once

#include <string>

#include "base/result.h"
#include "hooks/own_sandbox.h"
#include "rules/data.h"

namespace gate::hooks {

// A TOML file of Codex, at most 4 MiB; an empty table without one. kInvalid,
// with the path in the message, when it cannot be read or is not TOML; a FIFO
// does not block.
Result<rules::DataValue> ReadCodexConfig(const std::string& path);

// The layers as Codex joins them (codex-rs/config/src/loader of openai/codex):
// /etc/codex/config.toml, the user's, those of a trusted project from its top
// down to the directory, the command line, /etc/codex/managed_config.toml. What
// cannot be read, or is read differently by different versions, is kUnknown.
// Not seen: what a person chooses in the running client, settings that an
// organisation sends. Some ten system calls for each level of the directory.
OwnSandbox ReadCodexSandbox(const SandboxPlaces& places);

}  // namespace gate::hooks
