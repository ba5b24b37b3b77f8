// The backend without namespaces: what it promises, and what it refuses
// because it cannot promise it.
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "backends/landlock/backend.h"
#include "base/file.h"
#include "tests/backends/hostile_environment.h"
#include "tests/support/must_work.h"
#include "tests/support/sandbox_fixture.h"
#include "tests/support/temporary_directory.h"

namespace gate::backends {
namespace {

std::vector<Who> LandlockUsers() {
  std::vector<Who> all = {{"landlock", false}};
  if (geteuid() == 0) all.push_back({"landlock", true});
  return all;
}

class LandlockTest : public Sandbox {
 protected:
  void ExpectOutsideUnchanged(const std::string& line) {
    const std::string before = Manifest(x_) + Manifest(h_);
    const Ran ran = Bash(line);
    EXPECT_NE(ran.outcome.status, OutcomeStatus::kSetupFailed)
        << ran.outcome.reason;
    EXPECT_EQ(Manifest(x_) + Manifest(h_), before) << line;
  }
  std::string Probe(const std::string& words) {
    if (!Exists(w_ + "/probe")) {
      std::filesystem::copy_file(GATE_PROBE, w_ + "/probe");
      EXPECT_EQ(chmod((w_ + "/probe").c_str(), 0755), 0);
    }
    return Bash("./probe " + words + "; echo $?").output;
  }
};
INSTANTIATE_TEST_SUITE_P(All, LandlockTest, testing::ValuesIn(LandlockUsers()),
                         WhoName);

TEST_P(LandlockTest, PassesTheEndAndTheStreamsOn) {
  for (const int code : {0, 1, 126, 127, 255})
    EXPECT_EQ(Bash("exit " + std::to_string(code)).outcome.exit_code, code);
  const Ran signalled = Bash("kill -TERM $$");
  EXPECT_EQ(signalled.outcome.status, OutcomeStatus::kSignalled);
  EXPECT_EQ(signalled.outcome.signal, SIGTERM);
  EXPECT_EQ(Bash("echo out; echo err >&2").output, "out\nerr\n");
  EXPECT_TRUE(Run({"no-such-program"}).outcome.not_found);
  EXPECT_EQ(Run({w_ + "/file"}).outcome.exit_code, 126);
  cwd_ = w_ + "/gone";
  EXPECT_EQ(Run({"/bin/pwd"}).outcome.status, OutcomeStatus::kSetupFailed);
}

TEST_P(LandlockTest, ContentOutsideIsNotWritten) {
  for (const char* line :
       {"echo x > \"$X/new\"", "echo x >> \"$X/existing\"",
        "truncate -s0 \"$X/existing\"", "rm -rf \"$X\" \"$H\"",
        "mv \"$W/file\" \"$X/file\"",
        "ln -s \"$X/existing\" \"$W/l\"; echo x >> \"$W/l\"", "mkdir \"$X/d\"",
        "mkfifo \"$X/p\"", "cp -r \"$W\" \"$X/\"",
        "echo x > \"/proc/self/root$X/existing\"",
        "echo x > \"/proc/$PPID/root$X/existing\"",
        "cd \"$X\" && echo x > here", "mv \"$W\" \"$X/w\"",
        "chmod 4755 \"$X/existing\"; chmod u+s \"$X/existing\""})
    ExpectOutsideUnchanged(line);
}

TEST_P(LandlockTest, OutputIsCutAtItsLimitToTheByte) {
  profile_.limits.output_bytes = 100'000;
  for (const char* line :
       {"while echo some text and some more; do :; done",
        "while echo some text and some more; do :; done >&2",
        "(setsid yes some text & setsid yes some more >&2 & wait)"}) {
    const Ran much = Bash(line);
    EXPECT_EQ(much.outcome.status, OutcomeStatus::kLimit)
        << line << much.outcome.reason;
    EXPECT_NE(much.outcome.reason.find("output limit"), std::string::npos);
    EXPECT_EQ(much.output.size(), size_t{100'000}) << line;
  }
  const Ran little = Bash("echo one; echo two >&2; sleep 600 & exit 3");
  EXPECT_EQ(little.output, "one\ntwo\n");
  EXPECT_EQ(little.outcome.status, OutcomeStatus::kExited);
  EXPECT_EQ(little.outcome.exit_code, 3);
}

TEST_P(LandlockTest, NothingAtAllIsChangedWhereNothingIsWritable) {
  profile_.name = "read-only";
  profile_.write.clear();
  for (const char* line :
       {"chmod 777 \"$X/existing\"", "touch -d 2001-01-01 \"$X/existing\"",
        "touch \"$X/existing\"", "setfattr -n user.a -v b \"$X/existing\"",
        "chgrp \"$(id -g)\" \"$X/existing\"; echo x > \"$X/existing\""})
    ExpectOutsideUnchanged(line);
  EXPECT_EQ(Bash("echo x > \"$W/file\"; cat \"$W/file\"; "
                 "echo y > \"$TMPDIR/y\" && cat \"$TMPDIR/y\"")
                .output.find("in the workspace"),
            Bash("echo x > \"$W/file\"").output.size());
  EXPECT_EQ(Read(w_ + "/file"), "in the workspace\n");
}

TEST_P(LandlockTest, WhatIsHiddenIsNotRead) {
  const Fd escape_probe(
      open(("/tmp/gate-canary-" + std::to_string(getpid())).c_str(),
           O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  const std::string name = "/tmp/gate-canary-" + std::to_string(getpid());
  ASSERT_TRUE(WriteAll(escape_probe.get(), "CANARY\n"));
  for (const std::string& line :
       {std::string("cat \"$S\""), std::string("cat \"$H\"/.ssh/*"),
        std::string("cat \"/proc/self/root$S\""),
        std::string("ln -s \"$S\" l; cat l"), std::string("ln \"$S\" h; cat h"),
        std::string("tar c \"$H\""),
        std::string("mv \"$H/.ssh\" \"$W/\"; cat \"$W/.ssh/id\""),
        "cat " + name, std::string("cat /proc/$PPID/environ /dev/mem")}) {
    const Ran ran = Bash(line);
    EXPECT_NE(ran.outcome.status, OutcomeStatus::kSetupFailed)
        << ran.outcome.reason;
    EXPECT_EQ(ran.output.find("CANARY"), std::string::npos) << line;
  }
  unlink(name.c_str());
}

TEST_P(LandlockTest, WhatIsHiddenIsHiddenAtASecondMountToo) {
  if (geteuid() != 0) GATE_SKIP_WITHOUT("root") << "only root can mount";
  ExpectHiddenAtASecondMount();
}

TEST_P(LandlockTest, NoSocketReachesOut) {
  const Fd inet(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(inet.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(inet.get(), 4), 0);
  getsockname(inet.get(), reinterpret_cast<sockaddr*>(&address), &size);
  const std::string port = std::to_string(ntohs(address.sin_port));
  for (const std::string& what :
       {"tcp " + port, "udp " + port, "tcp6 " + port, std::string("packet"),
        std::string("netlink 0"), std::string("vsock"),
        "bind '" + w_ + "/socket'"})
    EXPECT_NE(Probe(what), "0\n") << what;
  EXPECT_EQ(Probe("socketpair"), "0\n");
  profile_.network = Network::kOpen;
  EXPECT_EQ(Probe("tcp " + port), "0\n");
  EXPECT_NE(Probe("bind '" + w_ + "/socket'"), "0\n");
  EXPECT_NE(Probe("abstract gate-none"), "0\n");
}

// One end of a pair of datagram sockets can send to any path.
TEST_P(LandlockTest, NoPairReachesOut) {
  const Fd listener(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string path = x_ + "/datagrams";
  memcpy(address.sun_path, path.data(), path.size());
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address),
                 sizeof(address)),
            0);
  ASSERT_EQ(chmod(path.c_str(), 0777), 0);
  const std::string line =
      "python3 -c 'import socket as s, sys\n"
      "s.socketpair(s.AF_UNIX, s.SOCK_DGRAM)[0].sendto(b\"x\", "
      "sys.argv[1])' '" +
      path + "'";
  char text[16];
  Bash(line);
  EXPECT_LT(recv(listener.get(), text, sizeof(text), MSG_DONTWAIT), 0);
  Outside(line);
  EXPECT_EQ(recv(listener.get(), text, sizeof(text), MSG_DONTWAIT), 1);
}

TEST_P(LandlockTest, ProcessesOutsideAreNotTouched) {
  int pipes[2];
  ASSERT_EQ(pipe2(pipes, O_CLOEXEC), 0);
  const pid_t escape_probe = fork();
  if (escape_probe == 0) {
    if (uid_ != geteuid() && setresuid(uid_, uid_, uid_) != 0) _exit(1);
    (void)!write(pipes[1], "r", 1);
    while (true) pause();
  }
  char ready = 0;
  ASSERT_EQ(read(pipes[0], &ready, 1), 1);
  close(pipes[0]);
  close(pipes[1]);
  const std::string pid = std::to_string(escape_probe);
  EXPECT_NE(Probe("ptrace " + pid), "0\n");
  // Where one signal gets out, a signal to everybody must not be tried.
  ASSERT_NE(Probe("kill " + pid), "0\n");
  Bash("kill -9 -1; kill -9 " + pid + "; kill -9 $PPID; prlimit --pid " + pid +
       " --cpu=1:1; renice 19 -p " + pid);
  EXPECT_EQ(waitpid(escape_probe, nullptr, WNOHANG), 0);
  EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(escape_probe)),
            getpriority(PRIO_PROCESS, 0));
  kill(escape_probe, SIGKILL);
  waitpid(escape_probe, nullptr, 0);
}

TEST_P(LandlockTest, LeavesNothingRunningBehind) {
  // A line goes on when what it leaves has started, which holds `alive` open.
  Outside("mkfifo \"$W/alive\" \"$W/up\"");
  const std::string spawn =
      "(setsid bash -c 'exec 9> alive; echo > up; exec sleep 600' >/dev/null "
      "2>&1 &); read -r line < up; ";
  const auto is_gone = [&](const Fd& alive) {
    char byte = 0;
    return read(alive.get(), &byte, 1) == 0;
  };
  const auto open_alive = [&] {
    return Fd(open((w_ + "/alive").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  };
  Fd alive = open_alive();
  EXPECT_EQ(Bash(spawn).outcome.exit_code, 0);
  EXPECT_TRUE(is_gone(alive));
  // Whoever ends the command's parent does not save the rest.
  alive = open_alive();
  Bash(spawn + "kill -9 $PPID; exit 3");
  EXPECT_TRUE(is_gone(alive));
  profile_.limits.wall_ms = 150;
  alive = open_alive();
  const Ran ran = Bash("trap '' TERM; " + spawn + "while :; do sleep 1; done");
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kTimeout);
  EXPECT_TRUE(is_gone(alive));
}

TEST_P(LandlockTest, WorksInTheWorkspaceAsOutside) {
  const Ran ran = Bash(
      "set -e; echo new > new; mkdir d; mv new d/; ln -s d/new link; cat link; "
      "chmod +x d/new; cp -a d e; rm -r d; test -f e/new; mktemp >/dev/null; "
      "echo x > /dev/null; head -c1 /dev/urandom | wc -c; echo a > "
      "/dev/stdout; "
      "git init -q r; cd r; echo x > f; git add f; git commit -qm one; "
      "git checkout -qb other; git clone -q . ../c");
  EXPECT_EQ(ran.outcome.exit_code, 0) << ran.output;
  EXPECT_EQ(Read(w_ + "/e/new"), "new\n");
  EXPECT_TRUE(Exists(w_ + "/c/f"));
}

TEST_P(LandlockTest, FilesMoveAndAreLinkedBetweenDirectories) {
  const Ran ran = Bash(
      "mkdir -p a/b c && echo x > a/b/f && perl -e '"
      "rename(q(a/b/f), q(c/f)) or die $!; link(q(c/f), q(a/g)) or die $!; "
      "rename(q(a/b), q(c/b)) or die $!'");
  EXPECT_EQ(ran.outcome.exit_code, 0) << ran.output;
  EXPECT_EQ(Read(w_ + "/a/g"), "x\n");
  EXPECT_TRUE(Exists(w_ + "/c/b"));
}

TEST_P(LandlockTest, NothingOutsideIsMovedIn) {
  ExpectOutsideUnchanged(
      "perl -e 'for (glob(qq($ENV{X}/* $ENV{H}/.* $ENV{H}/*))) { "
      "rename($_, q(moved)); link($_, q(linked)) }'");
  EXPECT_FALSE(Exists(w_ + "/moved"));
  EXPECT_FALSE(Exists(w_ + "/linked"));
}

TEST_P(LandlockTest, FindsNewProtectedNamesAfterTheRun) {
  profile_.protect_names = {".bashrc"};
  const Ran ran = Bash("echo x > .bashrc");
  EXPECT_TRUE(HasViolation(ran.outcome, ViolationKind::kProtectedPath));
  EXPECT_FALSE(Exists(w_ + "/.bashrc"));
}

TEST_P(LandlockTest, TakesWhatTheRunPutsBesideWhatIsProtected) {
  profile_.protect_names = {".vscode", ".mcp.json"};
  ASSERT_EQ(Outside("git init -q . && git commit -q --allow-empty -m 1 && echo "
                    "old > .git/hooks/pre-push && mkdir .vscode && echo '{}' > "
                    ".vscode/launch.json && echo '{}' > .mcp.json"),
            "");
  AwaitTick();
  const Ran quiet = Bash("echo y > y && git add y && git commit -qm 2");
  EXPECT_EQ(quiet.outcome.exit_code, 0) << quiet.output;
  EXPECT_TRUE(quiet.outcome.violations.empty());
  const Ran ran = Bash(
      "echo evil > .git/hooks/pre-commit; echo '{}' > .vscode/tasks.json; "
      "echo evil > .mcp.json");
  for (const char* name :
       {"/.git/hooks/pre-commit", "/.vscode/tasks.json", "/.mcp.json"})
    EXPECT_FALSE(Exists(w_ + name)) << name;
  EXPECT_TRUE(HasViolation(ran.outcome, ViolationKind::kGitHook));
  EXPECT_TRUE(HasViolation(ran.outcome, ViolationKind::kProtectedPath));
  EXPECT_TRUE(Exists(w_ + "/.git/hooks/pre-push"));
  EXPECT_TRUE(Exists(w_ + "/.vscode/launch.json"));
  AwaitTick();
  Bash("mv .git .git2; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit");
  EXPECT_FALSE(Exists(w_ + "/.git/hooks/pre-commit"));
}

TEST_P(LandlockTest, WithholdsSecretsFromTheEnvironment) {
  for (const std::string& entry : HostileEnvironment())
    environment_.push_back(entry);
  const Ran ran = Bash("env; tr '\\0' '\\n' < /proc/self/environ");
  EXPECT_EQ(ran.output.find("canary"), std::string::npos) << ran.output;
  EXPECT_NE(ran.output.find("LANG="), std::string::npos) << ran.output;
}

TEST_P(LandlockTest, HasNoPrivileges) {
  EXPECT_EQ(Bash("grep -E '^(CapEff|CapPrm|CapAmb|NoNewPrivs)' "
                 "/proc/self/status | tr -d '\\t\\n'")
                .output,
            "CapPrm:0000000000000000CapEff:0000000000000000CapAmb:"
            "0000000000000000NoNewPrivs:1");
  EXPECT_NE(Probe("mounts '" + w_ + "'"), "0\n");
  EXPECT_NE(Probe("userns"), "0\n");
}

TEST_P(LandlockTest, RefusesWhatItCannotGive) {
  for (const Feature lost :
       {Feature::kReadOnlyRoot, Feature::kProtectedPaths, Feature::kPrivateTmp,
        Feature::kProcessIsolation, Feature::kNetworkLoopback}) {
    profile_.required = {lost};
    const Ran ran = Bash("echo x > ran");
    EXPECT_EQ(ran.outcome.status, OutcomeStatus::kSetupFailed) << Name(lost);
  }
  profile_.required = {};
  profile_.network = Network::kLoopback;
  EXPECT_EQ(Bash("echo x > ran").outcome.status, OutcomeStatus::kSetupFailed);
  profile_.network = Network::kNone;
  profile_.deny_read.push_back(w_ + "/file");
  EXPECT_EQ(Bash("echo x > ran").outcome.status, OutcomeStatus::kSetupFailed);
  profile_.deny_read.pop_back();
  profile_.write.push_back("/");
  EXPECT_EQ(Bash("echo x > ran").outcome.status, OutcomeStatus::kSetupFailed);
  EXPECT_FALSE(Exists(w_ + "/ran"));
}

TEST(LandlockView, GrantsEverythingBesideWhatIsHidden) {
  const TemporaryDirectory made("/var/tmp");
  const std::string base = made.path();
  for (const char* name : {"/a", "/a/hidden", "/a/shown", "/b", "/tmp"})
    ASSERT_TRUE(MakeDirectories(base + name, 0755));
  Profile profile;
  profile.workspace = base;  // below the private /var/tmp, and still shown
  profile.deny_read = {base + "/a/hidden"};
  const auto view = MakeLandlockView(profile, base + "/tmp");
  ASSERT_TRUE(view) << view.error().message;
  const auto granted = [&](const std::string& path) {
    return std::ranges::find(view->read, path) != view->read.end();
  };
  EXPECT_TRUE(granted(base + "/a/shown"));
  EXPECT_TRUE(granted(base + "/b"));
  for (const std::string& path :
       {base, base + "/a", base + "/a/hidden", std::string("/var/tmp"),
        std::string("/tmp"), std::string("/dev"), std::string("/")})
    EXPECT_FALSE(granted(path)) << path;
}

}  // namespace
}  // namespace gate::backends
