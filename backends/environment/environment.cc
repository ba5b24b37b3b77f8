// What of the caller's environment enters a sandbox, or a run without one.
//
// Builds need variables that no list can name in advance, so everything enters
// a sandbox except three groups: names that make some program run other code or
// read another configuration (environment_names.cc), host channels, and
// what looks like a secret (environment_secrets.cc). A variable that only names
// a program or its options stays when its value is one of the harmless ones.
#include "backends/environment.h"

#include <algorithm>
#include <array>

#include "backends/backend.h"
#include "base/locale.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

using std::string_view;

bool IsNever(string_view name) {
  return !IsVariableName(name) || RunsOtherCode(name) || IsDoor(name);
}

bool IsDefault(string_view name, string_view value) {
  return IsHarmlessProgram(name, value).value_or(true) &&
         !LooksSecret(name, value);
}

// Package managers try for long where nothing can ever answer: npm for 70 s,
// cargo and pip for 10 s.
struct Retries {
  string_view name, other;  // `other`: as npm takes it as well
  const char* entry;
};
constexpr auto kRetries = std::to_array<Retries>({
    {"npm_config_fetch_retries", "NPM_CONFIG_FETCH_RETRIES",
     "npm_config_fetch_retries=0"},
    {"PIP_RETRIES", "PIP_RETRIES", "PIP_RETRIES=0"},
    {"CARGO_NET_RETRY", "CARGO_NET_RETRY", "CARGO_NET_RETRY=0"},
});

// Where temporary files go: where the caller says, if commands write there, or
// else to the private /tmp. Lines that use the variable would write to the root
// without it.
std::string TemporaryPlace(string_view value, const Profile& profile) {
  const bool written =
      std::ranges::any_of(profile.write, [&](const std::string& root) {
        return root != "/" && IsWithin(Normalise(value, "/"), root);
      });
  return written && value.starts_with('/') ? std::string(value) : "/tmp";
}

void TryOnce(std::vector<std::string>* environment) {
  for (const Retries& retries : kRetries) {
    const auto sets = [&](const std::string& entry) {
      const string_view name = string_view(entry).substr(0, entry.find('='));
      return name == retries.name || name == retries.other;
    };
    if (std::ranges::none_of(*environment, sets))
      environment->emplace_back(retries.entry);
  }
}

// git-config(1), GIT_CONFIG_COUNT. Names that begin so come from nowhere else.
void AddGitSettings(const std::map<std::string, std::string>& settings,
                    std::vector<std::string>* environment) {
  size_t count = 0;
  for (const auto& [key, value] : settings) {
    const std::string number = std::to_string(count++);
    environment->push_back("GIT_CONFIG_KEY_" + number + "=" + key);
    environment->push_back("GIT_CONFIG_VALUE_" + number + "=" + value);
  }
  if (count > 0)
    environment->push_back("GIT_CONFIG_COUNT=" + std::to_string(count));
}

}  // namespace

Tracing TracingOf(const Profile& profile) {
  const bool own = profile.watch_execs || !profile.lend.empty() ||
                   !profile.environment_lend.empty();
  return own ? Tracing::kRefused : Tracing::kEachOther;
}

std::vector<std::string> CleanEnvironment(
    const std::vector<std::string>& environment, const Profile& profile,
    Tracing tracing) {
  std::vector<std::string> clean;
  clean.reserve(environment.size() + profile.environment_set.size());
  for (const std::string& entry : environment) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    if (entry.find('\0') != std::string::npos) continue;
    const string_view name = string_view(entry).substr(0, equals);
    const string_view value = string_view(entry).substr(equals + 1);
    if (profile.environment_set.contains(std::string(name))) continue;
    if (profile.environment_keep.empty() && NamesTemporaryPlace(name)) {
      clean.push_back(std::string(name) + "=" + TemporaryPlace(value, profile));
      continue;
    }
    if (std::ranges::find(profile.environment_lend, name) !=
        profile.environment_lend.end()) {
      if (IsVariableName(name) && !RunsOtherCode(name)) clean.push_back(entry);
      continue;
    }
    if (IsNever(name)) continue;
    const bool kept = profile.environment_keep.empty()
                          ? IsDefault(name, value)
                          : std::ranges::find(profile.environment_keep, name) !=
                                profile.environment_keep.end();
    if (kept) clean.push_back(entry);
  }
  for (const auto& [name, value] : profile.environment_set) {
    if (!IsVariableName(name) || HasClosedPrefix(name) ||
        value.find('\0') != std::string::npos)
      continue;
    clean.push_back(name + "=" + value);
  }
  AddGitSettings(profile.git_settings, &clean);
  const bool alone = profile.network == Network::kNone ||
                     profile.network == Network::kLoopback;
  if (alone && profile.environment_keep.empty()) TryOnce(&clean);
  if (tracing == Tracing::kEachOther) return clean;
  // Where nothing may be traced, looking for leaks ends every program that was
  // built with gcc's or clang's address sanitizer as a failure.
  constexpr string_view kLeaks = "LSAN_OPTIONS=", kNoLeaks = "detect_leaks=0";
  const auto leaks = std::ranges::find_if(clean, [&](const std::string& entry) {
    return entry.starts_with(kLeaks);
  });
  if (leaks != clean.end())
    leaks->append(":").append(kNoLeaks);
  else if (profile.environment_keep.empty())
    clean.push_back(std::string(kLeaks).append(kNoLeaks));
  return clean;
}

void SetTemporaryPlace(const std::string& place,
                       std::vector<std::string>* environment) {
  std::erase_if(*environment, [](const std::string& entry) {
    return NamesTemporaryPlace(string_view(entry).substr(0, entry.find('=')));
  });
  environment->push_back("TMPDIR=" + place);
}

bool HasSafeLocale(const std::vector<std::string>& environment) {
  return std::ranges::all_of(environment, [](const std::string& entry) {
    const size_t equals = std::min(entry.find('='), entry.size());
    const string_view name = string_view(entry).substr(0, equals);
    const string_view value =
        string_view(entry).substr(std::min(equals + 1, entry.size()));
    return name == "LOCPATH" ? value.empty()
                             : !ChoosesCharset(name) || IsSafeLocale(value);
  });
}

void MakeLocaleSafe(std::vector<std::string>* environment) {
  std::erase_if(*environment, [](const std::string& entry) {
    return entry.starts_with("LOCPATH=");
  });
  for (std::string& entry : *environment) {
    const size_t equals = std::min(entry.find('='), entry.size());
    const string_view name = string_view(entry).substr(0, equals);
    if (ChoosesCharset(name) && !IsSafeLocale(string_view(entry).substr(
                                    std::min(equals + 1, entry.size()))))
      entry = std::string(name) + "=C.UTF-8";
  }
}

std::vector<std::string> RawEnvironment(
    const std::vector<std::string>& environment, bool approved) {
  std::vector<std::string> kept;
  kept.reserve(environment.size());
  for (const std::string& entry : environment) {
    const size_t equals = std::min(entry.find('='), entry.size());
    const string_view name = string_view(entry).substr(0, equals);
    const string_view value =
        string_view(entry).substr(std::min(equals + 1, entry.size()));
    if (ChangesTheShell(name)) continue;
    if (!approved &&
        (RunsOtherCode(name) || !IsHarmlessProgram(name, value).value_or(true)))
      continue;
    kept.push_back(entry);
  }
  return kept;
}

}  // namespace gate::backends
