// What stands on the way to a place that git takes orders from leads nowhere
// else after a run than before.
#include <unistd.h>

#include <cstdlib>

#include "backends/protected_paths.h"
#include "backends/run_journal.h"
#include "backends/symlinks.h"
#include "tests/support/sandbox_fixture.h"

namespace gate::backends {
namespace {

struct Case {
  const char* name;
  const char* setup;     // in the workspace
  const char* line;      // what the command does
  bool may_end = false;  // what was there before may be gone
};

// In these, `mine` and `evil` write a configuration, `hook` a hook that is so.
constexpr Case kCases[] = {
    {"a directory above an included file",
     "mkdir conf; mine conf/inc; git config include.path ../conf/inc",
     "mkdir c3; evil c3/inc; mv conf c2; ln -s c3 conf"},
    {"one higher",
     "mkdir -p a/conf; mine a/conf/inc; git config include.path ../a/conf/inc",
     "mkdir -p b/conf; evil b/conf/inc; mv a c2; ln -s b a"},
    {"of several included files",
     "mkdir conf; mine conf/1; mine conf/2; git config include.path "
     "../conf/1; git config --add include.path ../conf/2",
     "mkdir c3; evil c3/1; mv conf c2; ln -s c3 conf"},
    {"of a file that is included under a condition",
     "mkdir conf; mine conf/inc; git config 'includeIf.gitdir:**.path' "
     "../conf/inc",
     "mkdir c3; evil c3/inc; mv conf c2; ln -s c3 conf"},
    {"of a file that an included file includes",
     "mkdir conf; git config -f conf/inc include.path d/inc2; git config "
     "include.path ../conf/inc",
     "mkdir e; evil e/inc2; ln -s ../e conf/d"},
    {"of a file that the person's configuration includes",
     "mkdir gd; mine gd/gi; git config --global include.path \"$W/gd/gi\"",
     "mkdir g2; evil g2/gi; mv gd g3; ln -s g2 gd"},
    {"of an included file that is not there",
     "git config include.path ../conf/inc",
     "mkdir c3; evil c3/inc; ln -s c3 conf"},
    {"of one whose directory is there",
     "mkdir conf; git config include.path ../conf/inc",
     "rmdir conf; mkdir c3; evil c3/inc; ln -s c3 conf"},
    {"a link",
     "mkdir conf; mine conf/inc; ln -s conf lk; git config include.path "
     "../lk/inc",
     "mkdir c3; evil c3/inc; rm lk; ln -s c3 lk"},
    {"a link to a file that is not there",
     "mkdir conf; ln -s conf lk; git config include.path ../lk/inc",
     "mkdir c3; evil c3/inc; rm lk; ln -s c3 lk"},
    {"a link that a link leads to",
     "mkdir conf; mine conf/inc; ln -s conf lk; ln -s ../lk/inc .git/inc; git "
     "config include.path inc",
     "mkdir c3; evil c3/inc; rm lk; ln -s c3 lk"},
    {"a directory that the way goes out of",
     "mkdir -p a/b; mine a/inc; git config include.path ../a/b/../inc",
     "mkdir -p e/b; evil e/inc; mv a/b a/c; ln -s ../e/b a/b", true},
    {"one that is not there", "mine inc; git config include.path ../b/../inc",
     "mkdir -p e/b; evil e/inc; ln -s e/b b"},
    {"a link that the way goes out of",
     "mkdir -p a/b; mine a/inc; ln -s a/b lk; git config include.path "
     "../lk/../inc",
     "evil a/inc"},
    {"a directory between two writable roots",
     "mkdir -p p/root; mine p/root/inc; git config include.path "
     "../p/root/inc",
     "mkdir -p e/root; evil e/root/inc; mv p p2; ln -s e p", true},
    {"a directory above hooks that are not there",
     "git config core.hooksPath hk/sub",
     "mkdir -p h2/sub; hook evil h2/sub; ln -s h2 hk"},
    {"of the person's", "git config --global core.hooksPath \"$W/hk/sub\"",
     "mkdir -p h2/sub; hook evil h2/sub; ln -s h2 hk"},
    {"the place of hooks",
     "mkdir hk; hook mine hk; git config core.hooksPath hk",
     "mkdir h2; hook evil h2; mv hk h3; ln -s h2 hk"},
    {"a directory above hooks",
     "mkdir -p a/hk; hook mine a/hk; git config core.hooksPath a/hk",
     "mkdir -p b/hk; hook evil b/hk; mv a c; ln -s b a"},
    {"an empty place of hooks", "mkdir hk; git config core.hooksPath hk",
     "rmdir hk; mkdir h2; hook evil h2; ln -s h2 hk"},
    {"a directory above a link, with a link of the same text",
     "mkdir -p a hk; hook mine hk; ln -s ../hk a/lk; git config "
     "core.hooksPath a/lk",
     "mkdir -p x/b x/hk; hook evil x/hk; ln -s ../hk x/b/lk; mv a c; ln -s "
     "x/b a"},
    {"a directory above a link, moved",
     "mkdir -p a hk; hook mine hk; ln -s ../hk a/lk; git config "
     "core.hooksPath a/lk",
     "mkdir -p x/hk; hook evil x/hk; mv a x/a; ln -s x/a a"},
    {"a link on the way to a work tree",
     "mkdir -p real/hk; hook mine real/hk; ln -s real lk; git config "
     "core.worktree ../lk; git config core.hooksPath hk",
     "mkdir -p e/hk; hook evil e/hk; rm lk; ln -s e lk"},
    {"a link on the way to a git directory",
     "mkdir st; mv .git st/g; rm -rf st/g/hooks; ln -s st lk; echo 'gitdir: "
     "lk/g' > .git",
     "mkdir e; cp -a st/g e/g; evil e/g/config; rm lk; ln -s e lk"},
    {"a directory above a git directory",
     "mkdir st; mv .git st/g; rm -rf st/g/hooks; echo 'gitdir: st/g' > .git",
     "mkdir e; cp -a st/g e/g; evil e/g/config; mv st s2; ln -s e st", true},
    {"a git directory", "rm -rf .git/hooks",
     "cp -a .git g2; evil g2/config; mv .git g3; ln -s g2 .git", true},
    {"a directory above a protected link",
     "mkdir -p .claude dot; echo mine > dot/s.json; ln -s ../dot/s.json "
     ".claude/settings.json",
     "mkdir -p e/f e/dot; echo evil > e/dot/s.json; ln -s ../dot/s.json "
     "e/f/settings.json; mv .claude c; ln -s e/f .claude"},
    {"a link that a protected link leads to",
     "mkdir -p .claude dot; echo mine > dot/s.json; ln -s dot lk; ln -s "
     "../lk/s.json .claude/settings.json",
     "mkdir e; echo evil > e/s.json; rm lk; ln -s e lk"},
};

constexpr char kTools[] =
    "mine() { git config -f \"$1\" user.name mine; }; evil() { git config -f "
    "\"$1\" core.fsmonitor evil; }; hook() { echo \"$1\" > "
    "\"$2/pre-commit\"; }; cd \"$W\"; ";

// The person's work trees: what leads to one, and what git would write there.
struct TreeCase {
  const char *setup, *line;
};
constexpr TreeCase kTreeCases[] = {
    {"", "ln -s \"$X\" lk; git config core.worktree ../lk"},
    {"", "ln -s \"$X\" lk; git config core.worktree \"$W/lk\""},
    {"", "ln -s \"$X\" lk; mkdir d; git config core.worktree ../d/../lk"},
    {"", "mkdir t; ln -s t lk; git config core.worktree ../lk"},
    {"ln -s \"$X\" lk", "git config core.worktree ../lk"},
    {"", "ln -s \"$X\" .git/lk; git config core.worktree lk"},
    {"git config extensions.worktreeConfig true",
     "ln -s \"$X\" lk; git config --worktree core.worktree ../lk"},
    {"",
     "git init -q in; cd in; ln -s \"$X\" lk; git config core.worktree ../lk"},
    // What stands already; the last ones in a repository deeper down.
    {"mkdir t; git config core.worktree ../t", "rmdir t; ln -s \"$X\" t"},
    {"git config core.worktree ../t", "ln -s \"$X\" t"},
    {"mkdir -p a/t; git config core.worktree ../a/t",
     "mkdir b; ln -s \"$X\" b/t; mv a c; mv b a"},
    {"mkdir -p a/t; git config core.worktree ../a/../t", "ln -s \"$X\" t"},
    {"git init -q in; mkdir in/t; git -C in config core.worktree ../t",
     "rmdir in/t; ln -s \"$X\" in/t"},
    {"git init -q in; mkdir -p in/a/t; git -C in config core.worktree ../a/t; "
     "mkdir in/b; ln -s \"$X\" in/b/t",
     "cd in; mv a c; mv b a"},
};

class ProtectedPathsSymlinks : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    profile_.alias_checked_paths = {h_ + "/.gitconfig"};
    profile_.protect_names = {".claude/settings.json"};
    profile_.runs_dir = base_ + "/runs";
  }
  void Prepare(const Case& c) {
    Outside(
        "cd / && chmod -R u+rwx \"$W\" && rm -rf \"$H\"/.gitconfig "
        "\"$W\"/* \"$W\"/.git* \"$W\"/.claude \"$W\"/../runs");
    ASSERT_EQ(Outside(std::string(kTools) + "git init -q .; " + c.setup), "")
        << c.name;
    profile_.write = {w_};
    if (Exists(w_ + "/p/root")) profile_.write.push_back(w_ + "/p/root");
  }
  // What git and its user get.
  std::string State() {
    return Outside(
        "{ git config --get-all user.name; git config core.fsmonitor; cat "
        "\"$(git rev-parse --git-path hooks/pre-commit)\"; cat "
        ".claude/settings.json lk/hk/pre-commit; } 2>/dev/null");
  }
  void ExpectAsBefore(const Case& c, const std::string& before) {
    const std::string after = State();
    if (c.may_end && after != before)
      EXPECT_EQ(after, "") << c.name;
    else
      EXPECT_EQ(after, before) << c.name;
  }
};
INSTANTIATE_TEST_SUITE_P(All, ProtectedPathsSymlinks,
                         testing::ValuesIn(Everyone()), WhoName);
