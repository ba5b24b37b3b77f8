// The search after a run comes to its end, or says that it did not.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "backends/protect/tree_index.h"
#include "backends/protected_paths.h"
#include "base/file.h"
#include "tests/support/sandbox_fixture.h"
#include "tests/support/temporary_directory.h"

namespace gate::backends {
namespace {

class ProtectedPathsSearch : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    profile_.runs_dir = base_ + "/runs";
    profile_.protect_names = {".envrc", ".mcp.json", ".vscode",
                              ".claude/settings.json"};
  }
  // What still says PLANT where something obeys it.
  std::string Planted() {
    return Outside(
        "find . \\( -name .envrc -o -name .mcp.json -o -path "
        "'*/.claude/settings.json' -o -path '*/.vscode/*' -o -path "
        "'*/.git/hooks/*' -o -path '*/.git/config' \\) -type f -exec grep -l "
        "PLANT {} + 2>&1");
  }
};
INSTANTIATE_TEST_SUITE_P(All, ProtectedPathsSearch,
                         testing::ValuesIn(Everyone()), WhoName);

constexpr char kPlant[] =
    "; mkdir -p W/.claude W/.vscode; echo PLANT > W/.claude/settings.json; "
    "echo PLANT > W/.vscode/tasks.json; echo PLANT > W/.git/hooks/pre-commit; "
    "git -C W config core.fsmonitor PLANT; git -C W config core.hooksPath "
    "PLANT";

TEST_P(ProtectedPathsSearch, NothingThatARunMakesHidesWhatItPlants) {
  for (const char* made : {
           "mkdir $(seq -f d%g 4200)",
           "mkdir $(seq -f d%g 4200); mkdir -p d9/x/.claude; echo PLANT > "
           "d9/x/.claude/settings.json",
           "touch $(seq -f f%g 20000)",
           "mkdir -p $(seq -f d%g/a/b/c 800); echo PLANT > d7/a/b/c/.envrc",
           "mkdir -p a/$(seq -s / 400); echo PLANT > a/$(seq -s / 400)/.envrc",
           "mkdir -p a/b/.vscode; echo PLANT > a/b/.vscode/x; chmod 0300 a/b",
           "mkdir -p a/b/.vscode; echo PLANT > a/b/.vscode/x; chmod 0 a",
           "mkdir -p a/b/.vscode; echo PLANT > a/b/.vscode/x; chmod 0300 "
           "a/b/.vscode a/b; chmod 0 a",
           "mkdir -p a/.claude; echo PLANT > a/.claude/settings.json; mv a b",
           "mkdir -p a/c; echo PLANT > a/c/.mcp.json; mv a W/b",
           "mkdir -p a/c; echo PLANT > a/c/x; mv a/c/x a/c/.mcp.json; mv a z",
           "mkdir -p \"$TMPDIR/m/.claude\" /tmp/m/n/.claude; echo PLANT > "
           "/tmp/m/n/.claude/settings.json; mv /tmp/m from-tmp",
           "echo PLANT > x; ln x W/.mcp.json; ln x W/.envrc",
           "mkdir $'a\\nb'; echo PLANT > $'a\\nb/.envrc'",
           "mkdir -p $'\\x01 \\xff/\\x80'; echo PLANT > $'\\x01 "
           "\\xff/\\x80/.envrc'",
           "mkdir -p ' ' -- -r; echo PLANT > ' /.envrc'; echo PLANT > "
           "./-r/.envrc",
           "mkdir -p .x/.y; echo PLANT > .x/.y/.MCP.json; echo PLANT > "
           ".x/.y/.mcp.json",
           "mkdir -p a; touch -d 2001-01-01 a; echo PLANT > a/.envrc; touch -d "
           "2001-01-01 a/.envrc a",
           "cp -a W W2; echo PLANT > W2/.git/hooks/pre-push; git -C W2 config "
           "core.fsmonitor PLANT",
           "mv W V; mkdir W; mv V/.git W/.git",
           "mv W V; mv V W; echo PLANT > W/.git/hooks/pre-push",
           "rm -rf W; git init -q W",
           "mkdir e; cd e; mkdir $(seq 3000); cd ..; mv e/2999 W/k; echo PLANT "
           "> W/k/.envrc",
       }) {
    ASSERT_EQ(Outside("git init -q W; mkdir -p old/deep/er; echo 1 > "
                      "old/deep/er/file"),
              "");
    AwaitTick();
    // With the index of the run before, and without one.
    EXPECT_EQ(Bash("true").outcome.exit_code, 0);
    const Ran ran = Bash(std::string(made) + kPlant);
    EXPECT_EQ(ran.outcome.status, OutcomeStatus::kExited) << made;
    EXPECT_TRUE(HasViolation(ran.outcome, ViolationKind::kProtectedPath))
        << made;
    EXPECT_TRUE(HasViolation(ran.outcome, ViolationKind::kGitHook)) << made;
    Outside("chmod -R u+rwx .");
    EXPECT_EQ(Planted(), "") << made << ran.output;
    Outside("find . -mindepth 1 -maxdepth 1 -exec rm -rf {} +");
  }
}

