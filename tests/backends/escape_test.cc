// Attempts to reach what a profile does not name, judged by what is outside
// afterwards: files and their hashes, sockets that listen, processes.
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "tests/support/sandbox_fixture.h"

namespace gate::backends {
namespace {

class EscapeTest : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    std::filesystem::copy_file(GATE_PROBE, w_ + "/probe");
    ASSERT_EQ(chmod((w_ + "/probe").c_str(), 0755), 0);
    if (uid_ != geteuid()) {
      ASSERT_EQ(chown((w_ + "/probe").c_str(), uid_, gid_), 0);
    }
  }
  // The exit code of the probe in the sandbox: 0 when it got through.
  int Probe(const std::vector<std::string>& words) {
    std::vector<std::string> argv = {w_ + "/probe"};
    argv.insert(argv.end(), words.begin(), words.end());
    const Ran ran = Run(argv);
    if (ran.outcome.status == OutcomeStatus::kSetupFailed)
      ADD_FAILURE() << ran.outcome.reason << '\n' << ran.output;
    return ran.outcome.status == OutcomeStatus::kExited ? ran.outcome.exit_code
                                                        : -1;
  }
  void ExpectOutsideUnchanged(const std::string& line) {
    const std::string before = Manifest(x_) + Manifest(h_);
    const Ran ran = Bash(line);
    EXPECT_NE(ran.outcome.status, OutcomeStatus::kSetupFailed)
        << ran.outcome.reason;
    EXPECT_EQ(Manifest(x_) + Manifest(h_), before) << line;
  }
  void ExpectNoSecret(const std::string& line) {
    const Ran ran = Bash(line);
    EXPECT_NE(ran.outcome.status, OutcomeStatus::kSetupFailed)
        << ran.outcome.reason;
    EXPECT_EQ(ran.output.find("CANARY"), std::string::npos) << line;
  }
};
INSTANTIATE_TEST_SUITE_P(All, EscapeTest, testing::ValuesIn(Everyone()),
                         WhoName);
INSTANTIATE_TEST_SUITE_P(Engines, EscapeTest, testing::ValuesIn(Engines()),
                         WhoName);

// A socket of the host that counts who comes.
class Listener {
 public:
  Listener(int family, int type) : fd_(socket(family, type, 0)) {}
  void Bind(const void* address, size_t size) {
    ASSERT_EQ(bind(fd_.get(), static_cast<const sockaddr*>(address),
                   static_cast<socklen_t>(size)),
              0);
    listen(fd_.get(), 16);
    fcntl(fd_.get(), F_SETFL, O_NONBLOCK);
  }
  int Port() const {
    sockaddr_in address = {};
    socklen_t size = sizeof(address);
    getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
  }
  bool Visited(bool stream) const {
    char byte = 0;
    const int got = stream ? accept(fd_.get(), nullptr, nullptr)
                           : static_cast<int>(recv(fd_.get(), &byte, 1, 0));
    if (stream && got >= 0) close(got);
    return got >= 0;
  }

 private:
  Fd fd_;
};

TEST_P(EscapeTest, NothingOutsideIsWritten) {
  for (const char* line :
       {"echo x > \"$X/new\"", "echo x >> \"$X/existing\"",
        "truncate -s0 \"$X/existing\"", "rm -rf \"$X\" \"$H\"",
        "echo x > \"$W/../outside/new\"", "mv \"$W/file\" \"$X/file\"",
        "ln -s \"$X/existing\" \"$W/l\"; echo x >> \"$W/l\"",
        "ln \"$X/existing\" \"$W/hard\" && echo x >> \"$W/hard\"",
        "chmod 777 \"$X/existing\"; touch -d 2001-01-01 \"$X/existing\"",
        "setfattr -n user.a -v b \"$X/existing\"", "mkdir \"$X/d\"",
        "mkfifo \"$X/p\"", "cp -r \"$W\" \"$X/\"",
        "echo x > \"/proc/self/root$X/existing\"",
        "echo x > \"/proc/$PPID/root$X/existing\"",
        "cd \"$X\" && echo x > here", "mv \"$W\" \"$X/w\"",
        "exec 9<\"$X\"; echo x > /proc/self/fd/9/new"})
    ExpectOutsideUnchanged(line);
}