INSTANTIATE_TEST_SUITE_P(Engines, ProtectedPathsSymlinks,
                         testing::ValuesIn(Engines()), WhoName);

TEST_P(ProtectedPathsSymlinks, LeadsWhereItLedBefore) {
  for (const Case& c : kCases) {
    Prepare(c);
    const std::string before = State();
    const Ran ran = Bash(std::string(kTools) + c.line);
    ASSERT_NE(ran.outcome.status, OutcomeStatus::kSetupFailed)
        << c.name << ": " << ran.outcome.reason;
    ExpectAsBefore(c, before);
    EXPECT_TRUE(ran.outcome.sweep_complete) << c.name;
  }
}

// As above where no mount holds anything, and the next gate sweeps.
TEST_P(ProtectedPathsSymlinks, LeadsThereAfterAKilledGateWithoutMounts) {
  if (!Is("native")) return;  // no backend takes part
  for (const Case& c : kCases) {
    Prepare(c);
    const std::string before = State();
    AsUser([&]() -> std::string {
      setenv("HOME", h_.c_str(), 1);
      ProtectedPaths protected_paths = ProtectedPaths::Snapshot(profile_, w_);
      if (!protected_paths.Note(profile_)) _exit(1);
      _exit(0);  // without the destructor of ProtectedPaths
    });
    Outside(std::string(kTools) + c.line);
    EXPECT_NE(State().find("evil"), std::string::npos) << c.name;
    const std::string found = AsUser([&] {
      std::string all;
      for (const Violation& violation : RecoverKilledRuns(profile_.runs_dir))
        all +=
            std::string(Name(violation.kind)) + " " + violation.detail + "\n";
      return all;
    });
    EXPECT_NE(found, "") << c.name;
    EXPECT_EQ(found.find("could not"), std::string::npos) << found;
    EXPECT_EQ(found.find("not looked at"), std::string::npos) << found;
    ExpectAsBefore(c, before);
  }
}

