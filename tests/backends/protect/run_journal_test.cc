// What a run changed in protected places is put back also when its gate is
// killed, at whatever moment.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "backends/protected_paths.h"
#include "backends/run_journal.h"
#include "tests/support/directory_watch.h"
#include "tests/support/sandbox_fixture.h"

namespace gate::backends {
namespace {

constexpr char kServers[] = "{\"mcpServers\":{}}\n";

class RunJournalTest : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    runs_ = base_ + "/runs";
    profile_.runs_dir = runs_;
    profile_.protect_names = {".envrc", ".bashrc", ".mcp.json"};
    profile_.git_only = true;
    ASSERT_EQ(
        Outside("git init -q . && mkdir sub && echo '{\"mcpServers\":{}}' "
                "> .mcp.json"),
        "");
    config_ = Read(w_ + "/.git/config");
    ASSERT_FALSE(config_.empty());
  }
  std::vector<Violation> Finish() const {
    const std::string text = AsUser([&] {
      std::string lines;
      for (const Violation& violation : RecoverKilledRuns(runs_))
        lines +=
            std::string(Name(violation.kind)) + '\t' + violation.detail + '\n';
      return lines;
    });
    std::vector<Violation> all;
    for (size_t at = 0; at < text.size();) {
      const size_t tab = text.find('\t', at), end = text.find('\n', at);
      const auto kind = ParseViolationKind(text.substr(at, tab - at));
      EXPECT_TRUE(kind) << text;
      all.push_back({kind.value_or(ViolationKind::kMore),
                     text.substr(tab + 1, end - tab - 1)});
      at = end + 1;
    }
    return all;
  }
  std::vector<std::string> Notes() const {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(runs_, error))
      if (entry.path().filename() != "lock")
        names.push_back(entry.path().filename());
    return names;
  }
  void ExpectAsBefore(const std::string& when) {
    EXPECT_EQ(Read(w_ + "/.mcp.json"), kServers) << when;
    EXPECT_EQ(Read(w_ + "/.git/config"), config_) << when;
    EXPECT_FALSE(Exists(w_ + "/.bashrc")) << when;
    EXPECT_FALSE(Exists(w_ + "/.envrc")) << when;
    EXPECT_FALSE(Exists(w_ + "/sub/.mcp.json")) << when;
  }
  // Until nothing of the run holds its streams any more.
  static std::string ReadToEnd(int fd) {
    const Result<std::string> text = ReadAll(fd, 1 << 20);
    return text ? *text : "";
  }

  std::string runs_, config_;
};
INSTANTIATE_TEST_SUITE_P(All, RunJournalTest, testing::ValuesIn(Everyone()),
                         WhoName);

constexpr char kAttack[] =
    "echo evil > .mcp.json; git config core.fsmonitor ./evil; echo evil > "
    ".bashrc; echo evil > .envrc; cp .mcp.json sub; echo done; ";

TEST_P(RunJournalTest, LeavesNoNoteBehind) {
  EXPECT_EQ(Bash("echo hi").outcome.exit_code, 0);
  EXPECT_EQ(Bash(kAttack).outcome.exit_code, 0);
  ExpectAsBefore("after a run that ended as it should");
  EXPECT_EQ(Notes(), std::vector<std::string>());
  EXPECT_TRUE(Finish().empty());
}

TEST_P(RunJournalTest, IsFinishedByTheNextGate) {
  int pipes[2];
  ASSERT_EQ(pipe2(pipes, O_CLOEXEC), 0);
  const Fd read_end(pipes[0]);
  Fd write_end(pipes[1]);
  const pid_t gate =
      Start({"/bin/bash", "-c", std::string(kAttack) + "sleep 1000"}, pipes[1]);
  write_end.reset();
  char byte = 0;
  ASSERT_EQ(read(read_end.get(), &byte, 1), 1);
  // A gate that starts while the first one lives leaves its run alone.
  EXPECT_TRUE(Finish().empty());
  EXPECT_EQ(Read(w_ + "/.bashrc"), "evil\n");
  ASSERT_EQ(kill(gate, SIGKILL), 0);
  ASSERT_EQ(waitpid(gate, nullptr, 0), gate);
  // native says whom to wait for.
  if (!Is("native")) ReadToEnd(read_end.get());
  ASSERT_EQ(Notes().size(), 1u);
  const std::vector<Violation> done = Finish();
  ExpectAsBefore("after the next gate");
  EXPECT_GE(done.size(), 4u);
  for (const Violation& violation : done)
    EXPECT_NE(violation.detail.find("(of a run whose gate was killed)"),
              std::string::npos)
        << violation.detail;
  if (Is("native")) {
    EXPECT_EQ(Notes(), std::vector<std::string>());
  }
}