TEST_P(EscapeTest, AHiddenPathIsNotRead) {
  for (const char* line :
       {"cat \"$S\"", "ls \"$H/.ssh\"; cat \"$H\"/.ssh/*",
        "cat \"/proc/self/root$S\"", "cat \"/proc/1/root$S\"",
        "cat \"/proc/self/cwd/../home/.ssh/id\"", "cp \"$S\" . && cat id",
        "ln -s \"$S\" l; cat l", "ln \"$S\" h; cat h", "tar c \"$H\"",
        "cd \"$H/.ssh\" && cat id", "grep -r CANARY \"$H\"",
        "chmod 755 \"$H/.ssh\"; cat \"$S\"", "rm -r \"$H/.ssh\"; cat \"$S\"",
        "mv \"$H/.ssh\" \"$W/\"; cat \"$W/.ssh/id\""})
    ExpectNoSecret(line);
  EXPECT_NE(Probe({"handle", s_}), 0);
}

TEST_P(EscapeTest, WhatAHiddenDirectoryLinksToIsHidden) {
  unlink(s_.c_str());
  MakeDirectory(h_ + "/dotfiles");
  Write(h_ + "/dotfiles/id", "CANARY-SECRET\n");
  ASSERT_EQ(symlink("../dotfiles/id", s_.c_str()), 0);
  ExpectNoSecret("cat \"$H/dotfiles/id\" \"$S\"");
}

TEST_P(EscapeTest, AHiddenPlaceAboveTheWorkspaceHidesItsNeighbours) {
  profile_.deny_read = {base_};
  const Ran ran = Bash("pwd; ls \"$X\"; cat file; echo x > made");
  EXPECT_EQ(ran.output.find("existing"), std::string::npos);
  EXPECT_NE(ran.output.find("in the workspace"), std::string::npos)
      << ran.output << ran.outcome.reason;
  EXPECT_EQ(Read(w_ + "/made"), "x\n");
}

TEST_P(EscapeTest, AHiddenPlaceInTheWorkspaceStaysHidden) {
  MakeDirectory(w_ + "/secrets");
  Write(w_ + "/secrets/key", "CANARY\n");
  Write(w_ + "/.env", "CANARY\n");
  profile_.deny_read = {w_ + "/secrets", w_ + "/.env"};
  ExpectNoSecret("cat secrets/key .env; mv secrets s; mv .env e; cat s/key e");
  EXPECT_EQ(Read(w_ + "/secrets/key"), "CANARY\n");
}

// Many names of one directory that are missing are answered for by its listing,
// and names in a directory without links on the way by one look.
TEST_P(EscapeTest, AHiddenFileIsFoundAmongManyThatAreNotThere) {
  ASSERT_EQ(symlink("home", (base_ + "/linked").c_str()), 0);
  MakeDirectory(h_ + "/.config");
  MakeDirectory(h_ + "/dotfiles");
  Write(h_ + "/dotfiles/token", "CANARY-TOKEN\n");
  ASSERT_EQ(symlink("dotfiles/token", (h_ + "/.token").c_str()), 0);
  for (const char* there : {"/.netrc", "/.config/key", "/.vault"})
    Write(h_ + there, "CANARY-FILE\n");
  profile_.deny_read.clear();
  for (const std::string& home : {h_, base_ + "/linked"}) {
    for (int i = 0; i < 9; ++i) {
      profile_.deny_read.push_back(home + "/.absent" + std::to_string(i));
      profile_.deny_read.push_back(home + "/.config/absent" +
                                   std::to_string(i));
    }
    const bool real = home == h_;
    profile_.deny_read.push_back(home + (real ? "/.netrc" : "/.vault"));
    profile_.deny_read.push_back(home + (real ? "/.token" : "/.config/key"));
    profile_.deny_read.push_back(home + "/.absent/deep");
  }
  const Ran ran = Bash(
      "cat \"$H/.netrc\" \"$H/.vault\" \"$H/.config/key\" \"$H/.token\" "
      "\"$H/dotfiles/token\" \"$H/../linked/.vault\"; ls -A \"$H\"");
  EXPECT_EQ(ran.output.find("CANARY"), std::string::npos) << ran.output;
  EXPECT_NE(ran.output.find("dotfiles"), std::string::npos) << ran.output;
}