TEST_P(ProtectedPathsSymlinks, MayBeGoneByOrdinaryWork) {
  for (const char* line :
       {"rm -rf conf a lk", "git mv conf moved 2>/dev/null; true",
        "echo x > conf/other; mv conf/other .", "ln -s conf also"}) {
    Prepare({"",
             "mkdir conf; mine conf/inc; git add .; git config "
             "include.path ../conf/inc; git config core.hooksPath "
             "none/h; git commit -qm 1",
             ""});
    const Ran ran = Bash(std::string(kTools) + line);
    EXPECT_EQ(ran.outcome.exit_code, 0) << line << ran.output;
    for (const Violation& violation : ran.outcome.violations)
      ADD_FAILURE() << line << ": " << violation.detail;
  }
}

TEST_P(ProtectedPathsSymlinks, OfAWorkTreeLeadsThroughNoNewLink) {
  constexpr char kPerson[] =
      "for r in . in; do test -e $r/.git && (cd $r && git --git-dir=.git reset "
      "-q --hard); done 2>/dev/null; ls \"$X\"; rm -f \"$X\"/evil";
  constexpr char kCommit[] =
      "for r in . in; do test -e $r/.git && (cd $r && b=$(echo x | git "
      "hash-object -w --stdin) && git update-index --add --cacheinfo "
      "100644,$b,evil && git commit -qm 1); done; ";
  for (const TreeCase& c : kTreeCases) {
    Prepare({c.line, c.setup, ""});
    Outside(kCommit);
    Bash(std::string(kTools) + c.line + "; cd \"$W\"; " + kCommit);
    EXPECT_EQ(Outside(kPerson), "existing\n") << c.line;
  }
}

