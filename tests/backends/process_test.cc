// Signals, terminals and limits: what passes between gate and the command
// while it runs.
#include <fcntl.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include "backends/native/cgroup.h"
#include "tests/support/sandbox_fixture.h"
#include "tests/support/wait.h"

namespace gate::backends {
namespace {

class ProcessTest : public Sandbox {
 protected:
  bool IsNative() const { return std::string(GetParam().backend) == "native"; }

  // Runs `line` in a child of the test, calls `act` with the process that
  // holds the backend once the line has made the file `ready`, and returns
  // what the child made of the outcome.
  std::string While(const std::string& line,
                    const std::function<void(pid_t holder)>& act) {
    int pipes[2];
    EXPECT_EQ(pipe(pipes), 0);
    const pid_t runner = fork();
    if (runner == 0) {
      if (in_ >= 0) {
        setsid();
        ioctl(in_, TIOCSCTTY, 0);
      }
      signal(SIGINT, [](int) {});
      signal(SIGQUIT, [](int) {});
      const Ran ran = Bash(line);
      const std::string text =
          std::string(Name(ran.outcome.status)) + " " +
          std::to_string(ran.outcome.exit_code) + " " +
          std::to_string(ran.outcome.signal) + " " + ran.output +
          (ran.outcome.status == OutcomeStatus::kSetupFailed
               ? ran.outcome.reason
               : "");
      (void)!write(pipes[1], text.data(), text.size());
      _exit(0);
    }
    close(pipes[1]);
    int status = 0;
    test::WaitUntil([&] {
      return Exists(w_ + "/ready") || waitpid(runner, &status, WNOHANG) != 0;
    });
    const std::string number = std::to_string(runner);
    // The only child it has, so that the list is complete; gone where the line
    // did nothing more.
    const pid_t holder =
        atoi(Read("/proc/" + number + "/task/" + number + "/children").c_str());
    if (holder > 0) act(holder);
    char buffer[4096];
    std::string text;
    ssize_t got = 0;
    while ((got = read(pipes[0], buffer, sizeof(buffer))) > 0)
      text.append(buffer, static_cast<size_t>(got));
    close(pipes[0]);
    waitpid(runner, &status, 0);
    unlink((w_ + "/ready").c_str());
    return text;
  }
};
INSTANTIATE_TEST_SUITE_P(All, ProcessTest, testing::ValuesIn(Everyone()),
                         WhoName);
INSTANTIATE_TEST_SUITE_P(Engines, ProcessTest, testing::ValuesIn(Engines()),
                         WhoName);

TEST_P(ProcessTest, SignalsReachTheCommand) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    const std::string handled = While(
        "trap 'echo caught; exit 9' INT TERM HUP QUIT; : > ready; "
        "while :; do :; done",
        [&](pid_t holder) { kill(holder, number); });
    // An engine's client complains of its own accord of a start that is tried
    // again, as when a socket of the host went away meanwhile.
    EXPECT_TRUE(handled.starts_with("exited 9 0 ") &&
                handled.ends_with("caught\n") &&
                (IsEngine() || handled == "exited 9 0 caught\n"))
        << number << ": " << handled;
  }
}

TEST_P(ProcessTest, AnUnhandledSignalEndsTheCommand) {
  const std::string ended = While(": > ready; exec sleep 20",
                                  [](pid_t holder) { kill(holder, SIGTERM); });
  EXPECT_EQ(ended, IsNative() ? "signalled 0 15 " : "exited 143 0 ");
}

TEST_P(ProcessTest, TheTerminalsInterruptEndsTheCommandOnce) {
  if (IsEngine()) GTEST_SKIP() << "no terminal for a part of the streams";
  int master = -1;
  ASSERT_EQ(openpty(&master, &in_, nullptr, nullptr, nullptr), 0);
  if (uid_ != geteuid()) {
    ASSERT_EQ(fchown(in_, uid_, gid_), 0);
  }
  const std::string ended = While(
      // A FIFO to wait on: bash loses signals that come while it expands <().
      "test -t 0 || exit 3; mkfifo wait; trap 'echo caught >> times' INT; "
      ": > ready; until test -s times; do read -t 0.02 <> wait; done; "
      "for i in 1 2 3 4 5; do read -t 0.02 <> wait; done; wc -l < times",
      [&](pid_t) { (void)!write(master, "\x03", 1); });
  // bwrap itself is in the foreground too, and ends with its command.
  EXPECT_EQ(ended, IsNative() ? "exited 0 0 1\n" : "signalled 0 2 ");
  close(master);
  close(in_);
}

