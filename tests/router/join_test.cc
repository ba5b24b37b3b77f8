// Properties of the settings' lattice and of what is planned under it, over
// generated settings, backends and decisions.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "router/plan.h"

namespace gate::router {
namespace {

using backends::Feature;
using backends::FeatureSet;
using backends::Network;
using backends::Strength;
using engine::Decision;
using rules::Action;

constexpr int kRounds = 4000;

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
    const char* profiles[] = {"full-access", "workspace-write", "read-only"};
    Settings settings;
    settings.required = static_cast<Strength>(Pick(6));
    settings.hardened = Pick(3) == 0;
    if (Pick(3) == 0) settings.backend = "b" + std::to_string(Pick(6));
    if (Pick(4) == 0) settings.profile = profiles[Pick(3)];
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
    const char* profiles[] = {"full-access", "workspace-write", "read-only"};
    const char* networks[] = {"none", "loopback", "open"};
    Decision decision;
    decision.action = static_cast<Action>(Pick(4));
    decision.contain = Pick(2) == 0;
    decision.profile = profiles[Pick(3)];
    decision.network = networks[Pick(3)];
    return decision;
  }
  Programs MakePrograms() { return {Names(), Pick(4) != 0}; }

 private:
  std::mt19937 random_;
};

ProfileInputs Inputs() {
  ProfileInputs inputs;
  inputs.workspace = "/work/project";
  inputs.home = "/home/user";
  inputs.state_dir = "/home/user/.local/state/gate";
  return inputs;
}

bool Runs(const Result<Plan>& plan) {
  return plan && plan->mode != Mode::kRefused;
}

const Candidate* Named(const std::vector<Candidate>& all,
                       const std::string& name) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const auto& one) {
    return one.name == name;
  });
  return at == all.end() ? nullptr : &*at;
}

uint64_t Bound(uint64_t limit) { return limit == 0 ? UINT64_MAX : limit; }

TEST(JoinSettings, APlanUnderBothIsNotWeakerThanUnderEither) {
  Generator generate(20261121);
  for (int round = 0; round < kRounds; ++round) {
    const Settings a = generate.MakeSettings(), b = generate.MakeSettings();
    const auto all = generate.Backends();
    const Decision decision = generate.MakeDecision();
    const Programs programs = generate.MakePrograms();
    const bool approved = generate.Pick(2) == 0;
    const auto both =
        MakePlan(decision, approved, all, Join(a, b), Inputs(), programs);
    if (!Runs(both)) continue;
    for (const Settings* one : {&a, &b}) {
      if (both->mode == Mode::kDirect) {
        // Nothing that either asks for contains it.
        const auto alone =
            MakePlan(decision, approved, all, *one, Inputs(), programs);
        ASSERT_TRUE(Runs(alone));
        ASSERT_EQ(alone->mode, Mode::kDirect);
        continue;
      }
      const Candidate* chosen = Named(all, both->backend);
      ASSERT_NE(chosen, nullptr);
      ASSERT_GE(chosen->strength, one->required);
      if (!one->backend.empty()) {
        const Candidate* asked = Named(all, one->backend);
        ASSERT_NE(asked, nullptr);
        ASSERT_GE(chosen->strength, asked->strength);
      }
      if (!one->profile.empty()) {
        ASSERT_EQ(JoinProfiles(both->profile.name, one->profile),
                  both->profile.name);
      }
      ASSERT_LE(both->profile.network, one->network);
      ASSERT_LE(Bound(both->profile.limits.wall_ms),
                Bound(one->limits.wall_ms));
      ASSERT_LE(Bound(both->profile.limits.processes),
                Bound(one->limits.processes));
      for (int f = 0; f < backends::kFeatures; ++f) {
        const auto feature = static_cast<Feature>(f);
        const std::string lost =
            std::string("not given: ") + backends::Name(feature);
        if (std::find(both->lost.begin(), both->lost.end(), lost) !=
            both->lost.end()) {
          ASSERT_TRUE(one->accept_loss.Has(feature)) << lost;
        }
      }
      for (const std::string& name : programs.names)
        ASSERT_EQ(std::count(one->never_sandbox.begin(),
                             one->never_sandbox.end(), name),
                  0);
    }
  }
}

