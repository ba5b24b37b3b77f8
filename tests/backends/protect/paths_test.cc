// Protected paths, existing and not, and git that goes on working.
#include "backends/protected_paths.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backends/listing.h"
#include "tests/support/sandbox_fixture.h"
#include "tests/support/temporary_directory.h"

namespace gate::backends {
namespace {

class ProtectedPathsTest : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    profile_.protect_names = {".bashrc",          ".envrc",
                              ".mcp.json",        ".vscode",
                              "opencode.json",    ".claude/settings.json",
                              ".claude/commands", ".git/hooks"};
  }
  void Repository(const std::string& path) {
    const std::string out = Outside(
        "mkdir -p '" + path + "' && cd '" + path +
        "' && git init -q . && git config user.name t && git config "
        "user.email t@t && echo 1 > tracked && git add -A && git commit -qm 1");
    ASSERT_EQ(out, "");
  }
  // Runs `line` and expects `path` as it was before, and a report unless the
  // kernel refused it outright.
  void ExpectKept(const std::string& line, const std::string& path) {
    const bool there = Exists(path);
    const std::string before = Read(path);
    const Ran ran = Bash(line);
    ASSERT_NE(ran.outcome.status, OutcomeStatus::kSetupFailed)
        << ran.outcome.reason;
    EXPECT_EQ(Exists(path), there) << line;
    EXPECT_EQ(Read(path), before) << line;
    // gVisor refuses to make some kinds of files at all.
    if (!there && !Is("gvisor")) {
      EXPECT_FALSE(ran.outcome.violations.empty()) << line;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(All, ProtectedPathsTest, testing::ValuesIn(Everyone()),
                         WhoName);
INSTANTIATE_TEST_SUITE_P(Engines, ProtectedPathsTest,
                         testing::ValuesIn(Engines()), WhoName);

TEST_P(ProtectedPathsTest, WhatIsAbsentStaysAbsent) {
  for (const char* line :
       {"echo x > .bashrc", "ln -s /etc/passwd .bashrc", "mkdir .bashrc",
        "mkfifo .bashrc", "mkdir -p .bashrc/a/b; echo x > .bashrc/a/b/c",
        "cp file .bashrc", "ln file .bashrc", "mv file .bashrc; touch file"})
    ExpectKept(line, w_ + "/.bashrc");
  ExpectKept("mkdir -p .claude && echo x > .claude/settings.json",
             w_ + "/.claude/settings.json");
  ExpectKept(
      "mkdir -p d && echo x > d/settings.json && rm -rf .claude && "
      "ln -s d .claude",
      w_ + "/.claude/settings.json");
  ExpectKept("mkdir -p .claude/commands && echo x > .claude/commands/c.md",
             w_ + "/.claude/commands");
}

TEST_P(ProtectedPathsTest, ALinkNeverMakesGateMoveWhatIsOutside) {
  MakeDirectory(x_ + "/.claude");
  Write(x_ + "/.claude/settings.json", "outside");
  Bash("ln -s \"$X/.claude\" .claude");
  EXPECT_EQ(Read(x_ + "/.claude/settings.json"), "outside");
  EXPECT_FALSE(Exists(w_ + "/.claude/settings.json"));
}

TEST_P(ProtectedPathsTest, WhatExistsCannotBeChangedOrReplaced) {
  Write(w_ + "/.bashrc", "mine\n");
  MakeDirectory(w_ + "/.claude");
  Write(w_ + "/.claude/settings.json", "{}\n");
  for (const char* line :
       {"echo x >> .bashrc", "rm -f .bashrc", "mv .bashrc b; echo x > .bashrc",
        "ln -sf file .bashrc", "sed -i s/mine/x/ .bashrc",
        "echo x > n; mv -f n .bashrc"})
    ExpectKept(line, w_ + "/.bashrc");
  for (const char* line :
       {"echo x > .claude/settings.json",
        "mv .claude c; mkdir .claude; echo x > .claude/settings.json",
        "rm -rf .claude; mkdir .claude; echo x > .claude/settings.json",
        "mv .claude c; ln -s c .claude"})
    ExpectKept(line, w_ + "/.claude/settings.json");
}

TEST_P(ProtectedPathsTest, NoGhostAppearsOnTheHost) {
  const Ran ran = Bash(
      "for i in 1 2 3; do ls -A \"$W\"; done; stat .bashrc .git 2>&1 | head "
      "-1");
  EXPECT_EQ(ran.output.find(".bashrc\n"), std::string::npos) << ran.output;
  int entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(w_)) {
    (void)entry;
    ++entries;
  }
  EXPECT_EQ(entries, 1);
  EXPECT_TRUE(ran.outcome.violations.empty());
}

TEST_P(ProtectedPathsTest, ALinkThatExistsLeadsNowhereElse) {
  ASSERT_EQ(symlink((x_ + "/newrc").c_str(), (w_ + "/.bashrc").c_str()), 0);
  Bash("echo x > .bashrc; rm .bashrc; echo x > .bashrc");
  EXPECT_FALSE(Exists(x_ + "/newrc"));
  std::error_code ignored;
  EXPECT_EQ(std::filesystem::read_symlink(w_ + "/.bashrc", ignored),
            x_ + "/newrc");
}

TEST_P(ProtectedPathsTest, WhatAProtectedLinkLeadsToIsProtected) {
  Write(w_ + "/real", "mine\n");
  ASSERT_EQ(symlink("real", (w_ + "/.bashrc").c_str()), 0);
  ExpectKept("echo x > real; mv real r; echo x > real", w_ + "/real");
}

TEST_P(ProtectedPathsTest, EveryNameOfAProtectedFileIsProtected) {
  Repository(w_);
  MakeDirectory(w_ + "/deep/er");
  const struct {
    const char *setup, *path, *attack;
  } cases[] = {
      {"echo mine > .bashrc; ln .bashrc deep/er/dup", ".bashrc",
       "echo evil > deep/er/dup"},
      {"mkdir .claude; echo mine > .claude/settings.json; ln "
       ".claude/settings.json dup",
       ".claude/settings.json", "echo evil > dup"},
      {"mkdir -p .claude/commands/sub; echo mine > .claude/commands/sub/c.md; "
       "ln .claude/commands/sub/c.md deep/er/c",
       ".claude/commands/sub/c.md", "echo evil >> deep/er/c"},
      {"echo mine > .git/hooks/pre-commit; ln .git/hooks/pre-commit hookdup",
       ".git/hooks/pre-commit",
       "echo evil > hookdup; sed -i 1d hookdup; truncate -s 0 hookdup"},
      {"mkdir deep/real; echo mine > deep/real/mcp; ln deep/real/mcp "
       "deep/er/mcp; ln -s deep/real/mcp .mcp.json",
       ".mcp.json", "echo evil > deep/er/mcp"},
      {"echo mine > .envrc; ln .envrc one; ln .envrc deep/two; ln .envrc "
       "\"$X/three\"",
       ".envrc", "echo evil > one; echo evil > deep/two"},
      {"git config user.name mine; ln .git/config dup2", ".git/config",
       "git config -f dup2 core.fsmonitor evil"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.attack);
    ASSERT_EQ(Outside(each.setup), "");
    const std::string before = Read(w_ + "/" + each.path);
    const Ran ran = Bash(each.attack);
    ASSERT_NE(ran.outcome.status, OutcomeStatus::kSetupFailed)
        << ran.outcome.reason;
    EXPECT_EQ(Read(w_ + "/" + each.path).find("evil"), std::string::npos);
    EXPECT_EQ(Read(w_ + "/" + each.path), before);
  }
  // Other files with several names are what they were.
  ASSERT_EQ(Outside("echo a > plain; ln plain deep/plain"), "");
  Bash("echo b >> deep/plain; ln plain third");
  EXPECT_EQ(Read(w_ + "/plain"), "a\nb\n");
}

TEST_P(ProtectedPathsTest, NamesAreProtectedInTheWorkingDirectoryAndAbove) {
  MakeDirectory(w_ + "/a/b");
  Write(w_ + "/a/.envrc", "mine\n");
  cwd_ = w_ + "/a/b";
  ExpectKept("echo x > ../.envrc", w_ + "/a/.envrc");
  ExpectKept(
      "mv \"$W/a\" \"$W/c\"; mkdir -p \"$W/a\"; echo x > "
      "\"$W/a/.envrc\"",
      w_ + "/a/.envrc");
  ExpectKept("echo x > .envrc", w_ + "/a/b/.envrc");
}

TEST_P(ProtectedPathsTest, NamesAreSweptAtAnyDepth) {
  MakeDirectory(w_ + "/p/q/r");
  ExpectKept("echo x > p/q/r/.envrc", w_ + "/p/q/r/.envrc");
  ExpectKept("mkdir -p p/n/.claude; echo x > p/n/.claude/settings.json",
             w_ + "/p/n/.claude/settings.json");
  ExpectKept("mkdir -p p/.vscode; echo x > p/.vscode/tasks.json",
             w_ + "/p/.vscode");
  ExpectKept("echo x > p/.BashRC", w_ + "/p/.BashRC");
}

TEST_P(ProtectedPathsTest, TheQuarantineHoldsWhatWasTaken) {
  const Ran ran = Bash("echo evil > .bashrc");
  ASSERT_EQ(ran.outcome.violations.size(), 1u);
  EXPECT_EQ(ran.outcome.violations[0].kind, ViolationKind::kProtectedPath);
  EXPECT_EQ(ran.outcome.exit_code, 0);
  std::string found;
  for (const auto& entry : std::filesystem::directory_iterator(quarantine_))
    found += Read(entry.path());
  EXPECT_EQ(found, "evil\n");
}

TEST_P(ProtectedPathsTest, WithoutAQuarantineItIsStillTakenAway) {
  profile_.quarantine_dir.clear();
  const Ran ran = Bash("echo evil > .bashrc");
  EXPECT_FALSE(Exists(w_ + "/.bashrc"));
  EXPECT_TRUE(HasViolation(ran.outcome, ViolationKind::kProtectedPath));
}

TEST_P(ProtectedPathsTest, ExactPathsAreProtected) {
  Write(w_ + "/keep", "mine\n");
  Write(w_ + "/decoy", "x\n");
  profile_.protect = {w_ + "/keep", w_ + "/sub/absent"};
  ExpectKept("echo x > keep; mv decoy keep; rm keep", w_ + "/keep");
  ExpectKept("mkdir -p sub && echo x > sub/absent", w_ + "/sub/absent");
}

TEST_P(ProtectedPathsTest, OrdinaryGitWorks) {
  Repository(w_);
  Repository(base_ + "/other");
  const Ran ran = Bash(
      "set -e; export GIT_CONFIG_GLOBAL=/dev/null; git status -s; echo 2 >> "
      "tracked; git add -A; git commit -qm 2; git checkout -qb topic; git "
      "branch -q -m topic2; git tag v1; git stash list; git remote add o "
      "/nowhere; git config pull.rebase true; git clone -q \"$W\" \"$W/clone\" "
      "; cd clone; git log --oneline | wc -l; git checkout -qb x; cd ..; mkdir "
      "new; cd new; git init -q .; git add -A; git commit -q --allow-empty -m "
      "n; cd ..; git -c protocol.file.allow=always submodule add -q "
      "\"$W/../other\" sub; git commit -qm sub; git worktree add -q ../'work "
      "space'/tree; git gc -q; git fsck --no-progress; git log --oneline | wc "
      "-l");
  EXPECT_EQ(ran.outcome.exit_code, 0) << ran.output;
  for (const Violation& violation : ran.outcome.violations)
    ADD_FAILURE() << std::string(Name(violation.kind)) << ": "
                  << violation.detail;
  EXPECT_TRUE(Exists(w_ + "/sub/tracked"));
  EXPECT_TRUE(Exists(w_ + "/.gitmodules"));
  EXPECT_EQ(Outside("git status --porcelain | grep -v '^[?]'"), "");
}

TEST_P(ProtectedPathsTest, AHookIsNotLeftInAnExistingRepository) {
  Repository(w_);
  const std::string hook = w_ + "/.git/hooks/pre-commit";
  for (const char* line :
       {"echo x > .git/hooks/pre-commit",
        "mv .git .git2 && mkdir -p .git/hooks && echo x > "
        ".git/hooks/pre-commit",
        "rm -rf .git/hooks; mkdir .git/hooks; echo x > .git/hooks/pre-commit",
        "mv .git/hooks h; ln -s ../h .git/hooks; echo x > h/pre-commit"}) {
    Bash(line);
    EXPECT_FALSE(Exists(hook)) << line;
  }
  EXPECT_EQ(Outside("git fsck --no-progress 2>&1 | grep -i fatal"), "");
}

TEST_P(ProtectedPathsTest, AHooksDirectoryThatWasAbsentStaysWithoutHooks) {
  Repository(w_);
  std::filesystem::remove_all(w_ + "/.git/hooks");
  const Ran ran = Bash("mkdir .git/hooks; echo x > .git/hooks/post-merge");
  EXPECT_FALSE(Exists(w_ + "/.git/hooks/post-merge"));
  EXPECT_TRUE(HasViolation(ran.outcome, ViolationKind::kGitHook));
}

TEST_P(ProtectedPathsTest, AFileThatTheConfigurationIncludesIsGuardedLikeIt) {
  Repository(w_);
  Outside("cd \"$W\" && git config include.path ../team.inc");
  Write(w_ + "/team.inc", "[user]\n\tname = team\n");
  Bash("git config -f team.inc user.name other");
  EXPECT_NE(Read(w_ + "/team.inc").find("other"), std::string::npos);
  const std::string before = Read(w_ + "/team.inc");
  const Ran ran = Bash("git config -f team.inc core.fsmonitor ./evil");
  EXPECT_EQ(Read(w_ + "/team.inc"), before);
  EXPECT_TRUE(HasViolation(ran.outcome, ViolationKind::kGitConfig));
}

TEST_P(ProtectedPathsTest, HooksInADirectoryOfTheWorkspaceArePutBack) {
  Repository(w_);
  Outside("cd \"$W\" && git config core.hooksPath .husky/_");
  MakeDirectory(w_ + "/.husky");
  MakeDirectory(w_ + "/.husky/_");
  Write(w_ + "/.husky/pre-commit", "npm test\n");
  Write(w_ + "/.husky/_/pre-commit", ". ./h\n");
  const Ran same = Bash("echo '. ./h' > .husky/_/pre-commit; mkdir -p .husky");
  EXPECT_TRUE(same.outcome.violations.empty()) << "installed once more";
  for (const char* line :
       {"echo evil > .husky/_/pre-commit", "echo evil > .husky/pre-commit",
        "echo evil > .husky/_/post-merge",
        "rm .husky/pre-commit; ln -s ../evil .husky/pre-commit",
        "echo evil > e; mv e .husky/_/pre-push"}) {
    const Ran ran = Bash(line);
    EXPECT_TRUE(HasViolation(ran.outcome, ViolationKind::kGitHook)) << line;
    EXPECT_EQ(Read(w_ + "/.husky/pre-commit"), "npm test\n") << line;
    EXPECT_EQ(Read(w_ + "/.husky/_/pre-commit"), ". ./h\n") << line;
    EXPECT_FALSE(Exists(w_ + "/.husky/_/post-merge")) << line;
    EXPECT_FALSE(Exists(w_ + "/.husky/_/pre-push")) << line;
  }
  Bash("mv .husky gone; mkdir .husky; echo evil > .husky/pre-commit");
  EXPECT_EQ(Read(w_ + "/.husky/pre-commit"), "npm test\n");
}

TEST_P(ProtectedPathsTest, TheWorkTreeIsNotMovedOutOfTheWorkspace) {
  Repository(w_);
  const std::string config = w_ + "/.git/config";
  const std::string before = Read(config);
  for (const char* where : {"$H", "../..", "../../home", "/"}) {
    const Ran ran =
        Bash("git config core.worktree \"" + std::string(where) + "\"");
    EXPECT_EQ(Read(config), before) << where;
    EXPECT_TRUE(HasViolation(ran.outcome, ViolationKind::kGitConfig)) << where;
  }
}

TEST_P(ProtectedPathsTest, ProgramsInTheConfigurationArePutBack) {
  Repository(w_);
  const std::string config = w_ + "/.git/config";
  const std::string before = Read(config);
  for (const char* line :
       {"git config core.hooksPath h", "git config core.fsmonitor ./x",
        "git config alias.st '!x'", "git config include.path ../x",
        "git config filter.f.clean x",
        "printf '[core]\\npager=x' >> .git/config",
        "rm .git/config; ln -s ../evil .git/config",
        "rm .git/config; mkdir .git/config", "echo '[broken' >> .git/config"}) {
    const Ran ran = Bash(line);
    EXPECT_EQ(Read(config), before) << line << ran.output;
    EXPECT_TRUE(HasViolation(ran.outcome, ViolationKind::kGitConfig)) << line;
  }
  const Ran ordinary = Bash("git config remote.o.url /x");
  EXPECT_NE(Read(config), before);
  EXPECT_TRUE(ordinary.outcome.violations.empty());
}

TEST_P(ProtectedPathsTest, OtherFilesThatLeadGitElsewhereAreProtected) {
  Repository(w_);
  for (const char* name :
       {".git/info/attributes", ".git/commondir", ".git/lazygit.yml"})
    ExpectKept("mkdir -p .git/info; echo x > " + std::string(name),
               w_ + "/" + name);
  const Ran ran = Bash(
      "git config extensions.worktreeConfig true; git config --worktree "
      "core.hooksPath h; git config --worktree user.name ok");
  EXPECT_EQ(Read(w_ + "/.git/config.worktree").find("hooks"),
            std::string::npos);
  EXPECT_TRUE(HasViolation(ran.outcome, ViolationKind::kGitConfig));
}

TEST_P(ProtectedPathsTest, ANewRepositoryKeepsItsFilesButNoPrograms) {
  const Ran ran = Bash(
      "git init -q new; cd new; mkdir .claude; echo '{}' > "
      ".claude/settings.json; git add .; echo x > .git/hooks/pre-commit; git "
      "config "
      "core.pager evil; git config user.name kept");
  EXPECT_TRUE(Exists(w_ + "/new/.claude/settings.json"));
  EXPECT_FALSE(Exists(w_ + "/new/.git/hooks/pre-commit"));
  const std::string config = Read(w_ + "/new/.git/config");
  EXPECT_EQ(config.find("evil"), std::string::npos);
  EXPECT_NE(config.find("kept"), std::string::npos);
  EXPECT_TRUE(HasViolation(ran.outcome, ViolationKind::kGitHook));
  EXPECT_TRUE(HasViolation(ran.outcome, ViolationKind::kGitConfig));
}

TEST_P(ProtectedPathsTest, ARepositoryMadeOfTheWorkspaceDoesNotFreeItsNames) {
  Bash(
      "git init -q .; echo x > .mcp.json; mkdir -p a; echo x > a/.envrc; echo "
      "x > .git/hooks/pre-push");
  EXPECT_TRUE(Exists(w_ + "/.git/HEAD"));
  for (const char* name : {".mcp.json", "a/.envrc", ".git/hooks/pre-push"})
    EXPECT_FALSE(Exists(w_ + "/" + name)) << name;
}

TEST_P(ProtectedPathsTest, ANestedRepositoryAndABareOneAreSwept) {
  Repository(w_ + "/a/b/c/d");
  const Ran ran = Bash(
      "echo x > a/b/c/d/.git/hooks/pre-commit; git init -q --bare e; git -C e "
      "config core.fsmonitor ./evil; echo x > e/hooks/update");
  EXPECT_FALSE(Exists(w_ + "/a/b/c/d/.git/hooks/pre-commit"));
  EXPECT_FALSE(Exists(w_ + "/e/hooks/update"));
  EXPECT_EQ(Read(w_ + "/e/config").find("evil"), std::string::npos);
  EXPECT_EQ(ran.outcome.violations.size(), 3u);
}

TEST_P(ProtectedPathsTest, ALinkedWorktreeWorksAndItsRepositoryIsProtected) {
  Repository(base_ + "/main");
  std::filesystem::remove_all(w_);
  ASSERT_EQ(Outside("true"), "no workspace");
  ASSERT_EQ(chmod(base_.c_str(), 0755), 0);
  const std::string tree = base_ + "/tree";
  MakeDirectory(w_);
  ASSERT_EQ(Outside("git -C ../main worktree add -q ../tree"), "");
  profile_.workspace = tree;
  profile_.write = {tree, base_ + "/main/.git"};
  cwd_ = tree;
  const Ran ran = Bash(
      "set -e; echo 2 > tracked; git commit -qam 2; set +e; echo x > "
      "\"$(git rev-parse --git-common-dir)/hooks/pre-commit\"; echo 'gitdir: "
      "/tmp' > .git; git config core.pager evil");
  EXPECT_EQ(ran.output.find("fatal"), std::string::npos) << ran.output;
  EXPECT_NE(Outside("git -C ../tree log --oneline").find(" 2\n"),
            std::string::npos);
  EXPECT_FALSE(Exists(base_ + "/main/.git/hooks/pre-commit"));
  EXPECT_EQ(Read(base_ + "/main/.git/config").find("evil"), std::string::npos);
  EXPECT_EQ(Read(tree + "/.git").find("/tmp"), std::string::npos);
}

TEST_P(ProtectedPathsTest, ASubmodulesDirectoryIsProtected) {
  Repository(w_);
  Repository(base_ + "/other");
  ASSERT_EQ(Outside("git -c protocol.file.allow=always submodule add -q "
                    "../other sub"),
            "");
  Bash(
      "echo x > .git/modules/sub/hooks/pre-commit; git -C sub config "
      "core.sshCommand evil");
  EXPECT_FALSE(Exists(w_ + "/.git/modules/sub/hooks/pre-commit"));
  EXPECT_EQ(Read(w_ + "/.git/modules/sub/config").find("evil"),
            std::string::npos);
}

// A listing only ever saves look-ups: what it denies is not there.
TEST(Listing, DeniesOnlyWhatIsNotThere) {
  const TemporaryDirectory made;
  const std::string place = made.path();
  std::ofstream(place + "/.bashrc") << "x";
  std::ofstream(place + "/.NPMRC") << "x";
  std::filesystem::create_directory(place + "/.claude");
  Listing listing = Listing::Of(place);
  for (const char* there : {".bashrc", ".BashRC", ".npmrc", ".claude",
                            ".claude/settings.json", "caf\xc3\xa9"})
    EXPECT_TRUE(listing.MayHold(there)) << there;
  EXPECT_FALSE(listing.MayHold(".zshrc"));
  EXPECT_FALSE(listing.MayHold(".config/git/config"));

  // Where names may stand for others, or are too many, nothing is denied.
  std::ofstream(place + "/caf\xc3\xa9") << "x";
  EXPECT_TRUE(Listing::Of(place).MayHold(".zshrc"));
  std::filesystem::remove(place + "/caf\xc3\xa9");
  for (int i = 0; i < 3000; ++i)
    std::ofstream(place + "/a-file-with-a-longer-name-" + std::to_string(i));
  EXPECT_TRUE(Listing::Of(place).MayHold(".zshrc"));
  EXPECT_TRUE(Listing::Of(place + "/nowhere").MayHold(".zshrc"));
}

TEST(NegativeEntryCache, DenyOnlyWhereSeveralPathsWereMissing) {
  const TemporaryDirectory made;
  const std::string place = made.path(), below = place + "/.config";
  std::filesystem::create_directory(below);
  std::ofstream(place + "/.bashrc") << "x";
  std::ofstream(below + "/token") << "x";
  NegativeEntryCache listings;
  for (int i = 1; i < NegativeEntryCache::kMissesToList; ++i) {
    listings.NoteMissing(place + "/.absent" + std::to_string(i));
    EXPECT_TRUE(listings.MayExist(place + "/.zshrc")) << i;
  }
  listings.NoteMissing(place + "/.absent");
  for (const std::string& there :
       {place, place + "/", place + "/.bashrc", below, below + "/token",
        below + "/unlisted", place + "-other/.zshrc", std::string("/.zshrc")})
    EXPECT_TRUE(listings.MayExist(there)) << there;
  for (const std::string& missing :
       {place + "/.zshrc", place + "/.zsh/rc", place + "/.configuration"})
    EXPECT_FALSE(listings.MayExist(missing)) << missing;

  for (int i = 0; i < NegativeEntryCache::kMissesToList; ++i)
    listings.NoteMissing(below + "/absent");
  EXPECT_TRUE(listings.MayExist(below + "/token"));
  EXPECT_FALSE(listings.MayExist(below + "/unlisted"));
}

TEST_P(ProtectedPathsTest,
       ADirectoryMadeByAnEarlierRunGetsNoProtectedNameLater) {
  profile_.protect_names = {".vscode", ".claude/settings.json",
                            ".config/git/config"};
  ASSERT_EQ(Outside("mkdir -p x/.config y/.vscode && echo mine > "
                    "y/.vscode/tasks.json"),
            "");
  AwaitTick();
  EXPECT_TRUE(
      Bash("mkdir -p x/a x/b x/.config/c; echo e > x/a/tasks.json; echo e > "
           "x/b/settings.json; echo e > x/.config/c/config")
          .outcome.violations.empty());
  // The files and their directories are older than this run.
  AwaitTick();
  Bash(
      "mv x/a x/.vscode; touch x/.vscode; mv x/b x/.claude; mv x/.config/c "
      "x/.config/git; touch y/.vscode/new");
  EXPECT_FALSE(Exists(w_ + "/x/.vscode/tasks.json"));
  EXPECT_FALSE(Exists(w_ + "/x/.claude/settings.json"));
  EXPECT_FALSE(Exists(w_ + "/x/.config/git/config"));
  // One that stays where it was keeps what it had.
  EXPECT_EQ(Read(w_ + "/y/.vscode/tasks.json"), "mine\n");
  EXPECT_FALSE(Exists(w_ + "/y/.vscode/new"));
}

TEST_P(ProtectedPathsTest, ADirectoryMadeByAnEarlierRunBecomesNoGitDirectory) {
  const char* const kRepository =
      "; mkdir -p x/g/objects x/g/refs; echo 'ref: refs/heads/m' > x/g/HEAD; "
      "mv x/g x/.git";
  // One step less in each: what is made in the second run decides.
  for (const char* first : {"mkdir -p x/g/hooks",
                            "mkdir -p x/g/hooks x/g/objects; echo x > x/g/HEAD",
                            "mkdir -p x/g/hooks x/g/refs x/g/objects"}) {
    Bash(std::string(first) +
         "; echo e > x/g/hooks/pre-commit; printf '[core]\\nfsmonitor=./e\\n' "
         "> x/g/config");
    AwaitTick();
    Bash(std::string("true") + kRepository);
    EXPECT_FALSE(Exists(w_ + "/x/.git/hooks/pre-commit")) << first;
    EXPECT_EQ(Read(w_ + "/x/.git/config").find("fsmonitor"), std::string::npos)
        << first;
    Outside("rm -rf x");
  }
  // Hooks that are moved into a repository that was there.
  ASSERT_EQ(Outside("git init -q r && mkdir h && echo e > h/post-checkout"),
            "");
  AwaitTick();
  Bash("rm -r r/.git/hooks; mv h r/.git/hooks");
  EXPECT_FALSE(Exists(w_ + "/r/.git/hooks/post-checkout"));
}

}  // namespace
}  // namespace gate::backends
