// Answers that hold for a while: approvals and pauses.
#include <gtest/gtest.h>

#include "approvals/approvals.h"
#include "approvals/pause.h"
#include "approvals/standing_approvals.h"
#include "base/duration.h"
#include "facts/process_facts.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Done;
using test::Machine;

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
  const Machine machine;
  ASSERT_TRUE(Remember(machine.state(), Approval("time")));
  const auto fits = [&](const Asked& asked, uint64_t now = 2000) {
    return FindStandingApproval(machine.state(), asked, now).has_value();
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
  const Machine machine;
  ASSERT_TRUE(Remember(machine.state(), Approval("time")));
  EXPECT_FALSE(FindStandingApproval(machine.state(), Request(), 1000 + kHour));
  EXPECT_TRUE(ListStandingApprovals(machine.state(), 2000)->empty());
  ASSERT_TRUE(Remember(machine.state(), Approval("project")));
  EXPECT_TRUE(FindStandingApproval(machine.state(), Request(), 1000 * kHour));
  EXPECT_FALSE(Revoke(machine.state(), "0191", 2000)) << "too short";
  ASSERT_TRUE(Revoke(machine.state(), "01910000-0000", 2000));
  EXPECT_FALSE(FindStandingApproval(machine.state(), Request(), 2000));
  EXPECT_FALSE(Revoke(machine.state(), "01910000-0000", 2000));
}

TEST(ApprovalsTest, OfASessionFitsNoOther) {
  const Machine machine;
  ASSERT_TRUE(Remember(machine.state(), Approval("session")));
  EXPECT_TRUE(FindStandingApproval(machine.state(), Request(), 2000));
  Asked asked = Request();
  asked.session = "s2";
  EXPECT_FALSE(FindStandingApproval(machine.state(), asked, 2000));
  asked.session = "";
  EXPECT_FALSE(FindStandingApproval(machine.state(), asked, 2000));
}

TEST(ApprovalsTest, AForgedFileIsNone) {
  const Machine machine;
  ASSERT_TRUE(Remember(machine.state(), Approval("project")));
  const std::string file =
      machine.state() + "/approvals/" + Approval("project").id;
  std::string text = machine.Read(file);
  const size_t at = text.find("\"project\"");
  ASSERT_NE(at, std::string::npos);
  machine.Write(file, text.replace(at + 1, 1, "P"), 0600);
  EXPECT_FALSE(FindStandingApproval(machine.state(), Request(), 2000));
}

// The question as `gate run` keeps it, answered as `gate approve` does.
TEST(ApprovalsTest, ARememberedYesAnswersRunAfterRun) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  machine.Write(machine.home() + "/.config/gate/rules.d/a.json",
                R"({"schema": 1, "pack": "p", "rules": [{"id": "p.a",
      "action": "ask", "reason": "r", "match": {"prefix": ["echo", "hi"]}}]})",
                0600);
  EXPECT_EQ(machine.Gate({"run", "-c", "echo hi"}).exit_code, 126);
  const auto waiting = ListQuestions(machine.state(), NowMs());
  ASSERT_TRUE(waiting && waiting->size() == 1);
  const PendingQuestion& question = waiting->front();
  EXPECT_EQ(question.rules, std::vector<std::string>{"p.a"});
  StandingApproval approval;
  approval.id = question.id;
  approval.scope = "project";
  approval.command = question.command;
  approval.cwd = question.cwd;
  approval.place = question.place;
  approval.workspace = question.workspace;
  approval.rules = question.rules;
  approval.approved_ms = 1;
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
      const auto waiting = ListQuestions(machine.state(), NowMs());
      ASSERT_TRUE(waiting && waiting->size() == 1);
      const PendingQuestion& question = waiting->front();
      EXPECT_EQ(question.cwd,
                machine.project() + "/a" +
                    (std::string(row.cwd) == "up/in" ? "/in" : ""));
      if (remembered) {
        StandingApproval approval;
        approval.id = question.id;
        approval.scope = "time";
        approval.command = question.command;
        approval.cwd = question.cwd;
        approval.place = question.place;
        approval.workspace = question.workspace;
        approval.rules = question.rules;
        approval.approved_ms = 1;
        ASSERT_TRUE(Remember(machine.state(), approval));
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

TEST(PauseTest, HoldsForItsTimeAndNoLonger) {
  const Machine machine;
  ASSERT_TRUE(StartPause(machine.state(), {"/p", 1000, 2000}));
  EXPECT_FALSE(FindPause(machine.state(), 999)) << "the clock went back";
  ASSERT_TRUE(FindPause(machine.state(), 1999));
  EXPECT_EQ(FindPause(machine.state(), 1999)->workspace, "/p");
  EXPECT_FALSE(FindPause(machine.state(), 2000));
  ASSERT_TRUE(EndPause(machine.state()));
  EXPECT_FALSE(FindPause(machine.state(), 1500));
  EXPECT_TRUE(EndPause(machine.state()));
  EXPECT_FALSE(StartPause(machine.state(), {"", 0, kLongestPauseMs + 1}));
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

TEST(DurationTest, ReadsWhatPeopleWrite) {
  EXPECT_EQ(ParseDuration("15m", kHour), 15u * 60 * 1000);
  EXPECT_EQ(ParseDuration("1h", kHour), kHour);
  for (const char* text : {"", "m", "2h", "61m", "0s", "1", "1 m", "+1m"})
    EXPECT_FALSE(ParseDuration(text, kHour)) << text;
}

TEST(WayOnTest, EveryStopNamesOne) {
  const Machine machine;
  for (const char* command :
       {"rm -rf /", "npm publish", "gate approve 1", "cat ~/.ssh/id_rsa"}) {
    const Done done = machine.Gate({"run", "-c", command});
    EXPECT_EQ(done.exit_code, 126) << command;
    EXPECT_NE(done.err.find("Instead: "), std::string::npos) << done.err;
  }
  machine.Write(machine.home() + "/.config/gate/rules.d/a.json", "{", 0600);
  const Done broken = machine.Gate({"run", "-c", "ls"});
  EXPECT_EQ(broken.exit_code, 78);
  EXPECT_NE(broken.err.find("Instead: "), std::string::npos) << broken.err;
}

}  // namespace
}  // namespace gate::app
