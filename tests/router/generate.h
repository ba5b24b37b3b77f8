// Generated settings, backends and decisions.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

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
        NetworkAccess::kNone, NetworkAccess::kLoopback, NetworkAccess::kOpen};
    Decision decision;
    decision.action = static_cast<Action>(Pick(4));
    decision.contain = Pick(2) == 0;
    decision.profile = profiles[Pick(4)];
    decision.network = networks[Pick(3)];
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
