// A commit while a command runs in the same workspace, which would like to have
// a hand in what is written.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "tests/preview/preview_fixture.h"

namespace gate::backends {
namespace {

INSTANTIATE_TEST_SUITE_P(All, Preview, testing::ValuesIn(NativeOnly()),
                         WhoName);

TEST_P(Preview, NothingThatIsNotInItsPlaceHasAName) {
  for (int i = 0; i < 40; ++i) Write(w_ + "/" + std::to_string(i), "before");
  Line("for i in $(seq 0 39); do echo after > $i; done; echo new > new");
  const std::string stage = w_ + "/.gate-commit-abc123";
  std::string names;
  before_ = [&]() -> Status {
    for (const auto& entry : std::filesystem::directory_iterator(stage))
      names += entry.path().filename().string() + " ";
    return names.empty() ? Status() : Fail(ErrorCode::kInvalid, names);
  };
  // One at a time, and only where it replaces something.
  exchanging_ = [&] {
    int count = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator(stage))
      ++count;
    if (count != 1) _exit(1);
  };
  EXPECT_EQ(Commit(), "41 committed\n");
}

TEST_P(Preview, WhatIsTouchedBeforeItIsInItsPlaceIsPutBack) {
  const std::string stage = w_ + "/.gate-commit-abc123/1";
  const auto evil = [](const std::string& path) {
    const Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0644));
    (void)WriteAll(fd.get(), "evil!");
  };
  struct Case {
    const char* what;
    std::function<void()> act;
  };
  const std::string keep = w_ + "/keep";
  const std::vector<Case> cases = {
      {"gets another name", [&] { (void)!link(stage.c_str(), keep.c_str()); }},
      {"is opened for writing",
       [&] { const Fd fd(open(stage.c_str(), O_WRONLY | O_NONBLOCK)); }},
      {"is cut short",
       [&] {
         const Fd fd(open(stage.c_str(), O_RDWR | O_TRUNC | O_NONBLOCK));
       }},
      {"is made a program", [&] { chmod(stage.c_str(), 0777); }},
      {"is another file",
       [&] {
         rename(stage.c_str(), keep.c_str());
         evil(stage);
       }},
      {"is a link",
       [&] {
         unlink(stage.c_str());
         (void)!symlink("/etc/passwd", stage.c_str());
       }},
      {"is gone", [&] { unlink(stage.c_str()); }},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    Write(w_ + "/file", "before");
    exchanging_ = nullptr;
    before_ = nullptr;
    Line("echo after > file");
    exchanging_ = one.act;
    const std::string done = Commit();
    EXPECT_NE(done.find("0 committed"), std::string::npos) << done;
    EXPECT_EQ(Read(w_ + "/file"), "before");
    struct stat info = {};
    ASSERT_EQ(lstat((w_ + "/file").c_str(), &info), 0);
    EXPECT_EQ(info.st_nlink, 1u);
    EXPECT_TRUE(S_ISREG(info.st_mode));
    unlink(keep.c_str());
    EXPECT_EQ(Outside("ls -A"), "file\n");
  }
}

TEST_P(Preview, WhatIsPutInThePlaceOfWhatIsRemovedDoesNotComeBack) {
  const std::string stage = w_ + "/.gate-commit-abc123/1";
  Line("rm file");
  exchanging_ = [&] {
    rename(stage.c_str(), (w_ + "/keep").c_str());
    const Fd fd(open(stage.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0644));
    (void)WriteAll(fd.get(), "evil!");
  };
  const std::string before = Read(w_ + "/file");
  EXPECT_NE(Commit().find("changed meanwhile"), std::string::npos);
  EXPECT_EQ(Read(w_ + "/file"), before);
}

