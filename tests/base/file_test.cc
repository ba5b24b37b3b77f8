#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>

#include "tests/support/temporary_directory.h"

namespace gate {
namespace {

namespace fs = std::filesystem;

mode_t ModeOf(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

TEST(File, WhatIsWrittenIsRead) {
  const TemporaryDirectory dir;
  const std::string content = std::string("a\0b\n", 4) + "\xff";
  ASSERT_TRUE(WriteFileAtomically(dir / "f", content, 0640));
  EXPECT_EQ(ModeOf(dir / "f"), 0640);
  EXPECT_EQ(*ReadFile(dir / "f", 100), content);
  ASSERT_TRUE(WriteFileAtomically(dir / "f", "", 0600));
  EXPECT_EQ(*ReadFile(dir / "f", 0), "");
  EXPECT_EQ(ModeOf(dir / "f"), 0600);
  // No temporary file stays behind.
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), {}), 1);
}

TEST(File, AFailedWriteLeavesTheOldContentAndNothingElse) {
  const TemporaryDirectory dir;
  fs::create_directory(dir / "d");
  EXPECT_FALSE(WriteFileAtomically(dir / "d", "x", 0600));
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), {}), 1);
  EXPECT_EQ(WriteFileAtomically(dir / "no/f", "x", 0600).error().code,
            ErrorCode::kNotFound);
}

TEST(File, TheLimitIsExact) {
  const TemporaryDirectory dir;
  ASSERT_TRUE(WriteFileAtomically(dir / "f", std::string(1000, 'x'), 0600));
  EXPECT_EQ(ReadFile(dir / "f", 1000)->size(), 1000u);
  EXPECT_EQ(ReadFile(dir / "f", 999).error().code, ErrorCode::kTooLarge);
}

TEST(File, AFileWithoutASizeIsReadToItsEnd) {
  // Files of /proc say 0 bytes.
  EXPECT_GT(ReadFile("/proc/self/status", 1 << 20)->size(), 100u);
  EXPECT_EQ(ReadFile("/proc/self/status", 10).error().code,
            ErrorCode::kTooLarge);
}

TEST(File, OnlyRegularFilesAreReadAndNothingBlocks) {
  const TemporaryDirectory dir;
  ASSERT_EQ(mkfifo((dir / "fifo").c_str(), 0600), 0);
  ASSERT_TRUE(WriteFileAtomically(dir / "f", "x", 0600));
  fs::create_symlink(dir / "f", dir / "link");
  fs::create_symlink(dir / "fifo", dir / "link-to-fifo");
  fs::create_symlink(dir / "nothing", dir / "dangling");
  const struct {
    std::string path;
    bool follow;
    ErrorCode code;
  } cases[] = {
      {dir / "fifo", true, ErrorCode::kInvalid},
      {dir / "link-to-fifo", true, ErrorCode::kInvalid},
      {dir / "fifo", false, ErrorCode::kInvalid},
      {dir.path(), true, ErrorCode::kInvalid},
      {"/dev/zero", true, ErrorCode::kInvalid},
      {dir / "nothing", true, ErrorCode::kNotFound},
      {dir / "dangling", true, ErrorCode::kNotFound},
      {dir / "f/below", true, ErrorCode::kNotFound},
      {dir / "link", false, ErrorCode::kPermission},
      {dir / "dangling", false, ErrorCode::kPermission},
  };
  for (const auto& c : cases) {
    const auto read = ReadFile(c.path, 100, c.follow);
    ASSERT_FALSE(read) << c.path;
    EXPECT_EQ(read.error().code, c.code) << c.path;
  }
  EXPECT_EQ(*ReadFile(dir / "link", 100), "x");
}

TEST(File, APipeIsReadToItsEndOrItsLimit) {
  const std::string big(300000, 'y');
  for (const size_t limit : {big.size(), big.size() - 1, size_t{0}}) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    Fd out(ends[0]);
    std::thread writer([&big, end = ends[1]] {
      Fd in(end);
      // The reader may close first; no SIGPIPE for a test program.
      signal(SIGPIPE, SIG_IGN);
      (void)WriteAll(in.get(), big);
    });
    const auto read = ReadAll(out.get(), limit);
    out.reset();
    writer.join();
    if (limit == big.size()) {
      ASSERT_TRUE(read);
      EXPECT_EQ(*read, big);
    } else {
      EXPECT_EQ(read.error().code, ErrorCode::kTooLarge);
    }
  }
}

