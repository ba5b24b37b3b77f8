// The branch that a line of git acts on.
#include "git/branch.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "parser/analysis.h"
#include "tests/support/agent_home.h"
#include "tests/support/files.h"

namespace gate::app {
namespace {

using test::AgentHome;

class BranchTest : public testing::Test {
 protected:
  void SetUp() override { test::MakeRepository(agent_.project() + "/.git"); }
  void Head(const std::string& text) {
    agent_.Write(agent_.project() + "/.git/HEAD", text);
  }
  Branch Find(const std::string& command = "git push") {
    parser::Context context;
    context.cwd = agent_.project();
    return FindBranch(agent_.project(), parser::Analyze(command, context));
  }
  AgentHome agent_;
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
  const std::string head = agent_.project() + "/.git/HEAD";
  Head("ref: refs/heads/" + std::string(10000, 'x'));
  EXPECT_FALSE(Find().known);
  Head("ref: refs/remotes/x\n");
  EXPECT_FALSE(Find().known);
  std::filesystem::remove(head);
  std::filesystem::create_symlink("refs/heads/main", head);
  std::filesystem::create_directories(agent_.project() + "/.git/refs/heads");
  agent_.Write(agent_.project() + "/.git/refs/heads/main", "x");
  EXPECT_FALSE(Find().known);
}

TEST_F(BranchTest, IsTheOneThatGitWouldMove) {
  const std::string sha(40, 'a');
  const struct {
    std::string head;
    std::string main;  // refs/heads/main; empty: in packed-refs, or unborn
    std::string name;
    bool known = true;
    std::string config = {};
  } rows[] = {
      {"ref: refs/heads/x", "", "x"},
      {"ref:refs/heads/x\n", "", "x"},
      {"ref:\trefs/heads/x\n", "", "x"},
      {"ref: \r\n\t refs/heads/x", "", "x"},
      {"ref: refs/heads/x \t\r\n\n", "", "x"},
      {"ref: refs/heads/a.b/c-d", "", "a.b/c-d"},
      {sha + "\n", "", ""},
      {sha + sha.substr(0, 24), "", ""},
      {"ref: refs/heads/main\n", sha + "\n", "main"},
      // A branch that stands for another one.
      {"ref: refs/heads/main\n", "ref: refs/heads/x\n", "x"},
      {"ref: refs/heads/main\n", "ref:refs/heads/x", "x"},
      {"ref: refs/heads/main\n", "ref: refs/heads/main\n", "", false},
      {"ref: refs/heads/main\n", "ref: refs/tags/x\n", "", false},
      {"ref: refs/heads/main\n", "what?\n", "", false},
      {"ref: refs/heads/main\n", sha + " x\n", "", false},
      {"REF: refs/heads/x\n", "", "", true},
      {"refs/heads/x\n", "", "", true},
      {"ref: refs/heads/\n", "", "", false},
      {"ref: refs/heads/../x\n", "", "", false},
      {"ref: refs/heads/a b\n", "", "", false},
      {"ref: refs/heads/a\nb\n", "", "", false},
      {std::string("ref: refs/heads/x\0y\n", 20), "", "", false},
      {sha.substr(1) + "\n", "", "", true},
      {sha + "\nref: refs/heads/x", "", "", false},
      // Refs that are kept elsewhere.
      {"ref: refs/heads/x\n", "", "", false,
       "[extensions]\nrefStorage = reftable\n"},
      {"ref: refs/heads/x\n", "", "", false,
       "[extensions]\nrefStorage = files:///x\n"},
      {"ref: refs/heads/x\n", "", "x", true,
       "[extensions]\nrefStorage = files\n"},
      {"ref: refs/heads/x\n", "", "", false, "[core\n"},
  };
  const std::string git = agent_.project() + "/.git";
  for (const auto& row : rows) {
    Head(row.head);
    agent_.Write(git + "/config", row.config);
    agent_.Write(git + "/refs/heads/main", row.main);
    if (row.main.empty()) std::filesystem::remove(git + "/refs/heads/main");
    EXPECT_EQ(Find().name, row.name) << row.head << row.main << row.config;
    EXPECT_EQ(Find().known, row.known) << row.head << row.main << row.config;
  }
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

}  // namespace
}  // namespace gate::app