TEST_P(ProcessTest, NoCharacterIsPushedIntoTheTerminal) {
  int master = -1;
  ASSERT_EQ(openpty(&master, &in_, nullptr, nullptr, nullptr), 0);
  if (uid_ != geteuid()) {
    ASSERT_EQ(fchown(in_, uid_, gid_), 0);
  }
  std::filesystem::copy_file(GATE_PROBE, w_ + "/probe");
  ASSERT_EQ(chmod((w_ + "/probe").c_str(), 0755), 0);
  While("./probe tiocsti; ./probe tiocsti-high; : > ready", [](pid_t) {});
  int waiting = -1;
  EXPECT_EQ(ioctl(in_, FIONREAD, &waiting), 0);
  EXPECT_EQ(waiting, 0);
  close(master);
  close(in_);
}

// bwrap gives a name to a terminal that is stdout, which here is a pipe.
TEST_P(ProcessTest, ItsTerminalCanBeOpenedByName) {
  if (!IsNative()) GTEST_SKIP() << "only native's terminal has a name here";
  int master = -1;
  ASSERT_EQ(openpty(&master, &in_, nullptr, nullptr, nullptr), 0);
  if (uid_ != geteuid()) {
    ASSERT_EQ(fchown(in_, uid_, gid_), 0);
  }
  const std::string ended = While(
      "t=$(tty) && test \"$t\" -ef /proc/self/fd/0 && echo named > \"$t\" && "
      ": > ready",
      [](pid_t) {});
  EXPECT_EQ(ended, "exited 0 0 ");
  char text[16] = {};
  EXPECT_GT(read(master, text, sizeof(text) - 1), 0);
  EXPECT_STREQ(text, "named\r\n");
  close(master);
  close(in_);
}

TEST_P(ProcessTest, WithoutATerminalThereIsNoControllingOne) {
  int master = -1, slave = -1;
  ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    ioctl(slave, TIOCSCTTY, 0);
    Bash("echo pwned > /dev/tty");
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  fcntl(master, F_SETFL, O_NONBLOCK);
  char byte = 0;
  EXPECT_LT(read(master, &byte, 1), 0);
  close(master);
  close(slave);
}

// What is named after the number of a process would meet that of another run.
TEST_P(ProcessTest, NumbersOfProcessesDifferBetweenRuns) {
  if (!IsNative()) GTEST_SKIP() << "only native numbers them";
  if (access("/proc/sys/kernel/ns_last_pid", F_OK) != 0)
    GTEST_SKIP() << "this kernel does not let it";
  std::set<std::string> numbers;
  for (int i = 0; i < 3; ++i) {
    const std::string number = Bash("echo $$").output;
    EXPECT_GT(atoi(number.c_str()), 2);
    numbers.insert(number);
  }
  EXPECT_EQ(numbers.size(), 3u);
}

