// What a contained command gets: its exit code, its streams, its environment,
// and a place in which ordinary work goes on.
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "tests/backends/hostile_environment.h"
#include "tests/support/engines.h"
#include "tests/support/must_work.h"
#include "tests/support/sandbox_fixture.h"
#include "tests/support/temporary_directory.h"

namespace gate::backends {
namespace {

class RunTest : public Sandbox {};
INSTANTIATE_TEST_SUITE_P(All, RunTest, testing::ValuesIn(Everyone()), WhoName);
INSTANTIATE_TEST_SUITE_P(Engines, RunTest, testing::ValuesIn(Engines()),
                         WhoName);

TEST_P(RunTest, PassesExitCodesOnExactly) {
  for (const int code : {0, 1, 2, 7, 126, 127, 255}) {
    const Ran ran = Bash("exit " + std::to_string(code));
    EXPECT_EQ(ran.outcome.status, OutcomeStatus::kExited);
    EXPECT_EQ(ran.outcome.exit_code, code) << ran.outcome.reason;
  }
}

TEST_P(RunTest, TellsASignalFromAnExit) {
  const Ran ran = Bash("kill -TERM $$");
  if (std::string(GetParam().backend) == "native") {
    EXPECT_EQ(ran.outcome.status, OutcomeStatus::kSignalled);
    EXPECT_EQ(ran.outcome.signal, SIGTERM);
  } else {
    EXPECT_EQ(ran.outcome.exit_code, 128 + SIGTERM);
  }
}

TEST_P(RunTest, SaysWhenAProgramIsMissingOrNotExecutable) {
  const Ran missing = Run({"no-such-program"});
  EXPECT_EQ(missing.outcome.status, OutcomeStatus::kExited);
  EXPECT_TRUE(missing.outcome.not_found);
  EXPECT_EQ(missing.outcome.exit_code, 127);
  const Ran plain = Run({w_ + "/file"});
  EXPECT_FALSE(plain.outcome.not_found);
  EXPECT_EQ(plain.outcome.exit_code, 126);
}

TEST_P(RunTest, NeverFallsBackToAnotherDirectory) {
  cwd_ = w_ + "/gone";
  const Ran ran = Run({"/bin/pwd"});
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kSetupFailed);
}

TEST_P(RunTest, PassesStreamsThrough) {
  Write(base_ + "/input", "one\ntwo\n");
  in_ = open((base_ + "/input").c_str(), O_RDONLY | O_CLOEXEC);
  const Ran ran = Bash("cat; echo out; echo err >&2");
  close(in_);
  if (Is("docker") || Is("podman")) {
    // Their clients carry the streams apart, so that the order is lost.
    for (const char* part : {"one\ntwo\n", "out\n", "err\n"})
      EXPECT_NE(ran.output.find(part), std::string::npos) << ran.output;
    EXPECT_EQ(ran.output.size(), strlen("one\ntwo\nout\nerr\n"));
    return;
  }
  EXPECT_EQ(ran.output, "one\ntwo\nout\nerr\n");
}

TEST_P(RunTest, RefusesAStreamThatIsADirectory) {
  in_ = open(x_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const Ran ran = Bash("true");
  close(in_);
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kSetupFailed);
}

TEST_P(RunTest, EndsAtTheWallClock) {
  profile_.limits.wall_ms = 150;
  const Ran ran = Bash("trap '' TERM; while :; do read -t 9 <> <(:); done");
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kTimeout) << ran.outcome.reason;
}

