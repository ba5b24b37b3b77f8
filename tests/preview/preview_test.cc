// Previews, judged by the real tree.
#include "preview/preview.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "base/file.h"
#include "preview/tree.h"
#include "tests/preview/preview_fixture.h"
#include "tests/support/directory_watch.h"
#include "tests/support/must_work.h"
#include "tests/support/wait.h"

namespace gate::backends {
namespace {

INSTANTIATE_TEST_SUITE_P(All, Preview, testing::ValuesIn(NativeOnly()),
                         WhoName);

TEST_P(Preview, NothingRealIsWrittenUntilItIsCommitted) {
  MakeDirectory(w_ + "/sub");
  Write(w_ + "/sub/gone", "x");
  Write(w_ + "/mode", "m");
  const std::string before = Manifest(w_);
  const Ran ran = Line(
      "echo new > added; echo more >> file; rm -r sub; chmod 700 mode; "
      "ln -s file link; mkdir dir; echo d > dir/f; cat added file");
  EXPECT_EQ(ran.output, "new\nin the workspace\nmore\n");
  EXPECT_EQ(Manifest(w_), before);
  EXPECT_EQ(Changes(),
            "A added\nA dir\nA dir/f\nM file\nA link\nm mode\nD sub\n"
            "D sub/gone\n");
  EXPECT_EQ(Entry("added")->size, 4u);
  EXPECT_EQ(Entry("added")->sha256.size(), 64u);
  EXPECT_EQ(Entry("file")->lower.sha256.size(), 64u);
  EXPECT_EQ(Commit(), "8 committed\n");
  EXPECT_EQ(Read(w_ + "/added"), "new\n");
  EXPECT_EQ(Read(w_ + "/file"), "in the workspace\nmore\n");
  EXPECT_EQ(Read(w_ + "/dir/f"), "d\n");
  EXPECT_FALSE(Exists(w_ + "/sub"));
  struct stat info = {};
  ASSERT_EQ(lstat((w_ + "/mode").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
  ASSERT_EQ(lstat((w_ + "/link").c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  EXPECT_EQ(info.st_uid, uid_);
  EXPECT_EQ(Outside("ls -A | grep gate-commit"), "");
}

TEST_P(Preview, APartBringsItsNewDirectoriesAndNothingElse) {
  Line("mkdir -p a/b; echo 1 > a/b/c; echo 2 > a/x; echo 3 > y");
  EXPECT_EQ(Commit({"a/b/c"}), "3 committed\n");
  EXPECT_TRUE(Exists(w_ + "/a/b/c"));
  EXPECT_FALSE(Exists(w_ + "/a/x"));
  EXPECT_FALSE(Exists(w_ + "/y"));
}

TEST_P(Preview, WhatIsOpenedButNotChangedIsNoChange) {
  Line("touch file; chmod 600 file; chmod 644 file; mv file f2; mv f2 file");
  EXPECT_EQ(Changes(), "");
}

TEST_P(Preview, ReplacedDirectoriesAndTypesAreWhatTheyBecame) {
  MakeDirectory(w_ + "/d/deep");
  Write(w_ + "/d/deep/old", "o");
  Write(w_ + "/d/same", "s");
  MakeDirectory(w_ + "/tofile/in");
  Write(w_ + "/tofile/in/f", "f");
  Write(w_ + "/todir", "t");
  MakeDirectory(w_ + "/tolink");
  Write(w_ + "/tolink/f", "f");
  MakeDirectory(w_ + "/moved");
  Write(w_ + "/moved/f", "f");
  Line(
      "rm -r d; mkdir -p d/deep; echo n > d/deep/new; rm -r tofile; echo x > "
      "tofile; rm todir; mkdir todir; echo y > todir/f; rm -r tolink; ln -s "
      "/etc tolink; mv moved renamed");
  EXPECT_EQ(Changes(),
            "A d/deep/new\nD d/deep/old\nD d/same\nD moved\nD moved/f\n"
            "A renamed\nA renamed/f\nD todir\nA todir\nA todir/f\nD tofile\n"
            "A tofile\nD tofile/in\nD tofile/in/f\nD tolink\nA tolink\n"
            "D tolink/f\n")
      << "sorted by path";
  EXPECT_EQ(Commit(), "17 committed\n");
  EXPECT_EQ(Outside("find . -mindepth 1 | sort"),
            "./d\n./d/deep\n./d/deep/new\n./file\n./renamed\n./renamed/f\n"
            "./todir\n./todir/f\n./tofile\n./tolink\n");
}

TEST_P(Preview, ProtectedNamesAreNeverCommitted) {
  ASSERT_EQ(Outside("git init -q . && mkdir -p deep"), "");
  const std::string config = Read(w_ + "/.git/config");
  Line(
      "echo e > .bashrc; echo e > deep/.BashRC; mkdir -p x/.claude; echo e > "
      "x/.claude/settings.json; ln -s /tmp .claude; echo e > "
      ".git/hooks/pre-commit; git config core.fsmonitor evil; echo ok > ok; "
      "git init -q --bare bare; echo e > bare/hooks/update; git -C bare config "
      "core.fsmonitor evil; echo 'gitdir: /tmp/evil' > deep/.git; git add ok; "
      "git commit -qm one; echo x > .git/info/attributes");
  const std::string done = Commit();
  for (const char* name :
       {".bashrc", "deep/.BashRC", "x/.claude/settings.json", ".claude",
        ".git/hooks/pre-commit", "bare/hooks/update", "bare/config",
        "deep/.git", ".git/info/attributes"}) {
    EXPECT_FALSE(Exists(w_ + "/" + name)) << name;
    EXPECT_NE(done.find(w_ + "/" + name + ": "), std::string::npos)
        << name << "\n"
        << done;
  }
  EXPECT_EQ(Read(w_ + "/.git/config"), config);
  EXPECT_EQ(Outside("git log --format=%s; git status --short ok"), "one\n");
}

TEST_P(Preview, WhiteoutsCannotBeMadeByACommand) {
  Write(w_ + "/keep", "k\n");
  Line(
      "python3 -c 'import ctypes; l=ctypes.CDLL(None); "
      "print(l.syscall(316,-100,b\"keep\",-100,b\"moved\",4))'; mknod w c 0 0; "
      "ln keep2 keep3; ln keep hard; true");
  for (const PreviewEntry& entry : manifest_.entries)
    EXPECT_NE(entry.change, PreviewChange::kDeleted) << entry.path;
  Commit();
  EXPECT_EQ(Read(w_ + "/keep"), "k\n");
  struct stat keep = {}, hard = {};
  ASSERT_EQ(stat((w_ + "/keep").c_str(), &keep), 0);
  if (stat((w_ + "/hard").c_str(), &hard) == 0) {
    EXPECT_NE(keep.st_ino, hard.st_ino);
  }
}

TEST_P(Preview, AttributesAndCapabilitiesAreNotCarriedOver) {
  Line(
      "cp /bin/true t; setfattr -n user.x -v y t 2>/dev/null; chmod 6755 t; "
      "chmod 755 t; echo a > a; setfattr -n user.x -v y a 2>/dev/null; true");
  Commit();
  EXPECT_TRUE(Exists(w_ + "/t"));
  for (const char* name : {"t", "a"}) {
    char list[256];
    EXPECT_LE(listxattr((w_ + "/" + name).c_str(), list, sizeof list), 0)
        << name;
  }
}

TEST_P(Preview, SpecialFilesAndSetIdAreRefused) {
  const Ran ran = Line(
      "mkfifo pipe; cp /bin/true suid; chmod 4755 suid || rm suid; cp "
      "/bin/true sgid; "
      "chmod 2755 sgid; mknod null c 1 3 || echo no; mknod w c 0 0 || echo no; "
      "python3 -c 'import socket as s; s.socket(s.AF_UNIX).bind(\"sock\")'");
  EXPECT_EQ(std::count(ran.output.begin(), ran.output.end(), '\n'), 5)
      << ran.output;
  Commit();
  EXPECT_EQ(Outside("ls"), "file\n");
}

TEST_P(Preview, AttributesOfTheOverlayCannotBeForged) {
  MakeDirectory(w_ + "/d");
  Write(w_ + "/d/keep", "k");
  Line(
      "python3 - <<'X'\n"
      "import os\n"
      "open('empty', 'w').close()\n"
      "for f, n in (('d', 'user.overlay.opaque'), ('d', "
      "'trusted.overlay.opaque'), ('empty', 'user.overlay.whiteout'), ('d', "
      "'user.overlay.redirect'), ('file', 'user.overlay.metacopy')):\n"
      "  try: os.setxattr(f, n, b'y')\n"
      "  except OSError: pass\n"
      "X\n");
  EXPECT_EQ(Changes(), "A empty\n");
  EXPECT_EQ(Commit(), "1 committed\n");
  EXPECT_EQ(Read(w_ + "/d/keep"), "k");
}

TEST_P(Preview, WhatSomebodyElseChangedIsAConflict) {
  Write(w_ + "/other", "o");
  Line("echo mine > file; echo mine > other; echo n > new; rm -f none");
  // After it was shown: all or nothing.
  Write(w_ + "/file", "theirs");
  const std::string before = Manifest(w_);
  EXPECT_NE(Commit().find("changed since the preview"), std::string::npos);
  EXPECT_EQ(Manifest(w_), before);
  Write(w_ + "/new", "theirs");
  EXPECT_NE(Commit({"new"}).find("changed since"), std::string::npos);
  EXPECT_EQ(Commit({"other"}), "1 committed\n");
  EXPECT_EQ(Read(w_ + "/file"), "theirs");
  EXPECT_EQ(Read(w_ + "/new"), "theirs");
}

TEST_P(Preview, WhatSomebodyElseChangesWhileItRunsIsRefused) {
  int pipes[2];
  ASSERT_EQ(pipe2(pipes, O_CLOEXEC), 0);
  in_ = pipes[0];
  // Writes to the real file when the command has made its own copy of it.
  const pid_t other = fork();
  if (other == 0) {
    test::WaitUntil(
        [this] { return Exists(state_ + "/0/upper/file") || getppid() == 1; });
    const int file = open((w_ + "/file").c_str(), O_WRONLY | O_TRUNC);
    (void)!write(file, "theirs", 6);
    _exit(0);
  }
  close(pipes[1]);
  Line("echo mine >> file; cat");
  waitpid(other, nullptr, 0);
  EXPECT_EQ(Changes(), "!M file\n");
  EXPECT_NE(Commit().find("0 committed"), std::string::npos);
  EXPECT_EQ(Read(w_ + "/file"), "theirs");
}

TEST_P(Preview, ContentThatIsNotWhatWasShownEndsTheCommit) {
  Line("echo one > a; echo two > b");
  const std::string upper = manifest_.roots[0].place + "/upper/b";
  Write(upper, "evil");
  EXPECT_NE(Commit().find("not what was shown"), std::string::npos);
  EXPECT_EQ(Outside("ls -A"), "file\n");
}

TEST_P(Preview, LinksInTheWayAreNotFollowed) {
  MakeDirectory(w_ + "/d");
  Write(w_ + "/d/existing", "real");
  Line("echo evil > d/existing; echo evil > d/new");
  const std::string before = Manifest(x_);
  ASSERT_EQ(rename((w_ + "/d").c_str(), (base_ + "/aside").c_str()), 0);
  ASSERT_EQ(symlink(x_.c_str(), (w_ + "/d").c_str()), 0);
  Commit();
  EXPECT_EQ(Manifest(x_), before);
  // The same, exchanged between the check and the first change.
  unlink((w_ + "/d").c_str());
  ASSERT_EQ(rename((base_ + "/aside").c_str(), (w_ + "/d").c_str()), 0);
  before_ = [&]() -> Status {
    if (rename((w_ + "/d").c_str(), (w_ + "/aside").c_str()) != 0 ||
        symlink(x_.c_str(), (w_ + "/d").c_str()) != 0)
      return FailErrno("the test");
    return {};
  };
  const std::string done = Commit();
  EXPECT_NE(done.find("0 committed"), std::string::npos) << done;
  EXPECT_EQ(Manifest(x_), before);
}

TEST_P(Preview, AFileChangedAtTheLastMomentIsPutBack) {
  Write(w_ + "/gone", "g");
  Line("echo mine > file; rm gone");
  before_ = [&]() -> Status {
    for (const char* name : {"/file", "/gone"}) {
      const Fd fd(open((w_ + name).c_str(), O_WRONLY | O_TRUNC));
      GATE_CHECK(WriteAll(fd.get(), "theirs!"));
    }
    return {};
  };
  EXPECT_NE(Commit().find("changed meanwhile"), std::string::npos);
  EXPECT_EQ(Read(w_ + "/file"), "theirs!");
  EXPECT_EQ(Read(w_ + "/gone"), "theirs!");
  EXPECT_EQ(Outside("ls -A"), "file\ngone\n");
}

TEST_P(Preview, KilledInTheMiddleItIsFinishedByTheSameCommit) {
  MakeDirectory(w_ + "/old");
  for (int i = 0; i < 40; ++i)
    Write(w_ + "/old/" + std::to_string(i), "before");
  Line(
      "for i in $(seq 0 29); do echo after > old/$i; done; rm old/3?; mkdir n; "
      "for i in $(seq 40); do echo n > n/$i; done; rm file; mkdir file; echo > "
      "file/in");
  // A killer beside the commit, which strikes later in each round.
  for (unsigned round = 0; round < 12; ++round) {
    before_ = [&]() -> Status {
      const pid_t victim = getpid();
      const test::DirectoryWatch watch({w_, w_ + "/old"});
      if (fork() == 0) {
        watch.Await(round * 4, victim);
        kill(victim, SIGKILL);
        _exit(0);
      }
      return {};
    };
    Commit();
    for (int i = 0; i < 30; ++i) {
      const std::string text = Read(w_ + "/old/" + std::to_string(i));
      EXPECT_TRUE(text == "before" || text == "after\n") << i << text;
    }
  }
  before_ = nullptr;
  EXPECT_EQ(Commit(), "84 committed\n");
  EXPECT_EQ(Outside("cat old/* | sort | uniq -c | tr -s ' '; ls n | wc -l; "
                    "find file; ls -A"),
            " 30 after\n40\nfile\nfile/in\nfile\nn\nold\n");
}

// What a commit leaves that is killed when the new type is in its place.
TEST_P(Preview, KilledWhereATypeChangedItIsFinishedByTheSameCommit) {
  MakeDirectory(w_ + "/dd/x");
  Write(w_ + "/dd/x/y", "y");
  Write(w_ + "/ff", "f");
  Line(
      "rm -r dd; echo file > dd; rm ff; mkdir ff; echo in > ff/in; echo b > a; "
      "echo z > zz");
  const std::string changes = Changes();
  ASSERT_EQ(Outside("rm -r dd && echo file > dd && rm ff && mkdir ff && echo "
                    "b > a"),
            "");
  EXPECT_EQ(Commit(), std::to_string(manifest_.entries.size()) + " committed\n")
      << changes;
  EXPECT_EQ(Outside("cat dd ff/in a zz; ls -A"),
            "file\nin\nb\nz\na\ndd\nff\nfile\nzz\n");
  EXPECT_EQ(Commit(),
            std::to_string(manifest_.entries.size()) + " committed\n");
}

TEST_P(Preview, ASparseFileStaysSparse) {
  Line(
      "truncate -s 64M tail; echo x > tail-data; truncate -s 20M tail-data; "
      "truncate -s 10M front; echo end >> front; head -c 1000000 /dev/zero > "
      "dense; truncate -s 0 empty");
  EXPECT_EQ(Commit(), "5 committed\n");
  for (const char* name : {"tail", "tail-data", "front", "dense", "empty"}) {
    struct stat info = {};
    ASSERT_EQ(stat((w_ + "/" + name).c_str(), &info), 0) << name;
    EXPECT_EQ(static_cast<uint64_t>(info.st_size), Entry(name)->size) << name;
    if (std::string(name) != "dense") {
      EXPECT_LT(info.st_blocks, 1024) << name;
    }
    EXPECT_EQ(Outside(std::string("sha256sum < ") + name).substr(0, 64),
              Entry(name)->sha256)
        << name;
  }
}

TEST_P(Preview, UnusualNamesAndClosedModesWork) {
  Line(
      "echo a > $'new\\nline'; echo b > $'bad\\xff\\xfe'; echo c > ' -rf *'; "
      "echo d > closed; chmod 0 closed; mkdir shut; echo e > shut/f; chmod 0 "
      "shut; echo 1 > l1; ln l1 l2; chmod 0 file");
  EXPECT_EQ(manifest_.entries.size(), 9u) << Changes();
  EXPECT_EQ(Entry("l1")->names, 2u);
  EXPECT_EQ(Commit(), "9 committed\n");
  EXPECT_EQ(Read(w_ + "/new\nline"), "a\n");
  EXPECT_EQ(Read(w_ + "/bad\xff\xfe"), "b\n");
  EXPECT_EQ(Read(w_ + "/l2"), "1\n");
  for (const char* name : {"closed", "shut", "file"}) {
    struct stat info = {};
    ASSERT_EQ(lstat((w_ + "/" + name).c_str(), &info), 0) << name;
    EXPECT_EQ(info.st_mode & 0777, 0u) << name;
  }
}

TEST_P(Preview, DirectoriesGetTheModesThatWereShown) {
  const auto mode = [&](const std::string& name) {
    struct stat info = {};
    EXPECT_EQ(lstat((w_ + "/" + name).c_str(), &info), 0) << name;
    return info.st_mode & 07777;
  };
  for (const char* name : {"gets", "loses", "keeps"})
    MakeDirectory(w_ + "/" + name);
  ASSERT_EQ(Outside("chmod 775 gets; chmod 2775 loses keeps"), "");
  Line(
      "umask 022; mkdir shared plain odd; chmod 2775 shared; mkdir shared/in; "
      "chmod 4755 odd; chmod g+s gets; chmod g-s loses; touch keeps/f; mkdir "
      "keeps/in; rm file; mkdir file; echo 1 > sticky; chmod 1644 sticky");
  EXPECT_EQ(Changes(),
            "D file\nA file\nm gets\nA keeps/f\nA keeps/in\nm loses\nA odd\n"
            "A plain\nA shared\nA shared/in\nA sticky\n");
  for (const PreviewEntry& entry : manifest_.entries)
    EXPECT_EQ(entry.refused, "") << entry.path;
  EXPECT_EQ(Commit(), "11 committed\n");
  for (const PreviewEntry& entry : manifest_.entries)
    if (entry.change != PreviewChange::kDeleted) {
      EXPECT_EQ(mode(entry.path), entry.mode) << entry.path;
    }
  EXPECT_EQ(Entry("shared")->mode, 02775u);
  EXPECT_EQ(Entry("shared/in")->mode, 02755u);
  EXPECT_EQ(Entry("keeps/in")->mode, 02755u);
  EXPECT_EQ(Entry("odd")->mode, 0755u);
  EXPECT_EQ(Entry("gets")->mode, 02775u);
  EXPECT_EQ(Entry("loses")->mode, 0775u);
  EXPECT_EQ(mode("keeps"), 02775u);
}

TEST_P(Preview, AFileWithSeveralNamesHasOneMode) {
  Line(
      "chmod 0 file; ln file b; ln file z; echo 1 > new; ln new hard; chmod "
      "200 new");
  EXPECT_EQ(Changes(), "A b\nm file\nA hard\nA new\nA z\n");
  EXPECT_EQ(Commit(), "5 committed\n");
  for (const PreviewEntry& entry : manifest_.entries) {
    const bool new_one = entry.path == "hard" || entry.path == "new";
    EXPECT_EQ(entry.mode, new_one ? 0200u : 0u) << entry.path;
    struct stat info = {};
    ASSERT_EQ(lstat((w_ + "/" + entry.path).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, entry.mode) << entry.path;
  }
}

TEST_P(Preview, NothingOfTheRunWritesAfterwards) {
  const Ran ran = Line(
      "(setsid sh -c 'while :; do echo x >> daemon; done' >/dev/null 2>&1 &); "
      "while [ ! -s daemon ]; do :; done");
  EXPECT_EQ(ran.outcome.exit_code, 0);
  const std::string upper = manifest_.roots[0].place + "/upper";
  const std::string once = Manifest(upper);
  EXPECT_EQ(Outside("pgrep -f 'echo x >> daemon' || true").find("daemon"),
            std::string::npos);
  EXPECT_EQ(Manifest(upper), once);
  EXPECT_EQ(Commit(), "1 committed\n");
}

TEST_P(Preview, TooManyChangesAreNamedAndNeverCommitted) {
  Line("mkdir many; cd many; seq 50001 | xargs touch");
  EXPECT_NE(manifest_.too_large.find("preview-entries"), std::string::npos);
  EXPECT_NE(Commit().find("not whole"), std::string::npos);
  EXPECT_FALSE(Exists(w_ + "/many"));
}

TEST_P(Preview, HugeAndDeepContentIsBounded) {
  Line("truncate -s 5G sparse");
  EXPECT_NE(manifest_.too_large.find("preview-bytes"), std::string::npos);
}

TEST_P(Preview, ADeepTreeIsBoundedAndRemoved) {
  Line(
      "python3 -c 'import os\nfor i in range(60):\n  os.mkdir(\"x\"*100); "
      "os.chdir(\"x\"*100)\nos.mkdir(\"in\", 0)'");
  EXPECT_NE(manifest_.too_large.find("preview-path"), std::string::npos)
      << manifest_.too_large;
  const std::string left = AsUser([&] {
    const Fd fd(open(state_.c_str(), O_RDONLY | O_DIRECTORY));
    size_t small = 5, large = 10000;
    const bool early = RemoveTree(fd.get(), "0", &small);
    const bool done = RemoveTree(fd.get(), "0", &large);
    return std::string(early ? "early" : "") + (done ? "done" : "not");
  });
  EXPECT_EQ(left, "done");
  EXPECT_FALSE(Exists(state_ + "/0"));
}

TEST_P(Preview, ACacheIsWritableAndThrownAway) {
  const std::string cache = h_ + "/cache";
  MakeDirectory(cache);
  Write(cache + "/c", "before");
  profile_.write.push_back(cache);
  const Ran ran =
      Line("echo after > \"$H/cache/c\"; cat \"$H/cache/c\"; echo 1 > a");
  EXPECT_EQ(ran.output, "after\n");
  EXPECT_EQ(Changes(), "A a\n");
  EXPECT_EQ(Read(cache + "/c"), "before");
}

TEST_P(Preview, SettingsThatOrderNothingNewMayBeCommitted) {
  profile_.protect_names = {".npmrc", ".vscode", ".mcp.json"};
  MakeDirectory(w_ + "/p");
  Write(w_ + "/.npmrc", "save-exact=true\n");
  Write(w_ + "/p/.npmrc", "ignore-scripts=true\n");
  Line(
      "echo 'fund=false' >> .npmrc; echo > p/.npmrc; mkdir .vscode q; echo "
      "'{\"editor.tabSize\": 2}' > .vscode/settings.json; echo '{}' > "
      ".vscode/tasks.json; echo 'script-shell=/x' > q/.npmrc; echo '{}' > "
      ".mcp.json; ln -s ../file q/.vscode");
  EXPECT_EQ(Changes(),
            "!A .mcp.json\nM .npmrc\nA .vscode\nA .vscode/settings.json\n"
            "!A .vscode/tasks.json\n!M p/.npmrc\nA q\n!A q/.npmrc\n"
            "!A q/.vscode\n");
  Commit();
  EXPECT_EQ(Read(w_ + "/.npmrc"), "save-exact=true\nfund=false\n");
  EXPECT_EQ(Read(w_ + "/p/.npmrc"), "ignore-scripts=true\n");
  EXPECT_TRUE(Exists(w_ + "/.vscode/settings.json"));
  EXPECT_FALSE(Exists(w_ + "/.vscode/tasks.json"));
  EXPECT_FALSE(Exists(w_ + "/q/.npmrc"));
  EXPECT_FALSE(Exists(w_ + "/.mcp.json"));
}

TEST_P(Preview, WithoutAnOverlayNothingRuns) {
  // A place that is not there stands for a file system that cannot.
  profile_.overlays = {{w_, base_ + "/nowhere"}};
  const Ran ran = Bash("echo ran > ran");
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kSetupFailed);
  EXPECT_NE(ran.outcome.reason.find("required feature overlay"),
            std::string::npos)
      << ran.outcome.reason;
  // A writable root without one.
  profile_.overlays = {{x_, base_ + "/nowhere"}};
  EXPECT_EQ(Bash("echo ran > ran").outcome.status, OutcomeStatus::kSetupFailed);
  EXPECT_FALSE(Exists(w_ + "/ran"));
}

// Also a workspace on another file system than gate's state.
TEST_P(Preview, AFullDiskLeavesTheWorkspaceAsItWas) {
  if (geteuid() != 0)
    GATE_SKIP_WITHOUT("root") << "only root can mount a small tmpfs";
  ASSERT_EQ(unshare(CLONE_NEWNS), 0);
  ASSERT_EQ(mount("", "/", "", MS_REC | MS_PRIVATE, nullptr), 0);
  const std::string options =
      "size=256k,mode=0755,uid=" + std::to_string(uid_) +
      ",gid=" + std::to_string(gid_);
  ASSERT_EQ(mount("test", w_.c_str(), "tmpfs", 0, options.c_str()), 0);
  Write(w_ + "/file", "before");
  Line("echo after > file; head -c 1000000 /dev/zero > big; echo 1 > small");
  const std::string before = Manifest(w_);
  const std::string full = Commit();
  EXPECT_TRUE(full.starts_with("! ")) << full;
  EXPECT_NE(Read(w_ + "/file"), "after\n");
  EXPECT_EQ(Outside("ls -A"), "file\n");
  EXPECT_EQ(Commit({"file", "small"}), "2 committed\n");
  EXPECT_EQ(Read(w_ + "/file"), "after\n");
  umount2(w_.c_str(), MNT_DETACH);
}

TEST_P(Preview, AFileSystemBelowTheWorkspaceIsRefused) {
  if (geteuid() != 0) GATE_SKIP_WITHOUT("root") << "only root can mount";
  MakeDirectory(w_ + "/in");
  ASSERT_EQ(unshare(CLONE_NEWNS), 0);
  ASSERT_EQ(mount("", "/", "", MS_REC | MS_PRIVATE, nullptr), 0);
  ASSERT_EQ(mount("test", (w_ + "/in").c_str(), "tmpfs", 0, "size=64k"), 0);
  PreviewManifest manifest;
  Profile covered = profile_;
  ASSERT_TRUE(PreparePreview(&covered, state_, {w_}, &manifest));
  profile_ = covered;
  const Ran ran = Bash("echo ran > in/ran; echo ran > ran");
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kSetupFailed);
  EXPECT_NE(ran.outcome.reason.find("overlay"), std::string::npos);
  EXPECT_NE(ran.outcome.reason.find("mounted below it, at " + w_ + "/in,"),
            std::string::npos)
      << ran.outcome.reason;
  EXPECT_FALSE(Exists(w_ + "/in/ran"));
  umount2((w_ + "/in").c_str(), MNT_DETACH);
}

TEST(PreviewBackends, OthersRefuse) {
  Profile profile;
  profile.write = {"/srv"};
  profile.workspace = "/srv";
  profile.overlays = {{"/srv", "/nowhere"}};
  Command command;
  command.argv = {"/bin/true"};
  command.cwd = "/";
  const Outcome outcome = Find("bwrap")->Run(profile, command, {});
  EXPECT_EQ(outcome.status, OutcomeStatus::kSetupFailed);
}

TEST(PreviewText, RefusesPathsThatLeaveTheRoot) {
  PreviewManifest manifest;
  manifest.roots.push_back({"/r", "/p", true, 1, 2});
  for (const char* path : {"../x", "a/../b", "/a", "a//b", "", "a/."}) {
    manifest.entries = {{}};
    manifest.entries[0].path = path;
    EXPECT_FALSE(ManifestFromText(ManifestToText(manifest))) << path;
  }
  manifest.entries[0].path = "a/b\n\xff";
  EXPECT_TRUE(ManifestFromText(ManifestToText(manifest)));
}

}  // namespace
}  // namespace gate::backends
