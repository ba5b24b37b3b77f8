// How many files a run may make.
#include "backends/file_count.h"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <string>

#include "tests/support/sandbox_fixture.h"

namespace gate::backends {
namespace {

// The workspace is a file system of its own, where nobody else makes files.
class FileCountTest : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (geteuid() != 0) GTEST_SKIP() << "only root mounts here";
    MountWorkspace("nr_inodes=100000");
    profile_.limits.wall_ms = 60000;
    profile_.limits.files = 200;
  }
  void TearDown() override {
    if (mounted_) umount2(w_.c_str(), MNT_DETACH);
    Sandbox::TearDown();
  }
  void MountWorkspace(const std::string& option) {
    if (mounted_) umount2(w_.c_str(), MNT_DETACH);
    ASSERT_EQ(unshare(CLONE_NEWNS), 0);
    ASSERT_EQ(mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
    const std::string options = "mode=0700,uid=" + std::to_string(uid_) +
                                ",gid=" + std::to_string(gid_) + "," + option;
    ASSERT_EQ(mount("files", w_.c_str(), "tmpfs", 0, options.c_str()), 0);
    mounted_ = true;
  }

 private:
  bool mounted_ = false;
};

std::vector<Who> WithLandlock() {
  std::vector<Who> all = Everyone();
  all.push_back({"landlock", false});
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, FileCountTest, testing::ValuesIn(WithLandlock()),
                         WhoName);

TEST_P(FileCountTest, ARunThatLeavesMoreThanItMayIsEnded) {
  for (const char* line :
       {"for i in $(seq 400); do : > f$i; done; sleep 50",
        "mkdir many && cd many && mkdir $(seq 400); sleep 50",
        "for d in a b c d; do mkdir $d; (cd $d; touch $(seq 90)); done; "
        "sleep 50",
        "for i in $(seq 400); do ln -s x l$i; done; sleep 50",
        "mkfifo $(seq 1000 1400); sleep 50",
        "(touch $(seq 2000 2400) & disown); sleep 50",
        "perl -e 'for (1 .. 400) { open my $f, \">\", \"u$_\"; push @a, $f; "
        "unlink \"u$_\" } sleep 50'",
        // Faster than it is looked at.
        "touch $(seq 3000 3400)", "touch $(seq 4000 4400); exit 3",
        "touch $(seq 5000 5400); kill -KILL $$"}) {
    const Ran ran = Bash(line);
    EXPECT_EQ(ran.outcome.status, OutcomeStatus::kLimit)
        << line << ran.outcome.reason << ran.output;
    EXPECT_EQ(ran.outcome.reason, "the limit of 200 files") << line;
  }
}

TEST_P(FileCountTest, WhatIsBelowOrRemovedIsNotNoticed) {
  for (const char* line :
       {"true", "touch $(seq 100)", "touch $(seq 100)", "rm -f -- *",
        "mkdir -p a/b/c/d/e/f", "for i in $(seq 400); do : > x; rm x; done",
        "touch $(seq 150); rm -- $(seq 150); touch $(seq 150)",
        "head -c 4M /dev/zero > big", "cp -r a a2; mv a2 a3", "exit 0"}) {
    const Ran ran = Bash(line);
    EXPECT_EQ(ran.outcome.status, OutcomeStatus::kExited)
        << line << ran.outcome.reason << ran.output;
  }
  profile_.limits.files = 0;
  EXPECT_EQ(Bash("touch $(seq 9000 9400)").outcome.status,
            OutcomeStatus::kExited);
}

TEST_P(FileCountTest, APrivateTmpHoldsNoMoreThanTheLimit) {
  const Ran ran =
      Bash("mkdir -p /tmp/d && cd /tmp/d && touch $(seq 9000) 2>&1 | tail -1");
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kExited) << ran.outcome.reason;
  if (Is("native")) {
    EXPECT_NE(ran.output.find("No space left"), std::string::npos)
        << ran.output;
  }
}

TEST_P(FileCountTest, AFileSystemWithoutANumberIsNamed) {
  std::vector<std::string> lost;
  NameUncounted(profile_, &lost);
  EXPECT_TRUE(lost.empty());
  MountWorkspace("nr_inodes=0");
  NameUncounted(profile_, &lost);
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_NE(lost[0].find(w_), std::string::npos) << lost[0];
  EXPECT_EQ(Bash("touch $(seq 400)").outcome.status, OutcomeStatus::kExited);
  lost.clear();
  profile_.limits.files = 0;
  NameUncounted(profile_, &lost);
  EXPECT_TRUE(lost.empty());
}

}  // namespace
}  // namespace gate::backends
