// What a line meets of a project that a person trusts, and what changes take
// back.
#include <gtest/gtest.h>

#include <filesystem>

#include "approvals/trust.h"
#include "base/json.h"
#include "parser/analysis.h"
#include "tests/support/files.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Done;
using test::Machine;

constexpr char kAllow[] =
    R"({"schema": 1, "pack": "p", "rules": [{"id": "p.a", "action": "allow",
       "reason": "r", "match": {"prefix": ["frobnicate"]}}]})";

// As `gate trust` does after a person said yes.
void TrustAll(const Machine& machine) {
  TrustRecord record;
  for (const TrustItem& item :
       FindTrustItems(machine.project(), machine.project()))
    if (item.problem.empty()) record.files[item.path] = item.hash;
  ASSERT_TRUE(SaveTrust(machine.state(), machine.project(), record));
}

std::string Action(const Machine& machine, const std::string& command) {
  const Done done = machine.Gate({"check", "--json", command});
  const auto json = ParseJson(done.out);
  return json ? (*json)["action"].get<std::string>() : done.err;
}

std::string Use(const Machine& machine, const std::string& command) {
  parser::Context context;
  context.cwd = machine.project();
  context.home = machine.home();
  return FindUntrustedUse(machine.state(), machine.project(),
                          parser::Analyze(command, context))
      .why;
}

class TrustTest : public testing::Test {
 protected:
  void SetUp() override { test::MakeRepository(machine_.project() + "/.git"); }
  Machine machine_;
};

TEST_F(TrustTest, AProjectsAllowCountsOnlyForTheTrustedBytes) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox works here";
  const std::string rules = machine_.project() + "/.gate/rules.d/a.json";
  machine_.Write(rules, kAllow);
  EXPECT_EQ(Action(machine_, "frobnicate"), "sandbox");
  TrustAll(machine_);
  EXPECT_EQ(Action(machine_, "frobnicate"), "allow");
  machine_.Write(rules, std::string(kAllow) + "\n");
  EXPECT_EQ(Action(machine_, "frobnicate"), "sandbox");
}

TEST_F(TrustTest, AnUntrustedRuleFileTightensAndIsReported) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox works here";
  machine_.Write(machine_.project() + "/.gate/rules.d/a.json",
                 R"({"schema": 1, "pack": "p", "rules": [
      {"id": "p.a", "action": "allow", "reason": "r",
       "match": {"prefix": ["frobnicate"]}},
      {"id": "p.d", "action": "deny", "reason": "r",
       "match": {"prefix": ["arch"]}}]})");
  EXPECT_EQ(Action(machine_, "arch"), "deny");
  const Done done = machine_.Gate({"check", "frobnicate"});
  EXPECT_EQ(done.exit_code, 4);
  EXPECT_NE(done.out.find("rule-untrusted"), std::string::npos) << done.out;
}

TEST_F(TrustTest, ATamperedRecordTrustsNothing) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox works here";
  machine_.Write(machine_.project() + "/.gate/rules.d/a.json", kAllow);
  TrustAll(machine_);
  ASSERT_EQ(Action(machine_, "frobnicate"), "allow");
  for (const auto& entry :
       std::filesystem::directory_iterator(machine_.state() + "/trust")) {
    std::string text = machine_.Read(entry.path().string());
    text.back() = ' ';
    machine_.Write(entry.path().string(), text, 0600);
  }
  EXPECT_EQ(Action(machine_, "frobnicate"), "sandbox");
  EXPECT_TRUE(TrustedRuleHashes(machine_.state(), machine_.project()).empty());
}

