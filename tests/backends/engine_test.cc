// docker, podman and gvisor: the words they are given, and real runs where
// tests/tools/with-engines has set engines up.
#include "backends/engine_backend.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "backends/guardian.h"
#include "base/file.h"
#include "tests/backends/engines.h"

namespace gate::backends {
namespace {

bool Has(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

TEST(ContainerArguments, TakeEveryPrivilegeAway) {
  ContainerInputs inputs;
  inputs.name = "gate-x";
  inputs.image = "base";
  inputs.uid = 7;
  inputs.gid = 8;
  inputs.cwd = "/w";
  inputs.roots = {"/usr"};
  inputs.limits.processes = 20;
  inputs.limits.memory_bytes = 1000;
  const auto words = ContainerArguments(inputs);
  ASSERT_TRUE(words);
  for (const char* word :
       {"--cap-drop=ALL", "--security-opt=no-new-privileges", "--read-only",
        "--network=none", "--ipc=private", "--pull=never", "--user=7:8",
        "--pids-limit=21", "--memory=1000", "--memory-swap=1000",
        "--workdir=/w",
        "--mount=type=bind,source=/usr,target=/usr,readonly,"
        "bind-nonrecursive=true"})
    EXPECT_TRUE(Has(*words, word)) << word;
  EXPECT_EQ(words->back(), "base");
}

TEST(ContainerArguments, QuotePathsAndRefuseLineBreaks) {
  ContainerInputs inputs;
  ViewMount mount;
  mount.kind = MountKind::kShown;
  mount.target = "/a,readonly \"b\"";
  inputs.view.mounts = {mount};
  auto words = ContainerArguments(inputs);
  ASSERT_TRUE(words);
  EXPECT_TRUE(Has(*words,
                  "--mount=type=bind,\"source=/a,readonly \"\"b\"\"\","
                  "\"target=/a,readonly \"\"b\"\"\""));
  inputs.view.mounts[0].target = "/a\nb";
  EXPECT_FALSE(ContainerArguments(inputs));
}

TEST(EngineBackend, IsNotThereWithoutAClientOrItsSocket) {
  Engine engine = Docker();
  engine.paths = {"/nonexistent/docker"};
  EXPECT_FALSE(MakeEngineBackend(engine)->Probe().available);
  engine = Docker();
  engine.socket = "/nonexistent/docker.sock";
  const Availability found = MakeEngineBackend(engine)->Probe();
  EXPECT_FALSE(found.available);
}

TEST(EngineBackend, AnEngineElsewhereIsNotTaken) {
  for (const char* host : {"tcp://10.0.0.1:2375", "ssh://me@host",
                           "npipe:////./pipe/docker", "nonsense"}) {
    setenv("DOCKER_HOST", host, 1);
    const Availability found = MakeEngineBackend(Docker())->Probe();
    EXPECT_FALSE(found.available) << host;
    // Where docker's client is installed.
    if (found.why.find("installed") == std::string::npos) {
      EXPECT_NE(found.why.find("does not have these files"), std::string::npos)
          << found.why;
    }
  }
  unsetenv("DOCKER_HOST");
}

class EngineTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (MustSkip(GetParam()))
      GTEST_SKIP() << GetParam() << ": run with tests/tools/with-engines";
    std::string pattern = "/srv/gate-engine-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    base_ = pattern;
    w_ = base_ + "/work, space";
    for (const char* name_of : {"/work, space", "/outside", "/home/.ssh"})
      ASSERT_TRUE(MakeDirectories(base_ + name_of, 0755));
    Write(base_ + "/outside/existing", "before\n");
    Write(base_ + "/home/.ssh/id", "CANARY\n");
    Write(w_ + "/file", "in the workspace\n");
    profile_.write = {w_};
    profile_.workspace = w_;
    profile_.deny_read = {base_ + "/home/.ssh"};
    profile_.environment_set = {{"X", base_ + "/outside"},
                                {"H", base_ + "/home"}};
  }
  void TearDown() override {
    if (!base_.empty()) std::filesystem::remove_all(base_);
  }
  void Write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }
  std::string Read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  Outcome Bash(const std::string& line) {
    return Run({"/bin/bash", "-c", line});
  }
  Outcome Run(const std::vector<std::string>& argv) {
    const Fd out(open((base_ + "/log").c_str(),
                      O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const Fd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
    Command command;
    command.permit = Permit::Given();
    command.argv = argv;
    command.cwd = w_;
    command.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "KEPT=a b\nc"};
    const Outcome outcome =
        MakeTestEngine(GetParam())
            ->Run(profile_, command, {null.get(), out.get(), out.get()});
    output_ = Read(base_ + "/log");
    return outcome;
  }
  std::string Containers() { return LeftBy(GetParam()); }

  Profile profile_;
  std::string base_, w_, output_;
};
INSTANTIATE_TEST_SUITE_P(All, EngineTest,
                         testing::Values("docker", "podman", "gvisor"),
                         [](const auto& one) { return one.param; });

TEST_P(EngineTest, RunsTheHostsToolsAndPassesTheEndOn) {
  const Outcome outcome = Bash(
      "echo \"$KEPT\"; git --version >/dev/null && echo err >&2; "
      "cat file; exit 7");
  ASSERT_EQ(outcome.status, OutcomeStatus::kExited)
      << outcome.reason << output_;
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_NE(output_.find("a b\nc\n"), std::string::npos) << output_;
  EXPECT_NE(output_.find("err\n"), std::string::npos);
  EXPECT_NE(output_.find("in the workspace\n"), std::string::npos);
  EXPECT_EQ(Bash("exit 125").exit_code, 125);
  const Outcome missing = Run({"no-such-program"});
  EXPECT_TRUE(missing.not_found) << missing.reason;
  EXPECT_EQ(Containers(), "");
}

TEST_P(EngineTest, TouchesNothingButTheWorkspace) {
  const Outcome outcome = Bash(
      "echo x > made; echo x > \"$X/new\"; echo x >> \"$X/existing\"; chmod "
      "777 \"$X/existing\"; rm -rf \"$X\"; cat \"$H/.ssh/id\"; ls -A /tmp; "
      "echo x > /usr/x; mount -t tmpfs none /mnt; kill -9 -1; grep CapEff "
      "/proc/self/status; cat /sys/class/net/*/address; exit 0");
  ASSERT_EQ(outcome.status, OutcomeStatus::kExited)
      << outcome.reason << output_;
  EXPECT_EQ(Read(w_ + "/made"), "x\n");
  EXPECT_EQ(Read(base_ + "/outside/existing"), "before\n");
  struct stat info = {};
  ASSERT_EQ(stat((base_ + "/outside/existing").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0644u);
  EXPECT_FALSE(std::filesystem::exists(base_ + "/outside/new"));
  EXPECT_FALSE(std::filesystem::exists("/usr/x"));
  EXPECT_EQ(output_.find("CANARY"), std::string::npos);
  EXPECT_NE(output_.find("CapEff:\t0000000000000000"), std::string::npos)
      << output_;
}

TEST_P(EngineTest, HoldsProtectedPaths) {
  ASSERT_TRUE(MakeDirectories(w_ + "/.git/hooks", 0755));
  Write(w_ + "/.bashrc", "before\n");
  profile_.protect_names = {".bashrc", ".envrc"};
  profile_.quarantine_dir = base_ + "/quarantine";
  const Outcome outcome = Bash(
      "echo x > .bashrc; rm -f .bashrc; mv .git .g; echo x > "
      ".git/hooks/pre-commit; echo x > .envrc; exit 0");
  ASSERT_EQ(outcome.status, OutcomeStatus::kExited)
      << outcome.reason << output_;
  EXPECT_EQ(Read(w_ + "/.bashrc"), "before\n");
  EXPECT_FALSE(std::filesystem::exists(w_ + "/.git/hooks/pre-commit"));
  EXPECT_FALSE(std::filesystem::exists(w_ + "/.envrc"));
  EXPECT_FALSE(outcome.violations.empty());
}

TEST_P(EngineTest, EndsAtTheWallClockAndLeavesNothing) {
  profile_.limits.wall_ms = 3000;
  const Outcome outcome = Bash("trap '' TERM; while :; do sleep 1; done");
  EXPECT_EQ(outcome.status, OutcomeStatus::kTimeout) << outcome.reason;
  EXPECT_EQ(Containers(), "");
}

TEST_P(EngineTest, TheContainerEndsWithGate) {
  const pid_t gate = fork();
  if (gate == 0) {
    Bash("echo up > up; while :; do sleep 1; done");
    _exit(0);
  }
  for (int i = 0; i < 600 && !std::filesystem::exists(w_ + "/up"); ++i)
    usleep(50000);
  ASSERT_TRUE(std::filesystem::exists(w_ + "/up"));
  kill(gate, SIGKILL);
  waitpid(gate, nullptr, 0);
  std::string left = "?";
  for (int i = 0; i < 600 && !left.empty(); ++i) {
    usleep(50000);
    left = Containers();
  }
  EXPECT_EQ(left, "");
}

TEST_P(EngineTest, WhatADeadRunLeftIsRemovedByTheNext) {
  ASSERT_EQ(Bash("true").exit_code, 0);  // makes the image
  const pid_t dead = fork();
  if (dead == 0) _exit(0);
  waitpid(dead, nullptr, 0);
  const std::string self = OwnerTag();
  const std::string space = self.substr(0, self.find('-') + 1);
  LeaveBehind(GetParam(), space + std::to_string(dead));
  LeaveBehind(GetParam(), "1-" + std::to_string(dead));  // not this namespace
  LeaveBehind(GetParam(), space + std::to_string(getppid()));  // lives
  const auto count = [&] {
    const std::string left = Containers();
    return std::ranges::count(left, '\n');
  };
  ASSERT_EQ(count(), 3) << Containers();
  ASSERT_EQ(Bash("true").exit_code, 0);
  EXPECT_EQ(count(), 2) << Containers();
  EXPECT_EQ(Containers().find(space + std::to_string(dead)), std::string::npos);
  RemoveLeft(GetParam());
}

}  // namespace
}  // namespace gate::backends
