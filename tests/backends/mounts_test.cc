// What mounts say of the names of a path, here and for another process.
#include "backends/view/mounts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gate::backends {
namespace {

TEST(Mounts, TellWhatAnotherProcessCallsAPath) {
  const std::vector<HostMount> ours = {
      {"8:1", "/", "/"}, {"8:2", "/home", "/home"}, {"0:9", "/", "/run"}};
  const std::vector<HostMount> theirs = {{"8:1", "/srv/box", "/"},
                                         {"8:2", "/home/me/run", "/run"},
                                         {"0:7", "/", "/tmp"}};
  using Names = std::vector<std::string>;
  EXPECT_EQ(NamesOf(ours, theirs, "/s"), Names{"/srv/box/s"});
  EXPECT_EQ(NamesOf(ours, theirs, "/run/a/s"), Names{"/home/me/run/a/s"});
  EXPECT_EQ(NamesOf(ours, theirs, "/tmp/s"), Names{});
  EXPECT_EQ(NamesOf(ours, {}, "/s"), Names{});
}

TEST(Mounts, TellTheOtherNamesOfAPath) {
  const std::vector<HostMount> mounts = ParseMounts(
      "27 1 254:0 / / rw - ext4 /dev/vda rw\n"
      "30 27 8:1 / /home rw - ext4 /dev/sda rw\n"
      "31 27 8:1 /u /mnt/a\\040b rw - ext4 /dev/sda rw\n"
      "32 27 8:1 /u/.ssh/keys /srv/keys rw - ext4 /dev/sda rw\n"
      "33 27 8:1 /v /srv/v rw - ext4 /dev/sda rw\n"
      "34 30 9:1 / /home/u/.ssh/disk rw - ext4 /dev/sdb rw\n"
      "35 27 9:1 / /disk rw - ext4 /dev/sdb rw\n"
      "36 27 254:0 / /sysroot rw - ext4 /dev/vda rw\n"
      "broken line\n");
  ASSERT_EQ(mounts.size(), 8U);
  const auto names = [&](const std::string& path) {
    std::string text;
    for (const OtherName& other : OtherNames(mounts, path))
      text += other.name + "=" + other.same + "\n";
    return text;
  };
  EXPECT_EQ(names("/home/u/.ssh"),
            "/disk=/home/u/.ssh/disk\n/mnt/a b/.ssh=/home/u/.ssh\n"
            "/srv/keys=/home/u/.ssh/keys\n");
  EXPECT_EQ(names("/etc/shadow"), "/sysroot/etc/shadow=/etc/shadow\n");
  EXPECT_EQ(names("/home/w"), "");
  EXPECT_EQ(names("/srv/v/x"), "/home/v/x=/srv/v/x\n");
  EXPECT_EQ(names("/mnt/a b"),
            "/home/u=/mnt/a b\n/srv/keys=/mnt/a b/.ssh/keys\n");
  ASSERT_TRUE(ReadMounts());
  EXPECT_FALSE(ReadMounts()->empty());
}

TEST(Mounts, TheFirstBelowADirectoryIsFound) {
  const std::vector<HostMount> mounts = ParseMounts(
      "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
      "23 22 0:20 / /srv/work rw - tmpfs t rw\n"
      "24 23 0:21 / /srv/workshop rw - tmpfs t rw\n"
      "25 23 0:22 /a /srv/work/a\\040b\\134 rw shared:1 - tmpfs t rw\n"
      "26 23 0:23 / /srv/work/c rw - tmpfs t rw\n"
      "broken\n\n1 2 3");
  EXPECT_EQ(MountBelow(mounts, "/srv/work"), "/srv/work/a b\\");
  EXPECT_EQ(MountBelow(mounts, "/srv/work/c"), "");
  EXPECT_EQ(MountBelow(mounts, "/home"), "");
  EXPECT_EQ(MountBelow(mounts, "/"), "/srv/work");
  EXPECT_EQ(MountBelow({}, "/"), "");
  EXPECT_EQ(UnescapeMount("a\\"), "a\\");
  EXPECT_EQ(UnescapeMount("a\\09"), "a\\09");
}

}  // namespace
}  // namespace gate::backends
