#include "lasting/lasting_runs.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace gate::lasting {
namespace {

class LastingRunsTest : public testing::Test {
 protected:
  static Entry Make(const std::string& id) {
    Entry entry;
    entry.id = id;
    entry.session = "s";
    entry.command = "serve \"x\"\n&";
    entry.workspace = "/w";
    entry.roots = {"/w"};
    entry.status = "exited";
    entry.exit_code = 3;
    entry.violations = {{"git-config", "a\tb"}};
    return entry;
  }
  // A supervisor that has the lock and waits; ended with the test.
  pid_t Keep(const Entry& made) {
    Result<Holder> holder = Holder::Begin(state_);
    EXPECT_TRUE(holder);
    const pid_t supervisor = fork();
    if (supervisor == 0)
      while (true) pause();
    Entry entry = made;
    entry.supervisor = supervisor;
    EXPECT_TRUE(holder->Publish(entry));
    holder->Leave();
    return supervisor;
  }
  static int EndOf(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }
  const TemporaryDirectory made_;
  const std::string state_ = made_.path();
};

TEST_F(LastingRunsTest, AreListedWhileTheirKeepersLive) {
  EXPECT_TRUE(ListRunning(state_)->empty());
  const pid_t supervisor = Keep(Make("a-1"));
  const auto running = ListRunning(state_);
  ASSERT_TRUE(running);
  ASSERT_EQ(running->size(), 1u);
  const Entry& entry = running->front();
  EXPECT_EQ(entry.id, "a-1");
  EXPECT_EQ(entry.command, "serve \"x\"\n&");
  EXPECT_EQ(entry.exit_code, 3);
  EXPECT_EQ(entry.supervisor, supervisor);
  ASSERT_EQ(entry.violations.size(), 1u);
  EXPECT_EQ(entry.violations[0].second, "a\tb");
  EXPECT_TRUE(TakeDead(state_).empty());
  kill(supervisor, SIGKILL);
  EndOf(supervisor);
  EXPECT_TRUE(ListRunning(state_)->empty());
  const auto dead = TakeDead(state_);
  ASSERT_EQ(dead.size(), 1u);
  EXPECT_EQ(dead[0].entry.id, "a-1");
  // Nobody else finishes it meanwhile.
  EXPECT_TRUE(TakeDead(state_).empty());
  Remove(dead[0]);
  EXPECT_TRUE(std::filesystem::is_empty(state_ + "/lasting"));
}

TEST_F(LastingRunsTest, EndReachesTheKeeperAndNobodyElse) {
  const pid_t one = Keep(Make("one")), two = Keep(Make("two"));
  EXPECT_EQ(End(state_, "three").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(End(state_, "../one").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(End(state_, "").error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(End(state_, "one"));
  EXPECT_EQ(WTERMSIG(EndOf(one)), SIGTERM);
  EXPECT_EQ(End(state_, "one").error().code, ErrorCode::kNotFound);
  ASSERT_EQ(ListRunning(state_)->size(), 1u);
  EXPECT_EQ(ListRunning(state_)->front().id, "two");
  kill(two, SIGKILL);
  EndOf(two);
}

TEST_F(LastingRunsTest, ReachWhatTheyMayWrite) {
  EXPECT_FALSE(IsReached(state_, "/w"));
  const pid_t supervisor = Keep(Make("a"));
  for (const char* path : {"/w", "/w/sub/.git", "/", "/w/.git"})
    EXPECT_TRUE(IsReached(state_, path)) << path;
  EXPECT_FALSE(IsReached(state_, "/usr"));
  // Where it cannot be told, it is.
  std::ofstream(state_ + "/lasting/odd") << "{";
  EXPECT_FALSE(IsReached(state_, "/usr"));  // nobody holds that
  kill(supervisor, SIGKILL);
  EndOf(supervisor);
  EXPECT_FALSE(IsReached(state_, "/w"));
}

TEST_F(LastingRunsTest, WhatWasNeverPublishedLeavesNothing) {
  {
    const Result<Holder> holder = Holder::Begin(state_);
  }
  EXPECT_TRUE(std::filesystem::is_empty(state_ + "/lasting"));
  const pid_t killed = fork();
  if (killed == 0) {
    const Result<Holder> holder = Holder::Begin(state_);
    raise(SIGKILL);
  }
  EndOf(killed);
  EXPECT_FALSE(std::filesystem::is_empty(state_ + "/lasting"));
  EXPECT_TRUE(TakeDead(state_).empty());
  EXPECT_TRUE(std::filesystem::is_empty(state_ + "/lasting"));
}

}  // namespace
}  // namespace gate::lasting