// What git writes itself.
TEST_P(ProtectedPathsSymlinks, OfSubmodulesAndOtherPlacesOfGitsStays) {
  for (const char* line :
       {"git init -q lib; git -C lib commit -q --allow-empty -m 1; git -c "
        "protocol.file.allow=always submodule --quiet add ./lib deep/sub && "
        "git commit -qm 1 && git mv deep/sub sub2 && git -C sub2 status -s && "
        "git submodule --quiet deinit -f sub2 && git -c "
        "protocol.file.allow=always submodule --quiet update --init",
        "git commit -q --allow-empty -m 1; git worktree add -q wt && git -C wt "
        "status -s && git config extensions.worktreeConfig true && git "
        "worktree add -q wt2",
        "git init -q --separate-git-dir g.git t && git -C t status -s",
        "mkdir t2; git --git-dir=h.git --work-tree=t2 init -q && git "
        "--git-dir=h.git config core.worktree"}) {
    Prepare({line, "git commit -q --allow-empty -m 0", ""});
    const Ran ran = Bash(std::string(kTools) + line);
    EXPECT_EQ(ran.outcome.exit_code, 0) << line << ran.output;
    for (const Violation& violation : ran.outcome.violations)
      ADD_FAILURE() << line << ": " << violation.detail;
    const std::string worktrees =
        Outside("grep -rl 'worktree = ' .git *.git 2>/dev/null | sort; true");
    const Ran next = Bash("git status -s; git submodule --quiet status");
    for (const Violation& violation : next.outcome.violations)
      ADD_FAILURE() << line << ": " << violation.detail;
    EXPECT_EQ(Outside("grep -rl 'worktree = ' .git *.git 2>/dev/null | sort; "
                      "true"),
              worktrees);
  }
}

