// Where control groups are found, which is chosen, what they hold, and what is
// said when a limit is met. Version 2 stands as a directory of plain files in
// the kernel's place; version 1 is tried for real where this machine has it.
#include "backends/native/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "backends/process/sys.h"
#include "tests/support/must_work.h"
#include "tests/support/temporary_directory.h"

namespace gate::backends {
namespace {

namespace fs = std::filesystem;

std::string TextOf(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct PlacesCase {
  const char* name;
  const char* mountinfo;
  const char* own;
  CgroupPlaces want;
};

class ParseTest : public testing::TestWithParam<PlacesCase> {};

TEST_P(ParseTest, FindsTheGroupsOfThisProcess) {
  const PlacesCase& row = GetParam();
  const CgroupPlaces got = ParseCgroupPlaces(row.mountinfo, row.own);
  EXPECT_EQ(got.memory, row.want.memory);
  EXPECT_EQ(got.pids, row.want.pids);
  EXPECT_EQ(got.cpuacct, row.want.cpuacct);
  EXPECT_EQ(got.unified, row.want.unified);
  EXPECT_EQ(got.unified_mount, row.want.unified_mount);
}

constexpr char kUnifiedMount[] =
    "22 27 0:21 / /proc rw - proc proc rw\n"
    "35 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";
const PlacesCase kPlaces[] = {
    {"nothing", "", "", {}},
    {"version2",
     kUnifiedMount,
     "0::/user.slice/user-1000.slice/app.scope\n",
     {"", "", "", "/sys/fs/cgroup/user.slice/user-1000.slice/app.scope",
      "/sys/fs/cgroup"}},
    {"version2_root",
     kUnifiedMount,
     "0::/\n",
     {"", "", "", "/sys/fs/cgroup", "/sys/fs/cgroup"}},
    {"outside_of_the_namespace", kUnifiedMount, "0::/../other\n", {}},
    {"hybrid",
     "1 2 0:3 / /c/memory rw - cgroup cgroup rw,memory\n"
     "1 2 0:3 / /c/pids rw - cgroup cgroup rw,pids\n"
     "1 2 0:3 / /c/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
     "1 2 0:3 / /c/systemd rw - cgroup cgroup rw,name=systemd\n"
     "1 2 0:3 / /c/unified rw - cgroup2 cgroup2 rw\n",
     "9:name=systemd:/a/b\n8:pids:/\n4:memory:/one:two\n2:cpu,cpuacct:/x\n0::/"
     "\n",
     {"/c/memory/one:two", "/c/pids", "/c/cpu/x", "/c/unified", "/c/unified"}},
    {"a_container_sees_its_own_part",
     "1 2 0:3 /docker/abc /c/memory ro - cgroup cgroup rw,memory\n"
     "1 2 0:3 /docker/abc /c/pids ro - cgroup cgroup rw,pids\n",
     "4:memory:/docker/abc/inner\n8:pids:/docker/abcd\n",
     {"/c/memory/inner", "", "", "", ""}},
    {"a_blank_in_the_name",
     "1 2 0:3 / /c\\040d rw - cgroup2 cgroup2 rw\n",
     "0::/g\n",
     {"", "", "", "/c d/g", "/c d"}},
    {"damaged",
     "1 2 0:3\n - cgroup2\n1 2 0:3 / /c rw - cgroup2\nx\n\n",
     "0:\n:::\n0\n",
     {}},
};
INSTANTIATE_TEST_SUITE_P(Machines, ParseTest, testing::ValuesIn(kPlaces),
                         [](const auto& row) {
                           return std::string(row.param.name);
                         });

TEST(KeyedNumberTest, TakesWholeNamesOnly) {
  const char* text = "low 1\noom 2\noom_kill 3\nhuge 99999999999999999999\n";
  EXPECT_EQ(KeyedNumber(text, "oom"), 2u);
  EXPECT_EQ(KeyedNumber(text, "oom_kill"), 3u);
  EXPECT_EQ(KeyedNumber(text, "oo"), 0u);
  EXPECT_EQ(KeyedNumber(text, "high"), 0u);
  EXPECT_EQ(KeyedNumber("", "oom"), 0u);
}

// Groups of version 2 as directories of ordinary files.
class UnifiedTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(root_, "");
    Level("", "cpu memory pids");
    places_.unified_mount = places_.unified = root_;
  }

