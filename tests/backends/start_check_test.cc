// What is seen of a process that starts a program, looked at without a pause:
// every moment of a start is met, not only those that a clock happens to fall
// on.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "backends/native/calls/start_check.h"

namespace gate::backends {
namespace {

constexpr char kProgram[] = "/bin/cat";  // waits for its standard input
constexpr int kRounds = 40;
bool Yes() { return true; }

// A process of exec_probe that is about to start `program`.
class Starter {
 public:
  Starter(const std::string& how, const std::string& program,
          const std::string& argument = "-") {
    int told[2], input[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, told) != 0 ||
        pipe2(input, O_CLOEXEC) != 0)
      return;
    const Fd theirs(told[1]), read_end(input[0]);
    told_ = Fd(told[0]);
    input_ = Fd(input[1]);
    process_ = fork();
    if (process_ == 0) {
      dup2(read_end.get(), 0);
      if (theirs.get() == 3)
        fcntl(3, F_SETFD, 0);
      else
        dup2(theirs.get(), 3);
      execl(EXEC_PROBE, EXEC_PROBE, how.c_str(), program.c_str(),
            argument.c_str(), nullptr);
      _exit(127);
    }
    if (read(told_.get(), &thread_, sizeof(thread_)) != sizeof(thread_))
      thread_ = -1;
  }
  ~Starter() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  Starter(const Starter&) = delete;
  Starter& operator=(const Starter&) = delete;

  pid_t process() const { return process_; }
  pid_t thread() const { return thread_; }
  void GoOn() const { (void)!write(told_.get(), "g", 1); }
  bool Runs(const std::string& program) const {
    struct stat wanted = {}, there = {};
    return stat(program.c_str(), &wanted) == 0 &&
           stat(("/proc/" + std::to_string(process_) + "/exe").c_str(),
                &there) == 0 &&
           wanted.st_ino == there.st_ino && wanted.st_dev == there.st_dev;
  }
  void WaitUntilItIsOver() const {
    siginfo_t info = {};
    waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOWAIT);
  }

 private:
  pid_t process_ = -1, thread_ = -1;
  Fd told_, input_;
};

class StartCheckTest : public testing::TestWithParam<const char*> {
 protected:
  Expectation Expected(const Starter& starter, const std::string& program) {
    Expectation expected;
    const NamedProgram named =
        FindProgram(root_.get(), starter.thread(), AT_FDCWD, program);
    EXPECT_EQ(Expect(root_.get(), named, "/", {program, "-"}, &expected), 0);
    return expected;
  }
  // Until nothing is awaited, or something is wrong.
  std::string TickToTheEnd(StartCheck* check) const {
    int wait = 0;
    std::string why;
    while (why.empty() && wait >= 0) why = check->Tick(root_.get(), &wait);
    return why;
  }

