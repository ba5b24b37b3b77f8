// Hooks that git's configuration keeps in the workspace stay what they were,
// wherever the configuration lies and whatever the place is relative to.
#include <unistd.h>

#include <filesystem>

#include "base/paths.h"
#include "tests/support/sandbox_fixture.h"

namespace gate::backends {
namespace {

class ProtectedPathsHooks : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    profile_.alias_checked_paths = {h_ + "/.gitconfig",
                                    h_ + "/.config/git/config"};
  }
  // All that a case made.
  void Clear() {
    Outside(
        "cd / && rm -rf \"$H\"/.gitconfig \"$H\"/conf \"$X\"/* "
        "\"$W\"/* \"$W\"/.git*");
  }
};
INSTANTIATE_TEST_SUITE_P(All, ProtectedPathsHooks,
                         testing::ValuesIn(Everyone()), WhoName);
INSTANTIATE_TEST_SUITE_P(Engines, ProtectedPathsHooks,
                         testing::ValuesIn(Engines()), WhoName);

struct Case {
  const char* name;
  const char* setup;      // in the workspace
  const char* tree;       // the work tree, below the workspace
  const char* hooks;      // where git takes hooks from, below the workspace
  const char* workspace;  // below the fixture's one
};

constexpr Case kCases[] = {
    {"the repository of the workspace",
     "git init -q . && git config core.hooksPath .githooks", "", "/.githooks",
     ""},
    {"a linked worktree of a repository outside",
     "git init -q \"$X/m\" && cd \"$X/m\" && git commit -q --allow-empty -m 1 "
     "&& git config core.hooksPath .githooks && git worktree add -q \"$W/t\" "
     "2>&1",
     "/t", "/t/.githooks", "/t"},
    {"config.worktree of such a worktree",
     "git init -q \"$X/m\" && cd \"$X/m\" && git commit -q --allow-empty -m 1 "
     "&& git worktree add -q \"$W/t\" 2>&1 && git config "
     "extensions.worktreeConfig true && cd \"$W/t\" && git config --worktree "
     "core.hooksPath .githooks",
     "/t", "/t/.githooks", "/t"},
    {"a worktree inside",
     "git init -q . && git commit -q --allow-empty -m 1 && git config "
     "core.hooksPath .githooks && git worktree add -q t",
     "/t", "/t/.githooks", ""},
    {"a submodule inside",
     "git init -q \"$X/m\" && git -C \"$X/m\" commit -q --allow-empty -m 1 && "
     "git init -q . && git -c protocol.file.allow=always submodule --quiet add "
     "\"$X/m\" sub && git -C sub config core.hooksPath .githooks",
     "/sub", "/sub/.githooks", ""},
    {"a submodule of a linked worktree",
     "git init -q \"$X/s\" && git -C \"$X/s\" commit -q --allow-empty -m 1 && "
     "git init -q \"$X/m\" && cd \"$X/m\" && git commit -q --allow-empty -m 1 "
     "&& git worktree add -q \"$W/t\" && cd \"$W/t\" && git -c "
     "protocol.file.allow=always submodule --quiet add \"$X/s\" sub && git -C "
     "sub config core.hooksPath .githooks",
     "/t/sub", "/t/sub/.githooks", "/t"},
    {"a part of a larger repository",
     "git init -q . && git config core.hooksPath part/.githooks && mkdir part",
     "", "/part/.githooks", "/part"},
    {"an included file elsewhere",
     "git init -q . && mkdir conf && git config -f conf/git core.hooksPath "
     ".githooks && git config include.path ../conf/git",
     "", "/.githooks", ""},
    {"an included file outside that includes another",
     "git init -q . && mkdir \"$X/c\" && git config -f \"$X/c/1\" include.path "
     "2 && git config -f \"$X/c/2\" core.hooksPath .githooks && git config "
     "include.path \"$X/c/1\"",
     "", "/.githooks", ""},
    {"a place below ~",
     "git init -q . && git config core.hooksPath '~/../work space/.githooks'",
     "", "/.githooks", ""},
    {"an included file below ~",
     "git init -q . && mkdir \"$H/conf\" && git config -f \"$H/conf/g\" "
     "core.hooksPath .githooks && git config include.path '~/conf/g'",
     "", "/.githooks", ""},
    {"a file that the person's configuration includes",
     "git init -q . && mkdir \"$H/conf\" && git config -f \"$H/conf/g\" "
     "core.hooksPath .githooks && git config --global include.path conf/g",
     "", "/.githooks", ""},
    {"the person's, in a worktree inside",
     "git init -q . && git commit -q --allow-empty -m 1 && git config --global "
     "core.hooksPath .githooks && git worktree add -q t",
     "/t", "/t/.githooks", ""},
    {"a configuration that is a link",
     "git init -q . && git config core.hooksPath .githooks && mv .git/config "
     "\"$X/config\" && ln -s \"$X/config\" .git/config",
     "", "/.githooks", ""},
    {"a place that a link leads to",
     "git init -q . && git config core.hooksPath .githooks/h && mkdir real && "
     "ln -s real .githooks",
     "", "/real/h", ""},
    {"the work tree itself", "git init -q . && git config core.hooksPath .", "",
     "", ""},
};