TEST_P(ProtectedPathsSearch, WhatWasTwoDirectoriesBelowComesBack) {
  ASSERT_EQ(
      Outside("git init -q W; mkdir -p W/.claude p/x/.vscode; git init -q p/x; "
              "echo mine > W/.claude/settings.json; echo mine > W/.mcp.json; "
              "echo mine > p/x/.vscode/tasks.json; echo mine > "
              "W/.git/hooks/pre-commit; echo mine > p/x/.git/hooks/pre-push; "
              "git -C W config alias.mine '!x'; git -C p/x config "
              "core.hooksPath mine"),
      "");
  const std::string config = Read(w_ + "/W/.git/config");
  for (int round = 0; round < 2; ++round) {
    AwaitTick();
    const Ran ran = Bash(
        "for f in W/.claude/settings.json W/.mcp.json p/x/.vscode/tasks.json "
        "W/.git/hooks/pre-commit p/x/.git/hooks/pre-push; do rm -f $f; echo "
        "PLANT > $f; done; git -C W config core.fsmonitor PLANT; git -C p/x "
        "config core.sshCommand PLANT");
    EXPECT_EQ(Planted(), "") << ran.output;
    for (const char* file :
         {"W/.claude/settings.json", "W/.mcp.json", "p/x/.vscode/tasks.json",
          "W/.git/hooks/pre-commit", "p/x/.git/hooks/pre-push"})
      EXPECT_EQ(Read(w_ + "/" + file), "mine\n") << file;
    EXPECT_EQ(Read(w_ + "/W/.git/config"), config);
  }
  // Written once more as it was, it is no change.
  EXPECT_TRUE(
      Bash("cp W/.mcp.json n && mv n W/.mcp.json").outcome.violations.empty());
}

TEST_P(ProtectedPathsSearch, OrdinaryLinesAreQuiet) {
  ASSERT_EQ(Outside("git init -q . && git init -q W && mkdir -p src/hooks && "
                    "touch src/hooks/a && echo mine > W/.mcp.json"),
            "");
  AwaitTick();
  for (const char* line :
       {"true", "mkdir -p build/{a,b}/{c,d}; touch build/a/c/x",
        "mv build/a build/z", "rm -rf build", "cp -r src s2; mv s2 s3",
        "git -C W config user.name n", "touch src/hooks/pre", "rm -rf s3 src",
        "mkdir -p $(seq -f n/%g 300); rm -rf n", "git init -q new; rm -rf W"}) {
    const Ran ran = Bash(line);
    EXPECT_EQ(ran.outcome.status, OutcomeStatus::kExited) << line;
    EXPECT_TRUE(ran.outcome.sweep_complete) << line;
    for (const Violation& violation : ran.outcome.violations)
      ADD_FAILURE() << line << ": " << violation.detail;
  }
}

