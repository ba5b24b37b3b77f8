#include "router/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace gate::router {
namespace {

using backends::Feature;
using backends::FeatureSet;
using backends::Network;
using backends::Strength;
using engine::Decision;
using rules::Action;
using rules::NetworkAccess;
using rules::ProfileKind;

FeatureSet AllFeatures() {
  FeatureSet all;
  for (int i = 0; i < backends::kFeatures; ++i)
    all.Add(static_cast<Feature>(i));
  return all;
}

Candidate Make(const std::string& name, Strength strength, int priority,
               bool available = true, FeatureSet features = AllFeatures()) {
  Candidate candidate;
  candidate.name = name;
  candidate.strength = strength;
  candidate.priority = priority;
  candidate.availability.available = available;
  candidate.availability.why = available ? "works" : "is not installed";
  candidate.availability.features = features;
  return candidate;
}

std::vector<Candidate> Usual() {
  return {Make("native", Strength::kNamespace, 10),
          Make("bwrap", Strength::kNamespace, 20),
          Make("docker", Strength::kContainer, 50),
          Make("none", Strength::kNone, 1000, true, FeatureSet())};
}

Decision Decide(Action action, bool contain = true) {
  Decision decision;
  decision.action = action;
  decision.contain = contain;
  decision.reason = "because";
  return decision;
}

ProfileInputs Inputs() {
  ProfileInputs inputs;
  inputs.workspace = "/work/project";
  inputs.home = "/home/user";
  inputs.config_dir = "/home/user/.config/gate";
  inputs.state_dir = "/home/user/.local/state/gate";
  inputs.cache_dir = "/home/user/.cache/gate";
  return inputs;
}

TEST(MakePlan, RefusesADenyHoweverItIsAsked) {
  for (const bool approved : {false, true}) {
    const auto plan =
        MakePlan(Decide(Action::kDeny), approved, Usual(), {}, Inputs());
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->mode, Mode::kRefused);
    EXPECT_EQ(plan->why, "because");
  }
}

TEST(MakePlan, RefusesAnAskUntilItIsApproved) {
  const auto refused =
      MakePlan(Decide(Action::kAsk), false, Usual(), {}, Inputs());
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->mode, Mode::kRefused);
  const auto contained =
      MakePlan(Decide(Action::kAsk), true, Usual(), {}, Inputs());
  ASSERT_TRUE(contained);
  EXPECT_EQ(contained->mode, Mode::kSandbox);
  const auto direct =
      MakePlan(Decide(Action::kAsk, false), true, Usual(), {}, Inputs());
  ASSERT_TRUE(direct);
  EXPECT_EQ(direct->mode, Mode::kDirect);
}

TEST(MakePlan, RunsAnAllowRawUnlessItMustBeContained) {
  EXPECT_EQ(
      MakePlan(Decide(Action::kAllow, false), false, Usual(), {}, Inputs())
          ->mode,
      Mode::kDirect);
  EXPECT_EQ(MakePlan(Decide(Action::kAllow, true), false, Usual(), {}, Inputs())
                ->mode,
            Mode::kSandbox);
  Settings settings;
  settings.profile = ProfileKind::kReadOnly;
  EXPECT_EQ(MakePlan(Decide(Action::kAllow, false), false, Usual(), settings,
                     Inputs())
                ->mode,
            Mode::kSandbox);
}

TEST(MakePlan, TakesTheCheapestOfThoseThatSuffice) {
  const auto plan =
      MakePlan(Decide(Action::kSandbox), false, Usual(), {}, Inputs());
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->backend, "native");
}

TEST(MakePlan, TakesTheStrongestWhenHardened) {
  Settings settings;
  settings.hardened = true;
  EXPECT_EQ(
      MakePlan(Decide(Action::kSandbox), false, Usual(), settings, Inputs())
          ->backend,
      "docker");
}

