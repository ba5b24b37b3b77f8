// What a yes lets a line do, by the real program.
#include <gtest/gtest.h>
#include <functional>
#include <nlohmann/json.hpp>

#include "approvals/approvals.h"
#include "approvals/pause.h"
#include "approvals/standing_approvals.h"
#include "facts/process_facts.h"
#include "tests/gate/approvals/answers.h"
#include "tests/support/hook_event.h"
#include "tests/support/machine.h"

namespace gate::app {
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
  const PendingQuestion question = WaitingQuestion(machine);
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
  ASSERT_TRUE(Approve(machine.state(), WaitingQuestion(machine).id, NowMs(),
                      /*in_sandbox=*/true));
  EXPECT_NE(Touch(machine).exit_code, 0);
  EXPECT_FALSE(machine.Exists(Outside(machine)));
}

TEST(GrantsTest, AnAnswerGivesNoMoreThanItWasShown) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  WriteRule(machine, R"("yes": "as-is",)");
  Touch(machine);
  const PendingQuestion question = WaitingQuestion(machine);
  // As gate stored it before there were grants.
  StandingApproval approval = YesForAnHour(question);
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
    const Done hook =
        machine.Gate({"hook", "claude"},
                     test::BashEvent(machine.project(), "touch x", mode));
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

TEST(GrantsTest, APushToARepositoryOfThisMachineRunsItsHooks) {
  const Machine machine;
  machine.Run({"/usr/bin/git", "init", "-q", "."});
  machine.Run({"/usr/bin/git", "init", "-q", "--bare", "inner"});
  const auto kind = [&](const char* line) {
    return Check(machine, line)["grants"]["kind"];
  };
  EXPECT_EQ(kind("git push -f https://example.org/a HEAD:x"), "as-is");
  for (const char* line :
       {"git push -f ./inner HEAD:x", "git push -f inner HEAD:x",
        "git push -f ../other HEAD:x"})
    EXPECT_EQ(kind(line), "by-hand") << line;
  for (const char* line :
       {"git push -f --repo=./inner", "git push -f --repo inner",
        "git push -f --recurse-submodules=on-demand https://example.org/a",
        "git push --recurse-submodules=only -f https://example.org/a"})
    EXPECT_EQ(kind(line), "by-hand") << line;
  machine.Run({"/usr/bin/git", "remote", "add", "origin", "./inner"});
  EXPECT_EQ(kind("git push -f"), "by-hand");
}

TEST(GrantsTest, SettingsThatLeadAPushElsewhereAreForThePersonToRun) {
  for (const auto& [key, value] : {
           std::pair("remote.pushDefault", "./inner"),
           std::pair("remote.x.pushurl", "file:///srv/x"),
           std::pair("branch.main.remote", "./inner"),
           std::pair("branch.main.pushRemote", "/srv/inner"),
           std::pair("url./srv/inner.insteadOf", "https://example.org/"),
           std::pair("url../inner.pushInsteadOf", "https://example.org/"),
           std::pair("push.recurseSubmodules", "on-demand"),
           std::pair("http.sslVerify", "false"),
           std::pair("http.https://example.org/.sslVerify", "false"),
           std::pair("http.proxy", "http://192.0.2.1"),
           std::pair("http.sslCAInfo", "ca.pem"),
       }) {
    const Machine machine;
    machine.Run({"/usr/bin/git", "init", "-q", "."});
    machine.Run({"/usr/bin/git", "init", "-q", "--bare", "inner"});
    const char* line = "git push -f https://example.org/a HEAD:x";
    EXPECT_EQ(Check(machine, line)["grants"]["kind"], "as-is") << key;
    machine.Run({"/usr/bin/git", "config", key, value});
    EXPECT_EQ(Check(machine, line)["grants"]["kind"], "by-hand") << key;
  }
  const Machine machine;
  machine.Run({"/usr/bin/git", "init", "-q", "."});
  machine.Write(machine.project() + "/.git/remotes/origin", "URL: ./inner\n");
  EXPECT_EQ(Check(machine, "git push -f")["grants"]["kind"], "by-hand");
}