// A home of a third user: root without capabilities over it and the workspace's
// owner cannot go there, and so cannot cover anything in it.
TEST_P(EscapeTest,
       WhatIsClosedToTheRunNeedsNoCoverAndKeepsNothingFromStarting) {
  if (geteuid() != 0) GTEST_SKIP() << "needs a third user";
  const std::string theirs = base_ + "/theirs", closed = base_ + "/closed";
  MakeDirectory(theirs);
  MakeDirectory(theirs + "/.ssh");
  MakeDirectory(closed);
  Write(theirs + "/.netrc", "CANARY\n");
  ASSERT_EQ(chown(theirs.c_str(), 12345, 12345), 0);
  for (const std::string& place : {theirs, closed})
    ASSERT_EQ(chmod(place.c_str(), 0700), 0);
  // Where gate is root it makes its private places for whoever runs.
  const uid_t owner = uid_ == geteuid() ? 12345 : uid_;
  ASSERT_EQ(chown(closed.c_str(), owner, owner), 0);
  profile_.private_tmp = closed;
  profile_.deny_read.push_back(theirs + "/.ssh");
  profile_.deny_read.push_back(theirs + "/.netrc");
  const Ran ran = Bash("echo started; echo x > /tmp/x && cat /tmp/x; cat '" +
                       theirs + "/.netrc'; ls '" + theirs + "/.ssh'");
  EXPECT_TRUE(ran.output.starts_with("started\nx\n"))
      << ran.output << ran.outcome.reason;
  EXPECT_EQ(ran.output.find("CANARY"), std::string::npos) << ran.output;
}

TEST_P(EscapeTest, AWorkspaceInAClosedHomeOfAThirdUserIsWorkedIn) {
  const bool native = std::string(GetParam().backend) == "native";
  if (geteuid() != 0 || uid_ != 0 || !native)
    GTEST_SKIP() << "needs root and a map of every id";
  const std::string theirs = base_ + "/theirs";
  MakeDirectory(theirs);
  ASSERT_EQ(rename(w_.c_str(), (theirs + "/work").c_str()), 0);
  w_ = theirs + "/work";
  ASSERT_EQ(chown(theirs.c_str(), 12345, 12345), 0);
  ASSERT_EQ(chmod(theirs.c_str(), 0700), 0);
  profile_.workspace = w_;
  profile_.write = {w_};
  cwd_ = w_;
  const Ran ran = Bash("echo x > made; echo x > ../outside");
  EXPECT_EQ(Read(w_ + "/made"), "x\n") << ran.outcome.reason;
  EXPECT_FALSE(Exists(theirs + "/outside"));
}

TEST_P(EscapeTest, ProcessesOutsideAreNeitherSeenNorSignalled) {
  const pid_t escape_probe = fork();
  if (escape_probe == 0) {
    if (uid_ != geteuid() && setresuid(uid_, uid_, uid_) != 0) _exit(1);
    while (true) pause();
  }
  const std::string pid = std::to_string(escape_probe);
  Bash("kill -9 " + pid + "; kill -TERM -1; kill -9 $PPID");
  Probe({"kill", pid});
  Probe({"ptrace", pid});
  EXPECT_EQ(waitpid(escape_probe, nullptr, WNOHANG), 0);
  const Ran ran = Bash("ls /proc | grep -cE '^[0-9]+$'");
  EXPECT_LE(atoi(ran.output.c_str()), 6) << ran.output;
  kill(escape_probe, SIGKILL);
  waitpid(escape_probe, nullptr, 0);
}

TEST_P(EscapeTest, NoNetworkOfTheHostIsReached) {
  Listener tcp(AF_INET, SOCK_STREAM), udp(AF_INET, SOCK_DGRAM);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  tcp.Bind(&address, sizeof(address));
  udp.Bind(&address, sizeof(address));
  for (const Network network : {Network::kNone, Network::kLoopback}) {
    profile_.network = network;
    Probe({"tcp", std::to_string(tcp.Port())});
    Probe({"tcp6", std::to_string(tcp.Port())});
    Probe({"udp", std::to_string(udp.Port())});
    Bash("echo x > /dev/tcp/127.0.0.1/" + std::to_string(tcp.Port()) +
         "; echo x > /dev/udp/127.0.0.1/" + std::to_string(udp.Port()));
    EXPECT_FALSE(tcp.Visited(true)) << Name(network);
    EXPECT_FALSE(udp.Visited(false)) << Name(network);
  }
  profile_.network = Network::kOpen;
  EXPECT_EQ(Probe({"tcp", std::to_string(tcp.Port())}), 0);
  EXPECT_TRUE(tcp.Visited(true));
}

