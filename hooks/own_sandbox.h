// A client's own sandbox (Capabilities::has_own_sandbox).
//
// gate's hook runs outside of it and the line that gate puts in place of a
// command inside, where gate's own sandbox cannot start: one of the two
// contains. What is known of it comes from Adapter::ReadSandbox.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gate::hooks {

enum class SandboxMode : uint8_t {
  kUnknown,
  kReadOnly,
  kWorkspaceWrite,
  kFullAccess,  // no sandbox
};

struct OwnSandbox {
  SandboxMode mode = SandboxMode::kUnknown;
  std::string name;      // of the mode, as the client calls it
  std::string from;      // what says so: a file, the command line, the default
  std::string why;       // kUnknown: for people
  bool network = false;  // commands may reach it
  // kWorkspaceWrite: what commands may write, without links where they are
  // there: the session's directory, what the settings add, directories for
  // temporary files where these are not left out.
  std::vector<std::string> writable;
};

// What a client reads to know its sandbox.
struct SandboxPlaces {
  std::string home;         // its directory; empty: not known
  std::string directory;    // where the client was started, absolute
  std::string tmpdir;       // $TMPDIR
  std::string system = {};  // the administrator's settings; empty: the usual
  // The words that the running client was started with, where there is one.
  std::vector<std::string> words = {};
};

// "workspace-write, by PATH"; of kUnknown why.
std::string Describe(const OwnSandbox& sandbox);

// The arguments of the nearest ancestor that has `client` in its name. Nothing
// where there is none: then it is not known how the client was started.
std::optional<std::vector<std::string>> WordsOfClient(std::string_view client);

}  // namespace gate::hooks