// Asks about a push, changes `settings` of the repository, and says whether the
// stored yes, once or for a time, still fits.
bool YesFitsAfter(const std::function<void(const Machine&)>& change,
                  bool once) {
  const Machine machine;
  const std::string git = machine.project() + "/.git";
  machine.Run({"/usr/bin/git", "init", "-q", "."});
  // No push of it gets anywhere.
  machine.Run({"/usr/bin/git", "remote", "add", "origin",
               "https://me:s3cret@127.0.0.1:1/a/b"});
  const auto push = [&] {
    return machine.Gate({"run", "-c", "git push -f origin HEAD:x"});
  };
  EXPECT_EQ(push().exit_code, 126);
  const PendingQuestion question = WaitingQuestion(machine);
  EXPECT_EQ(question.grant, GrantKind::kAsIs);
  EXPECT_NE(question.runs.find("origin https://127.0.0.1:1/a/b"),
            std::string::npos)
      << question.runs;
  EXPECT_EQ(question.runs.find("s3cret"), std::string::npos);
  if (once) {
    EXPECT_TRUE(Approve(machine.state(), question.id, NowMs()));
  } else {
    StandingApproval approval = YesForAnHour(question);
    approval.grant = question.grant;
    EXPECT_TRUE(Remember(machine.state(), approval));
  }
  change(machine);
  return push().exit_code != 126;
}

TEST(GrantsTest, AYesToAPushHoldsForTheRemotesThatItNamed) {
  const auto config = [](const char* key, const char* value) {
    return [=](const Machine& machine) {
      machine.Run({"/usr/bin/git", "config", key, value});
    };
  };
  const auto file = [](const char* name) {
    return [=](const Machine& machine) {
      machine.Write(machine.project() + "/.git/" + name,
                    "URL: https://127.0.0.1:2/evil\n", 0644);
    };
  };
  for (const bool once : {true, false}) {
    EXPECT_TRUE(YesFitsAfter([](const Machine&) {}, once));
    EXPECT_FALSE(YesFitsAfter(
        config("remote.origin.url", "https://127.0.0.1:2/evil"), once));
    EXPECT_FALSE(YesFitsAfter(
        config("remote.origin.pushurl", "https://127.0.0.1:2/evil"), once));
    EXPECT_FALSE(YesFitsAfter(
        config("url.https://127.0.0.1:2/.insteadOf", "https://me"), once));
    EXPECT_FALSE(YesFitsAfter(
        config("url.https://127.0.0.1:2/.pushInsteadOf", "https://"), once));
    EXPECT_FALSE(YesFitsAfter(config("remote.pushDefault", "other"), once));
    EXPECT_FALSE(YesFitsAfter(file("config.worktree"), once));
    EXPECT_FALSE(YesFitsAfter(file("remotes/origin"), once));
    EXPECT_FALSE(YesFitsAfter(file("branches/origin"), once));
  }
}

TEST(GrantsTest, WhatWaitsAndWhatIsKeptSayWhatTheyGive) {
  const Machine machine;
  WriteRule(machine, R"("yes": "as-is",)");
  Touch(machine);
  const PendingQuestion question = WaitingQuestion(machine);
  EXPECT_NE(machine.Gate({"pending"}).out.find("gives: as-is"),
            std::string::npos);
  const auto waits =
      nlohmann::json::parse(machine.Gate({"pending", "--json"}).out);
  EXPECT_EQ(waits["grant"], "as-is");
  EXPECT_EQ(waits["runs"], question.runs);
  StandingApproval approval = YesForAnHour(question);
  approval.grant = GrantKind::kAsIs;
  ASSERT_TRUE(Remember(machine.state(), approval));
  EXPECT_NE(machine.Gate({"approvals", "list"}).out.find("as-is"),
            std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(
                machine.Gate({"approvals", "list", "--json"}).out)["grant"],
            "as-is");
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
}  // namespace gate::app
