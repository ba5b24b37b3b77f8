// Git directories beside the workspace: which ones a sandbox may write.
#include "git/roots.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "tests/support/agent_home.h"

namespace gate::app {
namespace {

using test::AgentHome;
using Paths = std::vector<std::string>;

class GitRootsTest : public testing::Test {
 protected:
  // Runs `line` where the fixture is made; it must succeed.
  void Sh(const std::string& line) {
    const auto done = agent_.Run(
        {"/bin/sh", "-c",
         "cd '" + top_ + "' && export GIT_CONFIG_COUNT=3 " +
             "GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=n "
             "GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=e "
             "GIT_CONFIG_KEY_2=protocol.file.allow GIT_CONFIG_VALUE_2=always"
             " && " +
             line});
    ASSERT_EQ(done.exit_code, 0) << line << done.err;
  }
  Paths Of(const std::string& workspace) {
    Paths found = WritableGitDirectories(top_ + "/" + workspace);
    for (std::string& path : found)
      if (path.starts_with(top_ + "/")) path.erase(0, top_.size() + 1);
    return found;
  }

  AgentHome agent_;
  const std::string top_ = RealPath(agent_.project());
};

TEST_F(GitRootsTest, ARepositoryThatIsTheWorkspacesIsWritten) {
  Sh("git init -q m && git -C m commit -q --allow-empty -m x && mkdir m/sub");
  Sh("git -C m worktree add -q ../linked && git init -q super");
  Sh("cd super && git submodule -q add '" + top_ + "/m' s 2>&1");
  EXPECT_EQ(Of("m"), Paths{"m/.git"});
  EXPECT_EQ(Of("m/sub"), Paths{"m/.git"});
  EXPECT_EQ(Of("linked"), (Paths{"m/.git/worktrees/linked", "m/.git"}));
  EXPECT_EQ(Of("super/s"), Paths{"super/.git/modules/s"});
  Sh("git -C m worktree add -q inner");
  EXPECT_EQ(Of("m/inner"), (Paths{"m/.git/worktrees/inner", "m/.git"}));
  EXPECT_EQ(Of("."), Paths());
}

TEST_F(GitRootsTest, ARepositoryThatSaysNothingOfTheWorkspaceIsNot) {
  Sh("git init -q --separate-git-dir=store w");
  EXPECT_EQ(Of("w"), Paths());
  Sh("git -C w config core.worktree ../w");
  EXPECT_EQ(Of("w"), Paths{"store"});
  Sh("git -C w config --add core.worktree ../other");
  EXPECT_EQ(Of("w"), Paths());
}

TEST_F(GitRootsTest, WhatACommandWroteOpensNoOtherPlace) {
  Sh("git init -q other && git -C other commit -q --allow-empty -m x");
  Sh("mkdir secret && echo key > secret/id");
  const std::string places[] = {"/",
                                "/etc",
                                top_,
                                top_ + "/secret",
                                top_ + "/secret/id",
                                top_ + "/other/.git",
                                agent_.home()};
  for (const std::string& place : places) {
    const std::string to = "'" + place + "'";
    // By a `.git` file, a link, and the directory that worktrees share.
    for (const std::string& line :
         {"echo gitdir: " + to + " > w/sub/.git", "ln -s " + to + " w/sub/.git",
          "git init -q w/sub && echo " + to + " > w/sub/.git/commondir",
          "git init -q w/x && echo '" + top_ +
              "/w/sub/.git' > w/x/.git/gitdir && echo " + to +
              " > w/x/.git/commondir && echo gitdir: ../x/.git > w/sub/.git",
          "mkdir -p w/worktrees/x/objects w/worktrees/x/refs && cd "
          "w/worktrees/x && echo ref: refs/heads/x > HEAD && echo '" +
              top_ + "/w/sub/.git' > gitdir && echo " + to +
              " > commondir && echo gitdir: ../worktrees/x > ../../sub/.git"}) {
      Sh("rm -rf w && mkdir -p w/sub");
      Sh(line);
      for (const std::string& path : WritableGitDirectories(top_ + "/w/sub"))
        EXPECT_TRUE(path.starts_with(top_ + "/w/")) << path << "  " << line;
    }
  }
}

}  // namespace
}  // namespace gate::app