TEST(JoinSettings, AsksForNothingWhenNothingIsAsked) {
  Generator generate(7);
  for (int round = 0; round < kRounds / 4; ++round) {
    const Settings a = generate.MakeSettings();
    const auto all = generate.Backends();
    const Decision decision = generate.MakeDecision();
    const auto plain = MakePlan(decision, true, all, a, Inputs());
    for (const Settings& joined : {Join(a, Unasked()), Join(Unasked(), a)}) {
      const auto plan = MakePlan(decision, true, all, joined, Inputs());
      ASSERT_EQ(plan.has_value(), plain.has_value());
      if (!plan) continue;
      ASSERT_EQ(plan->mode, plain->mode);
      ASSERT_EQ(plan->backend, plain->backend);
      ASSERT_EQ(plan->profile.name, plain->profile.name);
    }
  }
}

TEST(MakePlan, TakesTheFirstOfThoseThatGiveEverything) {
  Generator generate(99);
  for (int round = 0; round < kRounds; ++round) {
    Settings settings = generate.MakeSettings();
    settings.accept_loss = {};
    settings.backend.clear();
    settings.profile.clear();
    settings.never_sandbox.clear();
    const auto all = generate.Backends();
    Decision decision = generate.MakeDecision();
    decision.action = Action::kSandbox;
    const auto plan = MakePlan(decision, false, all, settings, Inputs());
    if (!plan) continue;
    const Candidate* chosen = Named(all, plan->backend);
    ASSERT_NE(chosen, nullptr);
    for (const Candidate& other : all) {
      if (!other.availability.available || other.strength < settings.required ||
          other.strength == Strength::kNone ||
          !plan->profile.required.Without(other.availability.features).empty())
        continue;
      if (settings.hardened && other.strength != chosen->strength) {
        ASSERT_LT(other.strength, chosen->strength);
      } else {
        ASSERT_GE(other.priority, chosen->priority);
      }
    }
  }
}

TEST(MakePlan, AnAbsentBackendThatWasAskedForIsAnError) {
  Generator generate(3);
  for (int round = 0; round < kRounds / 4; ++round) {
    Settings settings = generate.MakeSettings();
    auto all = generate.Backends();
    settings.never_sandbox.clear();
    settings.backend = generate.Pick(2) == 0 ? "absent" : "b1";
    all[1].availability.available = false;
    Decision decision = generate.MakeDecision();
    decision.action = Action::kSandbox;
    ASSERT_FALSE(MakePlan(decision, true, all, settings, Inputs()));
  }
}

TEST(MakePlan, ContainsListedProgramsAndRefusesThoseThatCannotBe) {
  Generator generate(5);
  std::vector<Candidate> all(1);
  all[0].name = "whole";
  all[0].strength = Strength::kMicrovm;
  all[0].availability.available = true;
  all[0].availability.features = Unasked().accept_loss;
  Decision allow;
  allow.action = Action::kAllow;
  allow.contain = false;
  Decision sandbox;
  sandbox.action = Action::kSandbox;
  const auto mode = [&](const Decision& decision, const Settings& settings,
                        const Programs& programs) {
    return MakePlan(decision, false, all, settings, Inputs(), programs)->mode;
  };
  Settings always;
  always.always_sandbox = {"make"};
  EXPECT_EQ(mode(allow, always, {{"ls", "make"}, true}), Mode::kSandbox);
  EXPECT_EQ(mode(allow, always, {{"ls"}, true}), Mode::kDirect);
  EXPECT_EQ(mode(allow, always, {{"ls"}, false}), Mode::kSandbox);
  Settings never;
  never.never_sandbox = {"docker"};
  EXPECT_EQ(mode(allow, never, {{"docker"}, true}), Mode::kDirect);
  EXPECT_EQ(mode(sandbox, never, {{"docker"}, true}), Mode::kRefused);
  EXPECT_EQ(mode(sandbox, never, {{"ls"}, true}), Mode::kSandbox);
  EXPECT_EQ(mode(allow, Join(always, never), {{"make", "docker"}, true}),
            Mode::kRefused);
}

}  // namespace
}  // namespace gate::router