// An approval fits the command with these very files: a rule that asks as well
// must not hide that they have changed since.
TEST_F(TrustTest, AnApprovalIsOfTheUntrustedSettingsAsTheyAre) {
  const std::string file = machine_.project() + "/.mcp.json";
  machine_.Write(file, "{}");
  parser::Context context;
  context.cwd = machine_.project();
  const auto mark = [&] {
    return FindUntrustedUse(machine_.state(), machine_.project(),
                            parser::Analyze("claude x", context))
        .mark;
  };
  const std::string first = mark();
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(mark(), first);
  machine_.Write(file, R"({"mcpServers": {}})");
  EXPECT_NE(mark(), first);
  const Done done = machine_.Gate({"check", "--json", "claude x"});
  const auto json = ParseJson(done.out);
  ASSERT_TRUE(json) << done.out;
  EXPECT_EQ((*json)["action"], "ask");
  EXPECT_TRUE((*json)["rule"].is_object()) << done.out;
  EXPECT_NE((*json)["reason"].get<std::string>().find("nobody trusted"),
            std::string::npos)
      << done.out;
  TrustAll(machine_);
  EXPECT_EQ(mark(), "");
}

TEST_F(TrustTest, AnAgentThatWouldLoadUntrustedSettingsIsAsked) {
  EXPECT_EQ(Use(machine_, "claude mcp list"), "");
  machine_.Write(machine_.project() + "/.mcp.json", "{}");
  const char* const kAgents[] = {
      "claude mcp list",      "codex exec x",
      "gemini -p x",          "opencode run x",
      "env A=1 claude -p x",  "npx @anthropic-ai/claude-code -p x",
      "bash -c 'claude -p x'"};
  for (const char* command : kAgents)
    EXPECT_NE(Use(machine_, command), "") << command;
  for (const char* command : {"ls", "claude --version", "grep claude x"})
    EXPECT_EQ(Use(machine_, command), "") << command;
  EXPECT_EQ(Action(machine_, "claude mcp list"), "ask");
  TrustAll(machine_);
  for (const char* command : kAgents)
    EXPECT_EQ(Use(machine_, command), "") << command;
  machine_.Write(machine_.project() + "/.mcp.json", "{ }");
  for (const char* command : kAgents)
    EXPECT_NE(Use(machine_, command).find("changed"), std::string::npos)
        << command;
}

TEST_F(TrustTest, AChangedGitHookOfATrustedProjectIsAsked) {
  const std::string hook = machine_.project() + "/.git/hooks/pre-commit";
  machine_.Write(hook, "#!/bin/sh\n", 0755);
  machine_.Write(machine_.project() + "/.git/hooks/x.sample", "x", 0755);
  // Of a project that nobody trusted they stay in the sandbox.
  EXPECT_EQ(Use(machine_, "git commit -m x"), "");
  TrustAll(machine_);
  EXPECT_EQ(Use(machine_, "git commit -m x"), "");
  machine_.Write(hook, "#!/bin/sh\nid\n", 0755);
  for (const char* command :
       {"git commit -m x", "git -C . push", "git -c a.b=c merge x",
        "git checkout x", "sudo git pull", "git $x"})
    EXPECT_NE(Use(machine_, command).find("pre-commit"), std::string::npos)
        << command;
  EXPECT_EQ(Use(machine_, "git status"), "");
  EXPECT_EQ(Action(machine_, "git commit -m x"), "ask");
  TrustAll(machine_);
  machine_.Write(machine_.project() + "/.git/hooks/post-merge", "x", 0755);
  EXPECT_NE(Use(machine_, "git merge x").find("nobody"), std::string::npos);
}

TEST_F(TrustTest, TrustingIsAPersonsActAndShowingIsNot) {
  machine_.Write(machine_.project() + "/.mcp.json", "{}");
  EXPECT_EQ(machine_.Gate({"trust"}).exit_code, 126);
  EXPECT_EQ(machine_.Gate({"untrust"}).exit_code, 126);
  const Done shown = machine_.Gate({"trust", "--show"});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_NE(shown.out.find("new"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find(".mcp.json"), std::string::npos) << shown.out;
  const auto json = ParseJson(machine_.Gate({"trust", "--json"}).out);
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["state"], "new");
  EXPECT_FALSE(machine_.Exists(machine_.state() + "/trust"));
}

}  // namespace
}  // namespace gate::app
