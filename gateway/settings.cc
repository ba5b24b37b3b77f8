#include "gateway/settings.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "backends/engine_image.h"
#include "base/file.h"
#include "base/json.h"
#include "base/paths.h"
#include "base/text.h"
#include "net/address.h"

namespace gate::app {
namespace {

constexpr size_t kMaxSettingsBytes = 256 * 1024;

// Reads one file; every problem is a diagnostic with its place.
class Reader {
 public:
  Reader(std::string file, std::string text, LoadedSettings* out)
      : file_(std::move(file)), text_(std::move(text)), out_(out) {}

  void Read() {
    auto parsed = ParseJson(text_, /*comments=*/true);
    if (!parsed) {
      const LineColumn at = Locate(text_, parsed.error().offset);
      Add("settings-syntax", at, parsed.error().message, "");
      return;
    }
    if (!parsed->is_object()) {
      Add("settings-type", {1, 1}, "the file is not a JSON object", "");
      return;
    }
    router::Settings said = router::Unasked();
    for (const auto& [key, value] : parsed->items())
      if (!ReadRouterKey("", key, value, &said)) ReadKey(key, value, &said);
    out_->router = router::Join(out_->router, said);
  }

 private:
  // False when `key` is not one of those that an agent may be given, too.
  bool ReadRouterKey(const std::string& parent, const std::string& key,
                     const Json& value, router::Settings* said) {
    const std::string at = parent + "/" + key;
    if (key == "backend" && value.is_string()) {
      said->backend = value.get<std::string>();
    } else if (key == "strength" && value.is_string()) {
      const auto strength = backends::ParseStrength(value.get<std::string>());
      if (!strength || *strength == backends::Strength::kNone)
        Wrong(at, "no strength is called that");
      else
        said->required = *strength;
    } else if (key == "hardened" && value.is_boolean()) {
      said->hardened = value.get<bool>();
    } else if (key == "watch_execs" && value.is_boolean()) {
      said->watch_execs = value.get<bool>();
    } else if (key == "report_blocked" && value.is_boolean()) {
      said->report_blocked = value.get<bool>();
    } else if (key == "report_reads" && value.is_boolean()) {
      said->report_reads = value.get<bool>();
    } else if (key == "network" && value.is_string()) {
      const auto network = backends::ParseNetwork(value.get<std::string>());
      if (!network)
        Wrong(at, "no network is called that");
      else
        said->network = *network;
    } else if (key == "accept_loss" && value.is_array()) {
      said->accept_loss = ReadFeatures(at, value);
      // Of agents it only takes away, which says nothing of the default.
      if (parent.empty()) out_->loss_said = true;
    } else if (key == "always_sandbox" && value.is_array()) {
      said->always_sandbox = ReadPrograms(at, value);
    } else if (key == "never_sandbox" && value.is_array()) {
      said->never_sandbox = ReadPrograms(at, value);
    } else if (key == "limits" && value.is_object()) {
      for (const auto& [name, limit] : value.items())
        ReadLimit(at, name, limit, &said->limits);
    } else {
      return false;
    }
    return true;
  }

  backends::FeatureSet ReadFeatures(const std::string& at, const Json& value) {
    backends::FeatureSet features;
    for (const Json& name : value) {
      bool found = false;
      for (int i = 0; i < backends::kFeatures && name.is_string(); ++i) {
        const auto feature = static_cast<backends::Feature>(i);
        if (name.get<std::string>() != backends::Name(feature)) continue;
        if (feature == backends::Feature::kNetworkDomains)
          Wrong(at,
                "no sandbox can do without `network-domains`: `network` "
                "`none` or `loopback` needs no list of hosts");
        features.Add(feature);
        found = true;
      }
      if (!found) Wrong(at, "`accept_loss` lists features of backends");
    }
    return features;
  }

  std::vector<std::string> ReadPrograms(const std::string& at,
                                        const Json& value) {
    std::vector<std::string> names;
    for (const Json& name : value) {
      if (!name.is_string() || name.get<std::string>().empty() ||
          name.get<std::string>().find('/') != std::string::npos) {
        Wrong(at, "the names of programs, without directories");
        continue;
      }
      names.push_back(name.get<std::string>());
    }
    return names;
  }

  void ReadAgents(const Json& value) {
    for (const auto& [name, keys] : value.items()) {
      const std::string at = "/agents/" + name;
      if (!keys.is_object()) {
        Wrong(at, "an agent's settings are an object");
        continue;
      }
      router::Settings said = router::Unasked();
      for (const auto& [key, setting] : keys.items())
        if (!ReadRouterKey(at, key, setting, &said))
          Wrong(at + "/" + key, "`" + key + "` is not a setting of agents");
      const auto known = out_->agents.find(name);
      out_->agents[name] = known == out_->agents.end()
                               ? said
                               : router::Join(known->second, said);
    }
  }