TEST_P(RunJournalTest, HoldsWheneverGateIsKilled) {
  // More than a run makes: some rounds end by themselves.
  constexpr unsigned kChanges = 80;
  std::mt19937 random(testing::UnitTest::GetInstance()->random_seed());
  for (int round = 0; round < 25; ++round) {
    int pipes[2];
    ASSERT_EQ(pipe2(pipes, O_CLOEXEC), 0);
    const Fd read_end(pipes[0]);
    Fd write_end(pipes[1]);
    const test::DirectoryWatch watch({base_, w_, w_ + "/.git"});
    const pid_t gate =
        Start({"/bin/bash", "-c",
               "for i in 1 2 3; do " + std::string(kAttack) + "done"},
              pipes[1]);
    write_end.reset();
    watch.Await(random() % kChanges, gate);
    kill(gate, SIGKILL);
    ASSERT_EQ(waitpid(gate, nullptr, 0), gate);
    if (!Is("native")) ReadToEnd(read_end.get());
    Finish();
    ExpectAsBefore("in round " + std::to_string(round));
  }
}

// Gate takes a file away before it puts the old one back.
TEST_P(RunJournalTest, WhatAKilledGateHadInHandComesBack) {
  const std::string hook = w_ + "/.git/hooks/pre-commit";
  ASSERT_EQ(Outside("mkdir -p .git/hooks && printf 'hook\\n' > "
                    ".git/hooks/pre-commit && git config core.hooksPath "
                    ".git/hooks"),
            "");
  config_ = Read(w_ + "/.git/config");
  for (const std::string& rest :
       {std::string("-"), std::string(), std::string("[co")}) {
    AsUser([&]() -> std::string {
      ProtectedPaths protected_paths = ProtectedPaths::Snapshot(profile_, w_);
      if (!protected_paths.Note(profile_)) _exit(1);
      for (const std::string& path :
           {w_ + "/.git/config", w_ + "/.mcp.json", hook}) {
        unlink(path.c_str());
        if (rest != "-" && path.ends_with("config"))
          (void)WriteAll(
              Fd(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644))
                  .get(),
              rest);
      }
      _exit(0);  // without the destructor of ProtectedPaths
    });
    Finish();
    ExpectAsBefore("after " + rest);
    EXPECT_EQ(Read(hook), "hook\n");
  }
}

TEST_P(RunJournalTest, IsFinishedByOneGateWhileTheOthersWait) {
  int pipes[2];
  ASSERT_EQ(pipe2(pipes, O_CLOEXEC), 0);
  const Fd read_end(pipes[0]);
  Fd write_end(pipes[1]);
  const pid_t gate =
      Start({"/bin/bash", "-c", std::string(kAttack) + "sleep 1000"}, pipes[1]);
  write_end.reset();
  char byte = 0;
  ASSERT_EQ(read(read_end.get(), &byte, 1), 1);
  kill(gate, SIGKILL);
  ASSERT_EQ(waitpid(gate, nullptr, 0), gate);
  if (!Is("native")) ReadToEnd(read_end.get());
  std::vector<pid_t> others;
  for (int i = 0; i < 6; ++i) {
    const pid_t other = fork();
    if (other == 0) {
      Finish();
      _exit(Read(w_ + "/.git/config") == config_ && !Exists(w_ + "/.bashrc")
                ? 0
                : 1);
    }
    others.push_back(other);
  }
  for (const pid_t other : others) {
    int status = -1;
    ASSERT_EQ(waitpid(other, &status, 0), other);
    EXPECT_EQ(status, 0) << "went on before it was put back";
  }
}

TEST_P(RunJournalTest, StartsNothingThatCannotBeNoted) {
  Write(base_ + "/file", "");
  profile_.runs_dir = base_ + "/file/runs";
  const Ran ran = Bash("echo x > made");
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kSetupFailed);
  EXPECT_FALSE(Exists(w_ + "/made"));
}

TEST_P(RunJournalTest, IgnoresWhatIsNoNote) {
  MakeDirectory(runs_);
  Write(runs_ + "/strange", "gate.run-note/1\nshort\nend");
  ASSERT_EQ(symlink("/etc/passwd", (runs_ + "/link").c_str()), 0);
  ASSERT_EQ(mkfifo((runs_ + "/pipe").c_str(), 0600), 0);
  EXPECT_TRUE(Finish().empty());
  EXPECT_EQ(Bash("echo x > made").outcome.exit_code, 0);
}

}  // namespace
}  // namespace gate::backends
