// What of a repository a preview never commits, by its place.
#include <filesystem>

#include "tests/preview/preview_fixture.h"

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
    ASSERT_TRUE(IsRefused(refused)) << line << "\n" << Changes();
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

// What git runs may not come through a link or a file in the place of a
// directory, nor below git's data.
TEST_P(Preview, NoPartOfARepositoryComesByAnotherWay) {
  for (const auto& [line, refused] :
       std::initializer_list<std::pair<const char*, const char*>>{
           {"git init -q .; rm -r .git/hooks; mkdir h; echo x > h/pre-commit; "
            "ln -s ../h .git/hooks",
            ".git/hooks"},
           {"git init -q sub; rm -r sub/.git/hooks; mkdir h; echo x > "
            "h/pre-commit; ln -s ../../h sub/.git/hooks",
            "sub/.git/hooks"},
           {"git init -q --bare b1; rm -r b1/hooks; mkdir h; echo x > "
            "h/update; ln -s ../h b1/hooks",
            "b1/hooks"},
           {"git init -q .; rm -r .git/info; mkdir i; echo '* filter=x' > "
            "i/attributes; ln -s ../i .git/info",
            ".git/info"},
           {"git init -q .; mkdir m; ln -s ../m .git/modules", ".git/modules"},
           {"git init -q .; mkdir .git/worktrees; ln -s ../../m "
            ".git/worktrees/w",
            ".git/worktrees/w"},
           {"git init -q .; rm -r .git/hooks; echo x > .git/hooks",
            ".git/hooks"},
           {"git init -q .; git init -q --bare .git/refs/heads/b; echo x > "
            ".git/refs/heads/b/hooks/update",
            ".git/refs/heads/b/hooks/update"},
           {"git init -q .; git init -q --bare .git/objects/b; git -C "
            ".git/objects/b config core.fsmonitor x",
            ".git/objects/b/config"},
           {"git init -q .; git init -q .git/objects/b; echo x > "
            ".git/objects/b/.git/hooks/pre-commit",
            ".git/objects/b/.git/hooks/pre-commit"},
           {"git init -q --bare b; git init -q --bare b/refs/x; echo x > "
            "b/refs/x/hooks/update",
            "b/refs/x/hooks/update"},
           {"git init -q .; mkdir -p .git/logs/x; echo '{}' > "
            ".git/logs/x/.mcp.json",
            ".git/logs/x/.mcp.json"},
           {"git init -q .; mkdir .git/objects/x; echo 'gitdir: /tmp/x' > "
            ".git/objects/x/.git",
            ".git/objects/x/.git"},
           // A common directory has no HEAD.
           {"mkdir -p a/objects a/refs a/hooks a/worktrees/w; echo x > "
            "a/hooks/pre-commit; echo 'ref: refs/heads/m' > "
            "a/worktrees/w/HEAD; echo ../.. > a/worktrees/w/commondir",
            "a/hooks/pre-commit"},
           {"mkdir -p a/objects a/refs a/hooks a/b/w; echo 'ref: refs/heads/m' "
            "> a/b/w/HEAD; echo ../.. > a/b/w/commondir",
            "a/b/w/commondir"},
           // What a .git file names.
           {"mkdir sub store; echo 'gitdir: ../store' > sub/.git; git config "
            "-f store/config core.fsmonitor x",
            "store/config"},
           {"mkdir sub; ln -s /tmp store; echo 'gitdir: ../store/x' > sub/.git",
            "sub/.git"},
           {"mkdir sub store; ln -s /tmp sub/l; echo 'gitdir: l/../store' > "
            "sub/.git",
            "sub/.git"}}) {
    Line(line);
    ASSERT_TRUE(IsRefused(refused)) << line << "\n" << Changes();
    Commit();
    struct stat info = {};
    EXPECT_NE(lstat((w_ + "/" + refused).c_str(), &info), 0) << line;
    Outside("rm -rf .git sub store b b1 h i m a");
  }
}

// Git would write the files of the repository where it leads.
TEST_P(Preview, AWorkTreeIsNeverBehindALink) {
  struct Case {
    const char *setup, *line, *refused;
  };
  for (const Case& one : std::initializer_list<Case>{
           {"true", "ln -s /tmp lk; git config core.worktree ../lk",
            ".git/config"},
           {"ln -s /tmp lk", "git config core.worktree ../lk", ".git/config"},
           {"true", "ln -s /tmp lk; git config core.worktree ../lk/x",
            ".git/config"},
           {"true", "git config core.worktree ../x/../y", ".git/config"},
           {"mkdir t && git config core.worktree ../t", "rmdir t; ln -s /tmp t",
            "t"},
           {"git init -q in && mkdir in/t && git -C in config core.worktree "
            "../t",
            "rmdir in/t; ln -s /tmp in/t", "in/t"},
           {"git init -q in && git -C in config core.worktree ../t/u",
            "ln -s /tmp in/t", "in/t"},
           {"true",
            "git init -q in; ln -s /tmp in/lk; git -C in config core.worktree "
            "../lk",
            "in/.git/config"}}) {
    ASSERT_EQ(Outside(std::string("git init -q . && ") + one.setup), "");
    Line(one.line);
    ASSERT_TRUE(IsRefused(one.refused)) << one.line << "\n" << Changes();
    for (PreviewEntry& entry : manifest_.entries)
      if (entry.path == one.refused) entry.refused.clear();
    const std::string before = Outside(
        "cat .git/config in/.git/config 2>/dev/null; readlink t in/t; true");
    Commit();
    EXPECT_EQ(Outside("cat .git/config in/.git/config 2>/dev/null; readlink t "
                      "in/t; true")
                  .find(before),
              0u)
        << one.line;
    EXPECT_EQ(Outside("git config core.worktree; git -C in config "
                      "core.worktree 2>/dev/null; true")
                  .find("lk"),
              std::string::npos)
        << one.line;
    Outside("rm -rf .git in t lk");
  }
}

