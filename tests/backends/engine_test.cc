// docker, podman and gvisor: the words they are given, and real runs where
// tests/tools/with-engines has set engines up.
#include "backends/engines/backend.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "backends/engine_image.h"
#include "backends/protect/cleanup_watchdog.h"
#include "base/file.h"
#include "tests/support/engines.h"
#include "tests/support/files.h"
#include "tests/support/must_work.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/wait.h"

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

TEST(EngineBackend, SaysWhatToDoWhereNoEngineAnswers) {
  Engine engine = Docker();
  engine.paths = {"/bin/true"};
  engine.socket = "/nonexistent/docker.sock";
  const std::string why = MakeEngineBackend(engine)->Probe().why;
  EXPECT_NE(why.find("/nonexistent/docker.sock"), std::string::npos) << why;
  EXPECT_NE(why.find("daemon does not run"), std::string::npos) << why;
}

// An agent may set variables for what it starts, gate's client among them.
TEST(EngineClient, GetsNothingOfTheCallersEnvironment) {
  for (const char* name : {"HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME",
                           "CONTAINERS_CONF", "PATH", "DOCKER_CONFIG"})
    setenv(name, "/evil", 1);
  for (const std::string& entry : ClientEnvironment())
    EXPECT_EQ(entry.find("evil"), std::string::npos) << entry;
  for (const char* name :
       {"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "CONTAINERS_CONF"})
    unsetenv(name);
  setenv("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", 1);
  setenv("HOME", "/root", 1);
}

TEST(EngineClient, ASocketThatTheCommandMayMakeIsNotTrusted) {
  const TemporaryDirectory directory("/srv");
  const std::string& place = directory.path();
  const std::string path = directory / "docker.sock";
  const Fd made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, path.c_str(), path.size());
  ASSERT_EQ(
      bind(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)),
      0);
  Engine engine;
  engine.name = "docker";
  engine.socket = path;
  const EngineClient client(engine);
  Profile profile;
  EXPECT_EQ(client.Distrust(profile), "");
  profile.workspace = place;
  EXPECT_NE(client.Distrust(profile), "");
  profile.workspace.clear();
  profile.write = {place};
  EXPECT_NE(client.Distrust(profile), "");
  profile.write = {"/"};
  EXPECT_EQ(client.Distrust(profile), "");
  if (geteuid() == 0) {
    ASSERT_EQ(lchown(path.c_str(), 65534, 65534), 0);
    EXPECT_NE(client.Distrust({}), "");
  }
}

TEST(Images, AreNamedByWhatTheyHold) {
  const std::string digest = "sha256:" + std::string(64, 'a');
  for (const std::string& good :
       {digest, "debian@" + digest, "docker.io/library/debian@" + digest,
        "localhost:5000/a_b/c-d:12@" + digest})
    EXPECT_TRUE(IsPinnedImage(good)) << good;
  for (const std::string& bad :
       {std::string(), std::string("debian"), std::string("debian:12"),
        "@" + digest, "-x@" + digest, "--privileged@" + digest, "a b@" + digest,
        "debian@" + digest + "0", "debian@sha256:" + std::string(63, 'a'),
        "debian@sha256:" + std::string(64, 'A'), "debian" + digest,
        "debian@sha512:" + std::string(64, 'a'), "a\n@" + digest,
        std::string(600, 'a') + "@" + digest})
    EXPECT_FALSE(IsPinnedImage(bad)) << bad;
}

ViewMount MountAt(MountKind kind, const std::string& target, bool read_only) {
  ViewMount mount;
  mount.kind = kind;
  mount.target = target;
  mount.read_only = read_only;
  return mount;
}

