// The small parts that can be tested without a sandbox.
#include <gtest/gtest.h>

#include "backends/backend.h"
#include "backends/native/seccomp.h"
#include "backends/none.h"
#include "backends/unix_sockets.h"
#include "backends/unsafe/no_sandbox.h"

namespace gate::backends {
namespace {

TEST(Names, AreReadBack) {
  for (int i = 0; i <= static_cast<int>(Strength::kMicrovm); ++i) {
    const auto strength = static_cast<Strength>(i);
    EXPECT_EQ(ParseStrength(Name(strength)), strength);
  }
  for (int i = 0; i <= static_cast<int>(Network::kOpen); ++i) {
    const auto network = static_cast<Network>(i);
    EXPECT_EQ(ParseNetwork(Name(network)), network);
  }
  EXPECT_EQ(ParseStrength("bwrap"), Strength::kNamespace);
  EXPECT_EQ(ParseStrength("auto"), Strength::kMicrovm);
  EXPECT_EQ(ParseStrength("strong"), std::nullopt);
  EXPECT_EQ(ParseNetwork(""), std::nullopt);
}

TEST(FeatureSet, SaysWhatIsMissing) {
  const FeatureSet wanted = {Feature::kSeccomp, Feature::kLimits};
  EXPECT_TRUE(wanted.Without(wanted).empty());
  EXPECT_EQ(wanted.Without({Feature::kSeccomp}),
            std::vector<Feature>{Feature::kLimits});
}

TEST(Outcome, StartsAsAFailure) {
  EXPECT_EQ(Outcome().status, OutcomeStatus::kSetupFailed);
  EXPECT_FALSE(Availability().available);
}

TEST(MakeFilter, FitsAndEndsInAVerdict) {
  const Filter filter = MakeFilter();
  ASSERT_GT(filter.size, 100);
  ASSERT_LT(filter.size, kMaxFilter);
  EXPECT_EQ(filter.code[filter.size - 1u].code, BPF_RET | BPF_K);
  for (unsigned i = 0; i < filter.size; ++i) {
    const sock_filter& at = filter.code[i];
    if ((at.code & 7) != BPF_JMP) continue;
    EXPECT_LT(i + 1 + at.jt, filter.size);
    EXPECT_LT(i + 1 + at.jf, filter.size);
  }
}

TEST(ParseUnixSockets, TakesPathsAndNothingElse) {
  const char* table =
      "Num       RefCount Protocol Flags    Type St Inode Path\n"
      "0000000000000000: 00000002 00000000 00010000 0001 01 11 /run/a\n"
      "0000000000000000: 00000002 00000000 00010000 0001 01 12 /b c d\n"
      "0000000000000000: 00000003 00000000 00000000 0001 03 13\n"
      "0000000000000000: 00000002 00000000 00010000 0001 01 14 @abstract\n"
      "0000000000000000: 00000002 00000000 00010000 0001 01 15 relative\n"
      "broken line\n";
  EXPECT_EQ(ParseUnixSockets(table),
            (std::vector<std::string>{"/run/a", "/b c d"}));
  EXPECT_TRUE(ParseUnixSockets("").empty());
}

TEST(MakeBackends, AreInPriorityOrderAndNoneIsLast) {
  const auto all = MakeBackends();
  for (size_t i = 1; i < all.size(); ++i)
    EXPECT_LT(all[i - 1]->Priority(), all[i]->Priority());
  EXPECT_STREQ(all.back()->Name(), "none");
  EXPECT_EQ(all.back()->GetStrength(), Strength::kNone);
}

TEST(None, RefusesAProfileThatRequiresAnything) {
  const auto none = MakeNone(unsafe::NoSandbox());
  Profile profile;
  profile.required.Add(Feature::kSeccomp);
  Command command;
  command.argv = {"/bin/true"};
  EXPECT_EQ(none->Run(profile, command, {}).status,
            OutcomeStatus::kSetupFailed);
}

TEST(None, PassesExitCodesAndSignalsOn) {
  const auto none = MakeNone(unsafe::NoSandbox());
  Command command;
  command.permit = Permit::Given();
  command.cwd = "/";
  command.environment = {"PATH=/usr/bin:/bin"};
  command.argv = {"sh", "-c", "exit 7"};
  EXPECT_EQ(none->Run({}, command, {}).exit_code, 7);
  command.argv = {"sh", "-c", "kill -TERM $$"};
  EXPECT_EQ(none->Run({}, command, {}).signal, SIGTERM);
  command.argv = {"no-such-program"};
  EXPECT_TRUE(none->Run({}, command, {}).not_found);
  Profile profile;
  profile.limits.wall_ms = 50;
  command.argv = {"sleep", "20"};
  EXPECT_EQ(none->Run(profile, command, {}).status, OutcomeStatus::kTimeout);
}

}  // namespace
}  // namespace gate::backends