TEST(MakePlan, AnImageIsOnlyContainersAndIsSaid) {
  Settings settings;
  settings.image = "x@sha256:1";
  auto plan =
      MakePlan(Decide(Action::kSandbox), false, Usual(), settings, Inputs());
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->backend, "native");
  EXPECT_EQ(plan->profile.image, "");
  settings.required = Strength::kContainer;
  plan = MakePlan(Decide(Action::kSandbox), false, Usual(), settings, Inputs());
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->profile.image, settings.image);
  EXPECT_NE(plan->why.find(settings.image), std::string::npos) << plan->why;
  // The system's layer comes first, and holds.
  Settings other = Unasked();
  other.image = "y@sha256:2";
  EXPECT_EQ(Join(settings, other).image, settings.image);
  EXPECT_EQ(Join(Unasked(), other).image, other.image);
}

TEST(MakePlan, PassesOverWhatIsNotAvailable) {
  std::vector<Candidate> candidates = Usual();
  candidates[0].availability.available = false;
  EXPECT_EQ(MakePlan(Decide(Action::kSandbox), false, candidates, {}, Inputs())
                ->backend,
            "bwrap");
}

TEST(MakePlan, PassesOverWhatLacksARequiredFeature) {
  std::vector<Candidate> candidates = Usual();
  candidates[0].availability.features = {Feature::kReadOnlyRoot};
  EXPECT_EQ(MakePlan(Decide(Action::kSandbox), false, candidates, {}, Inputs())
                ->backend,
            "bwrap");
}

TEST(MakePlan, ALimitOfTheRunNeedsABackendThatSums) {
  std::vector<Candidate> candidates = Usual();
  candidates[0].availability.features = {
      Feature::kReadOnlyRoot,     Feature::kReadDeny,
      Feature::kProtectedPaths,   Feature::kPrivateTmp,
      Feature::kSeccomp,          Feature::kNetworkNone,
      Feature::kProcessIsolation, Feature::kLimits,
      Feature::kLandlock,         Feature::kCleanEnvironment,
      Feature::kNetworkLoopback};
  Settings settings;
  settings.limits.wall_ms = 1000;
  EXPECT_EQ(
      MakePlan(Decide(Action::kSandbox), false, candidates, settings, Inputs())
          ->backend,
      "native");
  for (const auto field :
       {&backends::Limits::cpu_s, &backends::Limits::memory_bytes,
        &backends::Limits::processes, &backends::Limits::written_bytes}) {
    settings.limits = {};
    settings.limits.*field = uint64_t{1} << 63;
    EXPECT_EQ(MakePlan(Decide(Action::kSandbox), false, candidates, settings,
                       Inputs())
                  ->backend,
              "bwrap");
  }
}

TEST(MakePlan, ChecksOnTopAreGivenOrNamedAsLost) {
  std::vector<Candidate> candidates = Usual();
  Settings settings;
  settings.watch_execs = settings.report_blocked = true;
  const auto given =
      MakePlan(Decide(Action::kSandbox), false, candidates, settings, Inputs());
  ASSERT_TRUE(given);
  EXPECT_TRUE(given->profile.watch_execs && given->profile.report_blocked);
  EXPECT_TRUE(given->lost.empty());
  FeatureSet without;
  for (int i = 0; i < backends::kFeatures; ++i)
    if (const auto feature = static_cast<Feature>(i);
        feature != Feature::kWatchExecs && feature != Feature::kReportBlocked)
      without.Add(feature);
  candidates[0].availability.features = without;
  const auto lost =
      MakePlan(Decide(Action::kSandbox), false, candidates, settings, Inputs());
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->backend, "native");  // they are no reason to pass it over
  EXPECT_FALSE(lost->profile.watch_execs || lost->profile.report_blocked);
  EXPECT_EQ(lost->lost,
            (std::vector<std::string>{"not given: watch-execs",
                                      "not given: report-blocked"}));
}

