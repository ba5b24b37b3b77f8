// Answers that hold for more than one run.
#include "approvals/standing_approvals.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/agent_home.h"

namespace gate::app {
namespace {

using test::AgentHome;

constexpr uint64_t kHour = 3600 * 1000;

StandingApproval Approval(const std::string& scope) {
  StandingApproval approval;
  approval.id = "01910000-0000-7000-8000-00000000000a";
  approval.scope = scope;
  approval.command = "npm publish";
  approval.cwd = "/p";
  approval.place = "1:2 /p";
  approval.workspace = "/p";
  approval.session = "s1";
  approval.rules = {"a.rule", "b.rule"};
  approval.approved_ms = 1000;
  approval.expires_ms = scope == "project" ? 0 : 1000 + kHour;
  return approval;
}

Asked Request() { return {"npm publish", "1:2 /p", "/p", "s1", {"a.rule"}}; }

TEST(ApprovalsTest, FitsOneCommandInOnePlaceForTheRulesThatAsked) {
  const AgentHome agent;
  ASSERT_TRUE(Remember(agent.state(), Approval("time")));
  const auto fits = [&](const Asked& asked, uint64_t now = 2000) {
    return FindStandingApproval(agent.state(), asked, now).has_value();
  };
  EXPECT_TRUE(fits(Request()));
  Asked asked = Request();
  asked.rules = {"a.rule", "b.rule"};
  EXPECT_TRUE(fits(asked));
  asked.rules = {"a.rule", "c.rule"};
  EXPECT_FALSE(fits(asked));
  asked.rules = {};
  EXPECT_FALSE(fits(asked));
  asked = Request();
  asked.command += " ";
  EXPECT_FALSE(fits(asked));
  asked = Request();
  for (const char* place : {"1:3 /p", "1:2 /p/x", ""}) {
    asked.place = place;
    EXPECT_FALSE(fits(asked)) << place;
  }
  asked = Request();
  asked.workspace = "/q";
  EXPECT_FALSE(fits(asked));
  asked = Request();
  asked.session = "s2";
  EXPECT_TRUE(fits(asked)) << "a time is not a session";
  EXPECT_TRUE(fits(Request(), 1000 + kHour - 1));
  EXPECT_FALSE(fits(Request(), 999)) << "the clock went back";
}

TEST(ApprovalsTest, EndsByItselfOrWhenRevoked) {
  const AgentHome agent;
  ASSERT_TRUE(Remember(agent.state(), Approval("time")));
  EXPECT_FALSE(FindStandingApproval(agent.state(), Request(), 1000 + kHour));
  EXPECT_TRUE(ListStandingApprovals(agent.state(), 2000)->empty());
  ASSERT_TRUE(Remember(agent.state(), Approval("project")));
  EXPECT_TRUE(FindStandingApproval(agent.state(), Request(), 1000 * kHour));
  EXPECT_FALSE(Revoke(agent.state(), "0191", 2000)) << "too short";
  ASSERT_TRUE(Revoke(agent.state(), "01910000-0000", 2000));
  EXPECT_FALSE(FindStandingApproval(agent.state(), Request(), 2000));
  EXPECT_FALSE(Revoke(agent.state(), "01910000-0000", 2000));
}

TEST(ApprovalsTest, OfASessionFitsNoOther) {
  const AgentHome agent;
  ASSERT_TRUE(Remember(agent.state(), Approval("session")));
  EXPECT_TRUE(FindStandingApproval(agent.state(), Request(), 2000));
  Asked asked = Request();
  asked.session = "s2";
  EXPECT_FALSE(FindStandingApproval(agent.state(), asked, 2000));
  asked.session = "";
  EXPECT_FALSE(FindStandingApproval(agent.state(), asked, 2000));
}

TEST(ApprovalsTest, AForgedFileIsNone) {
  const AgentHome agent;
  ASSERT_TRUE(Remember(agent.state(), Approval("project")));
  const std::string file =
      agent.state() + "/approvals/" + Approval("project").id;
  std::string text = agent.Read(file);
  const size_t at = text.find("\"project\"");
  ASSERT_NE(at, std::string::npos);
  agent.Write(file, text.replace(at + 1, 1, "P"), 0600);
  EXPECT_FALSE(FindStandingApproval(agent.state(), Request(), 2000));
}

}  // namespace
}  // namespace gate::app