  void ReadKey(const std::string& key, const Json& value,
               router::Settings* said) {
    const std::string at = "/" + key;
    if (key == "agents" && value.is_object()) {
      ReadAgents(value);
    } else if (key == "durability" && value == "full") {
      out_->full_durability = true;
    } else if (key == "durability" && value == "normal") {
      // The default; a layer cannot lower what another raised.
    } else if (key == "signing" && value.is_boolean()) {
      out_->signing &= value.get<bool>();
    } else if (key == "caches" && value.is_array()) {
      for (const Json& path : value) {
        if (!path.is_string() || !path.get<std::string>().starts_with('/'))
          return Wrong(at, "caches are absolute paths");
        out_->caches.push_back(path.get<std::string>());
      }
    } else if (key == "terminals" && value.is_array()) {
      for (const Json& name : value) {
        const bool text = name.is_string();
        const auto named = text ? name.get<std::string>() : std::string();
        if (named.empty() ||
            (!named.starts_with('/') && named.find('/') != named.npos))
          return Wrong(at, "terminals are names of programs, or their paths");
        out_->terminals.push_back(named);
      }
    } else if (key == "local_services" &&
               (value.is_string() || value.is_array())) {
      ReadServices(at, value);
    } else if (key == "private_ranges" && value.is_array()) {
      ReadRanges(at, value);
    } else if (key == "image" && value.is_string()) {
      if (!backends::IsPinnedImage(value.get<std::string>()))
        return Wrong(at,
                     "an image is named by its digest, NAME@sha256:… or its "
                     "id, sha256:…; a tag may mean another one tomorrow");
      said->image = value.get<std::string>();
    } else if (key == "preset" && value.is_string()) {
      const auto preset = engine::ParsePreset(value.get<std::string>());
      if (!preset)
        return Wrong(at, "a preset is careful, standard or autonomous");
      out_->preset = out_->preset ? std::max(*out_->preset, *preset) : *preset;
    } else if (key != "$schema") {
      Wrong(at, "`" + key + "` is not a setting, or has the wrong type");
    }
  }

  void ReadRanges(const std::string& at, const Json& value) {
    std::vector<std::string> said;
    for (const Json& entry : value) {
      const std::string text =
          entry.is_string() ? entry.get<std::string>() : "";
      const auto range = net::ParseRange(text);
      if (!range)
        return Wrong(at,
                     "a range is an address or ADDRESS/BITS, as "
                     "10.0.0.0/8: " +
                         range.error().message);
      const bool within = std::ranges::any_of(
          out_->private_ranges, [&](const std::string& earlier) {
            const auto wider = net::ParseRange(earlier);
            return wider && wider->bits <= range->bits &&
                   net::Contains(*wider, range->base);
          });
      if (!out_->ranges_said || within) said.push_back(text);
    }
    out_->private_ranges = std::move(said);
    out_->ranges_said = true;
  }

  void ReadServices(const std::string& at, const Json& value) {
    using Mode = LocalServicesSetting::Mode;
    LocalServicesSetting said;
    if (value.is_string()) {
      if (value != "none" && value != "containers")
        return Wrong(at,
                     "local services are \"none\", \"containers\" or a list of "
                     "ports");
      said.mode = value == "none" ? Mode::kNone : Mode::kContainers;
    } else {
      said.mode = Mode::kListed;
      for (const Json& entry : value) {
        ListedService one;
        bool known = entry.is_object();
        for (const auto& [name, part] : entry.items()) {
          if (name == "port" && part.is_number_unsigned() &&
              part.get<uint64_t>() > 0 && part.get<uint64_t>() <= UINT16_MAX)
            one.port = part.get<uint16_t>();
          else if (name == "program" && part.is_string())
            one.program = part.get<std::string>();
          else if (name == "user" && part.is_string())
            one.user = part.get<std::string>();
          else
            known = false;
        }
        if (!known || one.port == 0 ||
            (one.program.empty() && one.user.empty()))
          return Wrong(at,
                       "a local service is {\"port\": N, \"program\": NAME or "
                       "PATH}, with \"user\" beside it or in its place");
        said.listed.push_back(std::move(one));
      }
    }
    LocalServicesSetting& all = out_->local_services;
    if (!out_->services_said || said.mode < all.mode) {
      all = std::move(said);
    } else if (said.mode == all.mode) {
      std::erase_if(all.listed, [&](const ListedService& one) {
        return std::ranges::find(said.listed, one) == said.listed.end();
      });
    }
    out_->services_said = true;
  }

