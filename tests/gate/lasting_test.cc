// What lines leave in the background, by the real program. A process of a line
// and the test wait for each other at FIFOs of the workspace.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "lasting/lasting_runs.h"
#include "tests/support/hook_event.h"
#include "tests/support/machine.h"

namespace gate::test {
namespace {

constexpr int kPatienceMs = 20000;

class Fifo {
 public:
  explicit Fifo(const std::string& path) {
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0) << path;
    // Both ends: neither side waits for the other to open it.
    fd_ = Fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
  }
  void Put() const { EXPECT_EQ(write(fd_.get(), "x\n", 2), 2); }
  // A line that a process wrote; empty: none came.
  std::string Take() const {
    std::string text;
    for (char c = 0; c != '\n'; text += c) {
      pollfd ready = {fd_.get(), POLLIN, 0};
      if (poll(&ready, 1, kPatienceMs) != 1 || read(fd_.get(), &c, 1) != 1)
        return "";
    }
    return text;
  }

 private:
  Fd fd_;
};

class LastingTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasSandbox(machine_)) GTEST_SKIP() << "no sandbox works here";
    const Done probe =
        machine_.Gate({"sandbox", "--backend", "native", "--", "true"});
    if (probe.exit_code != 0 && !MustWork("native"))
      GTEST_SKIP() << "native does not work here: " << probe.err;
    ASSERT_EQ(probe.exit_code, 0) << probe.err;
    machine_.Run({"git", "init", "-q", machine_.project()});
    machine_.Write(machine_.project() + "/serve.sh", R"(exec 7>alive
echo up > up
while read word < go; do
  [ -e todo ] && . ./todo
  echo done > did
done
)");
    go_.emplace(machine_.project() + "/go");
    did_.emplace(machine_.project() + "/did");
    up_.emplace(machine_.project() + "/up");
    const std::string alive = machine_.project() + "/alive";
    ASSERT_EQ(mkfifo(alive.c_str(), 0600), 0);
    alive_ = Fd(open(alive.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  }
  void TearDown() override {
    for (const lasting::Entry& run : Running())
      EXPECT_TRUE(lasting::End(machine_.state(), run.id));
    if (go_) AwaitRecords();
  }

  std::vector<lasting::Entry> Running() const {
    auto running = lasting::ListRunning(machine_.state());
    EXPECT_TRUE(running) << running.error().message;
    return running ? std::move(*running) : std::vector<lasting::Entry>();
  }
  // Until no supervisor lives any more.
  void AwaitRecords() const {
    const std::string directory = machine_.state() + "/lasting";
    std::error_code none;
    for (const auto& entry :
         std::filesystem::directory_iterator(directory, none)) {
      const Fd file(open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
      if (file) flock(file.get(), LOCK_SH);
    }
  }
  // Nothing of the server is left: nobody writes to what it held.
  bool IsGone() const {
    pollfd end = {alive_.get(), POLLIN, 0};
    return poll(&end, 1, kPatienceMs) == 1 && (end.revents & POLLHUP) != 0;
  }
  bool IsAlive() const {
    pollfd end = {alive_.get(), POLLIN, 0};
    return poll(&end, 1, 0) == 0;
  }
  Done Line(const std::string& line) const {
    return machine_.Gate({"run", "--backend", "native", "-c", line});
  }
  // Runs `line`, which starts serve.sh, and waits until that is there.
  Done Start(const std::string& line) const {
    Done done = Line(line);
    EXPECT_EQ(up_->Take(), "up\n") << line << done.err;
    return done;
  }
  // Lets the server do `commands`.
  void Do(const std::string& commands) const {
    machine_.Write(machine_.project() + "/todo", commands);
    go_->Put();
    EXPECT_EQ(did_->Take(), "done\n") << commands;
  }
  void Stop() const {
    machine_.Write(machine_.project() + "/todo", "exit");
    go_->Put();
  }
  std::vector<Json> Records(const std::string& of) const {
    std::vector<Json> found;
    const std::string text =
        machine_.Gate({"audit", "list", "-n", "100", "--json"}).out;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      if (auto json = ParseJson(text.substr(at, end - at));
          json && json->value("parent", "") == of)
        found.insert(found.begin(), std::move(*json));
      at = end + 1;
    }
    return found;
  }
  std::string Config() const {
    return machine_.Read(machine_.project() + "/.git/config");
  }

  static constexpr const char* kServe = "bash serve.sh > log 2>&1 & ";

  Machine machine_;
  std::optional<Fifo> go_, did_, up_;
  Fd alive_;
};

