// Against indexes that git itself writes, and those that it does not.
#include "git/index.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "tests/git/hostile_index.h"
#include "tests/support/must_work.h"
#include "tests/support/temporary_directory.h"

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
    if (!Sh("git init -q .")) GATE_SKIP_WITHOUT("git") << "no git";
  }
  std::string Index() const { return repository_ + "/.git/index"; }
  Gitlinks Find(GitHash hash = GitHash::kSha1) const {
    return FindGitlinks(Index(), hash, repository_);
  }
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomically(repository_ + "/.git/" + name, text, 0600));
  }
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
  EXPECT_EQ(Find(), Gitlinks::kNone);
  ASSERT_TRUE(Sh(kFiles));
  for (const char* version : {"2", "3", "4"}) {
    ASSERT_TRUE(
        Sh("rm -rf d/sub; git rm -q --cached d/sub; git update-index "
           "--index-version " +
           std::string(version)));
    // An entry that is to be added has more flags, which is version 3.
    ASSERT_TRUE(Sh("echo > later; git add -N later"));
    EXPECT_EQ(Find(), Gitlinks::kNone) << version;
    ASSERT_TRUE(Sh(kLink));
    EXPECT_EQ(Find(), Gitlinks::kSome) << version;
  }
}

TEST_F(GitIndex, WhatCannotBeReadIsNotTakenForNone) {
  ASSERT_TRUE(Sh(kFiles));
  const auto whole = ReadFile(Index(), 1 << 20);
  ASSERT_TRUE(whole);
  for (size_t size = 0; size < whole->size(); size += 13) {
    Write("index", whole->substr(0, size));
    EXPECT_EQ(Find(), Gitlinks::kUnknown) << size;
  }
  Write("index", *whole);
  EXPECT_EQ(Find(), Gitlinks::kNone);
  EXPECT_EQ(Find(GitHash::kSha256), Gitlinks::kUnknown);
}

TEST_F(GitIndex, WhatGitWritesIsRead) {
  ASSERT_TRUE(Sh("git config index.threads 2"));
  ASSERT_TRUE(Sh(kFiles));
  for (const char* line :
       {"git update-index --refresh", "git commit -qm 1",
        "git update-index --untracked-cache", "git update-index --split-index",
        "echo x >> d/e/111; git add .; git rm -q --cached d/e/222",
        "git update-index --no-split-index --index-version 4",
        "git update-index --split-index; echo y >> d/e/111; git add .",
        "git update-index --no-split-index",
        "git checkout -qb o; echo o > d/e/111; git commit -qam o; git checkout "
        "-q -; echo p > d/e/111; git commit -qam p; git merge o; echo q > "
        "d/e/111; git add .",
        "git config index.sparse true; git update-index --force-write-index"}) {
    (void)Sh(line);
    EXPECT_EQ(Find(), Gitlinks::kNone) << line;
  }
  ASSERT_TRUE(Sh(kLink));
  EXPECT_EQ(Find(), Gitlinks::kSome);
  ASSERT_TRUE(Sh("git update-index --split-index"));
  EXPECT_EQ(Find(), Gitlinks::kSome);
  ASSERT_TRUE(Sh("rm .git/sharedindex.*"));
  EXPECT_NE(Find(), Gitlinks::kNone);
}

TEST_F(GitIndex, ADirectoryInPlaceOfItsEntriesHidesNoneWhereItIsNot) {
  ASSERT_TRUE(Sh(kFiles));
  ASSERT_TRUE(Sh("echo > top; git add .; git commit -qm 1"));
  if (!Sh("git sparse-checkout set --cone --sparse-index && git ls-files "
          "--sparse | grep -qx d/"))
    GTEST_SKIP() << "this git writes no sparse index";
  EXPECT_EQ(FindGitlinks(Index(), GitHash::kSha1), Gitlinks::kUnknown)
      << "of no work tree";
  EXPECT_EQ(Find(), Gitlinks::kNone);
  // Whatever stands there: git looks below it again.
  for (const char* line : {"mkdir d", "mkdir -p d/e/sub", "touch d",
                           "ln -s nowhere d", "ln -s .git d", "mkfifo d"}) {
    ASSERT_TRUE(Sh(line));
    EXPECT_EQ(Find(), Gitlinks::kUnknown) << line;
    ASSERT_TRUE(Sh("rm -r d"));
    EXPECT_EQ(Find(), Gitlinks::kNone) << line;
  }
  ASSERT_TRUE(Sh("git update-index --index-version 4"));
  EXPECT_EQ(Find(), Gitlinks::kNone) << "version 4";
  ASSERT_TRUE(
      Sh(std::string("o=$(git rev-parse HEAD); git update-index --add "
                     "--cacheinfo 160000,$o,z")));
  EXPECT_NE(Find(), Gitlinks::kNone) << "beside a gitlink";
}