// native moves its own process 1 to another processor for its start.
TEST_P(ProcessTest, RunsOnTheProcessorsOfItsCaller) {
  if (IsEngine())
    GTEST_SKIP() << "an engine's daemon has processors of its own";
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  for (int only = -1; only < CPU_SETSIZE; ++only) {
    cpu_set_t set = all;
    if (only >= 0) {
      if (!CPU_ISSET(static_cast<size_t>(only), &all)) continue;
      CPU_ZERO(&set);
      CPU_SET(static_cast<size_t>(only), &set);
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
    std::string own;
    std::ifstream status("/proc/thread-self/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("Cpus_allowed:")) own = line + "\n";
    // Not its output: that may begin with bwrap's word on a socket of the
    // machine's that went while it was covered.
    Bash("grep Cpus_allowed: /proc/self/status > seen");
    EXPECT_EQ(Read(w_ + "/seen"), own);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
}

TEST_P(ProcessTest, AFileGrowsNoFurtherThanItsLimit) {
  profile_.limits.file_bytes = 1 << 20;
  Bash("head -c 4M /dev/zero > big");
  EXPECT_LE(std::filesystem::file_size(w_ + "/big"), size_t{1} << 20);
}

TEST_P(ProcessTest, TheProcessorTimeIsLimited) {
  profile_.limits.cpu_s = 1;
  profile_.limits.wall_ms = 20000;
  const Ran ran = Bash("while :; do :; done");
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kLimit) << ran.outcome.reason;
  EXPECT_NE(ran.outcome.reason.find("processor time limit of 1 s"),
            std::string::npos)
      << ran.outcome.reason;
  // A code that looks like it is not taken for it.
  const Ran other = Bash("exit 152");
  EXPECT_EQ(other.outcome.status, OutcomeStatus::kExited);
  EXPECT_EQ(other.outcome.exit_code, 152);
}

TEST_P(ProcessTest, MemoryOfAProcessIsLimited) {
  profile_.limits.memory_bytes = 128 << 20;
  // bash reads in small parts, which is slow in gVisor.
  const Ran ran =
      Bash(Is("gvisor") ? "head -c 300M /dev/zero | tail -c 299M | wc -c"
                        : "x=$(head -c 300M /dev/zero | tr '\\0' x); "
                          "echo ${#x}");
  EXPECT_NE(ran.output,
            std::to_string((Is("gvisor") ? 299 : 300) << 20) + "\n");
  if (Is("gvisor")) {
    EXPECT_EQ(ran.outcome.status, OutcomeStatus::kLimit) << ran.outcome.reason;
  }
  const Outcome big = Bash("head -c 200M /dev/zero > /tmp/big").outcome;
  EXPECT_FALSE(big.status == OutcomeStatus::kExited && big.exit_code == 0);
}

TEST_P(ProcessTest, ProcessesAreLimitedForAnOrdinaryUser) {
  if (Is("gvisor")) GTEST_SKIP() << "gvisor does not give it";
  if (uid_ == 0) GTEST_SKIP() << "the kernel does not limit root; see below";
  profile_.limits.processes = 20;
  const Ran ran = Bash(
      "for i in $(seq 60); do sleep 50 & done 2>/dev/null; jobs -r | wc -l");
  EXPECT_LT(atoi(ran.output.c_str()), 25) << ran.output;
}

TEST_P(ProcessTest, OutputIsCutAtItsLimitToTheByte) {
  profile_.limits.output_bytes = 100'000;
  const Ran much = Bash("while echo some text and some more; do :; done");
  EXPECT_EQ(much.outcome.status, OutcomeStatus::kLimit) << much.outcome.reason;
  EXPECT_EQ(much.output.size(), size_t{100'000});
  const Ran little = Bash("echo one; echo two >&2; echo three; exit 3");
  // The clients carry the two streams apart: their order is lost.
  EXPECT_EQ(little.output.size(), strlen("one\ntwo\nthree\n"));
  if (!Is("docker") && !Is("podman")) {
    EXPECT_EQ(little.output, "one\ntwo\nthree\n");
  }
  EXPECT_EQ(little.outcome.status, OutcomeStatus::kExited);
  EXPECT_EQ(little.outcome.exit_code, 3);
}

// What only a backend that counts over the whole tree can promise.
class TreeLimitTest : public ProcessTest {
 protected:
  void SetUp() override {
    ProcessTest::SetUp();
    profile_.limits.wall_ms = 60000;
  }
  void ExpectLimit(const std::string& line, const std::string& reason) {
    const Ran ran = Bash(line);
    EXPECT_EQ(ran.outcome.status, OutcomeStatus::kLimit)
        << ran.outcome.reason << ran.output;
    EXPECT_NE(ran.outcome.reason.find(reason), std::string::npos)
        << ran.outcome.reason;
  }
};
std::vector<Who> ThatCount(const std::vector<Who>& all) {
  std::vector<Who> some;
  for (const Who& who : all)
    if (const std::string name = who.backend;
        name != "bwrap" && name != "gvisor")
      some.push_back(who);
  return some;
}
INSTANTIATE_TEST_SUITE_P(Native, TreeLimitTest,
                         testing::ValuesIn(ThatCount(Everyone())), WhoName);
INSTANTIATE_TEST_SUITE_P(Engines, TreeLimitTest,
                         testing::ValuesIn(ThatCount(Engines())), WhoName);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TreeLimitTest);

// What native's own control groups promise.
class ControlGroupTest : public TreeLimitTest {};
INSTANTIATE_TEST_SUITE_P(Native, ControlGroupTest,
                         testing::ValuesIn(ThatCount(Everyone())), WhoName);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ControlGroupTest);

TEST_P(TreeLimitTest, ProcessorTimeIsSummedOverProcesses) {
  profile_.limits.cpu_s = 1;
  // No single one of them reaches the limit.
  ExpectLimit(
      "burn() { for ((i = 0; i < 40000; ++i)); do :; done; }; "
      "while :; do burn & burn & burn & wait; done",
      "processor time");
}

TEST_P(TreeLimitTest, ProcessorTimeOfForgottenChildrenIsCounted) {
  profile_.limits.cpu_s = 1;
  ExpectLimit(
      "perl -e '$SIG{CHLD} = \"IGNORE\"; while (1) { if (!fork) { "
      "for (1 .. 3000000) {} exit } select(undef, undef, undef, 0.05) }'",
      "processor time");
}

TEST_P(TreeLimitTest, MemoryIsSummedOverProcesses) {
  profile_.limits.memory_bytes = 96 << 20;
  ExpectLimit(
      "hold() { x=$(head -c 30M /dev/zero | tr '\\0' x); sleep 50; }; "
      "hold & hold & hold & hold & wait",
      "the memory limit of");
}

TEST_P(TreeLimitTest, ProcessesAreLimitedForEveryUser) {
  profile_.limits.processes = 20;
  ExpectLimit("for i in $(seq 60); do sleep 5 & done; wait", "20 processes");
  EXPECT_EQ(
      Bash("mkfifo go; exec 3<> go; for i in $(seq 15); do read -r x <&3 & "
           "done; for i in $(seq 15); do echo >&3; done; wait; echo $?")
          .output,
      "0\n");
}

TEST_P(TreeLimitTest, AForkBombIsBoundedForEveryUser) {
  profile_.limits.processes = 50;
  ExpectLimit("bomb() { bomb | bomb & }; bomb; sleep 50", "50 processes");
}

TEST_P(ControlGroupTest, AProcessThatTakesAllMemoryAtOnceEndsTheRun) {
  if (uid_ != 0 ||
      Cgroup::MakeHere({0, 1 << 20, 0, 0}).held().memory_bytes == 0)
    GTEST_SKIP() << "without a control group it gets an error";
  profile_.limits.memory_bytes = 96 << 20;
  // Anonymous files and private memory alike; whatever is left alive of it.
  ExpectLimit("head -c 400M /dev/zero > /dev/shm/x; sleep 50",
              "the memory limit of");
  ExpectLimit("x=$(head -c 300M /dev/zero | tr '\\0' x) & wait; sleep 50",
              "the memory limit of");
}

// The directories of the groups that a run was in.
std::vector<std::string> GroupsOf(const std::string& own) {
  std::vector<std::string> groups;
  for (const auto& [line, mount] :
       {std::pair{":memory:", "/sys/fs/cgroup/memory"},
        std::pair{":pids:", "/sys/fs/cgroup/pids"}}) {
    const size_t at = own.find(line);
    if (at == std::string::npos) continue;
    const size_t begin = own.find('/', at);
    const std::string path = own.substr(begin, own.find('\n', begin) - begin);
    if (path.find("/gate-") != std::string::npos)
      groups.push_back(mount + path);
  }
  return groups;
}

TEST_P(ControlGroupTest, AKilledGateLeavesNoControlGroup) {
  profile_.limits.memory_bytes = 256 << 20;
  profile_.limits.processes = 100;
  std::vector<std::string> groups;
  pid_t watchdog = -1;
  const auto child_named = [](pid_t parent, const std::string& name) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::ifstream stat(entry.path() / "stat");
      std::string pid, comm, state, from;
      stat >> pid >> comm >> state >> from;
      if (comm == "(" + name + ")" && from == std::to_string(parent))
        return atoi(pid.c_str());
    }
    return -1;
  };
  While("cat /proc/self/cgroup > own; : > ready; sleep 100", [&](pid_t holder) {
    groups = GroupsOf(Read(w_ + "/own"));
    // It comes once the run has lasted a moment.
    if (!groups.empty()) {
      test::WaitUntil([&] {
        watchdog = child_named(holder, "gate-guard");
        return watchdog >= 0;
      });
    }
    kill(holder, SIGKILL);
  });
  if (groups.empty()) GTEST_SKIP() << "no control group is to be had here";
  test::WaitUntil([&] {
    return std::none_of(
        groups.begin(), groups.end(),
        [](const std::string& path) { return std::filesystem::exists(path); });
  });
  for (const std::string& group : groups)
    EXPECT_FALSE(std::filesystem::exists(group)) << group;
}

