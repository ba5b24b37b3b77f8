// What is taken from a workspace does not stay in it.
#include "backends/protect/quarantine.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

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
    outside_ = workspace_;
    workspace_ += "/w";
    ASSERT_EQ(mkdir(workspace_.c_str(), 0700), 0);
    struct stat one = {}, other = {};
    ASSERT_EQ(stat(workspace_.c_str(), &one), 0);
    ASSERT_EQ(stat(state_.c_str(), &other), 0);
    if (one.st_dev == other.st_dev)
      GTEST_SKIP() << "there is one file system here";
    quarantine_ = state_ + "/quarantine";
  }
  void TearDown() override {
    for (const std::string& place : {outside_, state_})
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

  Result<Aside> Take(const CopyLimits& limits = {}) {
    return MoveAside(workspace_ + "/x", quarantine_, "q", {workspace_}, limits);
  }

  std::string outside_;  // the directory of the workspace
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
    const ScopedOwnerAccess way({workspace_});
    const Result<Aside> moved = Take();
    ASSERT_TRUE(moved) << each.make << moved.error().message;
    EXPECT_EQ(Tell(workspace_, "ls -A | grep -v ^y"), "") << each.make;
    const std::string told = Tell(quarantine_, each.tell);
    if (!moved->place.empty()) {
      EXPECT_EQ(told, each.told) << each.make << moved->place;
    }
    (void)Tell(state_, "rm -rf quarantine");
    Make("rm -rf y");
  }
}

// What no copy takes, with what it is told to have held when it is removed.
struct Large {
  const char* make;  // a directory called x
  CopyLimits limits;
  const char* tell;  // of it, where it went
  const char* told;
  const char* removed;
};
constexpr Large kLarge[] = {
    {"mkdir x; head -c 5000 /dev/zero > x/a",
     {.bytes = 4096},
     "wc -c < a",
     "5000\n",
     "1 directory, 1 file of 5000 bytes: a (5000)"},
    {"mkdir -p x/.git/hooks; head -c 5000 /dev/zero > x/.git/hooks/h",
     {.bytes = 4096},
     "wc -c < .git/hooks/h",
     "5000\n",
     "3 directories, 1 file of 5000 bytes: .git/, .git/hooks/, "
     ".git/hooks/h (5000)"},
    {"mkdir x; head -c 3000 /dev/zero | tee x/a > x/b",
     {.bytes = 4096},
     "ls",
     "a\nb\n",
     "1 directory, 2 files of 6000 bytes: a (3000), b (3000)"},
    {"mkdir x; touch x/1 x/2 x/3; ln -s / x/l",
     {.entries = 4},
     "ls",
     "1\n2\n3\nl\n",
     "1 directory, 3 files of 0 bytes, 1 other: 1 (0), 2 (0), 3 (0), l"},
    {"mkdir x; mkfifo x/p; touch x/1",
     {.entries = 2},
     "ls",
     "1\np\n",
     "1 directory, 1 file of 0 bytes, 1 other: 1 (0), p"},
    {"mkdir x; echo a > x/a; chmod 500 x",
     {.bytes = 1},
     "cat a",
     "a\n",
     "1 directory, 1 file of 2 bytes: a (2)"},
    {"mkdir -p x/d; echo a > x/d/a; chmod 100 x/d",
     {.bytes = 1},
     "chmod 700 d; cat d/a",
     "a\n",
     "2 directories, 1 file of 2 bytes: d/, d/a (2)"},
    {"mkdir -p x/$(printf 'd/%.0s' $(seq 400)); echo a > x/a",
     {},
     "cat a; find . -type d | wc -l",
     "a\n401\n",
     "at least 257 directories"},
    {"mkdir x; for i in $(seq 100); do echo > x/$i; done",
     {.entries = 9},
     "ls | wc -l",
     "100\n",
     "1 directory, 100 files of 100 bytes: 1 (1)"},
};

TEST_F(QuarantineTest, WhatIsTooLargeToCopyGoesBesideTheOutermostRoot) {
  for (const Large& each : kLarge) {
    Make(each.make);
    // The working directory is a root of its own.
    const ScopedOwnerAccess way({workspace_});
    const Result<Aside> moved = MoveAside(
        workspace_ + "/x", quarantine_, "q",
        {workspace_ + "/x", workspace_, workspace_ + "/y"}, each.limits);
    ASSERT_TRUE(moved) << each.make << moved.error().message;
    EXPECT_EQ(moved->place, outside_ + "/.gate-quarantine-q") << each.make;
    EXPECT_EQ(Tell(moved->place, each.tell), each.told) << each.make;
    EXPECT_EQ(Tell(workspace_, "ls -A"), "") << each.make;
    EXPECT_EQ(Tell(quarantine_, "ls -A"), "") << each.make;
    (void)Tell(outside_, "chmod -R u+rwx .gate*; rm -rf .gate*");
  }
}

TEST_F(QuarantineTest, WhatCanGoNowhereIsRemovedAndToldOf) {
  for (const Large& each : kLarge) {
    Make(each.make);
    // As where the directory above is another file system, or somebody else's.
    (void)Tell(outside_, "mkdir .gate-quarantine-q");
    const ScopedOwnerAccess way({workspace_});
    const Result<Aside> moved = Take(each.limits);
    ASSERT_TRUE(moved) << each.make << moved.error().message;
    EXPECT_EQ(moved->place, "") << each.make;
    EXPECT_TRUE(moved->removed.starts_with(each.removed))
        << each.make << moved->removed;
    EXPECT_EQ(Tell(workspace_, "ls -A"), "") << each.make;
    EXPECT_EQ(Tell(quarantine_, "ls -A"), "") << each.make;
  }
}

// The directories of a tree of 3,000 levels are more than a process may open.
TEST_F(QuarantineTest, ATreeOfAnyDepthIsRemoved) {
  (void)Tell(outside_, "mkdir .gate-quarantine-q");
  Make(
      "mkdir x; cd x; for i in $(seq 3); do mkdir -p y/$(printf 'd/%.0s' "
      "$(seq 1000)); mv ../x/z y/$(printf 'd/%.0s' $(seq 1000)) 2>/dev/null; "
      "mv y z; done; touch z/f");
  const Result<Aside> moved = Take();
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->place, "");
  EXPECT_EQ(Tell(workspace_, "ls -A"), "");
}

TEST_F(QuarantineTest, WithoutRootsOrAWritableDirectoryAboveItIsRemoved) {
  for (const std::vector<std::string>& roots :
       {std::vector<std::string>{}, {"/"}, {workspace_ + "/other"}}) {
    Make("mkdir x; echo a > x/a");
    const Result<Aside> moved = MoveAside(workspace_ + "/x", "", "q", roots);
    ASSERT_TRUE(moved) << moved.error().message;
    EXPECT_EQ(moved->place, "");
    EXPECT_EQ(moved->removed, "1 directory, 1 file of 2 bytes: a (2)");
    EXPECT_EQ(Tell(workspace_, "ls -A"), "");
  }
}

}  // namespace
}  // namespace gate::backends
