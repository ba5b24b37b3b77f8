// Questions that wait, and the answers to them.
#include "approvals/approvals.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/agent_home.h"

namespace gate::app {
namespace {

using test::AgentHome;

constexpr const char* kPlace = "1:2 /w";

PendingQuestion Request(const std::string& id) {
  PendingQuestion question;
  question.id = id;
  question.command = "git push \xff";
  question.cwd = "/w";
  question.place = kPlace;
  question.policy_revision = "rev";
  question.asked_ms = 1000;
  return question;
}

TEST(ApprovalsTest, AnApprovalFitsOneCommandOnce) {
  const AgentHome agent;
  const std::string state = agent.state();
  const std::string id = "01234567-89ab-7def-8000-000000000001";
  ASSERT_TRUE(KeepQuestion(state, Request(id)));
  EXPECT_FALSE(TakeApproval(state, "git push \xff", kPlace, "rev", 2000));
  ASSERT_TRUE(Approve(state, id.substr(0, 8), 2000));
  EXPECT_FALSE(TakeApproval(state, "git push", kPlace, "rev", 2001));
  EXPECT_FALSE(TakeApproval(state, "git push \xff", "1:3 /w", "rev", 2001));
  EXPECT_FALSE(TakeApproval(state, "git push \xff", kPlace, "rev2", 2001));
  EXPECT_FALSE(TakeApproval(state, "git push \xff", "", "rev", 2001));
  EXPECT_TRUE(TakeApproval(state, "git push \xff", kPlace, "rev", 2001));
  EXPECT_FALSE(TakeApproval(state, "git push \xff", kPlace, "rev", 2001));
}

TEST(ApprovalsTest, ForgedAndExpiredAnswersCountForNothing) {
  const AgentHome agent;
  const std::string state = agent.state();
  const std::string id = "01234567-89ab-7def-8000-000000000002";
  ASSERT_TRUE(KeepQuestion(state, Request(id)));
  ASSERT_TRUE(Approve(state, id, 2000));
  const std::string file = state + "/pending/" + id;
  std::string text = agent.Read(file);
  const size_t at = text.find("\"rev\"");
  ASSERT_NE(at, std::string::npos);
  text[at + 1] = 'R';
  agent.Write(file, text, 0600);
  EXPECT_FALSE(TakeApproval(state, "git push \xff", kPlace, "Rev", 2001));
  ASSERT_TRUE(KeepQuestion(state, Request(id)));
  ASSERT_TRUE(Approve(state, id, 2000));
  EXPECT_FALSE(TakeApproval(state, "git push \xff", kPlace, "rev",
                            2001 + kApprovalLifetimeMs));
  EXPECT_FALSE(Approve(state, id, 5000 + kPendingLifetimeMs));
  EXPECT_FALSE(Approve(state, "../../x", 1));
}

}  // namespace
}  // namespace gate::app