// A preview, which cannot sweep, refuses what would take the place of these.
TEST_P(ProtectedPathsSymlinks, IsHeldInAPreview) {
  struct Row {
    const char *setup, *path;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"git config include.path ../a/conf/inc", "a"},
           {"mkdir -p a b; ln -s ../b a/lk; git config core.hooksPath a/lk",
            "a"},
           {"git config core.hooksPath hk/sub", "hk"},
           {"git config include.path ../a/../inc", "a"},
           {"git config core.worktree ../a/t", "a"},
           {"git config core.worktree ../a", "a"},
           {"mine conf; ln -s conf .git/inc; git config include.path inc",
            ".git"}}) {
    Prepare({"", row.setup, ""});
    EXPECT_EQ(
        AsUser([&] {
          setenv("HOME", h_.c_str(), 1);
          const ProtectedPaths protected_paths =
              ProtectedPaths::SnapshotDirectories(profile_);
          return std::to_string(
                     protected_paths.HoldsBelow(w_ + "/" + row.path)) +
                 std::to_string(protected_paths.HoldsBelow(w_ + "/other"));
        }),
        "10")
        << row.setup;
  }
}

TEST(SymlinkTrace, OfParentsIsTheKernels) {
  EXPECT_EQ(PathFrom("/w/.git", "../conf/inc"), "/w/conf/inc");
  EXPECT_EQ(PathFrom("/w/.git", "./..//../x"), "/x");
  EXPECT_EQ(PathFrom("/", "../x"), "/x");
  EXPECT_EQ(PathFrom("/w", ".."), "/");
  EXPECT_EQ(PathFrom("/w", "..x/../y"), "/w/..x/../y");
  EXPECT_EQ(PathFrom("/w", "/a/../b"), "/a/../b");
  const SymlinkTrace way = ResolveSymlinks("/no-such/a/../b//./c/");
  EXPECT_EQ(way.place, "/no-such/b/c");
  EXPECT_EQ(way.left, std::vector<std::string>{"/no-such/a"});
  EXPECT_TRUE(way.links.empty());
}

TEST_P(ProtectedPathsSymlinks, WhatIsHiddenIsHiddenInTheNextRunToo) {
  MakeDirectory(w_ + "/conf");
  MakeDirectory(w_ + "/conf/deep");
  Write(w_ + "/conf/deep/kube", "canary\n");
  profile_.deny_read = {w_ + "/conf/deep/kube"};
  Bash("mv conf/deep other; mv conf other; mkdir -p conf/deep; ln -s x conf");
  const Ran ran = Bash("cat {conf,other}/{deep/,}kube");
  EXPECT_EQ(ran.output.find("canary"), std::string::npos) << ran.output;
  EXPECT_EQ(Read(w_ + "/conf/deep/kube"), "canary\n");
}

// It was judged as what it was: another run, which may write where it lies, may
// have put the link there since.
TEST_P(ProtectedPathsSymlinks, AWritableRootThatIsALinkByNowStartsNothing) {
  MakeDirectory(base_ + "/closed/deep");
  ASSERT_EQ(symlink((base_ + "/closed").c_str(), (base_ + "/link").c_str()), 0);
  for (const char* root : {"/link", "/link/deep"}) {
    const std::string path = base_ + root;
    profile_.write = {w_, path};
    EXPECT_EQ(Bash("echo x > '" + path + "/new'").outcome.status,
              OutcomeStatus::kSetupFailed)
        << root;
    profile_.workspace = path;
    profile_.write = {path};
    EXPECT_EQ(Bash("echo x > '" + path + "/new'").outcome.status,
              OutcomeStatus::kSetupFailed)
        << root;
    profile_.workspace = w_;
    EXPECT_FALSE(Exists(path + "/new")) << root;
  }
}

}  // namespace
}  // namespace gate::backends
