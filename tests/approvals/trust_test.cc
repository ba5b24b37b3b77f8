// What a person trusts of a project, and what changes take back.
#include "approvals/trust.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "parser/analysis.h"
#include "tests/support/agent_home.h"
#include "tests/support/files.h"

namespace gate::app {
namespace {

using test::AgentHome;

constexpr char kAllow[] =
    R"({"schema": 1, "pack": "p", "rules": [{"id": "p.a", "action": "allow",
       "reason": "r", "match": {"prefix": ["frobnicate"]}}]})";

// As `gate trust` does after a person said yes.
void TrustAll(const AgentHome& agent) {
  TrustRecord record;
  for (const TrustItem& item : FindTrustItems(agent.project(), agent.project()))
    if (item.problem.empty()) record.files[item.path] = item.hash;
  ASSERT_TRUE(SaveTrust(agent.state(), agent.project(), record));
}

std::string Use(const AgentHome& agent, const std::string& command) {
  parser::Context context;
  context.cwd = agent.project();
  context.home = agent.home();
  return FindUntrustedUse(agent.state(), agent.project(),
                          parser::Analyze(command, context))
      .why;
}

class TrustTest : public testing::Test {
 protected:
  void SetUp() override { test::MakeRepository(agent_.project() + "/.git"); }
  AgentHome agent_;
};

TEST_F(TrustTest, ARecordOfOneProjectIsNoneOfAnother) {
  agent_.Write(agent_.project() + "/.gate/rules.d/a.json", kAllow);
  TrustAll(agent_);
  const std::string other = agent_.root() + "/other";
  const auto record = LoadTrust(agent_.state(), other);
  ASSERT_TRUE(record);
  EXPECT_TRUE(record->files.empty());
}

TEST_F(TrustTest, EverySettingOfEveryAgentCounts) {
  for (const char* file :
       {".mcp.json", ".claude/settings.json", ".claude/hooks/a/b.sh",
        ".codex/config.toml", ".cursor/mcp.json", ".gemini/settings.json",
        ".opencode/agent/x.md", "opencode.json"}) {
    const std::string path = agent_.project() + "/" + file;
    agent_.Write(path, "x");
    EXPECT_NE(Use(agent_, "claude").find(file), std::string::npos) << file;
    std::filesystem::remove(path);
    EXPECT_EQ(Use(agent_, "claude"), "") << file;
  }
}

TEST_F(TrustTest, LinksAndFifosCannotBeTrusted) {
  agent_.Write(agent_.root() + "/target", "x");
  ASSERT_EQ(symlink((agent_.root() + "/target").c_str(),
                    (agent_.project() + "/.mcp.json").c_str()),
            0);
  ASSERT_EQ(mkdir((agent_.project() + "/.claude").c_str(), 0755), 0);
  ASSERT_EQ(mkfifo((agent_.project() + "/.claude/x").c_str(), 0644), 0);
  for (const TrustItem& item :
       FindTrustItems(agent_.project(), agent_.project()))
    EXPECT_FALSE(item.problem.empty()) << item.path;
  TrustAll(agent_);
  EXPECT_NE(Use(agent_, "claude"), "");
}

TEST_F(TrustTest, AHookIsFoundWhereverTheRepositorySaysSo) {
  ASSERT_EQ(::setenv("HOME", agent_.home().c_str(), 1), 0);
  const std::string git = agent_.project() + "/.git/";
  const std::string hook = agent_.project() + "/tools/hooks/pre-commit";
  agent_.Write(agent_.home() + "/far", "[core]\nhooksPath = tools/hooks\n");
  agent_.Write(git + "more", "[core]\nhooksPath = tools/hooks\n");
  agent_.Write(git + "next", "[include]\npath = more\n");
  for (const std::string& config :
       {std::string("[core]\nhooksPath = tools/hooks\n"),
        std::string("[core]\nhooksPath = ./tools//hooks/\n"),
        std::string("[core]\nhooksPath = ~/project/tools/hooks\n"),
        std::string("[core]\nhooksPath = :(optional)tools/hooks\n"),
        "[core]\nhooksPath = " + agent_.project() + "/tools/hooks\n",
        std::string("[include]\npath = more\n"),
        std::string("[include]\npath = next\n"),
        std::string("[include]\npath = ~/far\n"),
        std::string("[includeIf \"gitdir:/nowhere/\"]\npath = next\n"),
        std::string("[include]\npath = config\n[include]\npath = more\n")}) {
    agent_.Write(git + "config", config);
    agent_.Write(hook, "#!/bin/sh\n", 0755);
    TrustAll(agent_);
    EXPECT_EQ(Use(agent_, "git commit -m x"), "") << config;
    agent_.Write(hook, "#!/bin/sh\nid\n", 0755);
    EXPECT_NE(Use(agent_, "git commit -m x"), "") << config;
  }
}

}  // namespace
}  // namespace gate::app