TEST(Images, HaveOnlyWhatIsTheCommandsOfTheHost) {
  View view;
  view.mounts = {MountAt(MountKind::kDevices, "/dev", true),
                 MountAt(MountKind::kFresh, "/tmp", false),
                 MountAt(MountKind::kHidden, "/home/u/.ssh", true),
                 MountAt(MountKind::kShown, "/etc/resolv.conf", true),
                 MountAt(MountKind::kShown, "/srv", false),
                 MountAt(MountKind::kHidden, "/srv/secret", true),
                 MountAt(MountKind::kBind, "/srv/.bashrc", true),
                 MountAt(MountKind::kBind, "/other/.bashrc", true)};
  const Result<View> left = FlatView(view, "/srv", "/srv");
  ASSERT_TRUE(left);
  std::vector<std::string> targets;
  for (const ViewMount& mount : left->mounts) targets.push_back(mount.target);
  EXPECT_EQ(targets, (std::vector<std::string>{"/dev", "/tmp", "/srv",
                                               "/srv/secret", "/srv/.bashrc"}));
  EXPECT_FALSE(FlatView(view, "/srv", "/usr"));
  // A workspace that is not written is there all the same, read-only.
  view.mounts = {MountAt(MountKind::kFresh, "/tmp", false),
                 MountAt(MountKind::kBind, "/srv/.git", true)};
  const Result<View> read_only = FlatView(view, "/srv", "/srv");
  ASSERT_TRUE(read_only);
  ASSERT_EQ(read_only->mounts.size(), 3u);
  EXPECT_EQ(read_only->mounts[1].target, "/srv");
  EXPECT_TRUE(read_only->mounts[1].read_only);
  view.write_everything = true;
  EXPECT_FALSE(FlatView(view, "/srv", "/srv"));
}

TEST(ContainerArguments, AConfiguredImageStartsNothingOfItsOwn) {
  ContainerInputs inputs;
  inputs.configured = true;
  inputs.init = "/usr/bin/tini";
  inputs.image = "sha256:1";
  inputs.roots = {"/usr"};
  auto words = ContainerArguments(inputs);
  ASSERT_TRUE(words);
  for (const char* word : {"--entrypoint=", "--no-healthcheck", "--init",
                           "--pull=never", "--cap-drop=ALL"})
    EXPECT_TRUE(Has(*words, word)) << word;
  EXPECT_EQ(words->back(), "sha256:1");
  for (const std::string& word : *words)
    EXPECT_EQ(word.find("source=/usr"), std::string::npos) << word;
  inputs.podman = true;
  words = ContainerArguments(inputs);
  ASSERT_TRUE(words);
  EXPECT_TRUE(Has(*words, "--image-volume=ignore"));
  EXPECT_TRUE(Has(*words, "--init-path=/usr/bin/tini"));
}

class EngineTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (MustSkip(GetParam()))
      GTEST_SKIP() << GetParam() << ": run with tests/tools/with-engines";
    ASSERT_EQ(chmod(base_.c_str(), 0755), 0);
    w_ = base_ + "/work, space";
    for (const char* name_of : {"/work, space", "/outside", "/home/.ssh"})
      ASSERT_TRUE(MakeDirectories(base_ + name_of, 0755));
    test::WriteText(base_ + "/outside/existing", "before\n");
    test::WriteText(base_ + "/home/.ssh/id", "CANARY\n");
    test::WriteText(w_ + "/file", "in the workspace\n");
    profile_.write = {w_};
    profile_.workspace = w_;
    profile_.deny_read = {base_ + "/home/.ssh"};
    profile_.environment_set = {{"X", base_ + "/outside"},
                                {"H", base_ + "/home"}};
  }
  Outcome Bash(const std::string& line) {
    return Run({"/bin/bash", "-c", line});
  }
  // `in`: what stdin gives, with pauses; else nothing.
  Outcome Run(const std::vector<std::string>& argv, int in = -1) {
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
            ->Run(profile_, command,
                  {in >= 0 ? in : null.get(), out.get(), out.get()});
    output_ = test::ReadText(base_ + "/log");
    return outcome;
  }
  std::string Containers() { return LeftBy(GetParam()); }

  Profile profile_;
  const TemporaryDirectory made_{"/srv"};
  const std::string base_ = made_.path();
  std::string w_, output_;
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
  EXPECT_EQ(test::ReadText(w_ + "/made"), "x\n");
  EXPECT_EQ(test::ReadText(base_ + "/outside/existing"), "before\n");
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
  test::WriteText(w_ + "/.bashrc", "before\n");
  profile_.protect_names = {".bashrc", ".envrc"};
  profile_.quarantine_dir = base_ + "/quarantine";
  const Outcome outcome = Bash(
      "echo x > .bashrc; rm -f .bashrc; mv .git .g; echo x > "
      ".git/hooks/pre-commit; echo x > .envrc; exit 0");
  ASSERT_EQ(outcome.status, OutcomeStatus::kExited)
      << outcome.reason << output_;
  EXPECT_EQ(test::ReadText(w_ + "/.bashrc"), "before\n");
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
  test::WaitUntil([&] {
    return std::filesystem::exists(w_ + "/up") ||
           waitpid(gate, nullptr, WNOHANG) != 0;
  });
  ASSERT_TRUE(std::filesystem::exists(w_ + "/up"));
  kill(gate, SIGKILL);
  waitpid(gate, nullptr, 0);
  EXPECT_TRUE(test::WaitUntil([this] { return Containers().empty(); }));
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

