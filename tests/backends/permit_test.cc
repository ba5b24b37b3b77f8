// The command starts with its permit, and never without it.
#include "backends/permit.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/file.h"
#include "tests/support/must_work.h"
#include "tests/support/sandbox_fixture.h"

namespace gate::backends {
namespace {

class PermitTest : public Sandbox {
 protected:
  std::string started() const { return w_ + "/started"; }
  std::string asked() const { return w_ + "/asked"; }
};
INSTANTIATE_TEST_SUITE_P(All, PermitTest, testing::ValuesIn(Everyone()),
                         WhoName);

TEST(Permit, RefusesByDefault) {
  EXPECT_FALSE(Permit().Ask());
  EXPECT_TRUE(Permit::Given().Ask());
}

TEST_P(PermitTest, WithoutOneNothingStarts) {
  permit_ = Permit();
  const Ran ran = Bash(": > started");
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kSetupFailed);
  EXPECT_FALSE(Exists(started()));
}

TEST_P(PermitTest, ARefusedOneSaysWhyAndNothingStarts) {
  permit_ = Permit([]() -> Status {
    return Fail(ErrorCode::kIo, "the record is not written");
  });
  const Ran ran = Bash(": > started");
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kSetupFailed);
  EXPECT_EQ(ran.outcome.reason, "the record is not written");
  EXPECT_FALSE(Exists(started()));
}

TEST_P(PermitTest, IsAskedOnceAndBeforeTheStart) {
  // Runs in the process that holds the sandbox, outside of it.
  permit_ = Permit([this]() -> Status {
    std::ofstream(asked(), std::ios::app)
        << (Exists(started()) ? "late\n" : "before\n");
    return {};
  });
  const Ran ran = Bash(": > started; exit 7");
  EXPECT_EQ(ran.outcome.exit_code, 7) << ran.outcome.reason;
  EXPECT_TRUE(Exists(started()));
  EXPECT_EQ(Read(asked()), "before\n");
}

TEST_P(PermitTest, WhenGateIsKilledBeforeGivingItNothingStarts) {
  int question[2], output[2];
  ASSERT_EQ(pipe2(question, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(output, O_CLOEXEC), 0);
  const pid_t gate = fork();
  if (gate == 0) {
    if (geteuid() == 0 && uid_ != 0 &&
        (setgroups(0, nullptr) != 0 || setresgid(gid_, gid_, gid_) != 0 ||
         setresuid(uid_, uid_, uid_) != 0))
      _exit(99);
    Command command;
    command.permit = Permit([&]() -> Status {
      (void)!write(question[1], "?", 1);
      while (true) pause();
    });
    command.argv = {"/bin/bash", "-c", ": > started"};
    command.cwd = w_;
    command.environment = environment_;
    const Fd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
    Find(GetParam().backend)
        ->Run(profile_, command, {null.get(), output[1], output[1]});
    _exit(0);
  }
  close(question[1]);
  close(output[1]);
  const Fd asks(question[0]), writes(output[0]);
  char byte = 0;
  ASSERT_EQ(read(asks.get(), &byte, 1), 1);
  ASSERT_EQ(kill(gate, SIGKILL), 0);
  ASSERT_EQ(waitpid(gate, nullptr, 0), gate);
  // Its end: no process of the sandbox holds the output any more.
  EXPECT_EQ(read(writes.get(), &byte, 1), 0);
  EXPECT_FALSE(Exists(started()));
}

// What native prepared for another run than the one that comes must not leak
// into it.
TEST(Prepare, WhatDoesNotFitIsThrownAway) {
  const std::unique_ptr<Backend> native = Find("native");
  if (!native || !native->Probe().available) {
    GATE_SKIP_WITHOUT("native") << "native does not work here";
  }
  Profile likely;
  likely.network = Network::kOpen;
  native->Prepare(likely);
  native->Prepare(likely);
  Command command;
  command.permit = Permit::Given();
  command.argv = {"/bin/bash", "-c", "[ $(wc -l < /proc/net/dev) = 3 ]"};
  command.cwd = "/";
  command.environment = {"PATH=/usr/bin:/bin"};
  const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  // Two lines of heading and the loopback interface: a network of its own.
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome =
        native->Run({}, command, {null.get(), null.get(), null.get()});
    EXPECT_EQ(outcome.status, OutcomeStatus::kExited) << outcome.reason;
    EXPECT_EQ(outcome.exit_code, 0);
    native->Prepare({});
  }
}

}  // namespace
}  // namespace gate::backends