TEST(MakePlan, PutsFeaturesBeforeStrengthWhenLossIsAccepted) {
  std::vector<Candidate> candidates = {
      Make("strong", Strength::kContainer, 1, true, {Feature::kReadOnlyRoot}),
      Make("whole", Strength::kNamespace, 99)};
  Settings settings;
  settings.accept_loss = AllFeatures();
  settings.hardened = true;
  EXPECT_EQ(
      MakePlan(Decide(Action::kSandbox), false, candidates, settings, Inputs())
          ->backend,
      "whole");
}

TEST(MakePlan, SaysWhatAnAcceptedLossIs) {
  const std::vector<Candidate> candidates = {
      Make("weak", Strength::kNamespace, 1, true,
           {Feature::kReadOnlyRoot, Feature::kReadDeny})};
  EXPECT_FALSE(
      MakePlan(Decide(Action::kSandbox), false, candidates, {}, Inputs()));
  Settings settings;
  settings.accept_loss = AllFeatures();
  const auto plan =
      MakePlan(Decide(Action::kSandbox), false, candidates, settings, Inputs());
  ASSERT_TRUE(plan);
  EXPECT_NE(
      std::find(plan->lost.begin(), plan->lost.end(), "not given: private-tmp"),
      plan->lost.end());
  EXPECT_TRUE(
      plan->profile.required.Without(candidates[0].availability.features)
          .empty());
}

TEST(MakePlan, AnExplicitBackendThatIsAbsentIsAnError) {
  std::vector<Candidate> candidates = Usual();
  candidates[1].availability.available = false;
  Settings settings;
  for (const char* name : {"bwrap", "gvisor"}) {
    settings.backend = name;
    const auto plan = MakePlan(Decide(Action::kSandbox), false, candidates,
                               settings, Inputs());
    ASSERT_FALSE(plan) << name;
    EXPECT_EQ(plan.error().code, ErrorCode::kUnavailable) << name;
  }
}

TEST(MakePlan, AnExplicitBackendThatIsWeakerIsInvalid) {
  Settings settings;
  settings.backend = "none";
  const auto none =
      MakePlan(Decide(Action::kSandbox), false, Usual(), settings, Inputs());
  ASSERT_FALSE(none);
  settings.backend = "native";
  settings.required = Strength::kContainer;
  const auto weak =
      MakePlan(Decide(Action::kSandbox), false, Usual(), settings, Inputs());
  ASSERT_FALSE(weak);
  EXPECT_EQ(weak.error().code, ErrorCode::kInvalid);
}

TEST(MakePlan, NoBackendIsAnErrorThatNamesEachReason) {
  std::vector<Candidate> candidates = {
      Make("native", Strength::kNamespace, 10, false)};
  const auto plan =
      MakePlan(Decide(Action::kSandbox), false, candidates, {}, Inputs());
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(plan.error().message.find("native: is not installed"),
            std::string::npos);
}

