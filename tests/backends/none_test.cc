// The backend that contains nothing: limits, exit codes, directories.
#include "backends/none.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>

#include "backends/unsafe/no_sandbox.h"
#include "base/file.h"
#include "tests/support/temporary_directory.h"

namespace gate::backends {
namespace {

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
  const TemporaryDirectory place("/var/tmp");
  ASSERT_EQ(mkfifo((place / "up").c_str(), 0600), 0);
  const auto none = MakeNone(unsafe::NoSandbox());
  Command command;
  command.permit = Permit::Given();
  command.cwd = place.path();
  command.environment = {"PATH=/usr/bin:/bin"};
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  // All of them hold it as the third: at its end none is left.
  const std::string hold = "exec 3<&0 4<>up; ";
  const std::string deaf =
      "trap '' TERM HUP; echo >&4; while :; do sleep 50; done";
  const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  const std::pair<std::string, const char*> kRows[] = {
      {"setsid sh -c \"" + deaf + "\" & exec sleep 50", "1"},
      {"(setsid sh -c \"" + deaf + "\" &); exec sleep 50", "1"},
      {"setsid setsid sh -c \"" + deaf + " & " + deaf + "\" & " + deaf,
       "1 2 3"},
  };
  for (const auto& [left, all] : kRows) {
    for (const bool output : {false, true}) {
      Profile profile;
      profile.limits.wall_ms = output ? 0 : 200;
      profile.limits.output_bytes = output ? 1000 : 0;
      command.argv = {"sh", "-c", hold + left};
      // What is too much comes when all of them are there.
      if (output)
        command.argv[2] = hold + "(for i in " + all +
                          "; do read x <&4; done; yes | head -c 5000) & " +
                          left;
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
  EXPECT_EQ(unlink((place / "up").c_str()), 0);
  EXPECT_TRUE(std::filesystem::is_empty(place.path()));
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

}  // namespace
}  // namespace gate::backends