TEST_P(ProtectedPathsSearch, WhatARunMakesTakesNoTurnFromWhatWasThere) {
  ASSERT_EQ(Outside("for i in 1 2 3; do mkdir -p p$i/.claude p$i/q/.vscode; "
                    "echo mine > p$i/.claude/settings.json; echo mine > "
                    "p$i/q/.vscode/tasks.json; git init -q p$i/r; echo mine > "
                    "p$i/r/.git/hooks/pre-push; done"),
            "");
  AwaitTick();
  EXPECT_EQ(Bash("true").outcome.exit_code, 0);
  for (const char* made : {
           "mkdir $(seq -f a%g 700)",
           "mkdir -p $(seq -f p1/a%g 700)",
           "touch p1/x p2/x p3/x; mkdir z; mv p1 p3 z; mv z/* .",
       }) {
    AwaitTick();
    EXPECT_EQ(Bash(made).outcome.exit_code, 0) << made;
    AwaitTick();
    const Ran ran = Bash(
        "for i in 1 2 3; do echo PLANT > p$i/.claude/settings.json; echo PLANT "
        "> p$i/q/.vscode/tasks.json; echo PLANT > p$i/r/.git/hooks/pre-push; "
        "done");
    EXPECT_EQ(Planted(), "") << made;
    EXPECT_EQ(Outside("cat p?/.claude/settings.json p?/q/.vscode/tasks.json "
                      "p?/r/.git/hooks/pre-push | sort | uniq -c | tr -d ' '"),
              "9mine\n")
        << made << ran.output;
    for (const Violation& violation : ran.outcome.violations)
      EXPECT_EQ(violation.detail.find("does not put it back"),
                std::string::npos)
          << violation.detail;
  }
}

// Whichever of the limits of looking and remembering is met.
TEST_P(ProtectedPathsSearch, WhatDoesNotComeBackIsSaid) {
  struct Case {
    const char* before;
    const char* change;
  };
  constexpr Case kCases[] = {
      {"mkdir $(seq -f d%g 600); for i in $(seq 600); do echo mine > "
       "d$i/.envrc; done",
       "for i in $(seq 600); do echo PLANT > d$i/.envrc; done"},
      {"mkdir -p d/.vscode; for i in $(seq 300); do echo mine > d/.vscode/$i; "
       "done",
       "for i in $(seq 300); do echo PLANT > d/.vscode/$i; done"},
      {"mkdir d; yes mine | head -c 400000 > d/.envrc",
       "echo PLANT > d/.envrc"},
      {"mkdir -p $(seq -f d%g/.vscode 30); for i in $(seq 30); do yes mine | "
       "head -c 250000 > d$i/.vscode/x; done",
       "for i in $(seq 30); do echo PLANT > d$i/.vscode/x; done"},
  };
  for (const Case& each : kCases) {
    ASSERT_EQ(Outside(each.before), "");
    AwaitTick();
    const Ran ran = Bash(each.change);
    EXPECT_EQ(Planted(), "") << each.change;
    size_t said = 0;
    for (const Violation& violation : ran.outcome.violations)
      if (violation.detail.find("does not put it back (") != std::string::npos)
        ++said;
    const std::string count = Outside(
        "find . -type f \\( -name .envrc -o -path '*/.vscode/*' \\) "
        "| wc -l");
    const size_t back = std::stoul(count);
    EXPECT_NE(said, 0u) << each.change;
    EXPECT_EQ(said + back, ran.outcome.violations.size()) << each.change;
    Outside("find . -mindepth 1 -maxdepth 1 -exec rm -rf {} +");
  }
}

// Once per search, also where there is a directory `.git` that is none of
// git's.
TEST_P(ProtectedPathsSearch, WhatDidNotChangeIsNotWrittenDownAgain) {
  ASSERT_EQ(Outside("mkdir -p .git/x a/.git/y a/b; git init -q a/r"), "");
  for (int ticks = 0; ticks < 16; ++ticks) AwaitTick();
  EXPECT_EQ(Bash("true").outcome.exit_code, 0);
  const std::string trees = base_ + "/trees";
  ASSERT_TRUE(Exists(trees));
  const std::string before = Manifest(trees);
  EXPECT_EQ(Bash("true").outcome.exit_code, 0);
  EXPECT_EQ(Manifest(trees), before);
}