TEST_F(LastingTest, AServerOutlivesItsLineAndTheNextLineSeesWhatItWrote) {
  const Done done = Start(std::string(kServe) + "echo started; exit 3");
  EXPECT_EQ(done.exit_code, 3) << done.err;
  EXPECT_EQ(done.out, "started\n");
  EXPECT_EQ(done.err, "");
  EXPECT_TRUE(IsAlive());
  const auto running = Running();
  ASSERT_EQ(running.size(), 1u);
  const std::string id = running[0].id;
  EXPECT_EQ(running[0].workspace, machine_.project());
  EXPECT_EQ(running[0].exit_code, 3);
  // What the line came to is on record, what the run did is not.
  std::vector<Json> records = Records(id);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0]["kind"], "note");
  EXPECT_EQ(records[0]["status"], "lasts");
  EXPECT_EQ(records[0]["exit"], 3);
  Do("echo late > late");
  EXPECT_EQ(Line("cat late; touch late2").out, "late\n");
  Do("cat late2 && echo seen > seen");
  EXPECT_TRUE(machine_.Exists(machine_.project() + "/seen"));
  Stop();
  EXPECT_TRUE(IsGone());
  AwaitRecords();
  records = Records(id);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1]["kind"], "outcome");
  EXPECT_EQ(records[1]["status"], "exited");
  EXPECT_EQ(records[1]["exit"], 3);
  EXPECT_EQ(records[1]["detail"]["left_end"], "ended by itself");
  EXPECT_TRUE(Running().empty());
  EXPECT_EQ(machine_.Gate({"audit", "verify"}).exit_code, 0);
}

