// Runs in nested workspaces at the same time: what one does to another's
// workspace, or to the mounts in it, lets nothing stay that any of them
// planted.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "backends/protected_paths.h"
#include "backends/run_journal.h"
#include "base/file.h"
#include "tests/support/sandbox_fixture.h"
#include "tests/support/wait.h"

namespace gate::backends {
namespace {

class ProtectedPathsOverlap : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    profile_.runs_dir = base_ + "/runs";
    profile_.protect_names = {".envrc", ".mcp.json", ".npmrc", ".vscode",
                              ".claude/settings.json"};
    inner_ = w_ + "/q/w";
  }
  void Make() {
    ASSERT_EQ(
        Outside("git init -q . && mkdir q && git init -q q/w && cd q/w && "
                "mkdir .claude && echo mine > .mcp.json && echo mine > "
                ".claude/settings.json && echo save-exact=true > .npmrc && "
                "printf '#!/bin/sh\\n# mine\\n' > .git/hooks/pre-commit && "
                "chmod +x .git/hooks/pre-commit && echo 1 > code && git "
                "add -A && git commit -qm 1 && git checkout -qb other && echo "
                "theirs > .mcp.json && echo 2 > code && git commit -qam 2 && "
                "git checkout -q -"),
        "");
    AwaitTick();
  }
  void Clear() {
    Outside(
        "find . -mindepth 1 -maxdepth 1 -exec chmod -R u+rwx {} +; find . "
        "-mindepth 1 -maxdepth 1 -exec rm -rf {} +");
  }

  std::string Planted() {
    return Outside(
        "find . \\( -name .envrc -o -name .mcp.json -o -name .npmrc -o -path "
        "'*/.claude/settings.json' -o -path '*/.vscode/*' -o -path "
        "'*/.git/hooks/*' -o -path '*/.git/config' \\) -type f -exec grep -l "
        "PLANT {} + 2>&1");
  }
  std::vector<std::string> Notes() const {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(base_ + "/runs", error))
      if (const std::string name = entry.path().filename(); name != "lock")
        names.push_back(name);
    return names;
  }

  std::string inner_;
};
INSTANTIATE_TEST_SUITE_P(All, ProtectedPathsOverlap,
                         testing::ValuesIn(Everyone()), WhoName);

// In q/w, where it can.
constexpr char kPlant[] =
    "mkdir -p .claude .vscode .git/hooks; echo PLANT > .mcp.json; echo PLANT > "
    ".claude/settings.json; echo PLANT > .vscode/tasks.json; echo PLANT > "
    ".envrc; echo PLANT > .git/hooks/pre-commit; echo PLANT > "
    ".git/hooks/pre-push; echo '[core] fsmonitor = PLANT' >> .git/config; echo "
    "'[core] hooksPath = PLANT' >> .git/config; echo script-shell=PLANT > "
    ".npmrc; true";

struct Attack {
  const char* first;   // of the outer run, before the inner one plants
  const char* second;  // after it
};
constexpr Attack kAttacks[] = {
    {"rm q/w/.mcp.json", ""},
    {"rm q/w/.mcp.json q/w/.claude/settings.json", ""},
    {"rm -r q/w/.claude q/w/.mcp.json q/w/.git/hooks", ""},
    {"rm -rf q/w/.git/hooks; mkdir q/w/.git/hooks", ""},
    {"echo mine > n; mv n q/w/.mcp.json", ""},
    {"mv q/w/.claude q/w/c2; mv q/w/c2 q/w/.claude", ""},
    {"mv q/w/.claude q/w/c2", "rm -rf q/w/.claude; mv q/w/c2 q/w/.claude"},
    {"mv q/w/.git q/w/g2; mv q/w/g2 q/w/.git", ""},
    {"mv q/w/.git q/w/g2", "rm -rf q/w/.git; mv q/w/g2 q/w/.git"},
    {"mv q q2", ""},
    {"mv q q2; mkdir -p q/w", ""},
    {"mv q q2; mkdir -p q/w", "rm -r q; mv q2 q"},
    {"mv q q2; mkdir -p q/w/.git/hooks q/w/.claude", "rm -r q; mv q2 q"},
    {"mv q q2; cp -r q2 q; rm q2/w/.mcp.json", "rm -r q; mv q2 q"},
    {"mv q/w v; mkdir q/w", "rmdir q/w; mv v q/w"},
    {"mv q/w v; rm v/.mcp.json v/.claude/settings.json", "mv v q/w"},
    {"mv q/w v; ln -s ../v q/w", ""},
    {"mv q/w v; ln -s ../v q/w", "rm q/w; mv v q/w"},
    {"mv q/w .v; mkdir -p q/w; mv .v q/w/in", ""},
    {"mv q/w/.git .", ""},
    {"git -C q/w checkout -qf other", ""},
    {"git -C q/w checkout -qf other", "git -C q/w checkout -qf -"},
    {"git -C q/w rm -qrf .; git -C q/w checkout -qf HEAD .", ""},
    {"git -C q/w stash -q; git -C q/w clean -qfdx", ""},
    {"rm -rf q/w/* q/w/.[a-z]*", ""},
    {"rm -rf q", ""},
    {"rm -rf q; mkdir -p q/w", ""},
    {"rm -rf q/w/.claude q/w/.mcp.json; chmod 0300 q/w", "chmod 0700 q/w"},
};

