#include <array>

#include "backends/backend.h"

namespace gate::backends {
namespace {

constexpr std::array<const char*, 6> kStrengths = {
    "none", "landlock", "namespace", "container", "gvisor", "microvm"};
static_assert(static_cast<size_t>(Strength::kMicrovm) + 1 == kStrengths.size());

constexpr std::array<const char*, 4> kNetworks = {"none", "loopback", "domains",
                                                  "open"};
static_assert(static_cast<size_t>(Network::kOpen) + 1 == kNetworks.size());

constexpr std::array<const char*, kFeatures> kFeatureNames = {
    "read-only-root", "read-deny",        "protected-paths", "private-tmp",
    "network-none",   "network-loopback", "network-domains", "processes",
    "seccomp",        "landlock",         "environment",     "limits",
    "tree-limits",    "watch-execs",      "report-blocked",  "overlay",
    "lending"};
static_assert(static_cast<size_t>(Feature::kLending) + 1 == kFeatures);

constexpr std::array<const char*, 7> kStatuses = {
    "setup_failed", "exited",    "signalled", "timeout",
    "limit",        "violation", "unobserved"};
static_assert(static_cast<size_t>(OutcomeStatus::kUnobserved) + 1 ==
              kStatuses.size());

constexpr std::array<const char*, kViolationKinds> kViolations = {
    "protected-path",
    "git-hook",
    "git-config",
    "system-call",
    "sockets",
    "exec",
    "hidden",
    "read-only",
    "holds protected paths",
    "network: none",
    "network: loopback",
    "network: domains",
    "protected: shell-startup",
    "protected: agent-settings",
    "protected: git",
    "protected: editor",
    "protected: tool-settings",
    "protected: path",
    "more"};
static_assert(static_cast<int>(ViolationKind::kMore) + 1 == kViolationKinds);

}  // namespace

const char* Name(Strength strength) {
  return kStrengths[static_cast<size_t>(strength)];
}

std::optional<Strength> ParseStrength(const std::string& text) {
  for (size_t i = 0; i < kStrengths.size(); ++i)
    if (text == kStrengths[i]) return static_cast<Strength>(i);
  if (text == "seatbelt") return Strength::kLandlock;
  if (text == "bwrap" || text == "native") return Strength::kNamespace;
  if (text == "auto") return Strength::kMicrovm;
  return std::nullopt;
}

const char* Name(Network network) {
  return kNetworks[static_cast<size_t>(network)];
}

std::optional<Network> ParseNetwork(const std::string& text) {
  for (size_t i = 0; i < kNetworks.size(); ++i)
    if (text == kNetworks[i]) return static_cast<Network>(i);
  return std::nullopt;
}

const char* Name(Feature feature) {
  return kFeatureNames[static_cast<size_t>(feature)];
}

const char* Name(OutcomeStatus status) {
  return kStatuses[static_cast<size_t>(status)];
}

const char* Name(ViolationKind kind) {
  return kViolations[static_cast<size_t>(kind)];
}

std::optional<ViolationKind> ParseViolationKind(std::string_view name) {
  for (size_t i = 0; i < kViolations.size(); ++i)
    if (name == kViolations[i]) return static_cast<ViolationKind>(i);
  return std::nullopt;
}

std::vector<Feature> FeatureSet::Without(FeatureSet other) const {
  std::vector<Feature> missing;
  for (int i = 0; i < kFeatures; ++i) {
    const auto feature = static_cast<Feature>(i);
    if (Has(feature) && !other.Has(feature)) missing.push_back(feature);
  }
  return missing;
}

}  // namespace gate::backends