  void ReadLimit(const std::string& parent, const std::string& name,
                 const Json& value, backends::Limits* limits) {
    // Beyond these the kernel knows no bound, or JSON no exact number.
    constexpr uint64_t kMaxBytes = uint64_t{1} << 53;
    struct Row {
      const char* name;
      uint64_t backends::Limits::* field;
      uint64_t largest;
    };
    static constexpr Row kRows[] = {
        {"wall_ms", &backends::Limits::wall_ms, 1000000000000},
        {"cpu_s", &backends::Limits::cpu_s, 1000000000},
        {"memory_bytes", &backends::Limits::memory_bytes, kMaxBytes},
        {"processes", &backends::Limits::processes, 4000000},
        {"open_files", &backends::Limits::open_files, 1u << 30},
        {"file_bytes", &backends::Limits::file_bytes, kMaxBytes},
        {"written_bytes", &backends::Limits::written_bytes, kMaxBytes},
        {"output_bytes", &backends::Limits::output_bytes, kMaxBytes},
        {"files", &backends::Limits::files, 1u << 30}};
    for (const Row& row : kRows) {
      if (name != row.name) continue;
      if (!value.is_number_unsigned() || value.get<uint64_t>() == 0 ||
          value.get<uint64_t>() > row.largest)
        return Wrong(parent + "/" + name,
                     "a limit is a whole number above 0, `" + name +
                         "` at most " + std::to_string(row.largest));
      limits->*row.field = value.get<uint64_t>();
      return;
    }
    Wrong(parent + "/" + name, "`" + name + "` is not a limit");
  }

  void Wrong(const std::string& pointer, const std::string& message) {
    Add("settings-value", Locate(text_, LocatePointer(text_, pointer, true)),
        message, "docs/configuration.md lists the settings");
  }

  void Add(const char* code, LineColumn at, std::string message,
           std::string help) {
    out_->diagnostics.push_back({Severity::kError, code, file_, at.line,
                                 at.column, std::move(message),
                                 std::move(help)});
  }

  std::string file_;
  std::string text_;
  LoadedSettings* out_;
};

}  // namespace

LoadedSettings LoadSettings(const ProcessFacts& facts) {
  LoadedSettings settings;
  settings.router = router::Unasked();
  const std::array<std::string, 2> places = {facts.places.system,
                                             facts.places.config};
  for (const std::string& directory : places) {
    const std::string file = directory + "/config.json";
    struct stat info{};
    // Left out in silence, their settings would be missing, as with rule files.
    for (const char* name : {"/config.jsonc", "/config.json5"})
      if (::lstat((directory + name).c_str(), &info) == 0)
        settings.diagnostics.push_back(
            {Severity::kError, "settings-name", directory + name, 0, 0,
             "this file would not be read", "call it config.json"});
    // Only what is not there at all says nothing: a link that leads nowhere, or
    // a directory that is none, hides settings.
    if (::lstat(file.c_str(), &info) != 0 && errno == ENOENT) continue;
    const uid_t owner = &directory == &places[0] ? 0 : facts.uid;
    auto text = ReadFile(file, kMaxSettingsBytes);
    Status trusted = text ? CheckTrusted(file, owner)
                          : Status(std::unexpected(text.error()));
    if (trusted) trusted = CheckTrustedPlace(file, owner);
    if (!trusted) {
      settings.diagnostics.push_back({Severity::kError, "settings-unreadable",
                                      file, 0, 0, trusted.error().message, ""});
      continue;
    }
    Reader(file, std::move(*text), &settings).Read();
  }
  // What is shipped holds where no file says otherwise.
  const router::Settings shipped;
  if (settings.router.required == backends::Strength::kNone)
    settings.router.required = shipped.required;
  if (!settings.loss_said) settings.router.accept_loss = shipped.accept_loss;
  return settings;
}

std::vector<std::string> PersonsTerminals() {
  ProcessFacts facts;
  facts.uid = ::getuid();
  facts.places.system = FindPlaces().system;
  const auto home = HomeOfUid(facts.uid);
  if (!home) return {};
  facts.places.config = *home + "/.config/gate";
  LoadedSettings settings = LoadSettings(facts);
  if (!SettingsTrouble(settings).empty()) return {};
  return std::move(settings.terminals);
}

std::string SettingsTrouble(const LoadedSettings& settings) {
  for (const Diagnostic& problem : settings.diagnostics) {
    if (problem.severity != Severity::kError) continue;
    std::string place = problem.file;
    if (problem.line != 0)
      place += ":" + std::to_string(problem.line) + ":" +
               std::to_string(problem.column);
    return "gate's settings do not load: " + place + ": " + problem.message;
  }
  return "";
}

}  // namespace gate::app