TEST_P(EscapeTest, LocalSocketsOfTheHostAreNotReached) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string path = x_ + "/socket";
  strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  Listener named(AF_UNIX, SOCK_STREAM), abstract(AF_UNIX, SOCK_STREAM);
  named.Bind(&address, sizeof(address));
  ASSERT_EQ(chmod(path.c_str(), 0777), 0);
  const std::string name = "gate-canary-" + std::to_string(getpid());
  memset(address.sun_path, 0, sizeof(address.sun_path));
  memcpy(address.sun_path + 1, name.data(), name.size());
  abstract.Bind(&address, offsetof(sockaddr_un, sun_path) + 1 + name.size());
  for (const Network network :
       {Network::kNone, Network::kLoopback, Network::kOpen}) {
    profile_.network = network;
    Probe({"unix", path});
    Probe({"abstract", name});
    EXPECT_FALSE(named.Visited(true)) << backends::Name(network);
    // The engines' open network is the host's, abstract sockets with it.
    if (network != Network::kOpen || !(Is("docker") || Is("podman"))) {
      EXPECT_FALSE(abstract.Visited(true)) << backends::Name(network);
    }
  }
}

TEST_P(EscapeTest, SocketsOfItsOwnWork) {
  EXPECT_EQ(Probe({"socketpair"}), 0);
  EXPECT_EQ(Probe({"bind", w_ + "/own"}), 0);
  EXPECT_EQ(Probe({"bind", "/tmp/own"}), 0);
  EXPECT_EQ(Probe({"netlink", "0"}), 0);
}

TEST_P(EscapeTest, TheKernelsOtherDoorsAreShut) {
  EXPECT_NE(Probe({"mounts", w_}), 0);
  EXPECT_NE(Probe({"mknod", w_ + "/device"}), 0);
  if (Is("gvisor")) return;  // they lead to its own kernel
  for (const char* what : {"vsock", "packet", "userns", "keyring", "io_uring",
                           "bpf", "x32", "i386", "tiocsti", "tiocsti-high"})
    EXPECT_NE(Probe({what}), 0) << what;
  EXPECT_NE(Probe({"netlink", "9"}), 0);   // audit
  EXPECT_NE(Probe({"netlink", "15"}), 0);  // device events
}

TEST_P(EscapeTest, NoSetUserIdFileIsMade) {
  const std::string mine = w_ + "/mine";
  Bash(
      "cp /bin/true mine; chmod u+s mine; chmod 4755 mine; install -m 4755 "
      "mine other; perl -e 'sysopen(my $f, \"third\", 0101, 04755); "
      "mkdir \"sub\", 02775'; chmod 0755 mine; chmod g+s sub");
  struct stat info = {};
  for (const char* name : {"mine", "other", "third"})
    if (stat((w_ + "/" + name).c_str(), &info) == 0) {
      EXPECT_EQ(info.st_mode & S_ISUID, 0u) << name;
    }
  EXPECT_NE(Probe({"openat2-setuid", w_ + "/fourth"}), 0);
  ASSERT_EQ(stat((w_ + "/sub").c_str(), &info), 0);
  EXPECT_NE(info.st_mode & S_ISGID, 0u);  // ordinary in shared repositories
  ASSERT_EQ(stat(mine.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0755u);
}

TEST_P(EscapeTest, AHardLinkToAFileOutsideIsNotWritten) {
  MakeDirectory(w_ + "/deep/er");
  Write(h_ + "/.bashrc", "mine\n");
  ASSERT_EQ(link((x_ + "/existing").c_str(), (w_ + "/alias").c_str()), 0);
  ASSERT_EQ(link((h_ + "/.bashrc").c_str(), (w_ + "/deep/er/rc").c_str()), 0);
  profile_.alias_checked_paths = {h_ + "/.bashrc"};
  const Ran ran = Bash("echo evil >> alias; echo evil >> deep/er/rc; true");
  EXPECT_EQ(ran.outcome.exit_code, 0) << ran.outcome.reason;
  EXPECT_EQ(Read(x_ + "/existing"), "before\n");
  EXPECT_EQ(Read(h_ + "/.bashrc"), "mine\n");
}

TEST_P(EscapeTest, AFileWithTwoNamesInsideStaysWritable) {
  MakeDirectory(w_ + "/deep");
  ASSERT_EQ(link((w_ + "/file").c_str(), (w_ + "/deep/twin").c_str()), 0);
  Bash("echo more >> file; ln -f file third");
  EXPECT_EQ(Read(w_ + "/file"), "in the workspace\nmore\n");
  EXPECT_TRUE(Exists(w_ + "/third"));
}

TEST_P(EscapeTest, KernelSettingsStay) {
  const std::string before = Read("/proc/sys/kernel/domainname");
  // A setting that does no harm if it is written after all.
  Bash(
      "cat /proc/sys/kernel/domainname > /proc/sys/kernel/domainname && "
      "echo written > \"$W/written\"; echo 0 > /proc/sys/vm/stat_interval && "
      "echo written > \"$W/written\"");
  EXPECT_FALSE(Exists(w_ + "/written"));
  EXPECT_EQ(Read("/proc/sys/kernel/domainname"), before);
}

TEST_P(EscapeTest, TheFirstProcessOfTheRunIsOutOfReach) {
  const std::string before = Manifest(x_) + Manifest(h_);
  const Ran ran = Bash(
      "kill -KILL 1; kill -STOP 1; echo x > /proc/1/mem; "
      "echo x > /proc/1/oom_score_adj; echo x > \"/proc/1/root$X/new\"; "
      "echo x > \"/proc/1/cwd/$X/new\"; echo alive");
  // In gVisor the command is the first process, and may end itself.
  if (!Is("gvisor") || ran.outcome.exit_code != 128 + SIGKILL) {
    EXPECT_NE(ran.output.find("alive"), std::string::npos) << ran.output;
  }
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kExited) << ran.outcome.reason;
  EXPECT_EQ(Manifest(x_) + Manifest(h_), before);
}