TEST_F(LastingTest, HoldsNothingOfWhoeverCalledGate) {
  // Whoever reads the line's output reads its end, on each descriptor.
  const std::string gate = GateBinary() + " run --backend native -c '" +
                           std::string(kServe) + "true' ";
  const Done done = machine_.Run({"bash", "-c", gate + "3>&1 9>&2"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(up_->Take(), "up\n");
  const auto running = Running();
  ASSERT_EQ(running.size(), 1u);
  const std::string own =
      "/proc/" + std::to_string(running[0].supervisor) + "/fd/";
  for (const char* fd : {"0", "1", "2"})
    EXPECT_EQ(std::filesystem::read_symlink(own + fd), "/dev/null");
  EXPECT_EQ(std::filesystem::read_symlink(
                "/proc/" + std::to_string(running[0].supervisor) + "/cwd"),
            "/");
}

TEST_F(LastingTest, HoweverTheLineSendsItToTheBackground) {
  for (const char* line :
       {"bash serve.sh > log 2>&1 &", "nohup bash serve.sh > log 2>&1 &",
        "setsid bash serve.sh > log 2>&1 &",
        "setsid -f bash serve.sh > log 2>&1", "(bash serve.sh > log 2>&1 &)",
        "( (bash serve.sh > log 2>&1 &) & ); true",
        "bash -c 'bash serve.sh > log 2>&1 & true'",
        "bash serve.sh > log 2>&1 & disown; echo x | cat",
        "for i in $(seq 50); do tail -f /dev/null & done > log 2>&1; "
        "bash serve.sh > log 2>&1 &"}) {
    const Done done = Start(line);
    EXPECT_EQ(done.exit_code, 0) << line << done.err;
    const auto running = Running();
    ASSERT_EQ(running.size(), 1u) << line;
    EXPECT_TRUE(IsAlive()) << line;
    EXPECT_TRUE(lasting::End(machine_.state(), running[0].id));
    EXPECT_TRUE(IsGone()) << line;
    AwaitRecords();
    const auto records = Records(running[0].id);
    ASSERT_EQ(records.size(), 2u) << line;
    EXPECT_EQ(records[1]["detail"]["left_end"],
              "ended: gate was told to end it");
  }
}

TEST_F(LastingTest, WhatEndsWithItsLineIsRecordedAtOnce) {
  for (const char* line :
       {"true & wait", "yes | head -1", "(true); seq 9 | cat",
        "sleep 50 & kill $!; wait", "nohup true > log 2>&1"}) {
    const Done done = Line(line);
    EXPECT_EQ(done.exit_code, 0) << line << done.err;
    EXPECT_TRUE(Running().empty()) << line;
  }
}

// The next raw line must not meet what a leftover process put in its way.
TEST_F(LastingTest, WhatIsProtectedIsPutBackBeforeTheNextRawLine) {
  const std::string before = Config();
  Start(kServe);
  const std::string id = Running().at(0).id;
  Do("git config core.fsmonitor ./evil; mkdir .vscode; echo x > "
     ".vscode/tasks.json");
  EXPECT_NE(Config(), before);
  // A client's hook lets it run without a word.
  const std::string event = BashEvent(machine_.project(), "ls");
  const Done hook = machine_.Gate({"hook", "claude"}, event);
  EXPECT_EQ(hook.exit_code, 0) << hook.err;
  EXPECT_EQ(hook.out, "");
  EXPECT_EQ(Config(), before);
  EXPECT_FALSE(machine_.Exists(machine_.project() + "/.vscode"));
  auto records = Records(id);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1]["kind"], "note");
  EXPECT_EQ(records[1]["status"], "violation");
  EXPECT_EQ(records[1]["detail"]["violations"].size(), 2u);
  // It goes on and does it again: gate's own raw line looks, too.
  EXPECT_TRUE(IsAlive());
  Do("git config core.fsmonitor ./again");
  const Done raw = machine_.Gate({"run", "-c", "ls"});
  EXPECT_EQ(raw.exit_code, 0);
  EXPECT_NE(raw.err.find("of run " + id + ", which goes on"), std::string::npos)
      << raw.err;
  EXPECT_EQ(Config(), before);
  // And at its end.
  machine_.Write(machine_.project() + "/todo",
                 "git config core.fsmonitor ./last; exit");
  go_->Put();
  EXPECT_TRUE(IsGone());
  AwaitRecords();
  EXPECT_EQ(Config(), before);
  records = Records(id);
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[3]["kind"], "outcome");
  EXPECT_EQ(records[3]["detail"]["violations"].size(), 1u);
}

TEST_F(LastingTest, WhatIsProtectedIsPutBackWhenTheLineEnds) {
  const std::string before = Config();
  Start(kServe);
  machine_.Write(machine_.project() + "/evil.sh",
                 "git config core.fsmonitor ./evil; mkdir .vscode; echo x > "
                 ".vscode/tasks.json\n");
  const Done evil = Line("tail -f /dev/null > log 2>&1 & bash evil.sh");
  EXPECT_NE(evil.err.find("core.fsmonitor"), std::string::npos) << evil.err;
  EXPECT_EQ(Config(), before);
  EXPECT_FALSE(machine_.Exists(machine_.project() + "/.vscode"));
  EXPECT_EQ(Running().size(), 2u);
}

// Between the look and the line a process could still write what git obeys.
TEST_F(LastingTest, GitIsContainedWhileSomethingCanWriteItsRepository) {
  const auto planned = [&] {
    const auto json =
        ParseJson(machine_.Gate({"check", "--json", "-c", "git status"}).out);
    return json ? json->value("action", "") : "";
  };
  EXPECT_EQ(planned(), "allow");
  Start(kServe);
  EXPECT_EQ(planned(), "sandbox");
  const Done status = machine_.Gate({"run", "-c", "git status --short"});
  EXPECT_EQ(status.exit_code, 0) << status.err;
  EXPECT_EQ(status.err, "");
  Stop();
  EXPECT_TRUE(IsGone());
  AwaitRecords();
  EXPECT_EQ(planned(), "allow");
}

