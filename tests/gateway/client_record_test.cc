// What gate remembers of the clients that it rewrites lines for.
#include "gateway/client_record.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/support/agent_home.h"

namespace gate {
namespace {

using test::AgentHome;

TEST(ClientRecords, CountEveryDropOfHooksAtTheSameTime) {
  const AgentHome agent;
  constexpr int kHooks = 8;
  std::vector<pid_t> children;
  for (int i = 0; i < kHooks; ++i) {
    const pid_t child = ::fork();
    if (child == 0)
      ::_exit(app::NoteDrop(agent.state(), "claude 1", 1) ? 0 : 1);
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const auto records = app::ListClients(agent.state());
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].drops, static_cast<uint64_t>(kHooks));
  EXPECT_EQ(records[0].standing, app::Standing::kMarked);
}

TEST(ClientRecords, AreBoundedAndForgetNoMark) {
  const AgentHome agent;
  const std::string state = agent.state();
  const auto drop = [&](size_t i) {
    return app::NoteDrop(state, "claude " + std::to_string(i), i + 1);
  };
  for (int times = 0; times < 3; ++times) ASSERT_TRUE(drop(0));
  for (size_t i = 1; i < 2 * app::kMaxClientRecords; ++i) ASSERT_TRUE(drop(i));
  EXPECT_EQ(app::ListClients(state).size(), app::kMaxClientRecords);
  EXPECT_EQ(app::StandingOf(state, "claude 0"), app::Standing::kMarked);
  EXPECT_EQ(app::StandingOf(state, "claude 1"), app::Standing::kGood);
  EXPECT_EQ(app::StandingOf(state, "new"), app::Standing::kGood);
  // Where all are marked, no other is believed.
  for (const app::ClientRecord& record : app::ListClients(state))
    for (int times = 0; times < 3; ++times)
      ASSERT_TRUE(app::NoteDrop(state, record.client, 9));
  EXPECT_EQ(app::StandingOf(state, "new"), app::Standing::kMarked);
  EXPECT_EQ(app::NoteDrop(state, "new", 9)->standing, app::Standing::kMarked);
  EXPECT_EQ(app::ListClients(state).size(), app::kMaxClientRecords);
}

}  // namespace
}  // namespace gate