TEST_P(RunTest, LeavesNothingRunningBehind) {
  // The line ends when what it leaves has started, which holds `alive` open.
  Outside("mkfifo \"$W/alive\"");
  const Fd alive(
      open((w_ + "/alive").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const Ran ran = Bash(
      "mkfifo up; (setsid bash -c 'exec 9> alive; echo > up; exec sleep 600' "
      ">/dev/null 2>&1 &); read -r line < up");
  ASSERT_EQ(ran.outcome.exit_code, 0) << ran.output;
  if (IsEngine()) {
    EXPECT_EQ(LeftBy(GetParam().backend), "") << "its processes are in there";
    return;
  }
  char byte = 0;
  EXPECT_EQ(read(alive.get(), &byte, 1), 0) << "something still runs";
}

// Exactly when the run is over: whoever looks at files then is alone.
TEST_P(RunTest, NothingHoldsAFileOnceTheRunIsOver) {
  if (IsEngine()) GTEST_SKIP() << "its processes are the engine's to end";
  const std::string fifo = w_ + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  ASSERT_EQ(chown(fifo.c_str(), uid_, gid_), 0);
  const Fd read_end(open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const std::string hold =
      "exec 9> \"$W/fifo\"; for i in 1 2 3 4 5 6 7 8; do setsid sleep 600 & "
      "done; trap '' TERM; ";
  char byte = 0;
  EXPECT_EQ(Bash(hold + "exit 3").outcome.exit_code, 3);
  EXPECT_EQ(read(read_end.get(), &byte, 1), 0);
  profile_.limits.output_bytes = 1000;
  EXPECT_EQ(Bash(hold + "while echo text; do :; done").outcome.status,
            OutcomeStatus::kLimit);
  EXPECT_EQ(read(read_end.get(), &byte, 1), 0);
  profile_.limits.output_bytes = 0;
  profile_.limits.wall_ms = 300;
  EXPECT_EQ(Bash(hold + "while :; do sleep 600; done").outcome.status,
            OutcomeStatus::kTimeout);
  EXPECT_EQ(read(read_end.get(), &byte, 1), 0);
}

TEST_P(RunTest, WorksInTheWorkspaceAsOutside) {
  const Ran ran = Bash(
      "set -e; echo new > new; mkdir d; mv new d/; ln -s d/new link; cat link; "
      "chmod +x d/new; cp -a d e; rm -r d; test -f e/new; mktemp >/dev/null; "
      "echo x > /dev/null; exec 3<>/dev/tty || true; head -c1 /dev/urandom "
      "| wc -c; echo a > /dev/stdout");
  EXPECT_EQ(ran.outcome.exit_code, 0) << ran.output;
  EXPECT_EQ(Read(w_ + "/e/new"), "new\n");
  struct stat info = {};
  ASSERT_EQ(stat((w_ + "/e/new").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, uid_);
}

TEST_P(RunTest, KeepsTheWorkspaceVisibleBelowAPrivatePlace) {
  const TemporaryDirectory made("/tmp");
  const std::string below = made.path();
  ASSERT_EQ(chmod(below.c_str(), 0755), 0);
  if (uid_ != geteuid()) {
    ASSERT_EQ(chown(below.c_str(), uid_, gid_), 0);
  }
  profile_.write = {below};
  profile_.workspace = below;
  cwd_ = below;
  const Ran ran =
      Bash("echo x > made; shopt -s dotglob; all=(/tmp/*); echo ${#all[@]}");
  EXPECT_EQ(ran.output, "1\n");
  EXPECT_EQ(Read(below + "/made"), "x\n");
  unlink((below + "/made").c_str());
  profile_.write.clear();
  const Ran read_only = Bash("echo x > made; pwd");
  EXPECT_NE(read_only.output.find(below), std::string::npos);
  EXPECT_FALSE(Exists(below + "/made"));
}

TEST_P(RunTest, UnpacksWhatSomebodyElsePacked) {
  MakeDirectory(w_ + "/in");
  Write(w_ + "/in/file", "packed\n");
  const Ran ran = Bash(
      "tar --owner=:1000 --group=:1000 -czf a.tgz in && mkdir out && tar -xzf "
      "a.tgz -C out && cat out/in/file");
  EXPECT_EQ(ran.output, "packed\n");
  EXPECT_EQ(ran.outcome.exit_code, 0);
}

TEST_P(RunTest, SharesTheSessionsPrivateTmp) {
  profile_.private_tmp = base_ + "/session";
  MakeDirectory(profile_.private_tmp);
  Bash("echo one > /tmp/a; echo two > /var/tmp/b; echo three > /dev/shm/c");
  const Ran ran = Bash("cat /tmp/a /var/tmp/b /dev/shm/c");
  EXPECT_EQ(ran.output, "one\ntwo\nthree\n");
  EXPECT_FALSE(Exists("/dev/shm/c"));
}

// What a client wrote to the host's /tmp and a line names is what it sees, but
// where the session has something of its own.
TEST_P(RunTest, ShowsNamedFilesOfTheHostsTmp) {
  if (!Is("native")) GTEST_SKIP() << "not in bwrap";
  const TemporaryDirectory made("/tmp");
  const std::string place = made.path();
  MakeDirectory(place + "/sub");
  ASSERT_EQ(chmod(place.c_str(), 0755), 0);
  for (const char* name : {"/a", "/sub/b", "/unnamed"})
    Write(place + name, "host\n");
  Write(place + "/key", "CANARY\n");
  ASSERT_EQ(symlink(s_.c_str(), (place + "/link").c_str()), 0);
  ASSERT_EQ(mkfifo((place + "/fifo").c_str(), 0666), 0);
  profile_.deny_read.push_back(place + "/key");
  const std::string session = base_ + "/session";
  MakeDirectory(session);
  for (const bool kept : {false, true}) {
    if (kept) profile_.private_tmp = session;
    profile_.host_tmp_binds = {place + "/a",    place + "/sub",  place + "/key",
                               place + "/link", place + "/fifo", "/run/utmp",
                               place + "/none"};
    const Ran ran = Bash("cd " + place +
                         " && cat a sub/b; echo x > a; echo x > sub/c; cat "
                         "unnamed key link; ls fifo none");
    EXPECT_TRUE(ran.output.starts_with("host\nhost\n")) << ran.output;
    EXPECT_EQ(ran.output.find("CANARY"), std::string::npos) << ran.output;
    EXPECT_EQ(ran.output.find("\nfifo"), std::string::npos) << ran.output;
    EXPECT_EQ(Read(place + "/a"), "host\n");
    EXPECT_FALSE(Exists(place + "/sub/c"));
    // Of what it was mounted on nothing is left.
    EXPECT_FALSE(Exists(session + "/tmp" + place.substr(4)));
  }
  // What a run that was killed left in the private place hides nothing and is
  // no obstacle; what a run wrote there goes before the host's.
  Outside("mkdir -m 1755 " + session + "/tmp" + place.substr(4) + " && touch " +
          session + "/tmp" + place.substr(4) + "/a && chmod 1000 " + session +
          "/tmp" + place.substr(4) + "/a");
  EXPECT_EQ(Bash("cat " + place + "/a").output, "host\n");
  profile_.host_tmp_binds.clear();
  Bash("mkdir -p " + place + "; echo mine > " + place + "/a; ln -s /etc " +
       place + "/away");
  profile_.host_tmp_binds = {place + "/a", place + "/away/passwd"};
  EXPECT_EQ(Bash("cat " + place + "/a").output, "mine\n");
  EXPECT_EQ(Read(place + "/a"), "host\n");
}

// A file that a line changes is not shown to it: then there is none, and not an
// empty one on which the line succeeds.
TEST_P(RunTest, WhatWasShownIsNoEmptyFileForALaterLine) {
  if (!Is("native")) GTEST_SKIP() << "not in bwrap";
  const TemporaryDirectory made("/tmp");
  const std::string place = made.path(), file = place + "/d/f";
  ASSERT_EQ(chmod(place.c_str(), 0755), 0);
  MakeDirectory(place + "/d");
  Write(file, "host\n");
  profile_.private_tmp = base_ + "/session";
  MakeDirectory(profile_.private_tmp);
  profile_.host_tmp_binds = {file};
  // A second run is shown the same, and is over while the first still needs it.
  ASSERT_EQ(mkfifo((w_ + "/go").c_str(), 0666), 0);
  ASSERT_EQ(chown((w_ + "/go").c_str(), uid_, gid_), 0);
  const pid_t first = Start(
      {"/bin/bash", "-c",
       "cat '" + file + "' > before; read x < go; cat '" + file + "' > after"},
      1);
  const Fd go(open((w_ + "/go").c_str(), O_WRONLY | O_CLOEXEC));
  EXPECT_EQ(Bash("cat " + file).output, "host\n");
  // Meanwhile another line to which it is not shown does not take what it is
  // mounted on for it.
  profile_.host_tmp_binds.clear();
  for (const std::string& line :
       {"cat " + file, "cp " + file + " copy", "sed -i s/a/b/ " + file,
        "echo more >> " + file})
    EXPECT_NE(Bash(line).outcome.exit_code, 0) << line;
  ASSERT_TRUE(WriteAll(go.get(), "go\n"));
  int status = 0;
  ASSERT_EQ(waitpid(first, &status, 0), first);
  EXPECT_EQ(Read(w_ + "/before") + Read(w_ + "/after"), "host\nhost\n");
  EXPECT_FALSE(Exists(profile_.private_tmp + "/tmp" + place.substr(4)));
  for (const std::string& line :
       {"mv " + file + " moved", "sed -i s/a/b/ " + file,
        "echo more >> " + file})
    EXPECT_NE(Bash(line).outcome.exit_code, 0) << line;
  // What a command has put there is its own.
  profile_.host_tmp_binds = {file};
  Bash("cat " + file + "; echo mine > " + place + "/d/own");
  profile_.host_tmp_binds.clear();
  EXPECT_EQ(Bash("ls " + place + "/d").output, "own\n");
  Bash("touch " + file);
  profile_.host_tmp_binds = {file};
  EXPECT_EQ(Bash("cat " + file).output, "host\n");
  EXPECT_TRUE(Exists(profile_.private_tmp + "/tmp" + file.substr(4)));
}

TEST_P(RunTest, ForgetsAPrivateTmpOfItsOwn) {
  Bash("echo one > /tmp/gate-one");
  const Ran ran = Bash("cat /tmp/gate-one");
  EXPECT_NE(ran.outcome.exit_code, 0);
  EXPECT_FALSE(Exists("/tmp/gate-one"));
}

TEST_P(RunTest, WithholdsSecretsFromTheEnvironment) {
  for (const std::string& entry : HostileEnvironment())
    environment_.push_back(entry);
  environment_.emplace_back("MY_BUILD_FLAG=kept");
  const Ran ran = Bash("env; tr '\\0' '\\n' < /proc/self/environ");
  EXPECT_EQ(ran.output.find("canary"), std::string::npos) << ran.output;
  EXPECT_NE(ran.output.find("MY_BUILD_FLAG=kept"), std::string::npos);
}

TEST_P(RunTest, TheWorkingDirectoryIsTheCallersOrNothingStarts) {
  if (!Is("native") && !Is("bwrap")) GTEST_SKIP() << "not promised there";
  MakeDirectory(w_ + "/sub");
  MakeDirectory(w_ + "/other");
  cwd_ = w_ + "/sub";
  struct stat caller = {};
  ASSERT_EQ(stat(cwd_.c_str(), &caller), 0);
  cwd_device_ = caller.st_dev;
  cwd_inode_ = caller.st_ino;
  EXPECT_EQ(Bash("pwd").outcome.status, OutcomeStatus::kExited);
  ASSERT_EQ(Outside("mv sub old; ln -s other sub"), "");
  EXPECT_EQ(Bash("echo x > made").outcome.status, OutcomeStatus::kSetupFailed);
  ASSERT_EQ(Outside("rm sub; mv other sub"), "");
  EXPECT_EQ(Bash("echo x > made").outcome.status, OutcomeStatus::kSetupFailed);
  EXPECT_FALSE(Exists(w_ + "/sub/made"));
}

TEST_P(RunTest, FailsRatherThanGivingLessThanRequired) {
  if (!Is("native")) {
    profile_.network = Network::kDomains;
    EXPECT_EQ(Bash("true").outcome.status, OutcomeStatus::kSetupFailed);
    profile_.network = Network::kNone;
  }
  profile_.workspace = profile_.write[0] = base_ + "/absent";
  cwd_ = "/";
  EXPECT_EQ(Bash("true").outcome.status, OutcomeStatus::kSetupFailed);
  profile_.workspace = profile_.write[0] = "/proc/self";
  EXPECT_EQ(Bash("true").outcome.status, OutcomeStatus::kSetupFailed);
}

TEST_P(RunTest, HidesManyPathsAndStillStarts) {
  for (int i = 0; i < 300; ++i) {
    const std::string path = w_ + "/p" + std::to_string(i);
    Write(path, "x");
    profile_.protect.push_back(path);
  }
  const Ran ran = Bash("echo y > p7; echo y > p299; echo y > free");
  EXPECT_EQ(Read(w_ + "/p7"), "x");
  EXPECT_EQ(Read(w_ + "/p299"), "x");
  if (!Is("gvisor")) {  // its runsc may take fewer: then nothing runs
    EXPECT_EQ(Read(w_ + "/free"), "y\n") << ran.outcome.reason;
  }
}

TEST_P(RunTest, WhatIsHiddenIsHiddenAtASecondMountToo) {
  if (geteuid() != 0) GATE_SKIP_WITHOUT("root") << "only root can mount";
  const std::string backend = GetParam().backend;
  if (backend != "native" && backend != "bwrap")
    GTEST_SKIP() << "an engine has mounts of its own";
  ExpectHiddenAtASecondMount();
}

TEST_P(RunTest, NoCoreDumpLeavesIt) {
  // A handler that the host pipes dumps to is started whatever the limit,
  // except when it is one byte; and nobody inside may change that.
  const Ran ran = Bash(
      "core() { grep 'core file' /proc/self/limits | tr -s ' '; }; core; "
      "ulimit "
      "-c 0 || echo failed; core; ulimit -Hc unlimited 2>/dev/null; core; "
      "prlimit --core=0:0 --pid $$ >/dev/null 2>&1; core; python3 -c 'import "
      "resource as r; r.setrlimit(r.RLIMIT_CORE, (0, 0))' || echo failed; "
      "{ (kill -SEGV $BASHPID); } 2>/dev/null; ls");
  std::string expected;
  for (int i = 0; i < 4; ++i) expected += "Max core file size 1 1 bytes \n";
  if (!Is("gvisor")) {  // whose kernel dumps nothing
    EXPECT_EQ(ran.output, expected + "file\n") << ran.outcome.reason;
  }
}

TEST_P(RunTest, ALoopbackOfItsOwnIsNobodyElses) {
  const Fd host(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(host.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(host.get(), 8), 0);
  ASSERT_EQ(
      getsockname(host.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  // The same port twice, one run in the other's time, and never the host's.
  const std::string line =
      "python3 -c '\nimport socket as s\ntry: "
      "s.create_connection((\"127.0.0.1\", " +
      port +
      ")); print(\"host\")\nexcept OSError: pass\na = "
      "s.create_server((\"127.0.0.1\", " +
      port + ")); c = s.create_connection((\"127.0.0.1\", " + port +
      ")); a.accept()[0].send(b\"own\"); print(c.recv(9).decode())'";
  for (const Network network : {Network::kLoopback, Network::kNone}) {
    profile_.network = network;
    const Ran ran = Bash(line);
    EXPECT_EQ(ran.output, "own\n") << Name(network) << ran.outcome.reason;
  }
}

TEST_P(RunTest, TakesAnyFileName) {
  for (const std::string name :
       {"with\nnewline", "quo'te\"s", "-leading", "\xff\xfe", "sp ace"}) {
    const std::string directory = base_ + "/" + name;
    MakeDirectory(directory);
    Write(directory + "/.bashrc", "x");
    profile_.write = {directory};
    profile_.workspace = directory;
    profile_.protect_names = {".bashrc"};
    cwd_ = directory;
    const Ran ran = Bash("echo y > .bashrc; echo z > made");
    EXPECT_EQ(Read(directory + "/.bashrc"), "x");
    // What their formats cannot say is refused, not passed over.
    if (IsEngine() && ran.outcome.status == OutcomeStatus::kSetupFailed) {
      EXPECT_NE(name, "sp ace");
      EXPECT_NE(name, "quo'te\"s");
      EXPECT_FALSE(Exists(directory + "/made"));
      continue;
    }
    EXPECT_EQ(Read(directory + "/made"), "z\n") << ran.output;
  }
}

TEST_P(RunTest, SaysThatAWorkingDirectoryIsNotSeenInside) {
  cwd_ = "/run/gate-none";
  const Ran ran = Bash("pwd");
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kSetupFailed);
  // An engine needs it on the host first.
  EXPECT_NE(ran.outcome.reason.find(
                IsEngine() ? "`/run/gate-none`"
                           : "`/run/gate-none` is not seen inside"),
            std::string::npos)
      << ran.outcome.reason;
}

TEST_P(RunTest, AWorkspaceBelowAPrivatePlaceIsShown) {
  for (const char* place : {"/tmp", "/var/tmp", "/dev/shm"}) {
    const TemporaryDirectory made(place);
    const std::string& workspace = made.path();
    ASSERT_EQ(chown(workspace.c_str(), uid_, gid_), 0);
    profile_.write = {workspace};
    profile_.workspace = workspace;
    profile_.protect_names = {".envrc"};
    cwd_ = workspace;
    const Ran ran =
        Bash("echo a > a; mkdir b; echo x > .envrc; echo x > b/.envrc; pwd");
    EXPECT_EQ(ran.output, workspace + "\n") << ran.outcome.reason;
    EXPECT_EQ(Read(workspace + "/a"), "a\n");
    EXPECT_FALSE(Exists(workspace + "/.envrc"));
    EXPECT_FALSE(Exists(workspace + "/b/.envrc"));
    // What is no workspace is a place to work in, and nothing more.
    profile_.write.clear();
    profile_.workspace.clear();
    const Ran other = Bash("cat a; { echo x > made; } 2>/dev/null");
    EXPECT_EQ(other.output, "a\n") << other.outcome.reason;
    EXPECT_FALSE(Exists(workspace + "/made"));
  }
}

// A directory below /tmp, as the user of the sandbox.
class BelowTmp : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_NE(place_, "");
    ASSERT_EQ(chown(place_.c_str(), uid_, gid_), 0);
    ASSERT_EQ(
        Outside("mkdir -p '" + place_ + "/work/sub/state' && echo key > '" +
                place_ + "/work/sub/state/key'"),
        "");
    profile_.workspace.clear();
    profile_.deny_read = {place_ + "/work/sub/state"};
    profile_.protect = {place_ + "/work/sub/state", place_ + "/config"};
    cwd_ = place_ + "/work";
  }
  const TemporaryDirectory made_{"/tmp"};
  const std::string place_ = made_.path();
};
INSTANTIATE_TEST_SUITE_P(All, BelowTmp, testing::ValuesIn(Everyone()), WhoName);

TEST_P(BelowTmp, HidesAndKeepsTheStateWhereEverythingIsWritable) {
  profile_.write = {"/"};
  const Ran ran = Bash(
      "echo x > made; cat sub/state/key; mv sub other; mv ../work ../other; "
      "mkdir -p sub/state; echo forged > sub/state/key; echo end");
  EXPECT_NE(ran.output.find("end"), std::string::npos)
      << ran.outcome.reason << ran.output;
  EXPECT_EQ(ran.output.find("key\nmv"), std::string::npos) << ran.output;
  EXPECT_TRUE(Exists(cwd_ + "/made"));
  EXPECT_EQ(Read(cwd_ + "/sub/state/key"), "key\n");
  EXPECT_FALSE(Exists(cwd_ + "/other"));
  EXPECT_FALSE(Exists(place_ + "/other"));
}

TEST_P(BelowTmp, ShowsADirectoryThatIsNoWorkspaceAndNothingElse) {
  profile_.write.clear();
  const Ran ran = Bash("ls; echo x > made; ls " + place_ + "/.. | wc -l");
  EXPECT_EQ(ran.outcome.exit_code, 0) << ran.outcome.reason;
  EXPECT_TRUE(ran.output.starts_with("sub\n")) << ran.output;
  EXPECT_TRUE(ran.output.ends_with("\n1\n")) << ran.output;
  EXPECT_FALSE(Exists(cwd_ + "/made"));
}

TEST_P(BelowTmp, ShowsNoHiddenDirectory) {
  cwd_ = place_ + "/work/sub/state";
  const Ran ran = Bash("cat key");
  EXPECT_EQ(ran.output.find("key\n"), std::string::npos) << ran.output;
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kSetupFailed);
}

// A private place that outlives the run, and what a command left in it where
// the workspace of the next one is shown.
class LeftInTmp : public BelowTmp {
 protected:
  void SetUp() override {
    BelowTmp::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    profile_.deny_read.clear();
    profile_.protect.clear();
    profile_.private_tmp = base_ + "/session";
    MakeDirectory(profile_.private_tmp);
    UseWorkspace(w_);
  }
  void UseWorkspace(const std::string& path) {
    profile_.workspace = cwd_ = path;
    profile_.write = {path};
  }
};
INSTANTIATE_TEST_SUITE_P(All, LeftInTmp, testing::ValuesIn(Everyone()),
                         WhoName);

TEST_P(LeftInTmp, ACommandBeginsWhereItsCallerStandsOrNotAtAll) {
  const std::string work = place_ + "/work";
  const std::string link = base_ + "/link";
  ASSERT_EQ(Outside("ln -s '" + work + "' ../link"), "");
  for (const std::string& left :
       {"mkdir -p " + work, "mkdir -p /tmp/z/work && ln -s z " + place_,
        "mkdir -p /tmp/z " + place_ + " && ln -s /tmp/z " + work,
        "mkdir -p " + work + "/deeper", std::string("true")}) {
    UseWorkspace(w_);
    EXPECT_EQ(Bash("rm -rf /tmp/*; " + left).outcome.exit_code, 0) << left;
    for (const std::string& here : {work, link, work + "/deeper"}) {
      cwd_ = here;
      const Ran ran = Bash("echo started; echo x > made");
      EXPECT_EQ(ran.output, "") << left;
      EXPECT_EQ(ran.outcome.status, OutcomeStatus::kSetupFailed) << left;
      EXPECT_NE(ran.outcome.reason.find(here), std::string::npos)
          << ran.outcome.reason;
    }
    EXPECT_FALSE(Exists(work + "/made")) << left;
    // The private place itself, and what is outside of it, stay as they were.
    cwd_ = "/tmp";
    EXPECT_EQ(Bash("true").outcome.exit_code, 0) << left;
    cwd_ = w_;
    EXPECT_EQ(Bash("true").outcome.exit_code, 0) << left;
    UseWorkspace(work);
    if (!Is("native")) continue;
    EXPECT_EQ(Bash("echo x > there").outcome.exit_code, 0) << left;
    EXPECT_TRUE(Exists(work + "/there")) << left;
  }
}

TEST_P(LeftInTmp, WhatStandsInTheWayOfTheWorkspaceIsPutAside) {
  if (!Is("native")) return;  // bwrap makes its own places
  const std::string work = place_ + "/work";
  ASSERT_EQ(Outside("mkdir ../out"), "");
  UseWorkspace(work);
  for (const std::string& left :
       {"ln -s '" + base_ + "/out' " + place_,
        "ln -s '" + base_ + "/out/new' " + place_, "ln -s /gone " + place_,
        "echo > " + place_, "mkfifo " + place_, "ln -s . " + place_,
        "mkdir " + place_ + "; echo > " + work,
        "mkdir " + place_ + "; ln -s /tmp " + work,
        "mkdir " + place_ + "; chmod 0 " + place_}) {
    EXPECT_EQ(Bash("mv " + place_ + " /tmp/z-$$; " + left).outcome.exit_code, 0)
        << left;
    const Ran ran = Bash("echo x > made; ls");
    EXPECT_EQ(ran.outcome.exit_code, 0) << left << ran.outcome.reason;
    EXPECT_EQ(ran.output, "made\nsub\n") << left;
    EXPECT_TRUE(Exists(work + "/made")) << left;
    EXPECT_TRUE(std::filesystem::is_empty(base_ + "/out")) << left;
  }
}

}  // namespace
}  // namespace gate::backends
