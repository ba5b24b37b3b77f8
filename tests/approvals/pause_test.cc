// A pause holds for its time and no longer.
#include "approvals/pause.h"

#include <gtest/gtest.h>

#include "tests/support/agent_home.h"

namespace gate::app {
namespace {

using test::AgentHome;

TEST(PauseTest, HoldsForItsTimeAndNoLonger) {
  const AgentHome agent;
  ASSERT_TRUE(StartPause(agent.state(), {"/p", 1000, 2000}));
  EXPECT_FALSE(FindPause(agent.state(), 999)) << "the clock went back";
  ASSERT_TRUE(FindPause(agent.state(), 1999));
  EXPECT_EQ(FindPause(agent.state(), 1999)->workspace, "/p");
  EXPECT_FALSE(FindPause(agent.state(), 2000));
  ASSERT_TRUE(EndPause(agent.state()));
  EXPECT_FALSE(FindPause(agent.state(), 1500));
  EXPECT_TRUE(EndPause(agent.state()));
  EXPECT_FALSE(StartPause(agent.state(), {"", 0, kLongestPauseMs + 1}));
}

}  // namespace
}  // namespace gate::app
