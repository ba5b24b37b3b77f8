// What of a repository a preview never commits, by its place.
#include <filesystem>

#include "tests/backends/preview_fixture.h"

namespace gate::backends {
namespace {

INSTANTIATE_TEST_SUITE_P(All, Preview, testing::ValuesIn(NativeOnly()),
                         WhoName);

TEST_P(Preview, WhatGitTakesOrdersFromIsNeverCommitted) {
  MakeDirectory(w_ + "/hooks.d");
  MakeDirectory(w_ + "/conf");
  MakeDirectory(w_ + "/.husky/_");
  ASSERT_EQ(
      Outside("git init -qb main . && git config advice.ignoredHook false && "
              "git config include.path ../conf/team && git config "
              "core.hooksPath hooks.d && echo 1 > f && echo '[user]' > "
              "conf/team && echo a > hooks.d/pre-commit && echo a > "
              "hooks.d/notes && git add -A && git commit -qm 1 && git worktree "
              "add -q wt"),
      "");
  for (const auto& [line, refused] :
       std::initializer_list<std::pair<const char*, const char*>>{
           {"git config -f conf/team core.pager x", "conf/team"},
           {"rm -r conf; mkdir c2; printf '[core]\\npager=x\\n' > c2/team; ln "
            "-s c2 conf",
            "conf"},
           {"rm conf/team; ln -s ../f conf/team", "conf/team"},
           {"echo x > hooks.d/pre-commit", "hooks.d/pre-commit"},
           {"echo x > hooks.d/post-merge", "hooks.d/post-merge"},
           {"mv hooks.d h; mkdir hooks.d; echo x > hooks.d/pre-push",
            "hooks.d/pre-push"},
           {"mv hooks.d h; ln -s h hooks.d", "hooks.d"},
           {"echo x > .git/worktrees/wt/config.worktree; echo /x > "
            ".git/worktrees/wt/commondir",
            ".git/worktrees/wt/commondir"},
           {"echo 'gitdir: ../evil' > wt/.git", "wt/.git"},
           {"printf '[core]\\nfsmonitor=x\\n' > .git/config.worktree",
            ".git/config.worktree"}}) {
    Line(line);
    const PreviewEntry* entry = nullptr;
    for (const PreviewEntry& one : manifest_.entries)
      if (one.path == refused && one.change != PreviewChange::kDeleted)
        entry = &one;
    ASSERT_NE(entry, nullptr) << line << "\n" << Changes();
    EXPECT_FALSE(entry->refused.empty()) << line;
    // Judged once more at the commit, for a manifest that says otherwise.
    for (PreviewEntry& one : manifest_.entries)
      if (one.path == refused) one.refused.clear();
    const std::string before = Manifest(w_ + "/.git");
    const std::string done = Commit({refused});
    EXPECT_EQ(done.find("! "), std::string::npos) << done;
    // A hook may go, but nothing comes in its place.
    if (Exists(w_ + "/hooks.d/pre-commit")) {
      EXPECT_EQ(Read(w_ + "/hooks.d/pre-commit"), "a\n") << line;
    }
    EXPECT_FALSE(std::filesystem::is_symlink(w_ + "/hooks.d")) << line;
    EXPECT_FALSE(Exists(w_ + "/hooks.d/post-merge")) << line;
    EXPECT_FALSE(Exists(w_ + "/hooks.d/pre-push")) << line;
    EXPECT_EQ(Manifest(w_ + "/.git"), before) << line;
    // A deletion was asked for with it; what it leaves is harmless.
    Outside("git checkout -q -f .; rm -rf h c2");
  }
  Line("git config -f conf/team user.name t; echo b > hooks.d/notes");
  EXPECT_EQ(Commit(), "1 committed\n" + w_ +
                          "/hooks.d/notes: a hook of the repository's\n");
}

}  // namespace
}  // namespace gate::backends
