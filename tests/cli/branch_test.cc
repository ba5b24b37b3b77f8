// Rules that ask for the branch.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/json.h"
#include "cli/branch.h"
#include "tests/cli/process.h"

namespace gate::cli {
namespace {

using test::Machine;

class BranchTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(machine_.project() + "/.git/refs");
    std::filesystem::create_directories(machine_.project() + "/.git/objects");
    Head("ref: refs/heads/main\n");
  }
  void Head(const std::string& text) {
    machine_.Write(machine_.project() + "/.git/HEAD", text);
  }
  Branch Find(const std::string& command = "git push") {
    parser::Context context;
    context.cwd = machine_.project();
    return FindBranch(machine_.project(), parser::Analyze(command, context));
  }
  Machine machine_;
};

TEST_F(BranchTest, ReadsTheBranchOfHead) {
  EXPECT_EQ(Find().name, "main");
  Head("ref: refs/heads/feature/x-1\n");
  EXPECT_EQ(Find().name, "feature/x-1");
  Head("0123456789012345678901234567890123456789\n");
  EXPECT_EQ(Find().name, "");
  EXPECT_TRUE(Find().known);
}

TEST_F(BranchTest, WhatCannotBeReadMayBeAnyBranch) {
  const std::string head = machine_.project() + "/.git/HEAD";
  Head("ref: refs/heads/" + std::string(10000, 'x'));
  EXPECT_FALSE(Find().known);
  Head("ref: refs/remotes/x\n");
  EXPECT_FALSE(Find().known);
  std::filesystem::remove(head);
  std::filesystem::create_symlink("refs/heads/main", head);
  std::filesystem::create_directories(machine_.project() + "/.git/refs/heads");
  machine_.Write(machine_.project() + "/.git/refs/heads/main", "x");
  EXPECT_FALSE(Find().known);
}

TEST_F(BranchTest, ALineThatChangesTheBranchMayActOnAny) {
  for (const char* command :
       {"git checkout main && git push", "git -C ../x push", "cd x && git push",
        "GIT_DIR=x git push", "git $x", "git branch -M main; git push",
        "git switch main", "eval $x"})
    EXPECT_FALSE(Find(command).known) << command;
  for (const char* command :
       {"git push", "git branch", "git --no-pager log", "ls"})
    EXPECT_TRUE(Find(command).known) << command;
}

TEST_F(BranchTest, ARuleDecidesByIt) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox works here";
  machine_.Write(machine_.home() + "/.config/gate/rules.d/a.json",
                 R"({"schema": 1, "pack": "p", "rules": [
      {"id": "p.main", "action": "deny", "reason": "r",
       "match": {"prefix": ["git", "commit"], "branch": ["main", "release/*"]}}]})",
                 0600);
  const auto action = [&](const std::string& command) {
    const auto json =
        ParseJson(machine_.Gate({"check", "--json", command}).out);
    return json ? (*json)["action"].get<std::string>() : "?";
  };
  EXPECT_EQ(action("git commit -m x"), "deny");
  EXPECT_EQ(action("git checkout main && git commit -m x"), "ask");
  Head("ref: refs/heads/release/1\n");
  EXPECT_EQ(action("git commit -m x"), "deny");
  Head("ref: refs/heads/topic\n");
  EXPECT_EQ(action("git commit -m x"), "sandbox");
}

}  // namespace
}  // namespace gate::cli