TEST_P(ProtectedPathsOverlap, NothingStaysThatTheInnerRunPlanted) {
  for (const Attack& attack : kAttacks)
    for (const bool outer_last : {true, false}) {
      const std::string when = std::string(attack.first) + " | " +
                               attack.second + (outer_last ? "" : " (first)");
      Make();
      {
        PausedRun inner(this, inner_, "", kPlant);
        PausedRun outer(this, w_, attack.first, attack.second);
        if (outer_last) inner.End();
        outer.End();
        inner.End();
      }
      EXPECT_EQ(Planted(), "") << when;
      EXPECT_EQ(Notes(), std::vector<std::string>()) << when;
      Clear();
    }
}

TEST_P(ProtectedPathsOverlap, WhatMountsHeldComesBack) {
  for (const char* line :
       {"rm .mcp.json .claude/settings.json", "rm -r .claude .mcp.json",
        "echo x > n; mv n .mcp.json; rm -r .claude"}) {
    Make();
    const std::string outer = "cd q/w; " + std::string(line);
    {
      PausedRun inner(this, inner_, "", kPlant);
      PausedRun other(this, w_, outer, "");
      inner.End();
      EXPECT_EQ(Read(inner_ + "/.mcp.json"), "mine\n") << line;
      EXPECT_EQ(Read(inner_ + "/.claude/settings.json"), "mine\n") << line;
    }
    // Whoever ends later leaves what the first one put back.
    EXPECT_EQ(Read(inner_ + "/.mcp.json"), "mine\n") << line;
    EXPECT_EQ(Read(inner_ + "/.claude/settings.json"), "mine\n") << line;
    Clear();
  }
}

TEST_P(ProtectedPathsOverlap, AGitLineBesideItKeepsWhatItBrought) {
  Make();
  {
    PausedRun inner(this, inner_, "", kPlant);
    profile_.git_only = true;
    PausedRun git(this, inner_, "git checkout -qf other", "");
    profile_.git_only = false;
    inner.End();
  }
  EXPECT_EQ(Read(inner_ + "/code"), "2\n");
  EXPECT_EQ(Read(inner_ + "/.mcp.json"), "mine\n") << "that orders";
  EXPECT_EQ(Read(inner_ + "/.npmrc"), "save-exact=true\n");
  EXPECT_EQ(Planted(), "");
}

// What the other one had changed when this one looked at it was not there
// before.
TEST_P(ProtectedPathsOverlap, WhatAnotherRunLeftIsNotPutBack) {
  Make();
  {
    PausedRun outer(
        this, w_,
        "cd q/w; echo PLANT > n; mv n .mcp.json; echo PLANT > .envrc; "
        "echo PLANT > .git/hooks/pre-push; git config core.pager PLANT",
        "");
    AwaitTick();
    PausedRun inner(this, inner_, "",
                    "git config user.name n; git config a.b c");
    outer.End();
  }
  EXPECT_EQ(Planted(), "");
  Clear();
}