TEST(File, DirectoriesAreMadeWithTheirParents) {
  const TemporaryDirectory dir;
  ASSERT_TRUE(MakeDirectories(dir / "a/b/c", 0700));
  EXPECT_TRUE(MakeDirectories(dir / "a/b/c/", 0700));
  EXPECT_EQ(ModeOf(dir / "a/b"), 0700);
  EXPECT_TRUE(MakeDirectories("/", 0700));
  ASSERT_TRUE(WriteFileAtomically(dir / "f", "", 0600));
  EXPECT_FALSE(MakeDirectories(dir / "f", 0700));
  EXPECT_FALSE(MakeDirectories(dir / "f/g", 0700));
}

TEST(File, TrustNeedsAnOwnerAndNoOtherWriter) {
  const TemporaryDirectory dir;
  ASSERT_TRUE(WriteFileAtomically(dir / "f", "", 0644));
  EXPECT_TRUE(CheckTrusted(dir / "f", getuid()));
  EXPECT_TRUE(CheckTrusted("/etc/passwd", getuid()));
  for (const mode_t mode : {0664, 0646, 0666}) {
    ASSERT_EQ(chmod((dir / "f").c_str(), mode), 0);
    EXPECT_EQ(CheckTrusted(dir / "f", getuid()).error().code,
              ErrorCode::kPermission);
  }
  EXPECT_EQ(CheckTrusted(dir / "no", getuid()).error().code,
            ErrorCode::kNotFound);
  if (getuid() == 0) {
    ASSERT_EQ(chmod((dir / "f").c_str(), 0644), 0);
    ASSERT_EQ(chown((dir / "f").c_str(), 12345, 0), 0);
    EXPECT_EQ(CheckTrusted(dir / "f", 0).error().code, ErrorCode::kPermission);
    EXPECT_TRUE(CheckTrusted(dir / "f", 12345));
  }
}

TEST(File, APlaceIsTrustedWhenNobodyElseCanExchangeIt) {
  const TemporaryDirectory dir;
  ASSERT_TRUE(MakeDirectories(dir / "a/b/c", 0755));
  const std::string path = dir / "a/b/c/f";
  const uid_t me = getuid();
  EXPECT_TRUE(CheckTrustedPlace(path, me));
  EXPECT_TRUE(CheckTrustedPlace(dir / "a/./b/../b/c//f", me));
  EXPECT_TRUE(CheckTrustedPlace(dir / "nothing/here", me));
  EXPECT_TRUE(CheckTrustedPlace("/", me));
  for (const mode_t mode : {0775, 0757, 0777}) {
    for (const char* above : {"a", "a/b", "a/b/c"}) {
      ASSERT_EQ(chmod((dir / above).c_str(), mode), 0);
      EXPECT_EQ(CheckTrustedPlace(path, me).error().code,
                ErrorCode::kPermission)
          << above;
      ASSERT_EQ(chmod((dir / above).c_str(), 0755), 0);
    }
  }
  // As /tmp is: only its owner can take an entry away.
  ASSERT_EQ(chmod((dir / "a/b").c_str(), 01777), 0);
  EXPECT_TRUE(CheckTrustedPlace(path, me));
  // A link leads through the directories of its target as well.
  ASSERT_TRUE(MakeDirectories(dir / "other", 0755));
  ASSERT_EQ(symlink((dir / "a/b").c_str(), (dir / "other/l").c_str()), 0);
  ASSERT_EQ(symlink("../a/b", (dir / "other/r").c_str()), 0);
  ASSERT_EQ(symlink("loop", (dir / "other/loop").c_str()), 0);
  EXPECT_TRUE(CheckTrustedPlace(dir / "other/l/c/f", me));
  EXPECT_FALSE(CheckTrustedPlace(dir / "other/loop/f", me));
  ASSERT_EQ(chmod((dir / "a").c_str(), 0777), 0);
  EXPECT_FALSE(CheckTrustedPlace(dir / "other/l/c/f", me));
  EXPECT_FALSE(CheckTrustedPlace(dir / "other/r/c/f", me));
  ASSERT_EQ(chmod((dir / "a").c_str(), 0755), 0);
  if (me == 0) {
    ASSERT_EQ(chown((dir / "a/b/c").c_str(), 12345, 0), 0);
    EXPECT_FALSE(CheckTrustedPlace(path, 0)) << "an entry of /tmp";
    ASSERT_EQ(chmod((dir / "a/b").c_str(), 0755), 0);
    EXPECT_FALSE(CheckTrustedPlace(path, 0));
    EXPECT_TRUE(CheckTrustedPlace(path, 12345));
  }
}

TEST(File, AnFdHasOneOwner) {
  Fd a(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = a.get();
  ASSERT_TRUE(a);
  Fd b(std::move(a));
  EXPECT_EQ(a.get(), -1);  // NOLINT(bugprone-use-after-move)
  a = std::move(b);
  EXPECT_EQ(a.get(), number);
  a.reset();
  EXPECT_EQ(fcntl(number, F_GETFD), -1);
}

}  // namespace
}  // namespace gate