constexpr char kMine[] = "#!/bin/sh\nexit 0\n";

TEST_P(ProtectedPathsHooks, KeepTheirContentWhereverConfigurationNamesThem) {
  for (const Case& c : kCases) {
    Clear();
    ASSERT_EQ(Outside(c.setup), "") << c.name;
    const std::string hooks = w_ + c.hooks;
    ASSERT_EQ(Outside("mkdir -p '" + hooks + "'"), "") << c.name;
    Write(hooks + "/pre-commit", kMine);
    profile_.workspace = w_ + c.workspace;
    profile_.write = {profile_.workspace};
    cwd_ = profile_.workspace;
    // Where the case says git looks is where it looks.
    ASSERT_EQ(
        Outside("chmod +x '" + hooks + "/pre-commit' && cd '" + w_ + c.tree +
                "' && realpath \"$(git rev-parse --git-path "
                "hooks/pre-commit)\""),
        hooks + "/pre-commit\n")
        << c.name;
    Bash("cd '" + hooks + "'; echo x > pre-commit; echo x > post-merge");
    EXPECT_EQ(Read(hooks + "/pre-commit"), kMine) << c.name;
    EXPECT_FALSE(Exists(hooks + "/post-merge")) << c.name;
  }
}

TEST_P(ProtectedPathsHooks, OfAPlaceThatIsNotThereYetAreTaken) {
  for (const Case& c : kCases) {
    if (*c.hooks == '\0') continue;
    Clear();
    ASSERT_EQ(Outside(c.setup), "") << c.name;
    const std::string hooks = w_ + c.hooks;
    profile_.workspace = w_ + c.workspace;
    profile_.write = {profile_.workspace};
    cwd_ = profile_.workspace;
    Bash("mkdir -p '" + hooks + "'; echo x > '" + hooks + "/pre-commit'");
    EXPECT_FALSE(Exists(hooks + "/pre-commit")) << c.name;
  }
}

// `~` is the home of the person, whosever homes are protected as well.
TEST_P(ProtectedPathsHooks, AreThoseOfThePersonsHome) {
  profile_.alias_checked_paths = {h_ + "/.gitconfig", x_ + "/other/.gitconfig"};
  ASSERT_EQ(Outside("git init -q . && git config core.hooksPath "
                    "'~/../work space/.githooks'"),
            "");
  Bash("mkdir .githooks; echo x > .githooks/pre-commit");
  EXPECT_FALSE(Exists(w_ + "/.githooks/pre-commit"));
}

TEST_P(ProtectedPathsHooks, OfAPushAreTakenInTheGitDirectory) {
  ASSERT_EQ(Outside("git init -q . && git config core.hooksPath .githooks"),
            "");
  Bash("mkdir .git/.githooks; echo x > .git/.githooks/post-receive");
  EXPECT_FALSE(Exists(w_ + "/.git/.githooks/post-receive"));
}

TEST_P(ProtectedPathsHooks, StayBehindALinkThatIsExchanged) {
  ASSERT_EQ(Outside("exec 2>&-; git init -q . && git config core.hooksPath "
                    ".githooks && mkdir real evil && ln -s real .githooks"),
            "");
  Write(w_ + "/real/pre-commit", kMine);
  Bash("echo x > evil/pre-commit; rm .githooks; ln -s evil .githooks");
  EXPECT_EQ(Read(w_ + "/.githooks/pre-commit"), kMine);
}

// `git init` and `git clone` copy them into every new repository.
TEST_P(ProtectedPathsHooks, WhatThePersonsNewRepositoriesBeginWithIsKept) {
  for (const std::string& value :
       {w_ + "/t", "~/../" + std::string(BaseName(w_)) + "/t", std::string("t"),
        x_ + "/link"}) {
    Write(h_ + "/.gitconfig", "[init]\n\ttemplateDir = \"" + value + "\"\n");
    ASSERT_EQ(Outside("ln -s \"$W/t\" \"$X/link\""), "");
    const std::string make =
        "mkdir -p t/hooks t/info; for i in t/hooks/pre-commit t/commondir "
        "t/info/attributes; do echo evil > $i; done; git config -f t/config "
        "core.fsmonitor evil; git config -f t/config core.bare false";
    for (const bool there : {false, true}) {
      if (there) {
        ASSERT_EQ(Outside("rm -rf t; mkdir -p t/hooks; echo mine > "
                          "t/hooks/pre-push"),
                  "");
        AwaitTick();
      }
      const Ran ran = Bash(make + "; echo evil > t/hooks/pre-push");
      for (const char* name :
           {"/hooks/pre-commit", "/commondir", "/info/attributes"})
        EXPECT_FALSE(Exists(w_ + "/t" + name)) << value << name << there;
      EXPECT_EQ(Read(w_ + "/t/config").find("evil"), std::string::npos)
          << value << ran.output;
      EXPECT_EQ(Read(w_ + "/t/hooks/pre-push"), there ? "mine\n" : "") << value;
    }
    Clear();
  }
}