TEST_F(LastingTest, AKilledKeeperTakesAllOfItAlongAndTheNextLineFinishes) {
  const std::string before = Config();
  Start(std::string(kServe) + "exit 5");
  const lasting::Entry run = Running().at(0);
  Do("git config core.fsmonitor ./evil");
  ASSERT_EQ(kill(run.supervisor, SIGKILL), 0);
  EXPECT_TRUE(IsGone());
  AwaitRecords();
  EXPECT_EQ(Records(run.id).size(), 1u);
  const Done next = machine_.Gate({"run", "-c", "ls"});
  EXPECT_NE(next.err.find("core.fsmonitor"), std::string::npos) << next.err;
  EXPECT_EQ(Config(), before);
  const auto records = Records(run.id);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1]["kind"], "outcome");
  EXPECT_EQ(records[1]["exit"], 5);
  EXPECT_EQ(records[1]["detail"]["left_end"], "ended: its keeper was killed");
  EXPECT_EQ(records[1]["detail"]["violations"].size(), 1u);
  EXPECT_TRUE(Running().empty());
  EXPECT_EQ(machine_.Gate({"run", "-c", "ls"}).err, "");
}

TEST_F(LastingTest, AKilledLineStillTakesAllOfItAlong) {
  const pid_t gate = fork();
  if (gate == 0) {
    for (const std::string& entry :
         {"HOME=" + machine_.home(), std::string("XDG_STATE_HOME="),
          std::string("XDG_CONFIG_HOME=")})
      putenv(strdup(entry.c_str()));
    if (chdir(machine_.project().c_str()) != 0) _exit(1);
    const std::string line = std::string(kServe) + "tail -f /dev/null";
    execl(GateBinary().c_str(), "gate", "run", "--backend", "native", "-c",
          line.c_str(), nullptr);
    _exit(1);
  }
  EXPECT_EQ(up_->Take(), "up\n");
  kill(gate, SIGKILL);
  waitpid(gate, nullptr, 0);
  EXPECT_TRUE(IsGone());
  EXPECT_TRUE(Running().empty());
}

TEST_F(LastingTest, LimitsGoOnCounting) {
  machine_.Write(machine_.home() + "/.config/gate/config.json",
                 R"({"limits": {"memory_bytes": 268435456}})", 0600);
  Start(kServe);
  std::string id = Running().at(0).id;
  machine_.Write(machine_.project() + "/todo",
                 "python3 -c 'a = bytearray(1 << 29); a[::4096] = b\"x\" * "
                 "len(a[::4096])'");
  go_->Put();
  AwaitRecords();
  EXPECT_TRUE(IsGone());
  auto records = Records(id);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1]["exit"], 0);
  std::string end = records[1]["detail"]["left_end"];
  EXPECT_NE(end.find("memory"), std::string::npos) << end;
  machine_.Write(machine_.home() + "/.config/gate/config.json",
                 R"({"limits": {"wall_ms": 5000}})", 0600);
  Start(kServe);
  id = Running().at(0).id;
  AwaitRecords();
  EXPECT_TRUE(IsGone());
  records = Records(id);
  ASSERT_EQ(records.size(), 2u);
  end = records[1]["detail"]["left_end"];
  EXPECT_NE(end.find("wall clock"), std::string::npos) << end;
}

TEST_F(LastingTest, OtherwiseItEndsWithTheLine) {
  const auto ended = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> words = arguments;
    words.insert(words.end(), {"-c", std::string(kServe) + "head -1 < up"});
    const Done done = machine_.Gate(words);
    EXPECT_EQ(done.out, "up\n") << done.err;
    EXPECT_TRUE(IsGone());
    EXPECT_TRUE(Running().empty());
    return done.err;
  };
  EXPECT_NE(ended({"sandbox", "--backend", "native"}).find("ended with it"),
            std::string::npos);
  const std::string config = machine_.home() + "/.config/gate/config.json";
  for (const char* setting : {R"({"limits": {"output_bytes": 100000}})",
                              R"({"report_blocked": true})"}) {
    machine_.Write(config, setting, 0600);
    EXPECT_NE(ended({"run", "--backend", "native"}).find("ended with it"),
              std::string::npos)
        << setting;
  }
}

