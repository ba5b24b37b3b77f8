// gate's own settings: `config.json` of the system and the user.
//
// Merged over the layers by taking the stronger of each. docs/configuration.md
// lists the keys. A file that does not load refuses every command, as a rule
// file would.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "engine/preset.h"
#include "facts/process_facts.h"
#include "router/plan.h"

namespace gate::app {

// A service of this machine that contained lines may ask by name.
struct ListedService {
  uint16_t port = 0;
  std::string program;  // base name or absolute path; empty: any
  std::string user;     // of who listens; empty: any. One of both is said
  bool operator==(const ListedService&) const = default;
};

struct LocalServicesSetting {
  // The stricter first.
  enum class Mode : uint8_t {
    kNone,
    kContainers,  // of containers that have nothing of this machine
    kListed,      // …and what is listed
  };
  Mode mode = Mode::kContainers;
  std::vector<ListedService> listed;
};

struct LoadedSettings {
  router::Settings router;
  // As the stricter of the layers that name one says.
  std::optional<engine::Preset> preset;
  bool loss_said = false;  // a file has `accept_loss`
  // As the stricter of the layers that say something; of two lists what both
  // have.
  LocalServicesSetting local_services;
  bool services_said = false;
  // Ranges of addresses that are not public and that lines reach by the name of
  // an allowed host all the same (net::ParseRange): of a company's own
  // registry, say. Of two layers that name some, those of the second that the
  // first contains.
  std::vector<std::string> private_ranges;
  bool ranges_said = false;
  bool full_durability = false;        // audit.durability = "full"
  bool signing = true;                 // contained lines get signatures
  std::vector<std::string> caches;     // more writable tool caches
  std::vector<std::string> terminals;  // more programs that people type into
  // By the agent's name, joined with `router` for its commands. An agent may
  // name itself falsely, so that this only ever adds.
  std::map<std::string, router::Settings> agents;
  std::vector<Diagnostic> diagnostics;
};

LoadedSettings LoadSettings(const ProcessFacts& facts);

// `terminals` of the system and of the caller's home by the passwd file. What
// would loosen is not read from where the caller's environment or
// `--config-dir` says. Empty when a file does not load.
std::vector<std::string> PersonsTerminals();

// Why a file of them does not load, for a person; empty when all do.
std::string SettingsTrouble(const LoadedSettings& settings);

}  // namespace gate::app