TEST_P(Preview, TwoPreviewsMakeNoRepositoryThatOneMayNot) {
  struct Case {
    const char *first, *second, *both;
  };
  for (const Case& one : std::initializer_list<Case>{
           {"mkdir -p d/hooks; echo x > d/hooks/post-receive",
            "mkdir d/objects d/refs; echo 'ref: refs/heads/main' > d/HEAD; git "
            "config -f d/config core.bare true",
            "test -e d/HEAD"},
           {"mkdir -p d/objects d/hooks; echo x > d/hooks/post-receive",
            "mkdir d/refs; echo 'ref: refs/heads/main' > d/HEAD",
            "test -e d/HEAD"},
           {"mkdir -p d/hooks; echo x > d/hooks/update; chmod 0 d",
            "chmod 700 d; git init -q --bare d", "test -e d/HEAD"},
           {"mkdir d d/info; echo '* filter=x' > d/info/attributes",
            "git init -q --bare d", "test -e d/HEAD"},
           {"mkdir d sub; echo 'gitdir: ../d' > sub/.git",
            "git config -f d/config core.fsmonitor x; mkdir d/objects d/refs; "
            "echo 'ref: refs/heads/main' > d/HEAD",
            "test -e d/config"},
           {"mkdir d; git config -f d/config core.fsmonitor x",
            "mkdir sub; echo 'gitdir: ../d' > sub/.git", "test -e sub/.git"},
           {"mkdir d d/h; echo x > d/h/update; ln -s h d/hooks",
            "git init -q --bare d", "test -e d/HEAD"},
           {"mkdir -p d/hooks; echo x > d/hooks/pre-commit",
            "mkdir -p d/objects d/refs d/worktrees/w; echo ../.. > "
            "d/worktrees/w/commondir; echo 'ref: refs/heads/m' > "
            "d/worktrees/w/HEAD",
            "test -e d/worktrees/w/commondir"}}) {
    Line(one.first);
    EXPECT_EQ(Changes().find('!'), std::string::npos) << Changes();
    Commit();
    Line(one.second);
    EXPECT_NE(Changes().find('!'), std::string::npos) << one.first << "\n"
                                                      << Changes();
    // Judged once more at the commit, for a manifest that says otherwise.
    for (PreviewEntry& entry : manifest_.entries) entry.refused.clear();
    Commit();
    EXPECT_EQ(Outside(std::string(one.both) + " && echo both"), "")
        << one.first << "\n"
        << one.second;
    Outside("rm -rf d sub");
  }
}

// Kept at the same time, each is harmless without the other.
TEST_P(Preview, AKeptPreviewIsJudgedByWhatAnotherMadeMeanwhile) {
  Line("mkdir -p d/hooks; echo x > d/hooks/post-receive");
  EXPECT_EQ(Changes().find('!'), std::string::npos) << Changes();
  ASSERT_EQ(Outside("git init -q --bare d && rm -r d/hooks"), "");
  const std::string done = Commit();
  EXPECT_NE(done.find("/d/hooks/post-receive: "), std::string::npos) << done;
  EXPECT_FALSE(Exists(w_ + "/d/hooks/post-receive"));
  ASSERT_EQ(Outside("rm -rf d"), "");
  Line("git init -q --bare d");
  EXPECT_EQ(Changes().find('!'), std::string::npos) << Changes();
  ASSERT_EQ(Outside("mkdir -p d/hooks && echo x > d/hooks/update"), "");
  Commit();
  EXPECT_FALSE(Exists(w_ + "/d/HEAD"));
}

TEST_P(Preview, OrdinaryGitIsCommittedWhole) {
  ASSERT_EQ(Outside("git init -qb main . && git config user.name t && git "
                    "config user.email t@t && echo 1 > f && git add f && git "
                    "commit -qm 1"),
            "");
  for (const char* line :
       {"git checkout -qb hooks/config && echo 2 > f && git commit -qam 2 && "
        "git tag config && git branch info && git gc -q && "
        "git checkout -q main",
        "git clone -q --no-hardlinks . copy && git clone -q --no-hardlinks "
        "--bare . copy.git",
        "git init -q new && git init -q --bare new.git",
        "mkdir -p src/hooks src/objects src/refs src/info && echo 1 > "
        "src/hooks/useThing.ts && echo HEAD > src/objects/HEAD",
        "git -c protocol.file.allow=always submodule --quiet add "
        "\"file://$PWD/copy.git\" lib",
        "git stash -q; git checkout -q main; rm -rf copy; git clone -q "
        "--no-hardlinks . "
        "copy"}) {
    const Ran ran = Line(line);
    EXPECT_EQ(ran.outcome.exit_code, 0) << line << ran.output;
    EXPECT_EQ(Changes().find('!'), std::string::npos) << line << Changes();
    const std::string done = Commit();
    EXPECT_EQ(done, std::to_string(manifest_.entries.size()) + " committed\n");
  }
  EXPECT_EQ(Outside("git fsck --no-progress --no-dangling && git -C copy fsck "
                    "--no-progress --no-dangling"),
            "");
}

}  // namespace
}  // namespace gate::backends