TEST_P(EscapeTest, TheWorkspaceIsNotExchangedForAnotherPlace) {
  const std::string before = Manifest(x_);
  EXPECT_NE(Probe({"exchange", w_, x_}), 0);
  EXPECT_EQ(Manifest(x_), before);
  EXPECT_TRUE(Exists(w_ + "/file"));
}

TEST_P(EscapeTest, NoCapabilityIsLeft) {
  const Ran ran =
      Bash("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status");
  int zero = 0;
  for (size_t at = 0;
       (at = ran.output.find("0000000000000000", at)) != std::string::npos;
       ++at)
    ++zero;
  if (Is("gvisor")) {  // its own kernel shows fewer lines
    EXPECT_EQ(zero, 4) << ran.output;
    return;
  }
  EXPECT_EQ(zero, 5) << ran.output;
  EXPECT_NE(ran.output.find("NoNewPrivs:\t1"), std::string::npos);
  EXPECT_NE(ran.output.find("Seccomp:\t2"), std::string::npos);
}

TEST_P(EscapeTest, NoDescriptorIsInherited) {
  const int leak = open((x_ + "/existing").c_str(), O_RDWR);
  const int directory = open("/", O_RDONLY | O_DIRECTORY);
  ExpectOutsideUnchanged("echo x >&" + std::to_string(leak) +
                         "; for fd in /proc/self/fd/*; do echo x > $fd; done; "
                         "echo x > /proc/self/fd/" +
                         std::to_string(directory) + x_ + "/new");
  close(leak);
  close(directory);
}