TEST_F(LastingTest, ALaterLineOfTheSessionSignalsItByItsNumber) {
  const auto line = [&](const char* session, const std::string& text) {
    return machine_.Gate(
        {"run", "--backend", "native", "--session", session, "-c", text});
  };
  line("A", std::string(kServe) + "echo $! > pid");
  ASSERT_EQ(up_->Take(), "up\n");
  const pid_t other = fork();
  if (other == 0) {
    while (true) pause();
  }
  const struct {
    const char* what;
    const char* session;
    std::string text;
  } kRefused[] = {
      {"another session", "B", "kill $(cat pid)"},
      {"another number", "A", "kill 4194304"},
      {"a process of the machine", "A", "kill " + std::to_string(other)},
      {"its process 1", "A", "kill -9 1"},
      {"all of a group", "A", "kill -- -$(cat pid)"},
  };
  for (const auto& c : kRefused) {
    EXPECT_NE(line(c.session, c.text).exit_code, 0) << c.what;
    EXPECT_TRUE(IsAlive()) << c.what;
    EXPECT_EQ(waitpid(other, nullptr, WNOHANG), 0) << c.what;
  }
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  const Done done = line("A", "kill -0 $(cat pid) && kill $(cat pid)");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.err, "");
  EXPECT_TRUE(IsGone());
}

// What one that is still running has is its own.
TEST_F(LastingTest, ALineThatRunsIsNotSignalledByAnother) {
  const auto line = [&](const std::string& text) {
    return machine_.Gate(
        {"run", "--backend", "native", "--session", "A", "-c", text});
  };
  EXPECT_EQ(line("sleep 600 > /dev/null 2>&1 &").exit_code, 0);
  ASSERT_EQ(Running().size(), 1u);
  std::thread foreground(
      [&] { line(std::string(kServe) + "echo $! > pid; wait"); });
  EXPECT_EQ(up_->Take(), "up\n");
  EXPECT_NE(line("kill $(cat pid)").exit_code, 0);
  EXPECT_TRUE(IsAlive());
  Stop();
  foreground.join();
}

TEST_F(LastingTest, RunsThatOverlapAreEachFinished) {
  const std::string before = Config();
  for (int round = 0; round < 5; ++round) {
    Start(kServe);
    for (int i = 0; i < 4; ++i) {
      const Done more = Line("tail -f /dev/null > /dev/null 2>&1 &");
      EXPECT_EQ(more.exit_code, 0) << more.err;
    }
    const auto running = Running();
    ASSERT_EQ(running.size(), 5u);
    Do("git config core.fsmonitor ./evil; mkdir -p deep/.vscode; echo x > "
       "deep/.vscode/tasks.json");
    // The server's own run ends neither first nor last.
    for (const size_t i : {1u, 0u, 3u, 2u, 4u})
      EXPECT_TRUE(lasting::End(machine_.state(), running[i].id));
    AwaitRecords();
    EXPECT_TRUE(IsGone());
    EXPECT_EQ(Config(), before);
    EXPECT_FALSE(machine_.Exists(machine_.project() + "/deep/.vscode"));
    for (const lasting::Entry& run : running)
      EXPECT_EQ(Records(run.id).size(), 2u);
  }
  machine_.Gate({"run", "-c", "touch x"});
  // No note and no entry stays behind.
  for (const char* directory : {"/runs", "/lasting"})
    for (const auto& entry :
         std::filesystem::directory_iterator(machine_.state() + directory))
      EXPECT_EQ(entry.path().filename(), "lock");
}

}  // namespace
}  // namespace gate::test