  void Put(const std::string& file, const std::string& text) {
    std::ofstream(root_ + "/" + file) << text;
  }
  // A group that hands these controllers down.
  void Level(const std::string& path, const std::string& handed) {
    fs::create_directories(root_ + "/" + path);
    Put(path + "/cgroup.subtree_control", handed + "\n");
    Put(path + "/cgroup.procs", "");
    if (!path.empty()) places_.unified = root_ + "/" + path;
  }
  // What the kernel puts into a new one.
  Cgroup::MakeDirectory Maker() {
    return [this](const char* path, mode_t mode) {
      made_ = path;
      const int made = mkdir(path, mode);
      for (const char* name : {"cgroup.procs", "memory.max", "memory.oom.group",
                               "memory.swap.max", "pids.max"})
        std::ofstream(made_ + "/" + name) << "";
      std::ofstream(made_ + "/memory.events") << "oom 0\noom_kill 0\n";
      std::ofstream(made_ + "/pids.events") << "max 0\n";
      std::ofstream(made_ + "/pids.peak") << "1\n";
      std::ofstream(made_ + "/cpu.stat") << "usage_usec 900\nuser_usec 1\n";
      for (const std::string& name : absent_) fs::remove(made_ + "/" + name);
      return made;
    };
  }
  void Now(const std::string& file, const std::string& text) {
    std::ofstream(made_ + "/" + file) << text;
  }

