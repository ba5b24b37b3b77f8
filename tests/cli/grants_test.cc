// What a yes lets a line do, by the real program.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/approvals.h"
#include "cli/pause.h"
#include "cli/process_facts.h"
#include "cli/remembered.h"
#include "tests/cli/process.h"

namespace gate::cli {
namespace {

using engine::GrantKind;
using test::Done;
using test::Machine;

constexpr uint64_t kHour = 3600 * 1000;

// `touch` outside the workspace is asked as a rule says it.
void WriteRule(const Machine& machine, const std::string& more) {
  machine.Write(machine.home() + "/.config/gate/rules.d/a.json",
                R"({"schema": 1, "pack": "p", "rules": [{"id": "p.a",
      "action": "ask", "reason": "r", )" +
                    more + R"( "match": {"program": ["touch"]}}]})",
                0600);
}

std::string Outside(const Machine& machine) {
  return machine.home() + "/outside";
}

Done Touch(const Machine& machine) {
  return machine.Gate({"run", "-c", "touch " + Outside(machine)});
}

// The one question that waits.
PendingQuestion Waiting(const Machine& machine) {
  const auto waiting = ListQuestions(machine.state(), NowMs());
  if (!waiting || waiting->size() != 1) return {};
  return waiting->front();
}

nlohmann::json Check(const Machine& machine, const std::string& line) {
  return nlohmann::json::parse(
      machine.Gate({"check", "--json", "-c", line}).out);
}

TEST(GrantsTest, AYesThatIsShownAsSuchRunsAsThePersonWould) {
  const Machine machine;
  WriteRule(machine, R"("yes": "as-is",)");
  EXPECT_EQ(Check(machine, "touch ../outside")["grants"]["kind"], "as-is");
  Done done = Touch(machine);
  EXPECT_EQ(done.exit_code, 126);
  EXPECT_NE(done.err.find("gate approve"), std::string::npos) << done.err;
  const PendingQuestion question = Waiting(machine);
  EXPECT_EQ(question.grant, GrantKind::kAsIs);
  ASSERT_TRUE(Approve(machine.state(), question.id, NowMs()));
  done = Touch(machine);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_TRUE(machine.Exists(Outside(machine)));
  EXPECT_EQ(Touch(machine).exit_code, 126) << "used once";
  const Done log = machine.Gate({"audit", "show", question.id, "--json"});
  EXPECT_NE(log.out.find("as-is"), std::string::npos) << log.out;
}

TEST(GrantsTest, ThePersonMayChooseTheSandboxInstead) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  WriteRule(machine, R"("yes": "as-is", "profile": "full-access",)");
  Touch(machine);
  ASSERT_TRUE(Approve(machine.state(), Waiting(machine).id, NowMs(),
                      /*in_sandbox=*/true));
  EXPECT_NE(Touch(machine).exit_code, 0);
  EXPECT_FALSE(machine.Exists(Outside(machine)));
}

TEST(GrantsTest, AnAnswerGivesNoMoreThanItWasShown) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  WriteRule(machine, R"("yes": "as-is",)");
  Touch(machine);
  const PendingQuestion question = Waiting(machine);
  // As gate stored it before there were grants.
  RememberedApproval approval;
  approval.id = question.id;
  approval.scope = "time";
  approval.command = question.command;
  approval.cwd = question.cwd;
  approval.place = question.place;
  approval.workspace = question.workspace;
  approval.rules = question.rules;
  approval.approved_ms = NowMs();
  approval.expires_ms = NowMs() + kHour;
  ASSERT_TRUE(Remember(machine.state(), approval));
  EXPECT_NE(Touch(machine).exit_code, 0);
  EXPECT_FALSE(machine.Exists(Outside(machine)));
  approval.grant = question.grant;
  ASSERT_TRUE(Remember(machine.state(), approval));
  EXPECT_EQ(Touch(machine).exit_code, 0);
  EXPECT_TRUE(machine.Exists(Outside(machine)));
}

TEST(GrantsTest, APauseLetsNothingOutOfTheSandbox) {
  const Machine machine;
  WriteRule(machine, R"("yes": "as-is",)");
  const uint64_t now = NowMs();
  ASSERT_TRUE(StartPause(machine.state(), {"", now, now + kHour}));
  EXPECT_EQ(Touch(machine).exit_code, 126);
  EXPECT_FALSE(machine.Exists(Outside(machine)));
}

TEST(GrantsTest, NobodyIsAskedWhereNoYesWorks) {
  const Machine machine;
  WriteRule(machine, R"("yes": "by-hand",)");
  const Done done = Touch(machine);
  EXPECT_EQ(done.exit_code, 126);
  EXPECT_NE(done.err.find("in a terminal of their own"), std::string::npos)
      << done.err;
  EXPECT_EQ(done.err.find("gate approve"), std::string::npos) << done.err;
  EXPECT_TRUE(ListQuestions(machine.state(), NowMs())->empty());
  for (const char* mode : {"default", "bypassPermissions"}) {
    const nlohmann::json event = {{"session_id", "s"},
                                  {"cwd", machine.project()},
                                  {"hook_event_name", "PreToolUse"},
                                  {"permission_mode", mode},
                                  {"tool_name", "Bash"},
                                  {"tool_use_id", "t"},
                                  {"tool_input", {{"command", "touch x"}}}};
    const Done hook = machine.Gate({"hook", "claude"}, event.dump());
    const std::string said = hook.out + hook.err;
    EXPECT_EQ(said.find("\"ask\""), std::string::npos) << said;
    EXPECT_EQ(said.find("gate approve"), std::string::npos) << said;
    EXPECT_NE(said.find("terminal of their own"), std::string::npos) << said;
  }
}

TEST(GrantsTest, GitWithAHookOfTheRepositoryIsNotRunAsThePersonWould) {
  const Machine machine;
  ASSERT_EQ(machine.Run({"/usr/bin/git", "init", "-q", "."}).exit_code, 0);
  EXPECT_EQ(Check(machine, "git push -f")["grants"]["kind"], "as-is");
  machine.Write(machine.project() + "/.git/hooks/pre-push", "#!/bin/sh\n",
                0755);
  const nlohmann::json grants = Check(machine, "git push -f")["grants"];
  EXPECT_EQ(grants["kind"], "by-hand") << grants;
  EXPECT_NE(grants["why"].get<std::string>().find("pre-push"),
            std::string::npos);
}

TEST(GrantsTest, AProgramOfTheWorkspaceIsNotWhatWasAsked) {
  const Machine machine;
  WriteRule(machine, R"("yes": "as-is",)");
  machine.Write(machine.project() + "/bin/touch", "#!/bin/sh\n", 0755);
  EXPECT_EQ(Check(machine, "PATH=$PWD/bin:$PATH touch x")["grants"]["kind"],
            "by-hand");
  EXPECT_EQ(Check(machine, "./bin/touch x")["grants"]["kind"], "by-hand");
}

}  // namespace
}  // namespace gate::cli
