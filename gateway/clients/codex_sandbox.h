// Codex's own sandbox, by what its settings and its command line say.
//
// gate's hook runs outside of it and the line that gate puts in place of a
// command inside, where gate's own sandbox cannot start: one of the two
// contains (docs/clients/codex.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rules/data.h"

namespace gate::app {

enum class CodexMode : uint8_t {
  kUnknown,
  kReadOnly,
  kWorkspaceWrite,
  kFullAccess,  // no sandbox
};

struct CodexSandbox {
  CodexMode mode = CodexMode::kUnknown;
  std::string from;      // what says so: a file, the command line, the default
  std::string why;       // kUnknown: for people
  bool network = false;  // commands may reach it
  // kWorkspaceWrite: what commands may write, without links where they are
  // there: the session's directory, the roots that the settings add, /tmp and
  // TMPDIR where these are not left out.
  std::vector<std::string> writable;
};

struct CodexPlaces {
  std::string home;       // $CODEX_HOME or ~/.codex
  std::string directory;  // where Codex was started, absolute
  std::string tmpdir;     // $TMPDIR
  std::string system = "/etc/codex";
  // The words that the running client was started with, where there is one.
  std::vector<std::string> words = {};
};

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
CodexSandbox ReadCodexSandbox(const CodexPlaces& places);

// "workspace-write, by PATH"; of kUnknown why.
std::string Describe(const CodexSandbox& sandbox);

// The arguments of the nearest ancestor that has `client` in its name. Nothing
// where there is none: then it is not known how the client was started.
std::optional<std::vector<std::string>> WordsOfClient(std::string_view client);

}  // namespace gate::app