TEST_P(TreeLimitTest, WrittenBytesAreSummedOverFilesAndProcesses) {
  profile_.limits.written_bytes = 8 << 20;
  // Each file is small, and gone before the next one.
  ExpectLimit(
      "for i in $(seq 400); do head -c 256K /dev/zero > part; rm part; done",
      "written bytes");
  EXPECT_EQ(Bash("head -c 1M /dev/zero > part").outcome.status,
            OutcomeStatus::kExited);
}

TEST_P(TreeLimitTest, NoRoomIsTakenButByWriting) {
  profile_.limits.written_bytes = 8 << 20;
  for (const char* how :
       {"fallocate -l 64M big", "fallocate -n -l 64M big",
        "python3 -c 'import fcntl, struct; f = open(\"big\", \"w\"); "
        "fcntl.ioctl(f, 0x4030582a, struct.pack(\"hhqqiI16x\", 0, 0, 0, 64 << "
        "20, 0, 0))'"}) {
    const Ran ran = Bash(how);
    struct stat info = {};
    if (stat((w_ + "/big").c_str(), &info) == 0) {
      EXPECT_LE(info.st_blocks * 512, 8 << 20) << how << ran.output;
    }
    unlink((w_ + "/big").c_str());
  }
  // What falls back to writing is counted.
  ExpectLimit(
      "python3 -c 'import os, time; f = open(\"big\", \"w\"); "
      "os.posix_fallocate(f.fileno(), 0, 64 << 20); time.sleep(50)'",
      "written bytes");
}