TEST_P(EngineTest, PassesSignalsOfTheCommandOnAsShellsDo) {
  EXPECT_EQ(Bash("kill -KILL $BASHPID").exit_code, 128 + SIGKILL);
  EXPECT_EQ(Bash("bash -c 'kill -TERM $$'").exit_code, 128 + SIGTERM);
  EXPECT_EQ(Bash("./file").exit_code, 126);
  EXPECT_EQ(Bash("no-such-program").exit_code, 127);
}

TEST_P(EngineTest, StreamsEveryByteAsItComes) {
  // Each line is answered before the next one is sent.
  int to[2];
  ASSERT_EQ(pipe2(to, O_CLOEXEC), 0);
  const std::string answer = w_ + "/answer";
  const pid_t writer = fork();
  if (writer == 0) {
    (void)!write(to[1], "one\n", 4);
    const pid_t parent = getppid();
    test::WaitUntil(
        [&] { return std::filesystem::exists(answer) || getppid() != parent; });
    (void)!write(to[1], "two\n", 4);
    _exit(0);
  }
  close(to[1]);
  const Fd in(to[0]);
  const Outcome outcome = Run(
      {"/bin/bash", "-c", "read a; echo $a > answer; cat; echo end"}, in.get());
  waitpid(writer, nullptr, 0);
  EXPECT_EQ(outcome.status, OutcomeStatus::kExited) << outcome.reason;
  EXPECT_EQ(test::ReadText(answer), "one\n");
  EXPECT_EQ(output_, "two\nend\n");

  const Outcome large = Bash(
      "head -c 3000000 /dev/zero | tr '\\0' '\\377'; printf '\\0\\n\\xfe'");
  EXPECT_EQ(large.exit_code, 0) << large.reason;
  ASSERT_EQ(output_.size(), 3000003u);
  EXPECT_EQ(output_.substr(0, 3000000), std::string(3000000, '\xff'));
  EXPECT_EQ(output_.substr(3000000), std::string("\0\n\xfe", 3));
}