TEST_F(GitIndex, IsReadByTheHashOfTheRepository) {
  ASSERT_TRUE(Sh("rm -rf .git; git init -q --object-format=sha256 ."));
  ASSERT_TRUE(Sh(kFiles));
  EXPECT_EQ(Find(GitHash::kSha256), Gitlinks::kNone);
  EXPECT_EQ(Find(GitHash::kSha1), Gitlinks::kUnknown);
  ASSERT_TRUE(Sh("export GIT_DEFAULT_HASH=sha256; " + std::string(kLink)));
  EXPECT_EQ(Find(GitHash::kSha256), Gitlinks::kSome);
  EXPECT_NE(Find(GitHash::kSha1), Gitlinks::kNone);
}

TEST_F(GitIndex, HidesNoRepositoryThatGitFinds) {
  for (const test::HostileIndex& each : test::HostileIndexes()) {
    if (each.hash == 0) continue;  // it is the configuration that is odd
    Write("index", each.bytes);
    Write("config", "[core]\nrepositoryformatversion = 1\n" + each.config);
    if (!each.shared.empty())
      Write("sharedindex." + std::string(40, '1'), each.shared);
    EXPECT_NE(Find(static_cast<GitHash>(each.hash)), Gitlinks::kNone)
        << each.name;
    // Only the type counts, whatever bits stand before it.
    EXPECT_EQ(Sh("git ls-files --stage | (while read -r mode rest; do "
                 "test $((0$mode & 0170000)) = $((0160000)) && exit; done; "
                 "exit 1)"),
              !each.refused)
        << each.name;
  }
}

TEST_F(GitIndex, AFileIsFoundOnlyWhereGitComparesIt) {
  ASSERT_TRUE(Sh(kFiles));
  const auto found = [&](const std::string& name) {
    const auto bytes = ReadFile(Index(), 1 << 20);
    return bytes && FindIndexed(*bytes, GitHash::kSha1, name).has_value();
  };
  for (const char* version : {"2", "4"}) {
    ASSERT_TRUE(Sh("git update-index --index-version " + std::string(version)));
    EXPECT_TRUE(found("d/e/111"));
    EXPECT_TRUE(found("d/e/999"));
    EXPECT_FALSE(found("d/e/11"));
    EXPECT_FALSE(found("d/e"));
  }
  for (const char* line :
       {"git update-index --assume-unchanged d/e/111",
        "git update-index --no-assume-unchanged d/e/111; "
        "git update-index --skip-worktree d/e/111",
        "git update-index --no-skip-worktree d/e/111; git rm -q --cached "
        "d/e/111; git add -N d/e/111",
        "git add d/e/111; git update-index --split-index",
        "git update-index --no-split-index; H=$(git hash-object -w d/e/222); "
        "git update-index --force-remove d/e/111; printf '100644 %s "
        "1\\td/e/111\\n' $H | git update-index --index-info"}) {
    ASSERT_TRUE(Sh(line)) << line;
    EXPECT_FALSE(found("d/e/111")) << line;
  }
  using test::Bytes;
  for (const auto& [bytes, expected] :
       {std::pair(Bytes({.name = "a"}, 2, 20) + Bytes({.name = "b"}, 2, 20),
                  true),
        std::pair(Bytes({.name = "b"}, 2, 20) + Bytes({.name = "a"}, 2, 20),
                  false),
        std::pair(Bytes({.name = "a"}, 2, 20) + Bytes({.name = "a"}, 2, 20),
                  false),
        std::pair(Bytes({.name = std::string("a\0b", 3)}, 2, 20) +
                      Bytes({.name = "c"}, 2, 20),
                  false)})
    EXPECT_EQ(FindIndexed(test::IndexOf(2, 2, bytes), GitHash::kSha1, "a")
                  .has_value(),
              expected);
}

}  // namespace
}  // namespace gate