TEST_P(ProtectedPathsOverlap, AMovedWorkspaceIsToldAndLookedAt) {
  Make();
  profile_.workspace = inner_;
  profile_.write = {inner_};
  const std::string said = AsUser([&] {
    ProtectedPaths protected_paths = ProtectedPaths::Snapshot(profile_, inner_);
    if (!protected_paths.Note(profile_)) return std::string("not noted");
    (void)!system(("cd '" + inner_ +
                   "' && mv ../../q ../../q2 && mkdir -p ../../q/w; echo PLANT "
                   "> .envrc; mkdir -p d/.claude; echo PLANT > "
                   "d/.claude/settings.json")
                      .c_str());
    Outcome outcome;
    protected_paths.VerifyAndRestore(&outcome);
    std::string text;
    for (const Violation& violation : outcome.violations)
      text += violation.detail + "\n";
    return text;
  });
  EXPECT_NE(said.find(inner_ + ": was moved to " + w_ + "/q2/w"),
            std::string::npos)
      << said;
  EXPECT_EQ(Planted(), "") << said;
}

TEST_P(ProtectedPathsOverlap, ARemovedWorkspaceIsTold) {
  Make();
  profile_.workspace = inner_;
  profile_.write = {inner_};
  const std::string said = AsUser([&] {
    ProtectedPaths protected_paths = ProtectedPaths::Snapshot(profile_, inner_);
    if (!protected_paths.Note(profile_)) return std::string("not noted");
    (void)!system(("rm -rf '" + w_ + "/q'").c_str());
    Outcome outcome;
    protected_paths.VerifyAndRestore(&outcome);
    std::string text;
    for (const Violation& violation : outcome.violations)
      text += violation.detail + "\n";
    return text;
  });
  EXPECT_NE(said.find(inner_ + ": was removed"), std::string::npos) << said;
  EXPECT_FALSE(Exists(w_ + "/q"));
}

// The inner run stands in a directory that the outer one took away, and writes
// there when the outer one has ended.
TEST_P(ProtectedPathsOverlap, WhoeverEndsLastLooksAtThePlacesOfAll) {
  Make();
  {
    PausedRun inner(
        this, inner_, "mkdir d; cd d",
        "mkdir -p .claude; echo PLANT > .claude/settings.json; git init "
        "-q r; echo PLANT > r/.git/hooks/pre-push");
    PausedRun outer(this, w_, "mv q/w/d taken", "");
    outer.End();
  }
  EXPECT_EQ(Planted(), "");
  EXPECT_EQ(Notes(), std::vector<std::string>());
}

TEST_P(ProtectedPathsOverlap, AKilledGateLeavesItToTheNext) {
  for (const bool kill_inner : {true, false}) {
    Make();
    {
      PausedRun outer(this, w_, "mv q q2; mkdir -p q/w", "rm -r q; mv q2 q");
      PausedRun inner(this, kill_inner ? w_ + "/q2/w" : w_ + "/q/w", kPlant,
                      "");
      (kill_inner ? inner : outer).Kill();
    }
    // As long as the kernel needs to end what they started.
    test::WaitUntil([this] {
      EXPECT_EQ(Bash("true").outcome.exit_code, 0);
      return Planted().empty() && Notes().empty();
    });
    EXPECT_EQ(Planted(), "") << kill_inner;
    Clear();
    Outside("rm -rf \"$W\"/../runs/*");
  }
}

TEST_P(ProtectedPathsOverlap, ATruncatedNoteOfAnotherRunLosesNothing) {
  Make();
  {
    PausedRun outer(this, w_, "rm q/w/.mcp.json", "");
    ASSERT_EQ(Notes().size(), 1u);
    const std::string path = base_ + "/runs/" + Notes()[0];
    const Result<std::string> text = ReadFile(path, 1 << 24);
    ASSERT_TRUE(text);
    ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(text->size() / 2)), 0);
    PausedRun inner(this, inner_, "", kPlant);
    inner.End();
  }
  EXPECT_EQ(Planted(), "");
}

}  // namespace
}  // namespace gate::backends