// A relative core.hooksPath counts for every work tree, also for those that
// are made, moved or hidden.
TEST_P(ProtectedPathsHooks, OfAWorkTreeThatWasNotKnownAreTaken) {
  constexpr char kOwn[] = "git config core.hooksPath .githooks";
  constexpr char kPersons[] = "git config --global core.hooksPath .githooks";
  struct Row {
    const char *name, *setup, *first, *line, *hook;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"new", kOwn, "", "git worktree add -q t; hook t/.githooks",
            "t/.githooks"},
           {"with the hooks of a branch", kOwn,
            "git checkout -qb b; hook .githooks; git add .; git commit -qm b; "
            "git checkout -q main",
            "git worktree add -q t b", "t/.githooks"},
           {"not named any more", kOwn, "git worktree add -q t",
            "echo /none/.git > .git/worktrees/t/gitdir; hook t/.githooks",
            "t/.githooks"},
           {"moved", kOwn, "git worktree add -q t",
            "mv t t2; hook t2/.githooks", "t2/.githooks"},
           {"hooks moved there", kOwn, "git worktree add -q t; hook x",
            "mv t t2; mv x t2/.githooks", "t2/.githooks"},
           {"made around hooks", kOwn,
            "git worktree add -q t; hook x/.githooks", "mv t/.git x/.git",
            "x/.githooks"},
           {"linked there", kOwn, "git worktree add -q t; hook x",
            "mv t t2; ln -s ../x t2/.githooks", "t2/.githooks"},
           {"a link to what is not the workspace's", kOwn,
            "mkdir .githooks; echo mine > s; ln -s ../s .githooks/pre-commit; "
            "git add .; git commit -qm 2",
            "git worktree add -q t; echo x > t/s", "t/.githooks"},
           {"a new repository", kPersons, "", "git init -q t; hook t/.githooks",
            "t/.githooks"},
           {"a new repository around hooks", kPersons, "hook t/.githooks",
            "git init -q t", "t/.githooks"},
           {"a repository that was there", kPersons, "git init -q t",
            "hook t/.githooks", "t/.githooks"},
           {"scripts that husky starts",
            "git config --global core.hooksPath .githooks/_", "git init -q t",
            "mkdir -p t/.githooks/_; hook t/.githooks", "t/.githooks"}}) {
    Clear();
    const std::string hook =
        "hook() { mkdir -p $1; echo x > $1/pre-commit; }; cd \"$W\"; ";
    ASSERT_EQ(Outside("git init -qb main . && git commit -q --allow-empty -m "
                      "1 && " +
                      std::string(row.setup)),
              "")
        << row.name;
    Outside(hook + row.first);
    AwaitTick();
    const Ran ran = Bash(hook + row.line);
    EXPECT_FALSE(Exists(w_ + "/" + row.hook + "/pre-commit"))
        << row.name << ran.output;
    EXPECT_TRUE(HasViolation(ran.outcome, ViolationKind::kGitHook)) << row.name;
  }
}

TEST_P(ProtectedPathsHooks, OfTheWorkspaceStayInItsWorktrees) {
  ASSERT_EQ(Outside("exec 2>&-; git init -q . && git config core.hooksPath "
                    ".githooks && mkdir .githooks scripts && echo mine > "
                    ".githooks/pre-commit && ln -s ../scripts/x "
                    ".githooks/post-merge && echo mine > scripts/x && git add "
                    ". && git commit -qm 1 && git worktree add -q old && git "
                    "init -q other && mkdir other/.githooks && echo 1 > "
                    "other/.githooks/pre-push"),
            "");
  AwaitTick();
  const Ran ran = Bash(
      "git worktree add -q t && git worktree move old new && echo x > new/f && "
      "git -C t commit -q --allow-empty -m 2; echo 2 > "
      "other/.githooks/pre-push");
  for (const Violation& violation : ran.outcome.violations)
    ADD_FAILURE() << std::string(Name(violation.kind)) << ": "
                  << violation.detail;
  EXPECT_EQ(Read(w_ + "/t/.githooks/pre-commit"), "mine\n");
  EXPECT_EQ(Read(w_ + "/other/.githooks/pre-push"), "2\n");
}

TEST_P(ProtectedPathsHooks, OrdinaryFilesBesideThemAreTheRuns) {
  ASSERT_EQ(Outside("git init -q . && git config core.hooksPath . && git "
                    "config --global core.hooksPath .githooks"),
            "");
  Write(w_ + "/a", "1\n");
  const Ran ran = Bash(
      "echo 2 > a; echo 2 > b; mkdir .githooks; git add -A; git commit -qm 1; "
      "git worktree add -q t; rm -r .githooks");
  for (const Violation& violation : ran.outcome.violations)
    ADD_FAILURE() << std::string(Name(violation.kind)) << ": "
                  << violation.detail;
  EXPECT_EQ(Read(w_ + "/a"), "2\n");
  EXPECT_EQ(Read(w_ + "/b"), "2\n");
}

}  // namespace
}  // namespace gate::backends
