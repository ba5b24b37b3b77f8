// The small parts that can be tested without a sandbox.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <string>

#include "backends/backend.h"
#include "backends/native/calls/seccomp.h"
#include "backends/none.h"
#include "backends/process/relay.h"
#include "backends/unsafe/no_sandbox.h"
#include "backends/view/mounts.h"
#include "base/file.h"

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

TEST(Names, AreReadBack) {
  for (int i = 0; i <= static_cast<int>(Strength::kMicrovm); ++i) {
    const auto strength = static_cast<Strength>(i);
    EXPECT_EQ(ParseStrength(Name(strength)), strength);
  }
  for (int i = 0; i <= static_cast<int>(Network::kOpen); ++i) {
    const auto network = static_cast<Network>(i);
    EXPECT_EQ(ParseNetwork(Name(network)), network);
  }
  EXPECT_EQ(ParseStrength("bwrap"), Strength::kNamespace);
  EXPECT_EQ(ParseStrength("auto"), Strength::kMicrovm);
  EXPECT_EQ(ParseStrength("strong"), std::nullopt);
  EXPECT_EQ(ParseNetwork(""), std::nullopt);
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

TEST(FeatureSet, SaysWhatIsMissing) {
  const FeatureSet wanted = {Feature::kSeccomp, Feature::kLimits};
  EXPECT_TRUE(wanted.Without(wanted).empty());
  EXPECT_EQ(wanted.Without({Feature::kSeccomp}),
            std::vector<Feature>{Feature::kLimits});
}

TEST(Outcome, StartsAsAFailure) {
  EXPECT_EQ(Outcome().status, OutcomeStatus::kSetupFailed);
  EXPECT_FALSE(Availability().available);
}

TEST(MakeFilter, FitsAndEndsInAVerdict) {
  const Filter filter = MakeFilter();
  ASSERT_GT(filter.size, 100);
  ASSERT_LT(filter.size, kMaxFilter);
  EXPECT_EQ(filter.code[filter.size - 1u].code, BPF_RET | BPF_K);
  for (unsigned i = 0; i < filter.size; ++i) {
    const sock_filter& at = filter.code[i];
    if ((at.code & 7) != BPF_JMP) continue;
    EXPECT_LT(i + 1 + at.jt, filter.size);
    EXPECT_LT(i + 1 + at.jf, filter.size);
  }
}

TEST(MakeBackends, AreInPriorityOrderAndNoneIsLast) {
  const auto all = MakeBackends();
  for (size_t i = 1; i < all.size(); ++i)
    EXPECT_LT(all[i - 1]->Priority(), all[i]->Priority());
  EXPECT_STREQ(all.back()->Name(), "none");
  EXPECT_EQ(all.back()->GetStrength(), Strength::kNone);
}

TEST(None, RefusesAProfileThatRequiresAnything) {
  const auto none = MakeNone(unsafe::NoSandbox());
  Profile profile;
  profile.required.Add(Feature::kSeccomp);
  Command command;
  command.argv = {"/bin/true"};
  EXPECT_EQ(none->Run(profile, command, {}).status,
            OutcomeStatus::kSetupFailed);
}

TEST(None, PassesExitCodesAndSignalsOn) {
  const auto none = MakeNone(unsafe::NoSandbox());
  Command command;
  command.permit = Permit::Given();
  command.cwd = "/";
  command.environment = {"PATH=/usr/bin:/bin"};
  command.argv = {"sh", "-c", "exit 7"};
  EXPECT_EQ(none->Run({}, command, {}).exit_code, 7);
  command.argv = {"sh", "-c", "kill -TERM $$"};
  EXPECT_EQ(none->Run({}, command, {}).signal, SIGTERM);
  command.argv = {"no-such-program"};
  EXPECT_TRUE(none->Run({}, command, {}).not_found);
  Profile profile;
  profile.limits.wall_ms = 50;
  command.argv = {"sleep", "20"};
  EXPECT_EQ(none->Run(profile, command, {}).status, OutcomeStatus::kTimeout);
}

TEST(None, StartsNothingInAnotherDirectoryThanTheOneThatWasMeant) {
  const auto none = MakeNone(unsafe::NoSandbox());
  Command command;
  command.permit = Permit::Given();
  command.cwd = "/";
  command.environment = {"PATH=/usr/bin:/bin"};
  command.argv = {"true"};
  command.directory = IdOf("/");
  EXPECT_EQ(none->Run({}, command, {}).status, OutcomeStatus::kExited);
  command.directory = IdOf("/proc");
  const Outcome outcome = none->Run({}, command, {});
  EXPECT_EQ(outcome.status, OutcomeStatus::kSetupFailed);
  EXPECT_TRUE(outcome.reason.starts_with("/: ")) << outcome.reason;
}

TEST(None, ALimitEndsAllThatTheCommandStarted) {
  char place[] = "/var/tmp/gate-none-XXXXXX";
  ASSERT_NE(mkdtemp(place), nullptr);
  const auto none = MakeNone(unsafe::NoSandbox());
  Command command;
  command.permit = Permit::Given();
  command.cwd = place;
  command.environment = {"PATH=/usr/bin:/bin"};
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  // All of them hold it as the third: at its end none is left.
  const std::string hold = "exec 3<&0; ";
  const std::string deaf = "trap '' TERM HUP; while :; do sleep 0.05; done";
  const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const std::string& left :
       {"setsid sh -c \"" + deaf + "\" & exec sleep 50",
        "(setsid sh -c \"" + deaf + "\" &); exec sleep 50",
        "setsid setsid sh -c \"" + deaf + " & " + deaf + "\" & " + deaf}) {
    for (const bool output : {false, true}) {
      Profile profile;
      profile.limits.wall_ms = output ? 0 : 200;
      profile.limits.output_bytes = output ? 1000 : 0;
      command.argv = {"sh", "-c", hold + left};
      if (output)
        command.argv[2] = hold + "(sleep 0.2; yes | head -c 5000) & " + left;
      const Outcome outcome = none->Run(
          profile, command, {write_end.get(), null.get(), null.get()});
      EXPECT_EQ(outcome.status,
                output ? OutcomeStatus::kLimit : OutcomeStatus::kTimeout)
          << left << outcome.reason;
    }
  }
  write_end.reset();
  char byte = 0;
  pollfd end = {read_end.get(), POLLIN, 0};
  EXPECT_EQ(poll(&end, 1, 20000), 1) << "something still runs";
  EXPECT_EQ(read(read_end.get(), &byte, 1), 0);
  EXPECT_EQ(rmdir(place), 0);
}

