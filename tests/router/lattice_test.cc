// What no combination of layers, backends and decisions may do: run with less
// than any layer asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/router/generate.h"

namespace gate::router {
namespace {

// Whether two settings ask for the same, whoever was asked first.
bool Same(const Settings& a, const Settings& b) {
  for (int i = 0; i < backends::kFeatures; ++i)
    if (const auto feature = static_cast<Feature>(i);
        a.accept_loss.Has(feature) != b.accept_loss.Has(feature))
      return false;
  const auto sorted = [](std::vector<std::string> names) {
    std::ranges::sort(names);
    return names;
  };
  return a.required == b.required && a.hardened == b.hardened &&
         a.profile == b.profile && a.network == b.network &&
         a.hosts == b.hosts && HostsAreOfRules(a) == HostsAreOfRules(b) &&
         a.limits.wall_ms == b.limits.wall_ms &&
         a.limits.processes == b.limits.processes &&
         a.watch_execs == b.watch_execs &&
         a.report_blocked == b.report_blocked &&
         a.report_reads == b.report_reads &&
         sorted(a.always_sandbox) == sorted(b.always_sandbox) &&
         sorted(a.never_sandbox) == sorted(b.never_sandbox);
}

TEST(Lattice, TheOrderOfLayersDoesNotMatter) {
  Generator generate(11);
  for (int round = 0; round < kRounds; ++round) {
    std::array<Settings, 3> layers;
    for (Settings& layer : layers) {
      layer = generate.MakeSettings();
      layer.watch_execs = generate.Pick(3) == 0;
      layer.report_blocked = generate.Pick(3) == 0;
      layer.report_reads = generate.Pick(3) == 0;
      layer.backend.clear();
    }
    const auto& [a, b, c] = layers;
    const Settings one = Join(Join(a, b), c);
    for (const Settings& other :
         {Join(a, Join(b, c)), Join(Join(c, b), a), Join(b, Join(a, c))})
      ASSERT_TRUE(Same(one, other));
    const auto all = generate.Backends();
    const Decision decision = generate.MakeDecision();
    const auto plan = MakePlan(decision, true, all, one, Inputs());
    const auto again =
        MakePlan(decision, true, all, Join(Join(c, b), a), Inputs());
    ASSERT_EQ(plan.has_value(), again.has_value());
    if (!plan) continue;
    ASSERT_EQ(plan->mode, again->mode);
    ASSERT_EQ(plan->backend, again->backend);
  }
}

TEST(Lattice, SayingTheSameTwiceChangesNothing) {
  Generator generate(12);
  for (int round = 0; round < kRounds / 4; ++round) {
    const Settings a = generate.MakeSettings();
    const auto all = generate.Backends();
    const Decision decision = generate.MakeDecision();
    const auto once = MakePlan(decision, true, all, a, Inputs());
    const auto twice = MakePlan(decision, true, all, Join(a, a), Inputs());
    ASSERT_EQ(once.has_value(), twice.has_value());
    if (!once) continue;
    ASSERT_EQ(once->mode, twice->mode);
    ASSERT_EQ(once->backend, twice->backend);
    ASSERT_EQ(once->profile.network, twice->profile.network);
    for (const auto& [host, port] : kProbes)
      ASSERT_EQ(Reaches(*once, host, port), Reaches(*twice, host, port));
  }
}

// As of an agent's settings, or of a layer of less trust.
TEST(Lattice, ALayerThatNamesNoPlaceTurnsNoRefusalIntoARun) {
  Generator generate(13);
  int refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Settings base = generate.MakeSettings();
    Settings layer = generate.MakeSettings();
    layer.backend.clear();
    layer.profile = ProfileKind::kUnsaid;
    // A narrower network may be one that more backends have.
    layer.network = Network::kOpen;
    const auto all = generate.Backends();
    const Decision decision = generate.MakeDecision();
    const Programs programs = generate.MakePrograms();
    const auto before = MakePlan(decision, true, all, base, Inputs(), programs);
    const auto after =
        MakePlan(decision, true, all, Join(base, layer), Inputs(), programs);
    if (Runs(before)) {
      // Nor does what was contained run raw.
      ASSERT_FALSE(Runs(after) && before->mode == Mode::kSandbox &&
                   after->mode != Mode::kSandbox);
      continue;
    }
    ++refused;
    ASSERT_FALSE(Runs(after));
  }
  EXPECT_GT(refused, kRounds / 8);
}

// Every strength asked for against every set of two backends.
TEST(Lattice, NothingWeakerThanRequiredIsChosen) {
  constexpr int kStrengths = static_cast<int>(Strength::kMicrovm) + 1;
  const FeatureSet everything = Unasked().accept_loss;
  Decision decision;
  decision.action = Action::kSandbox;
  const auto each = [&](auto&& visit) {
    for (int required = 0; required < kStrengths; ++required)
      for (int first = 0; first < kStrengths; ++first)
        for (int second = 0; second < kStrengths; ++second)
          for (int state = 0; state < 64; ++state)
            visit(required, first, second, state);
  };
  int ran = 0, refused = 0;
  each([&](int required, int first, int second, int state) {
    std::vector<Candidate> all(2);
    for (int i = 0; i < 2; ++i) {
      Candidate& one = all[static_cast<size_t>(i)];
      one.name = i == 0 ? "a" : "b";
      one.strength = static_cast<Strength>(i == 0 ? first : second);
      one.priority = i == 0 ? 10 : 20;
      one.availability.available = (state >> i & 1) != 0;
      if ((state >> (2 + i) & 1) != 0) one.availability.features = everything;
    }
    Settings settings;
    settings.required = static_cast<Strength>(required);
    settings.hardened = (state & 16) != 0;
    if ((state & 32) != 0) settings.backend = "b";
    const auto plan = MakePlan(decision, false, all, settings, Inputs());
    const auto suits = [&](const Candidate& one) {
      return one.availability.available &&
             one.availability.features.Has(Feature::kReadOnlyRoot) &&
             one.strength >= settings.required &&
             one.strength > Strength::kNone;
    };
    const bool possible = settings.backend.empty()
                              ? suits(all[0]) || suits(all[1])
                              : suits(all[1]);
    // Neither more nor less: it runs exactly where something suits.
    ASSERT_EQ(Runs(plan), possible);
    (possible ? ran : refused) += 1;
    if (!possible) {
      ASSERT_FALSE(plan);
      return;
    }
    ASSERT_EQ(plan->mode, Mode::kSandbox);
    const Candidate* chosen = Named(all, plan->backend);
    ASSERT_NE(chosen, nullptr);
    ASSERT_TRUE(suits(*chosen));
    if (settings.hardened && settings.backend.empty()) {
      for (const Candidate& other : all)
        ASSERT_FALSE(suits(other) && other.strength > chosen->strength);
    }
  });
  EXPECT_GT(ran, 0);
  EXPECT_GT(refused, 0);
}

TEST(Lattice, AutoIsTheMostThereIs) {
  const auto most = backends::ParseStrength("auto");
  ASSERT_TRUE(most);
  Generator generate(14);
  for (int round = 0; round < kRounds / 4; ++round) {
    Settings a = generate.MakeSettings();
    Settings said = Unasked();
    said.required = *most;
    const Settings joined =
        generate.Pick(2) == 0 ? Join(a, said) : Join(said, a);
    ASSERT_EQ(joined.required, *most);
    ASSERT_GE(joined.required, a.required);
    const auto all = generate.Backends();
    Decision decision = generate.MakeDecision();
    decision.action = Action::kSandbox;
    const auto plan = MakePlan(decision, false, all, joined, Inputs());
    if (!Runs(plan)) continue;
    const Candidate* chosen = Named(all, plan->backend);
    ASSERT_NE(chosen, nullptr);
    for (const Candidate& other : all)
      ASSERT_GE(chosen->strength, other.strength);
  }
}

TEST(Lattice, WithoutABackendWhatMustBeContainedDoesNotRun) {
  Generator generate(15);
  for (int round = 0; round < kRounds / 2; ++round) {
    Settings settings = generate.MakeSettings();
    settings.hardened = generate.Pick(2) == 0;
    auto all = generate.Backends();
    for (Candidate& one : all)
      // There, but containing nothing; or not there.
      if (generate.Pick(2) == 0)
        one.strength = Strength::kNone;
      else
        one.availability.available = false;
    const Decision decision = generate.MakeDecision();
    const Programs programs = generate.MakePrograms();
    const auto plan =
        MakePlan(decision, true, all, settings, Inputs(), programs);
    if (!Runs(plan)) continue;
    ASSERT_EQ(plan->mode, Mode::kDirect);
    ASSERT_FALSE(decision.contain);
    ASSERT_NE(decision.action, Action::kSandbox);
    ASSERT_TRUE(settings.backend.empty() &&
                settings.profile == ProfileKind::kUnsaid);
    if (!settings.always_sandbox.empty()) {
      ASSERT_TRUE(programs.complete);
      for (const std::string& name : programs.names)
        ASSERT_EQ(std::ranges::count(settings.always_sandbox, name), 0);
    }
  }
}

TEST(Lattice, ABackendThatAnyLayerNamesMustBeKnown) {
  Generator generate(16);
  for (int round = 0; round < kRounds / 4; ++round) {
    Settings settings = generate.MakeSettings();
    Settings other = generate.MakeSettings();
    settings.never_sandbox.clear();
    other.never_sandbox.clear();
    (generate.Pick(2) == 0 ? settings : other).backend = "unheard-of";
    Decision decision = generate.MakeDecision();
    decision.action = Action::kSandbox;
    ASSERT_FALSE(MakePlan(decision, true, generate.Backends(),
                          Join(settings, other), Inputs()));
  }
}

}  // namespace
}  // namespace gate::router
