// Files that mix settings and secrets, where no copy of them can be made.
#include "gateway/settings_copies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "backends/backend.h"
#include "tests/support/agent_home.h"

namespace gate {
namespace {

using test::AgentHome;

TEST(ShowSettingsTest, WithoutCopiesWhatLooksSecretIsHidden) {
  AgentHome agent;
  app::ProcessFacts facts;
  facts.home = agent.home();
  facts.places.state = agent.root() + "/state";
  const std::string file = agent.home() + "/.gitconfig";
  const auto hidden = [&](const char* text, bool can_show) {
    agent.Write(file, text);
    backends::Profile profile;
    app::ShowSettings(facts, can_show, &profile);
    EXPECT_EQ(profile.substitutes.size(), can_show ? 1U : 0U) << text;
    return std::ranges::count(profile.deny_read, file);
  };
  agent.Write(agent.home() + "/token.inc", "[github]\ntoken = hunter2\n");
  EXPECT_EQ(hidden("[user]\nname = Me\n", false), 0);
  EXPECT_EQ(hidden("[user]\nname = Me\n", true), 1);
  EXPECT_EQ(hidden("[credential]\nhelper = store\n", false), 0);
  EXPECT_EQ(hidden("[github]\ntoken = hunter2\n", false), 1);
  EXPECT_EQ(hidden("[include]\npath = token.inc\n", false), 1);
  EXPECT_EQ(hidden("[include]\npath = none.inc\n", false), 0);
  EXPECT_EQ(hidden("[user\n", false), 1);
}

}  // namespace
}  // namespace gate