TEST(MakePlan, ProfileMayBeStricterButNotWeaker) {
  Decision decision = Decide(Action::kSandbox);
  Settings settings;
  settings.profile = ProfileKind::kReadOnly;
  EXPECT_EQ(
      MakePlan(decision, false, Usual(), settings, Inputs())->profile.name,
      "read-only");
  settings.profile = ProfileKind::kFullAccess;
  const auto weaker = MakePlan(decision, false, Usual(), settings, Inputs());
  ASSERT_FALSE(weaker);
  EXPECT_EQ(weaker.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(
      weaker.error().message,
      "profile `full-access` is not as strict as `workspace-write`, which "
      "the policy asks for");
}

// A backend that cannot lend is not chosen; where policy does without, nothing
// is lent.
TEST(MakePlan, ToolNeedsABackendThatLends) {
  Decision decision = Decide(Action::kSandbox);
  decision.profile = ProfileKind::kTool;
  ProfileInputs inputs = Inputs();
  EXPECT_FALSE(MakePlan(decision, false, Usual(), {}, inputs));
  inputs.lending.emplace();
  inputs.lending->program = "aws";
  inputs.lending->files = {
      {"/home/user/.aws/config", "/home/user/.aws/config", false, ""}};
  std::vector<Candidate> candidates = Usual();
  const auto given = MakePlan(decision, false, candidates, {}, inputs);
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_EQ(given->profile.name, "tool");
  EXPECT_TRUE(given->profile.required.Has(Feature::kLending));
  EXPECT_EQ(given->profile.lend.size(), 1u);
  for (Candidate& candidate : candidates) {
    backends::FeatureSet less;
    for (int i = 0; i < backends::kFeatures; ++i)
      if (static_cast<Feature>(i) != Feature::kLending &&
          candidate.availability.features.Has(static_cast<Feature>(i)))
        less.Add(static_cast<Feature>(i));
    candidate.availability.features = less;
  }
  EXPECT_FALSE(MakePlan(decision, false, candidates, {}, inputs));
  Settings settings;
  settings.accept_loss.Add(Feature::kLending);
  const auto without = MakePlan(decision, false, candidates, settings, inputs);
  ASSERT_TRUE(without) << without.error().message;
  EXPECT_TRUE(without->profile.lend.empty());
  EXPECT_TRUE(without->profile.environment_lend.empty());
  EXPECT_NE(std::find(without->lost.begin(), without->lost.end(),
                      "not given: lending"),
            without->lost.end());
  // `--profile` joins: what the policy contains more strictly stays so.
  decision.profile = ProfileKind::kWorkspaceWrite;
  settings = {};
  settings.profile = ProfileKind::kTool;
  EXPECT_FALSE(MakePlan(decision, false, Usual(), settings, inputs));
  decision.profile = ProfileKind::kFullAccess;
  EXPECT_EQ(MakePlan(decision, false, Usual(), settings, inputs)->profile.name,
            "tool");
}

TEST(MakePlan, ANetworkThatIsNotSaidIsNone) {
  Decision decision = Decide(Action::kSandbox);
  decision.network = NetworkAccess::kUnsaid;
  EXPECT_EQ(MakePlan(decision, false, Usual(), {}, Inputs())->profile.network,
            Network::kNone);
}

// Thousands of generated inputs: whatever is asked, the plan is not weaker
// than the decision and no setting lowers what another one raised.
TEST(MakePlan, NeverGivesLessThanTheDecision) {
  std::mt19937 random(20251121);
  const auto pick = [&](int below) {
    return static_cast<int>(random() % static_cast<unsigned>(below));
  };
  const ProfileKind profiles[] = {ProfileKind::kFullAccess, ProfileKind::kTool,
                                  ProfileKind::kWorkspaceWrite,
                                  ProfileKind::kReadOnly};
  const NetworkAccess networks[] = {
      NetworkAccess::kNone, NetworkAccess::kLoopback, NetworkAccess::kDomains,
      NetworkAccess::kOpen, NetworkAccess::kUnsaid};
  for (int round = 0; round < 5000; ++round) {
    Decision decision = Decide(static_cast<Action>(pick(4)), pick(2) == 1);
    decision.profile = profiles[pick(4)];
    decision.network = networks[pick(5)];
    Settings settings;
    settings.required = static_cast<Strength>(pick(6));
    settings.hardened = pick(2) == 1;
    for (int f = 0; f < backends::kFeatures; ++f)
      if (pick(4) == 0) settings.accept_loss.Add(static_cast<Feature>(f));
    settings.network = static_cast<Network>(pick(4));
    if (pick(3) == 0) settings.profile = profiles[pick(4)];
    std::vector<Candidate> candidates;
    for (int i = 0; i < 5; ++i) {
      FeatureSet features;
      for (int f = 0; f < backends::kFeatures; ++f)
        if (pick(8) != 0) features.Add(static_cast<Feature>(f));
      candidates.push_back(Make("b" + std::to_string(i),
                                static_cast<Strength>(pick(6)), pick(100),
                                pick(3) != 0, features));
    }
    if (pick(4) == 0) settings.backend = "b" + std::to_string(pick(6));
    const bool approved = pick(2) == 1;
    const auto plan =
        MakePlan(decision, approved, candidates, settings, Inputs());
    const bool refused = decision.action == Action::kDeny ||
                         (decision.action == Action::kAsk && !approved);
    if (refused) {
      ASSERT_TRUE(plan);
      ASSERT_EQ(plan->mode, Mode::kRefused);
      continue;
    }
    if (!plan) continue;  // an error runs nothing
    ASSERT_NE(plan->mode, Mode::kRefused);
    if (plan->mode == Mode::kDirect) {
      ASSERT_FALSE(decision.contain);
      ASSERT_NE(decision.action, Action::kSandbox);
      continue;
    }
    const auto chosen = std::find_if(
        candidates.begin(), candidates.end(),
        [&](const Candidate& c) { return c.name == plan->backend; });
    ASSERT_NE(chosen, candidates.end());
    ASSERT_TRUE(chosen->availability.available);
    ASSERT_GE(chosen->strength, settings.required);
    ASSERT_GT(chosen->strength, Strength::kNone);
    if (!settings.backend.empty()) {
      ASSERT_EQ(plan->backend, settings.backend);
    }
    ASSERT_EQ(JoinProfiles(KindOf(plan->profile), decision.profile),
              KindOf(plan->profile));
    ASSERT_LE(plan->profile.network, settings.network);
    ASSERT_LE(plan->profile.network, NetworkOf(decision.network));
    ASSERT_TRUE(
        plan->profile.required.Without(chosen->availability.features).empty());
    const std::string prefix = "not given: ";
    for (const std::string& lost : plan->lost) {
      if (!lost.starts_with(prefix)) continue;
      bool accepted = false;
      for (int f = 0; f < backends::kFeatures; ++f)
        accepted |= lost.substr(prefix.size()) ==
                        backends::Name(static_cast<Feature>(f)) &&
                    settings.accept_loss.Has(static_cast<Feature>(f));
      ASSERT_TRUE(accepted) << lost;
    }
  }
}

TEST(Profile, OfAnUnknownNameIsTakenForTheStrictest) {
  backends::Profile profile;
  profile.name = "yolo";
  EXPECT_EQ(KindOf(profile), ProfileKind::kReadOnly);
}

TEST(Join, IsALattice) {
  const ProfileKind kinds[] = {ProfileKind::kUnsaid, ProfileKind::kFullAccess,
                               ProfileKind::kTool, ProfileKind::kWorkspaceWrite,
                               ProfileKind::kReadOnly};
  for (const ProfileKind a : kinds)
    for (const ProfileKind b : kinds) {
      EXPECT_EQ(JoinProfiles(a, b), JoinProfiles(b, a));
      EXPECT_EQ(JoinProfiles(JoinProfiles(a, b), b), JoinProfiles(a, b));
      for (const ProfileKind c : kinds)
        EXPECT_EQ(JoinProfiles(JoinProfiles(a, b), c),
                  JoinProfiles(a, JoinProfiles(b, c)));
    }
  EXPECT_EQ(JoinProfiles(ProfileKind::kUnsaid, ProfileKind::kFullAccess),
            ProfileKind::kFullAccess);
  EXPECT_EQ(JoinProfiles(ProfileKind::kTool, ProfileKind::kFullAccess),
            ProfileKind::kTool);
  EXPECT_EQ(JoinProfiles(ProfileKind::kTool, ProfileKind::kWorkspaceWrite),
            ProfileKind::kWorkspaceWrite);
  EXPECT_EQ(JoinNetworks(Network::kNone, Network::kOpen), Network::kNone);
  EXPECT_EQ(JoinNetworks(Network::kOpen, Network::kLoopback),
            Network::kLoopback);
}

}  // namespace
}  // namespace gate::router
