// Against indexes that git itself writes.
#include "base/git_index.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "tests/base/temporary.h"

namespace gate {
namespace {

class GitIndex : public testing::Test {
 protected:
  // Runs `line` in the repository; true when it succeeds.
  bool Sh(const std::string& line) {
    const std::string all =
        "cd '" + repository_ +
        "' && export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null "
        "GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a "
        "GIT_COMMITTER_EMAIL=a && (" +
        line + ") >/dev/null 2>&1";
    return ::system(all.c_str()) == 0;
  }
  void SetUp() override {
    repository_ = temporary_.path() + "/r";
    std::filesystem::create_directory(repository_);
    ASSERT_TRUE(Sh("git init -q ."));
  }
  std::string Index() const { return repository_ + "/.git/index"; }
  static constexpr const char* kFiles =
      "mkdir -p d/e; for i in $(seq 40); do echo $i > d/e/$i$i$i; done; "
      "git add .";
  static constexpr const char* kLink =
      "git init -q d/sub && git -C d/sub commit -q --allow-empty -m x && "
      "git add d/sub";

  TemporaryDirectory temporary_;
  std::string repository_;
};

TEST_F(GitIndex, ARepositoryInsideIsSeenInEveryVersion) {
  EXPECT_EQ(FindGitlinks(Index()), Gitlinks::kNone);
  ASSERT_TRUE(Sh(kFiles));
  for (const char* version : {"2", "3", "4"}) {
    ASSERT_TRUE(
        Sh("rm -rf d/sub; git rm -q --cached d/sub; git update-index "
           "--index-version " +
           std::string(version)));
    // An entry that is to be added has more flags, which is version 3.
    ASSERT_TRUE(Sh("echo > later; git add -N later"));
    EXPECT_EQ(FindGitlinks(Index()), Gitlinks::kNone) << version;
    ASSERT_TRUE(Sh(kLink));
    EXPECT_EQ(FindGitlinks(Index()), Gitlinks::kSome) << version;
  }
}

TEST_F(GitIndex, WhatCannotBeReadIsNotTakenForNone) {
  ASSERT_TRUE(Sh(kFiles));
  const auto whole = ReadFile(Index(), 1 << 20);
  ASSERT_TRUE(whole);
  for (size_t size = 0; size < whole->size(); size += 13) {
    ASSERT_TRUE(WriteFileAtomically(Index(), whole->substr(0, size), 0600));
    EXPECT_EQ(FindGitlinks(Index()), Gitlinks::kUnknown) << size;
  }
  ASSERT_TRUE(WriteFileAtomically(Index(), *whole, 0600));
  EXPECT_EQ(FindGitlinks(Index()), Gitlinks::kNone);
  ASSERT_TRUE(Sh("git update-index --split-index"));
  EXPECT_EQ(FindGitlinks(Index()), Gitlinks::kUnknown);
}

TEST_F(GitIndex, OtherHashesAreNotTakenForNone) {
  ASSERT_TRUE(Sh("rm -rf .git; git init -q --object-format=sha256 ."));
  ASSERT_TRUE(Sh(kFiles));
  ASSERT_TRUE(Sh("export GIT_DEFAULT_HASH=sha256; " + std::string(kLink)));
  EXPECT_NE(FindGitlinks(Index()), Gitlinks::kNone);
}

}  // namespace
}  // namespace gate
