// Several runs at the same time, whose places meet: what one of them made is
// found wherever another one moved it.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "tests/support/sandbox_fixture.h"

namespace gate::backends {
namespace {

// A file that programs take orders from, and a repository that runs them.
constexpr char kPlant[] =
    "mkdir -p d/e/.vscode && echo x > d/e/.vscode/tasks.json && git init -q "
    "d/r && git -C d/r config core.fsmonitor ./e && echo x > "
    "d/r/.git/hooks/pre-commit";

class ProtectedPathsRuns : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    profile_.runs_dir = base_ + "/runs";
    profile_.protect_names = {".envrc", ".vscode"};
    in_here_ = w_ + "/.worktrees/x";
    elsewhere_ = base_ + "/elsewhere";
    MakeDirectory(in_here_);
    MakeDirectory(elsewhere_);
  }

  void ExpectHarmless(const std::string& place, const std::string& when) {
    EXPECT_FALSE(Exists(place + "/e/.vscode/tasks.json")) << when;
    EXPECT_FALSE(Exists(place + "/r/.git/hooks/pre-commit")) << when;
    EXPECT_EQ(Read(place + "/r/.git/config").find("fsmonitor"),
              std::string::npos)
        << when;
  }

  std::string in_here_, elsewhere_;
};
INSTANTIATE_TEST_SUITE_P(All, ProtectedPathsRuns, testing::ValuesIn(Everyone()),
                         WhoName);

TEST_P(ProtectedPathsRuns, WhatOneMovesOutOfAnothersPlacesIsTaken) {
  for (const bool inner : {true, false}) {
    PausedRun first(this, inner ? in_here_ : w_, kPlant);
    AwaitTick();
    const Ran second = Bash(inner ? "mv .worktrees/x/d d" : "mkdir q; mv d q");
    EXPECT_EQ(second.outcome.exit_code, 0) << second.output;
    EXPECT_TRUE(HasViolation(second.outcome, ViolationKind::kProtectedPath));
    EXPECT_TRUE(HasViolation(second.outcome, ViolationKind::kGitHook));
    ExpectHarmless(w_ + (inner ? "/d" : "/q/d"), "before the first has ended");
    first.End();
    ExpectHarmless(w_ + (inner ? "/d" : "/q/d"), "after both");
    ASSERT_EQ(Outside("rm -rf d q"), "");
  }
}

TEST_P(ProtectedPathsRuns, WhoeverEndsLastAnswersForThoseThatItNeverMet) {
  PausedRun first(this, in_here_, kPlant);
  PausedRun second(this, w_, "mv .worktrees/x/d d");
  first.End();
  ASSERT_TRUE(Exists(w_ + "/d/e/.vscode/tasks.json"));
  AwaitTick();
  EXPECT_EQ(Bash("mv d q").outcome.exit_code, 0);
  ExpectHarmless(w_ + "/q", "after the third");
}

TEST_P(ProtectedPathsRuns, AKilledOneCountsUntilItIsFinished) {
  PausedRun first(this, in_here_, kPlant);
  first.Kill();
  AwaitTick();
  EXPECT_EQ(Bash("mv .worktrees/x/d d").outcome.exit_code, 0);
  ExpectHarmless(w_ + "/d", "of a killed one");
}

TEST_P(ProtectedPathsRuns, OneOfAnotherVersionCountsWhileItGoesOn) {
  const std::string head("gate.run-note/9\nstrange\nend");
  MakeDirectory(profile_.runs_dir);
  const std::string note = profile_.runs_dir + "/1-1-0";
  for (const bool live : {true, false}) {
    Write(note, head);
    ASSERT_EQ(chmod(note.c_str(), 0600), 0);
    const Fd lock(open(note.c_str(), O_RDONLY | O_CLOEXEC));
    if (live) {
      ASSERT_EQ(flock(lock.get(), LOCK_EX), 0);
    }
    AwaitTick();
    ASSERT_EQ(Outside("mkdir -p pkg/.vscode; echo x > pkg/.vscode/tasks.json"),
              "");
    AwaitTick();
    EXPECT_EQ(Bash("true").outcome.exit_code, 0);
    EXPECT_EQ(Exists(w_ + "/pkg/.vscode/tasks.json"), !live);
    ASSERT_EQ(Outside("rm -rf pkg"), "");
  }
}

TEST_P(ProtectedPathsRuns, WhatCannotBeReadOfOthersStartsNothing) {
  Write(base_ + "/file", "");
  profile_.runs_dir = base_ + "/file";
  EXPECT_EQ(Bash("true").outcome.status, OutcomeStatus::kSetupFailed);
}

TEST_P(ProtectedPathsRuns, WhatAPersonMakesMeanwhileStaysWhereNoRunReaches) {
  PausedRun first(this, elsewhere_, "true");
  AwaitTick();
  ASSERT_EQ(Outside("mkdir -p pkg/.vscode; echo x > pkg/.vscode/tasks.json"),
            "");
  AwaitTick();
  const Ran ran = Bash("echo x > made; touch pkg/made");
  for (const Violation& violation : ran.outcome.violations)
    ADD_FAILURE() << std::string(Name(violation.kind)) << ": "
                  << violation.detail;
  EXPECT_TRUE(Exists(w_ + "/pkg/.vscode/tasks.json"));
}

TEST_P(ProtectedPathsRuns, ACloneKeepsWhatItBringsWhileOthersGoOn) {
  ASSERT_EQ(Outside("mkdir ../o && cd ../o && git init -q . && mkdir .vscode "
                    "&& echo '{}' > .vscode/tasks.json && git add -A && git "
                    "commit -qm 1"),
            "");
  PausedRun first(this, w_, "git clone -q \"$W/../o\" c");
  AwaitTick();
  const Ran ran = Bash("echo x > c/made; git -C c add made");
  for (const Violation& violation : ran.outcome.violations)
    ADD_FAILURE() << std::string(Name(violation.kind)) << ": "
                  << violation.detail;
  EXPECT_TRUE(Exists(w_ + "/c/.vscode/tasks.json"));
  // But only as it came.
  EXPECT_FALSE(Bash("echo y > c/.vscode/tasks.json; git -C c add -A")
                   .outcome.violations.empty());
  EXPECT_FALSE(Exists(w_ + "/c/.vscode/tasks.json"));
}

}  // namespace
}  // namespace gate::backends