TEST(None, WhatIsLeftInTheBackgroundOutlivesACommandThatEnds) {
  const auto none = MakeNone(unsafe::NoSandbox());
  int go[2], ends[2];
  ASSERT_EQ(pipe2(go, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const Fd go_read(go[0]), read_end(ends[0]);
  Fd go_write(go[1]), write_end(ends[1]);
  Command command;
  command.permit = Permit::Given();
  command.cwd = "/";
  command.environment = {"PATH=/usr/bin:/bin"};
  command.argv = {"sh", "-c", "(setsid sh -c 'read x <&3; echo late' 3<&0 &)"};
  Profile profile;
  profile.limits.wall_ms = 60000;
  EXPECT_EQ(none->Run(profile, command,
                      {go_read.get(), write_end.get(), write_end.get()})
                .exit_code,
            0);
  ASSERT_EQ(write(go_write.get(), "x\n", 2), 2);
  write_end.reset();
  const Result<std::string> said = ReadAll(read_end.get(), 100);
  EXPECT_EQ(said.value_or("?"), "late\n");
}

// What a relay that may hold stderr back passes on of `text`, and when.
struct Held {
  std::string at_once, in_all;
};
Held HoldBack(const std::string& text, uint64_t limit, bool drop) {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  const Fd reader(ends[0]), writer(ends[1]);
  const auto all = [&] {
    char buffer[65536];
    const ssize_t got = read(reader.get(), buffer, sizeof(buffer));
    return got > 0 ? std::string(buffer, static_cast<size_t>(got)) : "";
  };
  Held held;
  {
    auto relay =
        OutputRelay::Make({0, writer.get(), writer.get()}, limit, true);
    EXPECT_TRUE(relay);
    EXPECT_TRUE(WriteAll((*relay)->io().err, text));
    (*relay)->Started();
    (*relay)->Drain(-1);
    held.at_once = all();
    if (drop) (*relay)->DropHeld();
  }
  held.in_all = held.at_once + all();
  return held;
}

TEST(OutputRelay, HoldsBackOnlyWhatMayBeAClientsMessage) {
  const std::string failed = "docker: Error response from daemon: no\n";
  for (const uint64_t limit : {uint64_t{0}, uint64_t{100}}) {
    EXPECT_EQ(HoldBack(failed, limit, true).in_all, "");
    const Held kept = HoldBack(failed, limit, false);
    EXPECT_EQ(kept.at_once, "");
    EXPECT_EQ(kept.in_all, failed);
    for (const std::string& line :
         {std::string("a warning\n"), std::string("dock\n")}) {
      EXPECT_EQ(HoldBack(line, limit, true).in_all, line);
      EXPECT_EQ(HoldBack(line, limit, false).at_once, line);
    }
  }
  // More than is held at once follows it.
  const std::string much = failed + std::string(20000, 'x');
  EXPECT_EQ(HoldBack(much, 0, false).in_all, much);
  EXPECT_EQ(HoldBack(much, 0, true).in_all, "");
  EXPECT_EQ(HoldBack(failed, 8, false).in_all, "docker: ");
}

}  // namespace
}  // namespace gate::backends
