// Answers that hold for a while, as a run meets them: approvals and pauses.
#include <gtest/gtest.h>

#include "approvals/approvals.h"
#include "approvals/pause.h"
#include "approvals/standing_approvals.h"
#include "facts/process_facts.h"
#include "tests/gate/approvals/answers.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Done;
using test::Machine;

constexpr uint64_t kHour = 3600 * 1000;

// The question as `gate run` keeps it, answered as `gate approve` does.
TEST(ApprovalsTest, ARememberedYesAnswersRunAfterRun) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  machine.Write(machine.home() + "/.config/gate/rules.d/a.json",
                R"({"schema": 1, "pack": "p", "rules": [{"id": "p.a",
      "action": "ask", "reason": "r", "match": {"prefix": ["echo", "hi"]}}]})",
                0600);
  EXPECT_EQ(machine.Gate({"run", "-c", "echo hi"}).exit_code, 126);
  const PendingQuestion question = WaitingQuestion(machine);
  EXPECT_EQ(question.rules, std::vector<std::string>{"p.a"});
  StandingApproval approval = YesForAnHour(question);
  approval.scope = "project";
  approval.expires_ms = 0;
  ASSERT_TRUE(Remember(machine.state(), approval));
  for (int i = 0; i < 2; ++i) {
    const Done done = machine.Gate({"run", "-c", "echo hi"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(done.out, "hi\n");
  }
  EXPECT_EQ(machine.Gate({"run", "-c", "echo hi "}).exit_code, 126);
  const Done listed = machine.Gate({"approvals", "list"});
  EXPECT_NE(listed.out.find("echo hi"), std::string::npos) << listed.out;
  EXPECT_EQ(machine.Gate({"approvals", "revoke", "--all"}).exit_code, 126);
}

// What a contained command can do to the names in the workspace while a person
// answers, or afterwards.
TEST(ApprovalsTest, AYesHoldsForTheDirectoryThatWasShown) {
  const struct {
    const char* cwd;
    const char* turn;
    const char* back;
  } kRows[] = {
      {"cur", "ln -sfn b cur", "ln -sfn a cur"},
      {"a", "mv a a_ && mv b a", "mv a b && mv a_ a"},
      {"up/in", "ln -sfn b up", "ln -sfn a up"},
  };
  for (const auto& row : kRows) {
    for (const bool remembered : {false, true}) {
      SCOPED_TRACE(std::string(row.cwd) + (remembered ? ", for a time" : ""));
      const Machine machine;
      if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
      machine.Write(machine.home() + "/.config/gate/rules.d/a.json",
                    R"({"schema": 1, "pack": "p", "rules": [{"id": "p.a",
      "action": "ask", "reason": "r", "match": {"prefix": ["cat", "f"]}}]})",
                    0600);
      const auto shell = [&](const std::string& line) {
        const Done done =
            machine.Run({"/bin/sh", "-c", line}, "", machine.project());
        EXPECT_EQ(done.exit_code, 0) << line << done.err;
      };
      shell(
          "mkdir -p a/in b/in; ln -s a cur; ln -s a up; for d in a b; do echo "
          "$d > $d/f; echo $d > $d/in/f; done");
      const auto run = [&] {
        return machine
            .Gate({"run", "--cwd", machine.project() + "/" + row.cwd, "-c",
                   "cat f"})
            .out;
      };
      EXPECT_EQ(run(), "");
      const PendingQuestion question = WaitingQuestion(machine);
      EXPECT_EQ(question.cwd,
                machine.project() + "/a" +
                    (std::string(row.cwd) == "up/in" ? "/in" : ""));
      if (remembered) {
        ASSERT_TRUE(Remember(machine.state(), YesForAnHour(question)));
      } else {
        ASSERT_TRUE(Approve(machine.state(), question.id, NowMs()));
      }
      shell(row.turn);
      EXPECT_EQ(run(), "") << "asked again";
      shell(row.back);
      EXPECT_EQ(run(), "a\n");
    }
  }
}

TEST(PauseTest, AnswersAsksOnlyAndOnlyInItsProject) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  machine.Write(machine.home() + "/.config/gate/rules.d/a.json",
                R"({"schema": 1, "pack": "p", "rules": [
      {"id": "p.a", "action": "ask", "reason": "r",
       "match": {"prefix": ["echo", "hi"]}},
      {"id": "p.b", "action": "deny", "reason": "r",
       "match": {"prefix": ["echo", "no"]}}]})",
                0600);
  const uint64_t now = NowMs();
  ASSERT_TRUE(StartPause(machine.state(), {"/elsewhere", now, now + kHour}));
  EXPECT_EQ(machine.Gate({"run", "-c", "echo hi"}).exit_code, 126);
  ASSERT_TRUE(
      StartPause(machine.state(), {machine.project(), now, now + kHour}));
  const Done done = machine.Gate({"run", "-c", "echo hi"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(machine.Gate({"run", "-c", "echo no"}).exit_code, 126);
  const Done log = machine.Gate({"audit", "list", "--json"});
  EXPECT_NE(log.out.find("paused"), std::string::npos) << log.out;
}

TEST(PauseTest, IsAPersonsAct) {
  const Machine machine;
  EXPECT_EQ(machine.Gate({"pause", "15m"}).exit_code, 126);
  EXPECT_EQ(machine.Gate({"pause", "--end"}).exit_code, 126);
  EXPECT_EQ(machine.Gate({"resume"}).exit_code, 126);
  for (const char* length : {"", "0m", "9h", "15", "-5m", "1e3s", "99999999d"})
    EXPECT_EQ(machine.Gate({"pause", length}).exit_code, 64) << length;
}

// Somebody without a name that gate knows answers on a terminal of their own
// making.
TEST(PauseTest, IsNotTheActOfWhoMadeTheTerminal) {
  const Machine machine;
  for (const std::string& maker :
       {std::string("python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "
                    "\"$0\" pause 15m </dev/null"),
        std::string("exec script -qec \"$0 pause 15m\" /dev/null </dev/null"),
        std::string("exec script -qec \"bash -c '$0 pause 15m; exit 1'\" "
                    "/dev/null </dev/null")}) {
    const Done done =
        machine.Run({"/bin/bash", "-c", maker, test::GateBinary()});
    EXPECT_NE(done.out.find("is a person's act"), std::string::npos)
        << maker << done.out << done.err;
    EXPECT_FALSE(FindPause(machine.state(), NowMs())) << maker;
  }
}

}  // namespace
}  // namespace gate::app
