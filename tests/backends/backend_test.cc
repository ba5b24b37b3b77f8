// What every backend has: a name, a strength, features, an outcome that begins
// as a failure.
#include "backends/backend.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

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

TEST(MakeBackends, AreInPriorityOrderAndNoneIsLast) {
  const auto all = MakeBackends();
  for (size_t i = 1; i < all.size(); ++i)
    EXPECT_LT(all[i - 1]->Priority(), all[i]->Priority());
  EXPECT_STREQ(all.back()->Name(), "none");
  EXPECT_EQ(all.back()->GetStrength(), Strength::kNone);
}

}  // namespace
}  // namespace gate::backends
