#include "gateway/grants/persons_environment.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "git/person_entries.h"

namespace gate::app {
namespace {

constexpr auto kPlaces = std::to_array<std::string_view>(
    {"SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "GNUPGHOME"});

struct Entry {
  std::string_view name, value;
};

Entry Split(std::string_view entry) {
  const size_t equals = std::min(entry.find('='), entry.size());
  return {entry.substr(0, equals),
          entry.substr(std::min(equals + 1, entry.size()))};
}

// ":0", ":1.0": of this machine, and no path.
bool IsLocalDisplay(std::string_view value) {
  return value.starts_with(':') &&
         value.find_first_not_of("0123456789.", 1) == value.npos;
}

}  // namespace

std::vector<std::string> PersonsEnvironment(
    const ProcessFacts& facts, const std::string& path,
    const std::vector<std::string>& writable) {
  std::vector<std::string> environment = {"HOME=" + facts.home, "PATH=" + path};
  if (!facts.user.empty()) {
    environment.push_back("USER=" + facts.user);
    environment.push_back("LOGNAME=" + facts.user);
  }
  for (const std::string& each : facts.environment) {
    const auto [name, value] = Split(each);
    const bool place = std::ranges::find(kPlaces, name) != kPlaces.end();
    if (name == "LANG" || name.starts_with("LC_") ||
        (place && IsPersonsPlace(facts, std::string(value), writable)))
      environment.push_back(each);
  }
  return environment;
}

std::vector<std::string> PersonsDisplay(
    const ProcessFacts& facts, const std::vector<std::string>& writable) {
  std::vector<std::string> environment;
  for (const std::string& each : facts.environment) {
    const auto [name, value] = Split(each);
    if ((name == "DISPLAY" && IsLocalDisplay(value)) ||
        (name == "WAYLAND_DISPLAY" && value.find('/') == value.npos) ||
        (name == "XAUTHORITY" &&
         IsPersonsPlace(facts, std::string(value), writable)))
      environment.push_back(each);
  }
  return environment;
}

}  // namespace gate::app
