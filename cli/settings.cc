#include "cli/settings.h"

#include <cmath>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace gate::cli {
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
    for (const auto& [key, value] : parsed->items()) ReadKey(key, value);
  }

 private:
  void ReadKey(const std::string& key, const Json& value) {
    const std::string at = "/" + key;
    if (key == "backend" && value.is_string()) {
      out_->router.backend = value.get<std::string>();
    } else if (key == "strength" && value.is_string()) {
      const auto strength = backends::ParseStrength(value.get<std::string>());
      if (!strength) return Wrong(at, "no strength is called that");
      if (*strength > out_->router.required) out_->router.required = *strength;
    } else if (key == "preset" && value.is_string()) {
      const auto preset = engine::ParsePreset(value.get<std::string>());
      if (!preset)
        return Wrong(at, "a preset is careful, standard or autonomous");
      out_->preset = out_->preset ? std::max(*out_->preset, *preset) : *preset;
    } else if (key == "hardened" && value.is_boolean()) {
      out_->router.hardened |= value.get<bool>();
    } else if (key == "network" && value.is_string()) {
      const auto network = backends::ParseNetwork(value.get<std::string>());
      if (!network) return Wrong(at, "no network is called that");
      out_->router.network =
          router::JoinNetworks(out_->router.network, *network);
    } else if (key == "durability" && value == "full") {
      out_->full_durability = true;
    } else if (key == "durability" && value == "normal") {
      // The default; a layer cannot lower what another raised.
    } else if (key == "caches" && value.is_array()) {
      for (const Json& path : value) {
        if (!path.is_string() || !path.get<std::string>().starts_with('/'))
          return Wrong(at, "caches are absolute paths");
        out_->caches.push_back(path.get<std::string>());
      }
    } else if (key == "watch_execs" && value.is_boolean()) {
      out_->router.watch_execs |= value.get<bool>();
    } else if (key == "report_blocked" && value.is_boolean()) {
      out_->router.report_blocked |= value.get<bool>();
    } else if (key == "limits" && value.is_object()) {
      for (const auto& [name, limit] : value.items()) ReadLimit(name, limit);
    } else if (key != "$schema") {
      Wrong(at, "`" + key + "` is not a setting, or has the wrong type");
    }
  }

  void ReadLimit(const std::string& name, const Json& value) {
    struct Row {
      const char* name;
      uint64_t backends::Limits::* field;
    };
    static constexpr Row kRows[] = {
        {"wall_ms", &backends::Limits::wall_ms},
        {"cpu_s", &backends::Limits::cpu_s},
        {"memory_bytes", &backends::Limits::memory_bytes},
        {"processes", &backends::Limits::processes},
        {"open_files", &backends::Limits::open_files},
        {"file_bytes", &backends::Limits::file_bytes},
        {"written_bytes", &backends::Limits::written_bytes},
        {"output_bytes", &backends::Limits::output_bytes}};
    for (const Row& row : kRows) {
      if (name != row.name) continue;
      if (!value.is_number_unsigned() || value.get<uint64_t>() == 0)
        return Wrong("/limits/" + name, "a limit is a whole number above 0");
      uint64_t& limit = out_->router.limits.*row.field;
      const uint64_t asked = value.get<uint64_t>();
      limit = limit == 0 ? asked : std::min(limit, asked);
      return;
    }
    Wrong("/limits/" + name, "`" + name + "` is not a limit");
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
  for (const std::string& directory :
       {facts.places.system, facts.places.config}) {
    const std::string file = directory + "/config.json";
    auto text = ReadFile(file, kMaxSettingsBytes);
    if (!text && text.error().code == ErrorCode::kNotFound) continue;
    Status trusted = text ? CheckTrusted(file, facts.uid)
                          : Status(std::unexpected(text.error()));
    if (!trusted) {
      settings.diagnostics.push_back({Severity::kError, "settings-unreadable",
                                      file, 0, 0, trusted.error().message, ""});
      continue;
    }
    Reader(file, std::move(*text), &settings).Read();
  }
  return settings;
}

}  // namespace gate::cli