  const TemporaryDirectory directory_;
  const std::string root_ = directory_.path();
  std::string made_;
  std::vector<std::string> absent_;
  CgroupPlaces places_;
};

constexpr TreeLimits kAll = {2000, 64 << 20, 30, 0};

TEST_F(UnifiedTest, OneGroupHoldsAllLimits) {
  const Cgroup group = Cgroup::Make(kAll, places_, Maker());
  EXPECT_EQ(group.held(), kAll);
  EXPECT_GE(group.unified(), 0);
  EXPECT_EQ(group.entry_files().count, 0);
  EXPECT_EQ(TextOf(made_ + "/memory.max"), std::to_string(64 << 20));
  EXPECT_EQ(TextOf(made_ + "/memory.swap.max"), "0");
  EXPECT_EQ(TextOf(made_ + "/memory.oom.group"), "1");
  EXPECT_EQ(TextOf(made_ + "/pids.max"), "31");  // and process 1
  EXPECT_EQ(group.Exceeded(), TreeLimit::kNone);
}

TEST_F(UnifiedTest, EachLimitThatIsMetIsToldByItsOwnAccount) {
  const Cgroup group = Cgroup::Make(kAll, places_, Maker());
  Now("memory.events", "max 7\noom 0\noom_kill 0\n");
  EXPECT_EQ(group.Exceeded(), TreeLimit::kNone) << "what could be freed";
  Now("memory.events", "max 7\noom 0\noom_kill 1\n");
  EXPECT_EQ(group.Exceeded(), TreeLimit::kMemoryAbove);
  Now("memory.events", "max 7\noom 1\noom_kill 3\n");
  EXPECT_EQ(group.Exceeded(), TreeLimit::kMemory);
  Now("memory.events", "oom 0\n");
  Now("pids.events", "max 4\n");
  EXPECT_EQ(group.Exceeded(), TreeLimit::kNone) << "refused by a group above";
  Now("pids.peak", "31\n");
  EXPECT_EQ(group.Exceeded(), TreeLimit::kProcesses);
  Now("pids.events", "max 0\n");
  Now("cpu.stat", "usage_usec 2000000\n");
  EXPECT_EQ(group.Exceeded(), TreeLimit::kNone);
  Now("cpu.stat", "usage_usec 2000001\n");
  EXPECT_EQ(group.Exceeded(), TreeLimit::kCpu);
}

TEST_F(UnifiedTest, AnAccountThatCannotBeReadCountsAsMet) {
  EXPECT_EQ(Cgroup().Exceeded(), TreeLimit::kNone);
  // A directory is opened, and not read, as a file of a removed group is.
  const auto make = Maker();
  const Cgroup group = Cgroup::Make(
      {0, 1 << 20, 0, 0}, places_, [&](const char* path, mode_t m) {
        const int made = make(path, m);
        fs::remove(std::string(path) + "/memory.events");
        fs::create_directory(std::string(path) + "/memory.events");
        return made;
      });
  EXPECT_EQ(group.Exceeded(), TreeLimit::kHidden);
}

struct MetCase {
  const char* name;
  std::string killed, failed, failed_with_swap, most;
  TreeLimit want;
};

class FirstVersionMemoryTest : public UnifiedTest,
                               public testing::WithParamInterface<MetCase> {};

TEST_P(FirstVersionMemoryTest, IsMetWhereAProcessWasEndedAndItHadNoRoomLeft) {
  const MetCase& row = GetParam();
  places_ = {};
  places_.memory = root_;
  const Cgroup group = Cgroup::Make(
      {0, 64 << 20, 0, 0}, places_, [this](const char* path, mode_t mode) {
        made_ = path;
        const int made = mkdir(path, mode);
        for (const char* name : {"tasks", "memory.limit_in_bytes"})
          Now(name, "");
        Now("memory.oom_control", "oom_kill_disable 0\noom_kill 0\n");
        return made;
      });
  EXPECT_EQ(group.held().memory_bytes, uint64_t{64} << 20);
  EXPECT_EQ(group.Exceeded(), TreeLimit::kNone);
  Now("memory.oom_control", "under_oom 0\noom_kill " + row.killed + "\n");
  Now("memory.failcnt", row.failed);
  if (!row.failed_with_swap.empty())
    Now("memory.memsw.failcnt", row.failed_with_swap);
  Now("memory.max_usage_in_bytes", row.most);
  EXPECT_EQ(group.Exceeded(), row.want);
}

const std::string kFull = std::to_string(64 << 20);
const MetCase kMet[] = {
    {"nobody_was_ended", "0", "9", "", kFull, TreeLimit::kNone},
    {"for_the_machine", "1", "0", "0", "30000000", TreeLimit::kMemoryAbove},
    {"counted", "1", "3", "", "30000000", TreeLimit::kMemory},
    {"counted_with_swap", "1", "0", "3", "30000000", TreeLimit::kMemory},
    {"not_counted", "1", "0", "0", kFull, TreeLimit::kMemory},
    {"one_request_below", "1", "0", "", std::to_string((64 << 20) - 4096),
     TreeLimit::kMemory},
};
INSTANTIATE_TEST_SUITE_P(Accounts, FirstVersionMemoryTest,
                         testing::ValuesIn(kMet), [](const auto& row) {
                           return std::string(row.param.name);
                         });

TEST_F(UnifiedTest, ProcessorTimeIsAskedForNoSoonerThanItCanBeUsedUp) {
  const Cgroup group = Cgroup::Make({600000, 0, 0, 0}, places_, Maker());
  EXPECT_GE(group.Wait(), 599999 / sysconf(_SC_NPROCESSORS_ONLN));
  Now("cpu.stat", "usage_usec 599999999\n");
  EXPECT_LE(group.Wait(), 2);
  const Cgroup others = Cgroup::Make({0, 1 << 20, 9, 0}, places_, Maker());
  EXPECT_EQ(others.Wait(), -1) << "the kernel gives notice";
}

TEST_F(UnifiedTest, WhatAGroupLacksIsNotHeld) {
  absent_ = {"memory.oom.group"};
  EXPECT_EQ(Cgroup::Make(kAll, places_, Maker()).held().memory_bytes, 0u);
  absent_ = {"pids.events"};
  EXPECT_EQ(Cgroup::Make(kAll, places_, Maker()).held().processes, 0u);
  absent_ = {"cpu.stat"};
  EXPECT_EQ(Cgroup::Make(kAll, places_, Maker()).held().cpu_ms, 0u);
  absent_ = {"memory.swap.max"};  // a kernel without swap
  EXPECT_EQ(Cgroup::Make(kAll, places_, Maker()).held(), kAll);
}

TEST_F(UnifiedTest, StandsBelowTheNearestGroupThatHandsTheControllersDown) {
  Level("slice", "memory pids");
  Level("slice/session", "");
  EXPECT_EQ(ChooseUnifiedParent(places_, true, true).directory,
            root_ + "/slice");
  EXPECT_EQ(ChooseUnifiedParent(places_, false, false).directory,
            root_ + "/slice/session");
  Put("slice/cgroup.subtree_control", "memory\n");
  EXPECT_EQ(ChooseUnifiedParent(places_, true, true).directory, root_);
  Put("cgroup.subtree_control", "cpu memorystuff\n");
  EXPECT_EQ(ChooseUnifiedParent(places_, true, true).directory, "");
}

TEST_F(UnifiedTest, ABoundOnProcessesThatIsLeftGoesAlong) {
  Level("slice", "");
  Put("slice/pids.max", "25\n");
  Level("slice/session", "");
  Put("slice/session/pids.max", "max\n");
  const Cgroup group = Cgroup::Make(kAll, places_, Maker());
  EXPECT_EQ(group.held().processes, 25u);
  EXPECT_EQ(TextOf(made_ + "/pids.max"), "26");
  // Also where no limit of processes was asked.
  const Cgroup memory = Cgroup::Make({0, 1 << 20, 0, 0}, places_, Maker());
  EXPECT_EQ(memory.held().processes, 25u);
  absent_ = {"pids.max"};
  EXPECT_EQ(Cgroup::Make(kAll, places_, Maker()).held(),
            (TreeLimits{kAll.cpu_ms, 0, 0, 0}));  // in the own group
}

TEST_F(UnifiedTest, NoGroupWithAnotherBoundIsLeft) {
  for (const auto& [file, text] :
       {std::pair{"memory.max", "1000000"}, std::pair{"memory.high", "5"},
        std::pair{"cpu.max", "50000 100000"}, std::pair{"io.max", "8:0 wbps=1"},
        std::pair{"cpuset.cpus", "0-1"}, std::pair{"memory.swap.max", "0"}}) {
    Level("session", "");
    Put(std::string("session/") + file, std::string(text) + "\n");
    EXPECT_EQ(ChooseUnifiedParent(places_, true, false).directory, "") << file;
    fs::remove_all(root_ + "/session");
  }
  Level("session", "");
  Put("session/memory.max", "max\n");
  Put("session/cpu.max", "max 100000\n");
  Put("session/io.max", "\n");
  EXPECT_EQ(ChooseUnifiedParent(places_, true, false).directory, root_);
}

TEST_F(UnifiedTest, AUserTakesNoGroupThatIsNotTheUsers) {
  if (geteuid() != 0)
    GATE_SKIP_WITHOUT("root") << "only root becomes another user";
  Level("slice", "memory pids");
  chmod((root_ + "/slice").c_str(), 0755);
  const pid_t child = fork();
  if (child == 0) {
    if (setresuid(65534, 65534, 65534) != 0) _exit(3);
    _exit(Cgroup::Make(kAll, places_, Maker()).Any() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(CgroupTest, WithoutALimitNothingIsMade) {
  EXPECT_FALSE(Cgroup::MakeHere({}).Any());
  EXPECT_FALSE(Cgroup::MakeHere({0, 0, 0, 1000}).Any());
}

// Version 2, for real: what every group of it has, which is its processor time
// and that a process can be born in it.
TEST(LiveUnifiedTest, AProcessIsBornInItAndItsTimeIsCounted) {
  CgroupPlaces places;
  const CgroupPlaces here = ParseCgroupPlaces(TextOf("/proc/self/mountinfo"),
                                              TextOf("/proc/self/cgroup"));
  places.unified = here.unified;
  places.unified_mount = here.unified_mount;
  const Cgroup group = Cgroup::Make({20, 0, 0, 0}, places);
  if (group.unified() < 0)
    GATE_SKIP_WITHOUT("cgroup2") << "no control group of version 2 here";
  EXPECT_EQ(group.held().cpu_ms, 20u);
  EXPECT_EQ(group.Exceeded(), TreeLimit::kNone);
  int pidfd = -1;
  const pid_t child = sys::Clone(0, &pidfd, group.unified());
  if (child == 0) {
    const auto used = [] {
      timespec now = {};
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
      return now.tv_sec * 1000 + now.tv_nsec / 1000000;
    };
    while (used() < 60) {
    }
    _exit(0);
  }
  if (child < 0)
    GATE_SKIP_WITHOUT("cgroup2") << "none that may be entered from here";
  waitpid(child, nullptr, 0);
  close(pidfd);
  EXPECT_EQ(group.Exceeded(), TreeLimit::kCpu);
}

// Version 1, for real.
class FirstVersionTest : public testing::Test {
 protected:
  void SetUp() override {
    places_ = ParseCgroupPlaces(TextOf("/proc/self/mountinfo"),
                                TextOf("/proc/self/cgroup"));
    if (geteuid() != 0 || places_.memory.empty() || places_.pids.empty() ||
        places_.cpuacct.empty() || access(places_.memory.c_str(), W_OK) != 0 ||
        access(places_.pids.c_str(), W_OK) != 0 ||
        access(places_.cpuacct.c_str(), W_OK) != 0)
      GATE_SKIP_WITHOUT("cgroup1")
          << "no control groups of version 1 that are root's to make";
    places_.unified.clear();
  }
  static std::vector<std::string> Ours(const std::string& parent) {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(parent))
      if (entry.path().filename().string().starts_with("gate-"))
        found.push_back(entry.path());
    return found;
  }
  CgroupPlaces places_;
};

TEST_F(FirstVersionTest, EachControllerHoldsItsLimit) {
  const Cgroup group = Cgroup::Make(kAll, places_);
  EXPECT_EQ(group.held(), kAll);
  EXPECT_EQ(group.entry_files().count, 3);
  EXPECT_EQ(group.unified(), -1);
  EXPECT_EQ(group.Exceeded(), TreeLimit::kNone);
  EXPECT_GT(group.Wait(), 0);
}

TEST_F(FirstVersionTest, OneThatAKilledGateLeftIsRemovedByTheNextRun) {
  // An unguessable name of the test's own.
  char digits[17];
  snprintf(digits, sizeof(digits), "%016llx",
           0xfeed000000000000ull + static_cast<unsigned long long>(getpid()));
  const std::string stale = places_.pids + "/gate-" + digits;
  const std::string other = stale + "-not-ours";
  ASSERT_EQ(mkdir(other.c_str(), 0700), 0);
  // Locked and there, or nothing: any other run of this machine sweeps as well.
  const auto locked = [&]() -> Fd {
    Fd lock(open(stale.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (lock && flock(lock.get(), LOCK_EX | LOCK_NB) == 0 && fs::exists(stale))
      return lock;
    return Fd();
  };
  {
    // Held by a gate that lives.
    Fd lock;
    while (!lock) {
      if (mkdir(stale.c_str(), 0700) != 0) {
        ASSERT_EQ(errno, EEXIST);
      }
      lock = locked();
    }
    Cgroup::Make({0, 0, 9, 0}, places_);
    EXPECT_TRUE(fs::exists(stale));
  }
  {
    Cgroup::Make({0, 0, 9, 0}, places_);
  }
  // Another run may be just about to remove it.
  while (fs::exists(stale)) ASSERT_FALSE(locked());
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_TRUE(fs::exists(other));
  rmdir(other.c_str());
}

TEST_F(FirstVersionTest, ARunThatEndsLeavesNone) {
  std::string path;
  {
    const Cgroup group = Cgroup::Make({0, 0, 9, 0}, places_);
    ASSERT_EQ(group.entry_files().count, 1);
    char link[256] = {};
    const std::string handle =
        "/proc/self/fd/" + std::to_string(group.entry_files().file[0]);
    ASSERT_GT(readlink(handle.c_str(), link, sizeof(link) - 1), 0);
    path = fs::path(link).parent_path();
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace gate::backends