// Not through a backend: a search of that many directories takes long.
TEST_P(ProtectedPathsSearch, ALimitIsLoudAndTakesWhatTheRunMade) {
  ASSERT_EQ(Outside("mkdir -p $(seq -f old/%g 60)"), "");
  AwaitTick();
  for (const bool made : {false, true}) {
    const std::string said = AsUser([&] {
      ProtectedPaths protected_paths = ProtectedPaths::Snapshot(profile_, w_);
      protected_paths.LimitSearch(40);
      AwaitTick();
      if (made)
        (void)!system(("cd '" + w_ +
                       "'; rm -r old; mkdir -p $(seq -f new/%g/x 60); echo "
                       "PLANT > new/60/x/.envrc")
                          .c_str());
      Outcome outcome;
      outcome.status = OutcomeStatus::kExited;
      protected_paths.VerifyAndRestore(&outcome);
      std::string text = outcome.sweep_complete ? "all " : "some ";
      text += Name(outcome.status) + std::string(" ") + outcome.reason;
      for (const Violation& violation : outcome.violations)
        text += "\n" + violation.detail;
      return text;
    });
    EXPECT_NE(said.find("some "), std::string::npos) << said;
    if (made) {
      EXPECT_NE(said.find("made by the run, and too much to look through"),
                std::string::npos)
          << said;
      EXPECT_FALSE(Exists(w_ + "/new/60")) << said;
      EXPECT_EQ(said.find("were not looked at"), std::string::npos) << said;
    } else {
      EXPECT_NE(said.find("violation the search"), std::string::npos) << said;
      EXPECT_NE(said.find("directories were not looked at, such as " + w_),
                std::string::npos)
          << said;
    }
  }
  EXPECT_EQ(Planted(), "");
}

class TreeIndexTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(top_, "");
    std::filesystem::create_directories(top_ + "/a/b");
    AwaitTick();
    AwaitTick();
    for (int ticks = 0; ticks < 10; ++ticks) AwaitTick();
    index_.Begin();
    struct stat info = {};
    ASSERT_EQ(lstat(top_.c_str(), &info), 0);
    index_.Fill(TreeIndex::kTop, info, false);
    index_.SetChildren(TreeIndex::kTop, {"a", "c"});
    ASSERT_TRUE(index_.Save(top_ + "/trees/x", "key"));
  }

  const TemporaryDirectory made_{"/var/tmp"};
  const std::string top_ = made_.path();
  TreeIndex index_;
};

TEST_F(TreeIndexTest, AnswersUntilTheDirectoryChanges) {
  struct stat info = {};
  ASSERT_EQ(lstat((top_ + "/a").c_str(), &info), 0);
  EXPECT_FALSE(index_.Answers(TreeIndex::kTop, info)) << "another directory";
  const TreeIndex loaded = TreeIndex::Load(top_ + "/trees/x", "key");
  ASSERT_EQ(loaded.size(), 3u);
  EXPECT_NE(loaded.Find(TreeIndex::kTop, "c"), TreeIndex::kNone);
  EXPECT_EQ(loaded.Find(TreeIndex::kTop, "b"), TreeIndex::kNone);
  // The directory of the index was made in it since.
  ASSERT_EQ(lstat(top_.c_str(), &info), 0);
  EXPECT_FALSE(loaded.Answers(TreeIndex::kTop, info));
  // Its time set back by hand is not its time of change.
  const timespec old[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, top_.c_str(), old, 0), 0);
  ASSERT_EQ(lstat(top_.c_str(), &info), 0);
  EXPECT_FALSE(loaded.Answers(TreeIndex::kTop, info));
}

TEST_F(TreeIndexTest, DoesNotKeepWhatChangedJustNow) {
  std::filesystem::create_directory(top_ + "/young");
  struct stat info = {};
  ASSERT_EQ(lstat((top_ + "/young").c_str(), &info), 0);
  TreeIndex index;
  index.Begin();
  index.Fill(TreeIndex::kTop, info, false);
  EXPECT_FALSE(index.Answers(TreeIndex::kTop, info));
}

TEST_F(TreeIndexTest, AnyDamageIsEmptiness) {
  const std::string path = top_ + "/trees/x";
  const Result<std::string> text = ReadFile(path, 1 << 20);
  ASSERT_TRUE(text);
  EXPECT_TRUE(TreeIndex::Load(path, "other").empty());
  EXPECT_TRUE(TreeIndex::Load(top_ + "/none", "key").empty());
  for (size_t at = 0; at < text->size(); ++at) {
    std::string changed = *text;
    changed[at] = static_cast<char>(changed[at] ^ 0x41);
    const Fd file(open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    ASSERT_TRUE(WriteAll(file.get(), changed));
    EXPECT_TRUE(TreeIndex::Load(path, "key").empty()) << at;
    ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(at)), 0);
    EXPECT_TRUE(TreeIndex::Load(path, "key").empty()) << at;
  }
}

}  // namespace
}  // namespace gate::backends
