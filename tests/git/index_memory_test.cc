// A large index is read once, and again whenever it may have changed.
#include "git/index_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <functional>
#include <string>

#include "base/file.h"
#include "tests/git/hostile_index.h"
#include "tests/support/temporary_directory.h"

namespace gate {
namespace {

using test::Bytes;
using test::IndexEntry;
using test::IndexOf;

constexpr uint32_t kFile = 0100644, kGitlink = 0160000;

class GitIndexMemory : public testing::Test {
 protected:
  // An index of `count` entries, the last of them of type `last`.
  static std::string Index(uint32_t count, uint32_t last) {
    std::string body;
    for (uint32_t i = 0; i < count; ++i) {
      IndexEntry entry;
      entry.mode = i + 1 == count ? last : kFile;
      entry.name = "f" + std::to_string(100'000 + i);
      body += Bytes(entry, 2, 20);
    }
    return IndexOf(2, count, body);
  }
  std::string Path() const { return temporary_.path() + "/index"; }
  std::string Memory() const { return temporary_.path() + "/memory"; }
  void Write(const std::string& bytes) const {
    const Fd file(::open(Path().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
    ASSERT_EQ(::pwrite(file.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  }
  static uint64_t Later(uint64_t ms = 10 * kSettledMs) {
    return static_cast<uint64_t>(::time(nullptr)) * 1000 + ms;
  }
  Gitlinks Find(uint64_t now_ms = Later()) const {
    return FindGitlinksRemembered(Path(), GitHash::kSha1, "", Memory(), now_ms);
  }
  // Until the clock of the file system, whose ticks are milliseconds long, has
  // gone on from `info`.
  void AwaitTickAfter(const struct stat& info) const {
    struct stat now = {};
    do {
      ASSERT_TRUE(WriteFileAtomically(temporary_.path() + "/tick", "x", 0600));
      ASSERT_EQ(::stat((temporary_.path() + "/tick").c_str(), &now), 0);
    } while (now.st_ctim.tv_sec == info.st_ctim.tv_sec &&
             now.st_ctim.tv_nsec == info.st_ctim.tv_nsec);
  }
  bool Remembers() const {
    struct stat info = {};
    return ::stat(Memory().c_str(), &info) == 0;
  }
  // Whether the file system of the tests keeps times as the memory needs it.
  bool CanRemember() const {
    Write(Index(4000, kFile));
    EXPECT_EQ(Find(), Gitlinks::kNone);
    const bool remembers = Remembers();
    ::unlink(Memory().c_str());
    return remembers;
  }

  TemporaryDirectory temporary_;
};

TEST_F(GitIndexMemory, WhatNamedNoneIsNotReadAgain) {
  if (!CanRemember()) GTEST_SKIP() << "a file system without leases";
  ASSERT_EQ(Find(), Gitlinks::kNone);
  ASSERT_TRUE(Remembers());
  // It answers although nobody could read it.
  const uint64_t now = Later();
  EXPECT_EQ(Find(now), Gitlinks::kNone);
  auto remembered = ReadFile(Memory(), 1 << 20);
  ASSERT_TRUE(remembered);
  // What is remembered of one file is not believed of another.
  Write(Index(4000, kGitlink));
  EXPECT_EQ(Find(), Gitlinks::kSome);
  // What is remembered decides: here somebody wrote the memory.
  struct stat info = {};
  ASSERT_EQ(::stat(Path().c_str(), &info), 0);
  uint64_t record[8];
  ASSERT_EQ(remembered->size(), sizeof record);
  std::memcpy(record, remembered->data(), sizeof record);
  record[0] = info.st_dev, record[1] = info.st_ino;
  record[2] = static_cast<uint64_t>(info.st_size);
  record[3] = static_cast<uint64_t>(info.st_mtim.tv_sec);
  record[4] = static_cast<uint64_t>(info.st_mtim.tv_nsec);
  record[5] = static_cast<uint64_t>(info.st_ctim.tv_sec);
  record[6] = static_cast<uint64_t>(info.st_ctim.tv_nsec);
  ASSERT_TRUE(WriteFileAtomically(
      Memory(), {reinterpret_cast<const char*>(record), sizeof record}, 0600));
  EXPECT_EQ(Find(), Gitlinks::kNone);
}

TEST_F(GitIndexMemory, EveryChangeIsSeen) {
  if (!CanRemember()) GTEST_SKIP() << "a file system without leases";
  const std::string none = Index(4000, kFile), some = Index(4000, kGitlink);
  ASSERT_EQ(none.size(), some.size());
  struct stat before = {};
  const std::pair<const char*, std::function<void()>> kChanges[] = {
      {"in place", [&] { Write(some); }},
      {"with its old time",
       [&] {
         Write(some);
         const timespec times[] = {before.st_atim, before.st_mtim};
         ::utimensat(AT_FDCWD, Path().c_str(), times, 0);
       }},
      {"another file in its place",
       [&] { ASSERT_TRUE(WriteFileAtomically(Path(), some, 0600)); }},
      {"by a mapping",
       [&] {
         const Fd file(::open(Path().c_str(), O_RDWR | O_CLOEXEC));
         void* const map = ::mmap(nullptr, some.size(), PROT_READ | PROT_WRITE,
                                  MAP_SHARED, file.get(), 0);
         ASSERT_NE(map, MAP_FAILED);
         std::memcpy(map, some.data(), some.size());
         ::munmap(map, some.size());
       }},
      {"by another name",
       [&] {
         const std::string other = Path() + "2";
         ASSERT_EQ(::link(Path().c_str(), other.c_str()), 0);
         const Fd file(::open(other.c_str(), O_WRONLY | O_CLOEXEC));
         ASSERT_EQ(::pwrite(file.get(), some.data(), some.size(), 0),
                   static_cast<ssize_t>(some.size()));
       }},
  };
  for (const auto& [how, change] : kChanges) {
    ::unlink(Path().c_str());
    ::unlink(Memory().c_str());
    Write(none);
    ASSERT_EQ(Find(), Gitlinks::kNone) << how;
    ASSERT_TRUE(Remembers()) << how;
    ASSERT_EQ(::stat(Path().c_str(), &before), 0);
    AwaitTickAfter(before);
    change();
    EXPECT_EQ(Find(), Gitlinks::kSome) << how;
  }
}

TEST_F(GitIndexMemory, WhatSomebodyCanStillWriteIsNotRemembered) {
  if (!CanRemember()) GTEST_SKIP() << "a file system without leases";
  {
    const Fd open(::open(Path().c_str(), O_WRONLY | O_CLOEXEC));
    EXPECT_EQ(Find(), Gitlinks::kNone);
    EXPECT_FALSE(Remembers()) << "open for writing";
  }
  Fd file(::open(Path().c_str(), O_RDWR | O_CLOEXEC));
  void* const map =
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  ASSERT_NE(map, MAP_FAILED);
  file = Fd();
  EXPECT_EQ(Find(), Gitlinks::kNone);
  EXPECT_FALSE(Remembers()) << "mapped for writing";
  ::munmap(map, 4096);
  EXPECT_EQ(Find(), Gitlinks::kNone);
  EXPECT_TRUE(Remembers());
}

TEST_F(GitIndexMemory, WhatWasJustChangedOrIsSmallOrNamesOneIsNotRemembered) {
  Write(Index(4000, kFile));
  EXPECT_EQ(Find(Later(0)), Gitlinks::kNone);
  EXPECT_FALSE(Remembers()) << "just changed";
  EXPECT_EQ(Find(0), Gitlinks::kNone);
  EXPECT_FALSE(Remembers()) << "a clock that was set back";
  Write(Index(10, kFile));
  EXPECT_EQ(Find(), Gitlinks::kNone);
  EXPECT_FALSE(Remembers()) << "small";
  Write(Index(4000, kGitlink));
  EXPECT_EQ(Find(), Gitlinks::kSome);
  EXPECT_FALSE(Remembers()) << "names another";
  Write(Index(4000, kFile).substr(0, 270'000));
  EXPECT_EQ(Find(), Gitlinks::kUnknown);
  EXPECT_FALSE(Remembers()) << "cut";
}

TEST_F(GitIndexMemory, ABadMemoryIsNone) {
  Write(Index(4000, kGitlink));
  for (const std::string& text :
       {std::string("x"), std::string(64, '\0'), std::string(1 << 20, 'x')}) {
    ASSERT_TRUE(WriteFileAtomically(Memory(), text, 0600));
    EXPECT_EQ(Find(), Gitlinks::kSome);
  }
  ::unlink(Memory().c_str());
  ASSERT_EQ(::symlink("/dev/zero", Memory().c_str()), 0);
  EXPECT_EQ(Find(), Gitlinks::kSome);
  ::unlink(Memory().c_str());
  ASSERT_EQ(::mkfifo(Memory().c_str(), 0600), 0);
  EXPECT_EQ(Find(), Gitlinks::kSome);
}

}  // namespace
}  // namespace gate
