// What is known of each agent's program, as rules.d/clients says it.
//
// The files are compiled into tables when gate is built: nothing is read or
// parsed at run time. Values only; thread-safe. What a file may say, and what
// each member means, is in docs/clients.md.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gate::clients {

struct Version {
  std::array<int, 3> parts{};
  auto operator<=>(const Version&) const = default;
};

// A client into whose settings gate writes its hook.
struct Capabilities {
  std::string_view client;  // as `gate install` and the record call it
  std::string_view title;   // as people call it
  // Earlier ones run the command itself in place of what the hook rewrote.
  Version first_that_rewrites{};
  // From this one on it blocks by itself when a hook that says so fails.
  std::optional<Version> first_that_blocks{};
  // Other programs call themselves so, of which it is not known that they run
  // what the hook rewrote (hooks/client_sign.h).
  bool has_lookalikes = false;
  // It contains what its hook lets through, so that gate may only deny and ask
  // (`--mode intent`).
  bool has_own_sandbox = false;
  // Its own deny and ask rules are matched against the rewritten line.
  bool matches_rewritten_lines = false;
  // It starts hooks by the person's $SHELL, which may be no POSIX shell.
  bool runs_hooks_by_user_shell = false;
  // How its person makes it run a hook that is new or changed; empty: it does.
  std::string_view review{}, review_help{};
  // What a person writes to switch its own sandbox off.
  std::string_view sandbox_off{};
  // What a person does when it may write what gate relies on.
  std::string_view sandbox_narrow{};
  // Its directory, below the home and below a project, and the file in it that
  // holds the hooks.
  std::string_view directory{}, settings{};
  // Files in that directory that can turn all hooks off.
  std::span<const std::string_view> disabling_settings{};
  // The events after a command has run.
  std::span<const std::string_view> done_events{};
};

// Every client that `gate install` knows, in the order of its help.
std::span<const Capabilities> AllCapabilities();
// Null for a client that is not among them.
const Capabilities* CapabilitiesOf(std::string_view client);

// A directory below the home that a variable puts elsewhere.
struct Directory {
  std::string_view client, variable, name;
};
// At most kMaxDirectories, sorted by client.
inline constexpr size_t kMaxDirectories = 8;
std::span<const Directory> Directories();
// Where the variables put them, by their place in Directories(); empty: not
// moved.
using MovedDirectories = std::array<std::string, kMaxDirectories>;
// The place in Directories() of `client`; nothing for one without a variable.
std::optional<size_t> DirectoryOf(std::string_view client);

// Names of every client together, each use for itself.
enum class Names : unsigned char {
  kPrograms,         // an agent, as a program of a command line
  kPackages,         // in a word of a package runner (npx, uvx)
  kProcesses,        // an agent, as a process or the package of a script
  kProcessPaths,     // in the path of such a process
  kShellVariables,   // says which shell the client runs commands in
  kBesideDirectory,  // auto-executed where a variable puts the directory
};
inline constexpr size_t kNameUses = 6;
std::span<const std::string_view> All(Names use);
bool Contains(Names use, std::string_view name);

}  // namespace gate::clients