  const Fd root_{open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
};
INSTANTIATE_TEST_SUITE_P(Ways, StartCheckTest,
                         testing::Values("told-thread", "told-headless"),
                         [](const testing::TestParamInfo<const char*>& way) {
                           return std::string(way.param).substr(
                               strlen("told-"));
                         });

TEST_P(StartCheckTest, AStartIsAwaitedUntilTheProgramIsThere) {
  for (int round = 0; round < kRounds; ++round) {
    const Starter starter(GetParam(), kProgram);
    ASSERT_GT(starter.thread(), 0);
    StartCheck check;
    ASSERT_TRUE(
        check.LetThrough(starter.thread(), Yes, Expected(starter, kProgram)));
    starter.GoOn();
    ASSERT_EQ(TickToTheEnd(&check), "");
    ASSERT_TRUE(starter.Runs(kProgram));
  }
}

TEST_P(StartCheckTest, AnotherProgramIsFound) {
  for (int round = 0; round < kRounds; ++round) {
    const Starter starter(GetParam(), "/usr/bin/tail");
    ASSERT_GT(starter.thread(), 0);
    StartCheck check;
    ASSERT_TRUE(
        check.LetThrough(starter.thread(), Yes, Expected(starter, kProgram)));
    starter.GoOn();
    ASSERT_NE(TickToTheEnd(&check).find("another program"), std::string::npos);
  }
}

TEST_P(StartCheckTest, OtherArgumentsAreFound) {
  for (int round = 0; round < kRounds; ++round) {
    const Starter starter(GetParam(), kProgram, "-u");
    ASSERT_GT(starter.thread(), 0);
    StartCheck check;
    ASSERT_TRUE(
        check.LetThrough(starter.thread(), Yes, Expected(starter, kProgram)));
    starter.GoOn();
    ASSERT_NE(TickToTheEnd(&check).find("another program"), std::string::npos);
  }
}

TEST_P(StartCheckTest, AStartThatHasNotComeIsNotForgotten) {
  const Starter starter(GetParam(), "/usr/bin/tail");
  ASSERT_GT(starter.thread(), 0);
  StartCheck check;
  ASSERT_TRUE(
      check.LetThrough(starter.thread(), Yes, Expected(starter, kProgram)));
  for (int look = 0; look < 100; ++look) {
    int wait = -1;
    ASSERT_EQ(check.Tick(root_.get(), &wait), "");
    ASSERT_GE(wait, 0);
    // A call of its first thread, or as if there were another one.
    ASSERT_EQ(
        check.Called(root_.get(), starter.process(), [] { return false; }), "");
  }
  starter.GoOn();
  EXPECT_NE(TickToTheEnd(&check), "");
}

TEST_P(StartCheckTest, ItsThreadsNextCallSaysThatTheStartHasFailed) {
  const Starter starter(GetParam(), kProgram);
  ASSERT_GT(starter.thread(), 0);
  StartCheck check;
  ASSERT_TRUE(
      check.LetThrough(starter.thread(), Yes, Expected(starter, kProgram)));
  EXPECT_EQ(check.Called(root_.get(), starter.thread(), Yes), "");
  int wait = 0;
  EXPECT_EQ(check.Tick(root_.get(), &wait), "");
  EXPECT_EQ(wait, -1);
}

TEST_P(StartCheckTest, AProcessThatIsOverIsAwaitedNoLonger) {
  StartCheck check;
  {
    const Starter starter(GetParam(), kProgram);
    ASSERT_GT(starter.thread(), 0);
    ASSERT_TRUE(
        check.LetThrough(starter.thread(), Yes, Expected(starter, kProgram)));
    kill(starter.process(), SIGKILL);
    starter.WaitUntilItIsOver();
    EXPECT_EQ(TickToTheEnd(&check), "");
    // Of what nothing can be seen nothing can be let through.
    EXPECT_FALSE(check.LetThrough(starter.process(), Yes, Expectation()));
    EXPECT_TRUE(check.LetThrough(starter.process(), [] { return false; }, {}));
  }
  int wait = 0;
  EXPECT_EQ(check.Tick(root_.get(), &wait), "");
  EXPECT_EQ(wait, -1);
}

// The old program can write to its arguments what the next one is expected to
// have.
TEST(StartCheck, AProgramIsNotTakenForTheNextByWhatItSaysOfItself) {
  int there[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, there), 0);
  const Fd ours(there[0]), theirs(there[1]);
  ProcessImage here;
  ASSERT_EQ(LookAtThread("/proc/self", &here), Sight::kWhole);
  const pid_t child = fork();
  if (child == 0) {
    char word = 0;
    (void)!read(theirs.get(), &word, 1);
    *reinterpret_cast<char*>(here.arguments) = '!';
    (void)!write(theirs.get(), "w", 1);
    while (true) pause();
  }
  Expectation expected;
  expected.files = {here.file};
  expected.command_line = here.command_line;
  expected.command_line[0] = '!';
  const Fd root(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  StartCheck check;
  EXPECT_TRUE(check.LetThrough(child, Yes, expected));
  char word = 'g';
  EXPECT_EQ(write(ours.get(), &word, 1), 1);
  EXPECT_EQ(read(ours.get(), &word, 1), 1);
  int wait = -1;
  EXPECT_EQ(check.Tick(root.get(), &wait), "");
  EXPECT_GE(wait, 0);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace gate::backends
