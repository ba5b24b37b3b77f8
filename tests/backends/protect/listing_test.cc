// What saves system calls says no less than the calls.
#include "backends/listing.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "backends/protect/quarantine.h"
#include "base/file.h"
#include "tests/support/temporary_directory.h"

namespace gate::backends {
namespace {

class ListingTest : public testing::Test {
 protected:
  void Write(const std::string& name) const {
    std::ofstream(place_ + "/" + name) << "x";
  }
  void Listen(const std::string& name) {
    listener_ = Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const std::string path = place_ + "/" + name;
    memcpy(address.sun_path, path.data(), path.size());
    ASSERT_EQ(bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address),
                   sizeof(address)),
              0);
  }
  const TemporaryDirectory made_;
  const std::string place_ = made_.path();

 private:
  Fd listener_;
};

TEST_F(ListingTest, HoldsWhatIsThere) {
  Write("there");
  const Listing listing = Listing::Of(place_);
  EXPECT_TRUE(listing.MayHold("there"));
  EXPECT_TRUE(listing.MayHold("THERE"));
  EXPECT_TRUE(listing.MayHold("there/below"));
  EXPECT_TRUE(listing.MayHold("\xc3\xa9"));
}

TEST_F(ListingTest, KeepsTheNamesOfFilesOnly) {
  Write("one");
  Write("two");
  std::filesystem::create_directory(place_ + "/directory");
  std::filesystem::create_symlink("one", place_ + "/link");
  std::vector<std::string> files = Listing::Of(place_, 9).files();
  std::sort(files.begin(), files.end());
  EXPECT_EQ(files, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(Listing::Of(place_, 1).files().size(), 1u);
  EXPECT_TRUE(Listing::Of(place_).files().empty());
}

TEST_F(ListingTest, TellsOfSockets) {
  EXPECT_TRUE(Listing::Of(place_ + "/none").may_hold_sockets());
  EXPECT_TRUE(Listing::Of("/proc").may_hold_sockets());  // need not list all
  Write("file");
  Listen("socket");
  EXPECT_TRUE(Listing::Of(place_).may_hold_sockets());
  std::filesystem::remove(place_ + "/socket");
  EXPECT_FALSE(Listing::Of(place_).may_hold_sockets());
  for (int i = 0; i < 4000; ++i)  // more than is read
    Write("a-name-of-forty-characters-that-takes-much-" + std::to_string(i));
  EXPECT_TRUE(Listing::Of(place_).may_hold_sockets());
}

TEST_F(ListingTest, FindsLinksBelow) {
  std::filesystem::create_directories(place_ + "/a/b");
  std::filesystem::create_symlink("x", place_ + "/one");
  std::filesystem::create_symlink("x", place_ + "/a/b/two");
  std::filesystem::create_symlink("..", place_ + "/a/up");
  std::vector<std::string> links = LinksBelow(place_);
  std::sort(links.begin(), links.end());
  EXPECT_EQ(links,
            (std::vector<std::string>{place_ + "/a/b/two", place_ + "/a/up",
                                      place_ + "/one"}));
  EXPECT_TRUE(LinksBelow(place_ + "/none").empty());
}

TEST_F(ListingTest, StatOfManyPathsIsThatOfEach) {
  for (const char* name : {"a", "b", "a/below", "closed", "closed/below"})
    std::filesystem::create_directory(place_ + "/" + name);
  for (const char* name : {"file", "a/file", "b/file", "closed/file"})
    Write(name);
  std::filesystem::create_symlink("a", place_ + "/link");
  std::filesystem::create_symlink("nowhere", place_ + "/a/dangling");
  ASSERT_EQ(chmod((place_ + "/closed").c_str(), 0), 0);
  const char* names[] = {"a/file",      "b/file",     "a/none", "link/file",
                         "link",        "a/dangling", "",       "none/file",
                         "file/file",   "a/below",    "a",      "a/file",
                         "closed/file", "closed",     "file"};
  NearbyStat nearby;
  for (const char* one : names)
    for (const char* other : names)
      for (const char* name : {one, other}) {
        const std::string path =
            *name == '\0' ? "/" : place_ + "/" + std::string(name);
        struct stat expected = {}, found = {};
        errno = 0;
        const bool there = StatPath(path, &expected);
        const int error = errno;
        errno = 0;
        EXPECT_EQ(nearby(path, &found), there) << path;
        if (!there) {
          EXPECT_EQ(errno, error) << path;
        }
        EXPECT_EQ(found.st_ino, expected.st_ino) << path;
        EXPECT_EQ(found.st_mode, expected.st_mode) << path;
      }
  chmod((place_ + "/closed").c_str(), 0700);
}

}  // namespace
}  // namespace gate::backends