TEST_P(TreeLimitTest, WrittenBytesOfForgottenProcessesAreCounted) {
  profile_.limits.written_bytes = 8 << 20;
  // Their parents have ended before they begin.
  ExpectLimit(
      "for i in $(seq 200); do (bash -c 'head -c 256K /dev/zero > part$0; "
      "rm part$0' $i &); done; sleep 50",
      "written bytes");
}

TEST_P(TreeLimitTest, WhatIsBelowItsLimitsIsNotNoticed) {
  profile_.limits = {60000, 60, uint64_t{4} << 30, 500,
                     0,     0,  uint64_t{4} << 30, 1 << 20};
  const Ran ran =
      Bash("for i in 1 2 3; do (echo $i; sleep 0.03); done; exit 5");
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kExited) << ran.outcome.reason;
  EXPECT_EQ(ran.outcome.exit_code, 5);
  EXPECT_EQ(ran.output, "1\n2\n3\n");
}

TEST_P(TreeLimitTest, LimitsBeyondAllThatThereIsEndNothing) {
  profile_.limits.wall_ms = profile_.limits.cpu_s = UINT64_MAX;
  profile_.limits.processes = profile_.limits.written_bytes = UINT64_MAX;
  profile_.limits.output_bytes = UINT64_MAX;
  const Ran ran = Bash("(echo 1); sleep 0.05; exit 5");
  EXPECT_EQ(ran.outcome.exit_code, 5) << ran.outcome.reason;
}

TEST_P(TreeLimitTest, AnAccountIsReadForAsLongAsTheRunTakes) {
  // Longer than a process may hide its account.
  profile_.limits.written_bytes = 1 << 30;
  const Ran ran = Bash("for i in $(seq 40); do sleep 0.02; done");
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kExited) << ran.outcome.reason;
}

TEST_P(ProcessTest, NeverRaisesALimitOfTheCaller) {
  profile_.limits.open_files = 1u << 30;
  const Ran ran = Bash("ulimit -Hn");
  // docker's daemon has a limit of its own, which gate does not know.
  if (!Is("docker")) {
    EXPECT_NE(ran.outcome.status, OutcomeStatus::kSetupFailed);
  }
}

}  // namespace
}  // namespace gate::backends
