// Properties of the settings' lattice and of what is planned under it, over
// generated settings, backends and decisions.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/router/generate.h"

namespace gate::router {
namespace {

uint64_t Bound(uint64_t limit) { return limit == 0 ? UINT64_MAX : limit; }

// What one of the settings says of the network, and nothing else.
Settings Only(const Settings& settings, ProfileKind profile) {
  Settings only = Unasked();
  only.profile = profile;
  only.network = settings.network;
  only.hosts = settings.hosts;
  return only;
}

Candidate Everything() {
  Candidate candidate;
  candidate.name = "whole";
  candidate.strength = Strength::kMicrovm;
  candidate.availability.available = true;
  candidate.availability.features = Unasked().accept_loss;
  return candidate;
}

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
      ASSERT_EQ(JoinProfiles(KindOf(both->profile), one->profile),
                KindOf(both->profile));
      ASSERT_LE(both->profile.network, one->network);
      const auto alone = MakePlan(decision, approved, {Everything()},
                                  Only(*one, KindOf(both->profile)), Inputs());
      ASSERT_TRUE(Runs(alone));
      for (const auto& [host, port] : kProbes)
        if (Reaches(*both, host, port)) {
          ASSERT_TRUE(Reaches(*alone, host, port)) << host;
        }
      if (both->profile.network >= Network::kDomains) {
        ASSERT_EQ(both->profile.domains.deny.size(),
                  decision.hosts_deny.size());
      }
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
      ASSERT_EQ(plan->profile.domains, plain->profile.domains);
    }
  }
}

TEST(MakePlan, TakesTheFirstOfThoseThatGiveEverything) {
  Generator generate(99);
  for (int round = 0; round < kRounds; ++round) {
    Settings settings = generate.MakeSettings();
    settings.accept_loss = {};
    settings.backend.clear();
    settings.profile = ProfileKind::kUnsaid;
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