TEST_P(EngineTest, FilesStayTheWorkspaceOwners) {
  if (geteuid() != 0)
    GATE_SKIP_WITHOUT("root") << "only root has other users' workspaces";
  for (const char* part : {"", "/file"})
    ASSERT_EQ(chown((w_ + part).c_str(), 4321, 4322), 0);
  const Outcome outcome = Bash("id -u; echo x > made; echo y >> file");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.reason << output_;
  EXPECT_EQ(output_, "4321\n");
  struct stat info = {};
  ASSERT_EQ(stat((w_ + "/made").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 4321u);
  EXPECT_EQ(info.st_gid, 4322u);
}

TEST_P(EngineTest, AConfiguredImageBringsItsOwnTools) {
  if (std::string(GetParam()) == "gvisor") return;  // it runs no images
  profile_.image = TestImage(GetParam());
  ASSERT_NE(profile_.image, "") << "tests/tools/with-engines makes one";
  ASSERT_TRUE(MakeDirectories(w_ + "/.git/hooks", 0755));
  profile_.quarantine_dir = base_ + "/quarantine";
  Outcome outcome = Run(
      {"sh", "-c",
       "cat /etc/image file; echo x > made; pwd; env; ls -d /usr/bin/git /root "
       "\"$X\" \"$H\"; echo x > .git/hooks/pre-commit; echo x > /bin/x; "
       "grep CapEff /proc/self/status; exit 7"});
  ASSERT_EQ(outcome.status, OutcomeStatus::kExited)
      << outcome.reason << output_;
  EXPECT_EQ(outcome.exit_code, 7) << output_;
  EXPECT_NE(output_.find("the image\nin the workspace\n"), std::string::npos)
      << output_;
  EXPECT_NE(output_.find(w_ + "\n"), std::string::npos) << output_;
  EXPECT_NE(output_.find("KEPT=a b"), std::string::npos) << output_;
  EXPECT_EQ(output_.find("\n/usr/bin/git"), std::string::npos) << output_;
  EXPECT_EQ(output_.find("\n" + base_ + "/outside\n"), std::string::npos)
      << output_;
  EXPECT_NE(output_.find("CapEff:\t0000000000000000"), std::string::npos);
  EXPECT_EQ(test::ReadText(w_ + "/made"), "x\n");
  EXPECT_FALSE(std::filesystem::exists(w_ + "/.git/hooks/pre-commit"));
  // No bash in it.
  EXPECT_EQ(Run({"/bin/bash", "-c", "true"}).exit_code, 127) << output_;
  // What a profile does not write is read-only.
  profile_.write.clear();
  outcome = Run({"sh", "-c", "cat file; echo x > more"});
  EXPECT_NE(output_.find("in the workspace"), std::string::npos) << output_;
  EXPECT_FALSE(std::filesystem::exists(w_ + "/more"));
  EXPECT_EQ(Containers(), "");
}

TEST_P(EngineTest, AnImageThatIsNotThereIsNotFetched) {
  if (std::string(GetParam()) == "gvisor") return;
  profile_.image = "localhost/none@sha256:" + std::string(64, '1');
  Outcome outcome = Bash("echo x > made");
  EXPECT_EQ(outcome.status, OutcomeStatus::kSetupFailed);
  EXPECT_NE(outcome.reason.find("pull " + profile_.image), std::string::npos)
      << outcome.reason;
  profile_.image = "gate-busybox:1";  // it is there, but may be exchanged
  outcome = Bash("echo x > made");
  EXPECT_EQ(outcome.status, OutcomeStatus::kSetupFailed);
  EXPECT_NE(outcome.reason.find("digest"), std::string::npos) << outcome.reason;
  EXPECT_FALSE(std::filesystem::exists(w_ + "/made"));
}

TEST_P(EngineTest, RunsMeetNothingOfEachOther) {
  std::vector<pid_t> runs;
  for (int i = 0; i < 3; ++i) {
    runs.push_back(fork());
    if (runs.back() != 0) continue;
    const std::string mine = std::to_string(i);
    // All of them are up before any goes on.
    const Outcome outcome = Bash(
        "echo > up" + mine +
        "; until [ -e up0 -a -e up1 -a -e up2 ]; do sleep 0.1; done; exit " +
        mine);
    _exit(outcome.status == OutcomeStatus::kExited ? outcome.exit_code : 98);
  }
  for (size_t i = 0; i < runs.size(); ++i) {
    int status = 0;
    waitpid(runs[i], &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(i));
  }
}

}  // namespace
}  // namespace gate::backends