TEST_P(EscapeTest, AnInputFileIsNotWritable) {
  Write(x_ + "/input", "input\n");
  in_ = open((x_ + "/input").c_str(), O_RDONLY | O_CLOEXEC);
  Probe({"writable-stdin"});
  close(in_);
  in_ = open((x_ + "/input").c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(Bash("cat").output, "input\n");
  close(in_);
  EXPECT_EQ(Read(x_ + "/input"), "input\n");
}

TEST_P(EscapeTest, OnlyHarmlessDevicesAreThere) {
  if (Is("gvisor")) GTEST_SKIP() << "they are its own, not this machine's";
  const Ran ran = Bash("cd /dev; echo * ''");
  for (const char* name : {"mem", "kmsg", "sda", "vda", "kvm", "fuse", "net",
                           "loop0", "port", "input"})
    EXPECT_EQ((" " + ran.output).find(" " + std::string(name) + " "),
              std::string::npos)
        << name;
  EXPECT_NE(ran.output.find("null"), std::string::npos);
}

TEST_P(EscapeTest, PrivatePlacesDoNotReachTheHost) {
  const std::string name = "gate-private-" + std::to_string(getpid());
  Bash("echo x | tee /tmp/" + name + " /var/tmp/" + name + " /dev/shm/" + name +
       " /run/" + name);
  for (const char* place : {"/tmp/", "/var/tmp/", "/dev/shm/", "/run/"})
    EXPECT_FALSE(Exists(place + name)) << place;
}

TEST_P(EscapeTest, ARaceOnALinkStaysInside) {
  const std::string before = Manifest(x_);
  Write(w_ + "/target", "");
  Probe({"race", w_ + "/l", w_ + "/target", x_ + "/existing"});
  EXPECT_EQ(Manifest(x_), before);
}

TEST_P(EscapeTest, TheRunEndsWithGate) {
  if (Is("gvisor")) GTEST_SKIP() << "no FIFO leads out; see engine_test.cc";
  const std::string fifo = w_ + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  ASSERT_EQ(chown(fifo.c_str(), uid_, gid_), 0);
  // The backend runs in a child of the runner's: that one is ended.
  int told[2];
  ASSERT_EQ(pipe2(told, O_CLOEXEC), 0);
  const pid_t runner = fork();
  if (runner == 0) {
    held_by_ = [&](pid_t holder) {
      (void)!write(told[1], &holder, sizeof(holder));
    };
    // Every process of the run holds the write end.
    Bash("exec 9> \"$W/fifo\"; echo up >&9; while :; do sleep 600; done");
    _exit(0);
  }
  close(told[1]);
  const Fd holder_end(told[0]);
  pid_t holder = -1;
  ASSERT_EQ(read(holder_end.get(), &holder, sizeof(holder)),
            static_cast<ssize_t>(sizeof(holder)));
  const Fd read_end(open(fifo.c_str(), O_RDONLY | O_CLOEXEC));
  char text[8];
  ASSERT_EQ(read(read_end.get(), text, sizeof(text)), 3);
  ASSERT_EQ(kill(holder, SIGKILL), 0);
  waitpid(runner, nullptr, 0);
  // Comes back once no process of the run lives on.
  EXPECT_EQ(read(read_end.get(), text, sizeof(text)), 0);
}

// A file that stands on the command's input is held by the host's own mount.
TEST_P(EscapeTest, ProtectedFilesCannotBeWrittenThroughTheInput) {
  MakeDirectory(w_ + "/.git");
  MakeDirectory(w_ + "/.git/hooks");
  Write(w_ + "/.git/hooks/post-commit", "hook\n");
  Write(w_ + "/.envrc", "env\n");
  Write(w_ + "/plain", "plain\n");
  profile_.protect_names = {".envrc"};
  for (const std::string name : {".git/hooks/post-commit", ".envrc"}) {
    const std::string before = Read(w_ + "/" + name);
    const Fd in(open((w_ + "/" + name).c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(in);
    in_ = in.get();
    const Ran ran =
        Bash("cat; echo pwned > /proc/self/fd/0; echo x >> " + name);
    EXPECT_NE(ran.output.find(before), std::string::npos) << ran.output;
    EXPECT_EQ(Read(w_ + "/" + name), before) << ran.output;
  }
  const Fd in(open((w_ + "/plain").c_str(), O_RDONLY | O_CLOEXEC));
  in_ = in.get();
  EXPECT_EQ(Bash("cat").output, "plain\n");
  in_ = -1;
}

TEST_P(EscapeTest, DevicesKeepTheirModesAndTimes) {
  if (IsEngine()) GTEST_SKIP() << "an engine's devices are its own";
  if (Is("bwrap")) GTEST_SKIP() << "what bwrap mounts read-only is no device";
  const auto state = [] {
    std::string text;
    for (const char* name : {"/dev/full", "/dev/zero", "/dev/tty"}) {
      struct stat info = {};
      EXPECT_EQ(stat(name, &info), 0);
      text += std::to_string(info.st_mode) + " " +
              std::to_string(info.st_ctim.tv_sec) + "." +
              std::to_string(info.st_ctim.tv_nsec) + "\n";
    }
    return text;
  };
  const std::string before = state();
  // The mode that they have: what changes is the time of the change.
  Bash("for d in full zero tty; do chmod 0666 /dev/$d; done");
  EXPECT_EQ(state(), before);
  EXPECT_TRUE(Bash("echo y > /dev/null && head -c 2 /dev/zero | wc -c")
                  .output.ends_with("2\n"));
}

}  // namespace
}  // namespace gate::backends