TEST_P(Preview, ALinkIsWhatWasShown) {
  ASSERT_EQ(symlink("file", (w_ + "/link").c_str()), 0);
  Line("ln -sfn other link; ln -s file more");
  const std::string stage = w_ + "/.gate-commit-abc123/1";
  exchanging_ = [&] {
    unlink(stage.c_str());
    (void)!symlink("/etc/passwd", stage.c_str());
  };
  const std::string done = Commit({"link", "more"});
  EXPECT_NE(done.find("link: changed meanwhile"), std::string::npos) << done;
  EXPECT_EQ(Outside("readlink link more"), "file\nfile\n");
  exchanging_ = nullptr;
  Line("ln -sfn other link");
  EXPECT_EQ(Commit(), "1 committed\n");
  EXPECT_EQ(Outside("readlink link more; ls -A"),
            "other\nfile\nfile\nlink\nmore\n");
}

// Gate is killed when it has exchanged what somebody saved a moment before.
TEST_P(Preview, AnEditThatAKilledCommitSetAsideIsKept) {
  const std::string stage = w_ + "/.gate-commit-abc123/1";
  const auto save = [&](const std::string& path) {
    Write(w_ + "/saved", "own work");
    rename((w_ + "/saved").c_str(), path.c_str());
  };
  const std::string file = w_ + "/file";
  struct Case {
    const char* line;
    std::function<void()> act;
    bool discard;
    const char* said;
    const char* left;  // in the workspace
  };
  const auto exchange = [&] {
    save(file);
    syscall(SYS_renameat2, AT_FDCWD, stage.c_str(), AT_FDCWD, file.c_str(),
            RENAME_EXCHANGE);
    _exit(1);
  };
  const auto remove = [&] {
    save(stage);
    _exit(1);
  };
  const char* const kKept = ".gate-left-abc123/1 kept of file\n";
  const std::vector<Case> cases = {
      {"echo after > file", exchange, false, "1 committed\n",
       "./.gate-left-abc123/1 own work\n./file after\n"},
      {"echo after > file", exchange, true, "",
       "./.gate-left-abc123/1 own work\n./file after\n"},
      {"rm file", remove, false, "1 committed\n",
       "./.gate-left-abc123/1 own work\n"},
      {"rm file", remove, true, "", "./.gate-left-abc123/1 own work\n"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(std::string(one.line) + (one.discard ? ", discard" : ""));
    Outside("rm -rf .gate-left*");
    Write(file, "before");
    exchanging_ = nullptr;
    Line(one.line);
    exchanging_ = one.act;
    EXPECT_EQ(Commit(), "");
    exchanging_ = nullptr;
    EXPECT_EQ(one.discard ? Discard() : Commit(),
              std::string(one.said) + kKept);
    EXPECT_EQ(Outside("find . -type f | sort | while read f; do echo $f $(cat "
                      "$f); done"),
              one.left);
  }
}

TEST_P(Preview, OfAKilledCommitOnlyItsOwnGoes) {
  const std::string stage = w_ + "/.gate-commit-abc123/1";
  struct Case {
    const char* what;
    std::function<void()> act;
    const char* said;
  };
  const std::vector<Case> cases = {
      {"before the exchange", [] {}, ""},
      {"after it",
       [&] {
         syscall(SYS_renameat2, AT_FDCWD, stage.c_str(), AT_FDCWD,
                 (w_ + "/file").c_str(), RENAME_EXCHANGE);
       },
       ""},
      {"a directory came there",
       [&] {
         unlink(stage.c_str());
         MakeDirectory(stage);
         Write(stage + "/own", "own");
       },
       ".gate-left-abc123/1 kept of file\n"},
      {"something with another name",
       [&] { Write(w_ + "/.gate-commit-abc123/own", "own"); },
       ".gate-left-abc123.1/own kept of ?\n"},
      {"it was moved, a file has its name",
       [&] {
         Outside("mv .gate-commit-abc123 away; echo own > .gate-commit-abc123");
       },
       ".gate-left-abc123.2 kept of ?\n"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    Outside("chmod u+w file");
    Write(w_ + "/file", "before");
    exchanging_ = nullptr;
    Line("echo after > file");
    exchanging_ = [&] {
      one.act();
      _exit(1);
    };
    EXPECT_EQ(Commit(), "");
    exchanging_ = nullptr;
    EXPECT_EQ(Commit(), std::string("1 committed\n") + one.said);
    EXPECT_EQ(Read(w_ + "/file"), "after\n");
    EXPECT_FALSE(Exists(w_ + "/.gate-commit-abc123"));
  }
}

TEST_P(Preview, WhatIsBelowADirectoryThatCameMeanwhileIsRefused) {
  struct Case {
    const char* line;
    const char* meanwhile;
    const char* changes;
  };
  const char* const kSwap = "mv p/conf p/old; mv p/new p/conf";
  const Case cases[] = {
      {"echo two > p/conf/f", kSwap, "!M p/conf/f\n"},
      {"echo two > p/conf/f", "mv p old; mv q p", "!M p/conf/f\n"},
      {"echo two > p/conf/f", "mv p/conf p/old; mv p/new p/conf; >p/conf/own",
       "!M p/conf/f\n"},
      {"rm p/conf/f", kSwap, "!D p/conf/f\n"},
      {"rm -rf p/conf", kSwap,
       "!D p/conf\n!D p/conf/deep\n!D p/conf/deep/f\n!D p/conf/f\n"},
      {"rm -rf p/conf", "mv p/conf/deep o; mv p/new/deep p/conf",
       "D p/conf\n!D p/conf/deep\n!D p/conf/deep/f\nD p/conf/f\n"},
      {"chmod 700 p/conf", kSwap, "!m p/conf\n"},
      {"mkdir p/made; echo m > p/made/f", "mv p/new p/made", "!M p/made/f\n"},
      {"echo m > p/conf/made", kSwap, "!A p/conf/made\n"},
      // What comes and goes in a directory leaves it the one that it was; of
      // two in one another that both changed it is not known.
      {"echo two > p/conf/f", "echo o > p/conf/own", "M p/conf/f\n"},
      {"echo two > p/conf/f", "echo o > p/own; mv p/new p/n", "M p/conf/f\n"},
      {"echo two > p/conf/f", "mv p/conf/deep p", "!M p/conf/f\n"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(std::string(one.line) + " / " + one.meanwhile);
    EXPECT_EQ(
        Outside("rm -rf * && for d in p/conf p/new q/conf; do mkdir -p $d/deep "
                "&& echo own of $d > $d/f && echo own of $d > $d/deep/f; done"),
        "");
    meanwhile_ = one.meanwhile;
    Line(one.line);
    EXPECT_EQ(Changes(), one.changes);
    Commit();
    EXPECT_EQ(Outside("grep -rhc 'own of' --include=f . | grep -c 1"),
              one.changes[0] == '!' ? "6\n" : "5\n");
  }
}

// Content without names takes a descriptor a file.
TEST_P(Preview, MoreFilesThanDescriptorsAreCommittedWhole) {
  MakeDirectory(w_ + "/old");
  for (int i = 0; i < 150; ++i)
    Write(w_ + "/old/" + std::to_string(i), "before");
  Line(
      "for i in $(seq 0 149); do echo after$i > old/$i; done; mkdir n s; for i "
      "in $(seq 150); do echo n$i > n/$i; done; echo s > s/s");
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  rlimit low = limit;
  low.rlim_cur = 64;
  // Of these nothing is there any more when they are due.
  before_ = [&]() -> Status {
    std::filesystem::rename(w_ + "/old", w_ + "/aside");
    return {};
  };
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  const std::string part = Commit();
  std::filesystem::rename(w_ + "/aside", w_ + "/old");
  before_ = nullptr;
  const std::string all = Commit();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_TRUE(part.starts_with("153 committed\n")) << part.substr(0, 200);
  EXPECT_EQ(all, "303 committed\n");
  EXPECT_EQ(Outside("cat n/* old/* s/s | sort -u | wc -l; ls -A"),
            "301\nfile\nn\nold\ns\n");
}

}  // namespace
}  // namespace gate::backends
