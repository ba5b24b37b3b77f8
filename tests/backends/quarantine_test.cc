// What is taken from a workspace does not stay in it.
#include "backends/quarantine.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/file.h"

namespace gate::backends {
namespace {

namespace fs = std::filesystem;

// A workspace and, on another file system, gate's state.
class QuarantineTest : public testing::Test {
 protected:
  void SetUp() override {
    char here[4096];
    ASSERT_NE(getcwd(here, sizeof(here)), nullptr);
    for (std::string* place : {&workspace_, &state_}) {
      *place = (place == &state_ ? std::string("/dev/shm") : here) +
               "/gate-quarantine-XXXXXX";
      if (mkdtemp(place->data()) == nullptr) GTEST_SKIP() << *place;
    }
    struct stat one = {}, other = {};
    ASSERT_EQ(stat(workspace_.c_str(), &one), 0);
    ASSERT_EQ(stat(state_.c_str(), &other), 0);
    if (one.st_dev == other.st_dev)
      GTEST_SKIP() << "there is one file system here";
    quarantine_ = state_ + "/quarantine";
  }
  void TearDown() override {
    for (const std::string& place : {workspace_, state_})
      (void)!system(
          ("chmod -R u+rwx '" + place + "'; rm -rf '" + place + "'").c_str());
  }
  void Make(const std::string& line) {
    ASSERT_EQ(system(("cd '" + workspace_ + "' && " + line).c_str()), 0)
        << line;
  }
  // By a shell, in the directory.
  static std::string Tell(const std::string& directory,
                          const std::string& line) {
    FILE* pipe = popen(
        ("cd '" + directory + "' && { " + line + "; } 2>&1").c_str(), "r");
    std::string text;
    char buffer[4096];
    for (size_t got; (got = fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
      text.append(buffer, got);
    pclose(pipe);
    return text;
  }

  std::string workspace_, state_, quarantine_;
};

TEST_F(QuarantineTest, NothingStaysInTheWorkspaceOnAnotherFileSystem) {
  struct Case {
    const char* make;  // a thing called x
    const char* tell;  // of it, in the quarantine
    const char* told;
  };
  constexpr Case kCases[] = {
      {"echo text > x", "cat q", "text\n"},
      {": > x", "wc -c < q", "0\n"},
      {"mkdir x; echo text > x/f", "cat q/f", "text\n"},
      {"mkdir x; echo text > x/.f; mkdir x/.d", "ls -A q", ".d\n.f\n"},
      {"mkdir -p x/a/b/c; echo deep > x/a/b/c/f", "cat q/a/b/c/f", "deep\n"},
      {"ln -s /etc/hostname x", "readlink q", ""},  // removed
      {"mkdir x; ln -s /etc/hostname x/l", "readlink q/l", "/etc/hostname\n"},
      {"mkdir x; ln -s / x/root", "readlink q/root", "/\n"},
      {"mkdir x; ln -s .. x/up; echo a > x/a", "ls -A q", "a\nup\n"},
      {"mkdir x; mkfifo x/p; echo a > x/a", "ls -A q", "a\n"},
      {"mkdir x; truncate -s 8G x/holes", "stat -c %s q/holes", "8589934592\n"},
      {"truncate -s 3G x; echo end >> x", "stat -c %s q; tail -c 4 q",
       "3221225476\nend\n"},
      {"mkdir x; echo a > x/a; chmod 0 x/a; chmod 500 x", "ls -A q", "a\n"},
      {"mkdir -p x/d; echo a > x/d/a; chmod 0 x/d", "cat q/d/a", "a\n"},
      {"mkdir x; echo a > x/a; chmod 0 x", "cat q/a", "a\n"},
      {"mkdir x; echo s > x/s; chmod 6755 x/s", "stat -c %a q/s", "600\n"},
      {"mkdir x; echo a > x/a; ln x/a x/b", "cat q/a q/b", "a\na\n"},
      {"echo a > y; ln y x", "cat q", "a\n"},
      {"mkdir x; touch \"x/$(printf 'a\\nb')\"", "ls -A q | wc -l", "2\n"},
      {"mkdir x; for i in $(seq 3000); do : > x/$i; done", "ls q | wc -l",
       "3000\n"},
      {"mkdir -p x/$(printf 'd/%.0s' $(seq 200)); echo a > x/d/a",
       "cat q/d/a; find q -type d | wc -l", "a\n201\n"},
      {"mkdir x", "ls", "q\n"},
      {"mkfifo x", "ls", ""},
  };
  for (const Case& each : kCases) {
    Make(each.make);
    const OwnersWay way({workspace_});
    const Result<std::string> moved =
        MoveAside(workspace_ + "/x", quarantine_, "q");
    ASSERT_TRUE(moved) << each.make << moved.error().message;
    EXPECT_EQ(Tell(workspace_, "ls -A | grep -v ^y"), "") << each.make;
    const std::string told = Tell(quarantine_, each.tell);
    if (!moved->empty()) {
      EXPECT_EQ(told, each.told) << each.make << *moved;
    }
    (void)Tell(state_, "rm -rf quarantine");
    Make("rm -rf y");
  }
}

// What does not fit is whole where it is; nothing of it is in two places.
TEST_F(QuarantineTest, WhatIsTooDeepIsWholeUnderANameThatNothingReads) {
  Make("mkdir -p x/$(printf 'd/%.0s' $(seq 400)); echo a > x/a");
  const Result<std::string> moved =
      MoveAside(workspace_ + "/x", quarantine_, "q");
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(*moved, workspace_ + "/.gate-quarantine-q");
  EXPECT_EQ(Tell(*moved, "cat a; find . -type d | wc -l"), "a\n401\n");
  EXPECT_EQ(Tell(quarantine_, "ls -A"), "");
}

}  // namespace
}  // namespace gate::backends
