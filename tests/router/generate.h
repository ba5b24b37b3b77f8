// Generated settings, backends and decisions.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "net/host_list.h"
#include "router/plan.h"

namespace gate::router {

using backends::Feature;
using backends::FeatureSet;
using backends::Network;
using backends::Strength;
using engine::Decision;
using rules::Action;
using rules::NetworkAccess;
using rules::ProfileKind;

inline constexpr int kRounds = 4000;

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}
  int Pick(int below) {
    return static_cast<int>(random_() % static_cast<unsigned>(below));
  }
  FeatureSet Features(int one_in) {
    FeatureSet features;
    for (int i = 0; i < backends::kFeatures; ++i)
      if (Pick(one_in) == 0) features.Add(static_cast<Feature>(i));
    return features;
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const char* name : {"git", "make", "docker"})
      if (Pick(6) == 0) names.emplace_back(name);
    return names;
  }
  std::vector<std::string> Hosts() {
    std::vector<std::string> hosts;
    for (const char* host :
         {"*.a.example", "*.b.a.example:443", "b.a.example", "b.a.example:8443",
          "c.example", "c.example:80", "192.0.2.7"})
      if (Pick(3) == 0) hosts.emplace_back(host);
    return hosts;
  }
  Settings MakeSettings() {
    const ProfileKind profiles[] = {
        ProfileKind::kFullAccess, ProfileKind::kTool,
        ProfileKind::kWorkspaceWrite, ProfileKind::kReadOnly};
    Settings settings;
    settings.required = static_cast<Strength>(Pick(6));
    settings.hardened = Pick(3) == 0;
    if (Pick(3) == 0) settings.backend = "b" + std::to_string(Pick(6));
    if (Pick(4) == 0) settings.profile = profiles[Pick(4)];
    settings.network = static_cast<Network>(Pick(4));
    if (settings.network == Network::kDomains && Pick(3) != 0)
      settings.hosts = Hosts();
    settings.accept_loss = Features(2);
    settings.limits.wall_ms = static_cast<uint64_t>(Pick(3));
    settings.limits.processes = static_cast<uint64_t>(Pick(3));
    settings.always_sandbox = Names();
    settings.never_sandbox = Names();
    return settings;
  }
  std::vector<Candidate> Backends() {
    std::vector<Candidate> all;
    for (int i = 0; i < 5; ++i) {
      Candidate candidate;
      candidate.name = "b" + std::to_string(i);
      candidate.strength = static_cast<Strength>(Pick(6));
      candidate.priority = Pick(50);
      candidate.availability.available = Pick(4) != 0;
      for (int f = 0; f < backends::kFeatures; ++f)
        if (Pick(8) != 0)
          candidate.availability.features.Add(static_cast<Feature>(f));
      all.push_back(candidate);
    }
    return all;
  }
  Decision MakeDecision() {
    const ProfileKind profiles[] = {
        ProfileKind::kFullAccess, ProfileKind::kTool,
        ProfileKind::kWorkspaceWrite, ProfileKind::kReadOnly};
    const NetworkAccess networks[] = {
        NetworkAccess::kNone, NetworkAccess::kLoopback, NetworkAccess::kDomains,
        NetworkAccess::kOpen};
    Decision decision;
    decision.action = static_cast<Action>(Pick(4));
    decision.contain = Pick(2) == 0;
    decision.profile = profiles[Pick(4)];
    decision.network = networks[Pick(4)];
    for (const std::string& host : Hosts())
      decision.hosts.push_back({host, "r"});
    for (const std::string& host : Hosts())
      if (Pick(3) == 0) decision.hosts_deny.push_back({host, "r"});
    return decision;
  }
  Programs MakePrograms() { return {Names(), Pick(4) != 0}; }

 private:
  std::mt19937 random_;
};

inline ProfileInputs Inputs() {
  ProfileInputs inputs;
  inputs.workspace = "/work/project";
  inputs.home = "/home/user";
  inputs.state_dir = "/home/user/.local/state/gate";
  return inputs;
}

// Whether a plan reaches `host` by name. What it denies is left out.
inline bool Reaches(const Plan& plan, std::string_view host, uint16_t port) {
  if (plan.profile.network == Network::kOpen) return true;
  if (plan.profile.network != Network::kDomains) return false;
  std::vector<net::HostRule> allow;
  for (const std::string& text : plan.profile.domains.allow)
    allow.push_back(*net::ParseHostRule(text));
  return net::HostList::Make(allow, {})->Judge(host, port) ==
         net::HostVerdict::kAllowed;
}
inline constexpr std::pair<std::string_view, uint16_t> kProbes[] = {
    {"a.example", 443},     {"b.a.example", 443},   {"b.a.example", 80},
    {"b.a.example", 8443},  {"x.b.a.example", 443}, {"x.b.a.example", 80},
    {"c.example", 80},      {"c.example", 443},     {"192.0.2.7", 443},
    {"other.example", 443}, {"x.a.example", 8443}};

inline bool Runs(const Result<Plan>& plan) {
  return plan && plan->mode != Mode::kRefused;
}

inline const Candidate* Named(const std::vector<Candidate>& all,
                              const std::string& name) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const auto& one) {
    return one.name == name;
  });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace gate::router
