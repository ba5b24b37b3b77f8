// Local sockets of the host's under every kind of name.
#include "backends/view/unix_sockets.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "tests/support/sandbox_fixture.h"
#include "tests/support/temporary_directory.h"

namespace gate::backends {
namespace {

std::vector<std::string> Names(const std::string& table) {
  std::vector<std::string> names;
  for (const UnixSocket& socket : ParseUnixSockets(table))
    names.push_back(socket.name);
  return names;
}

TEST(ParseUnixSockets, TakesWhatAPathConnectsTo) {
  const std::string head =
      "Num       RefCount Protocol Flags    Type St Inode Path\n";
  const std::string entry = "0000000000000000: 00000002 00000000 ";
  EXPECT_EQ(
      Names(head + entry + "00010000 0001 01 11 /run/a\n" + entry +
            "00010000 0001 01    12  b c d\n" + entry +
            "00000000 0001 03 13\n" + entry +
            "00010000 0001 01 14 @abstract\n" + entry +
            "00000000 0001 03 15 /accepted\n" + entry +
            "00000000 0002 03 16 /datagram\n" + entry +
            "00010000 0005 01 17 relative\n"),
      (std::vector<std::string>{"/run/a", " b c d", "/datagram", "relative"}));
  EXPECT_TRUE(ParseUnixSockets("").empty());
  EXPECT_TRUE(ParseUnixSockets(head).empty());
}

TEST(ParseUnixSockets, KeepsTheLineBreaksOfANameTogether) {
  const std::string entry =
      "0000000000000000: 00000002 00000000 00010000 0001 01 ";
  EXPECT_EQ(
      Names("Num\n" + entry + "7 /a\nb\n\nc: 1 2 3 /d\n" + entry + "8 /e\n"),
      (std::vector<std::string>{"/a\nb\n\nc: 1 2 3 /d", "/e"}));
}

using Paths = std::vector<std::string>;
Paths Sorted(Paths paths) {
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Somebody who listens there.
Fd ListenAt(const std::string& path) {
  Fd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, path.data(), path.size());
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address),
           sizeof(address)) != 0 ||
      listen(listener.get(), 1) != 0)
    listener.reset();
  return listener;
}

ino_t NumberOf(const std::string& path) {
  struct stat info = {};
  return lstat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

class FindUnixSocketsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(place_, "");
    table_ = place_ + "/table";
  }
  OutsideSockets Find(const std::string& table) {
    EXPECT_TRUE(WriteFileAtomically(table_, table, 0600));
    return Find();
  }
  OutsideSockets Find() {
    SocketSearch search;
    search.table = table_.c_str();
    const std::string processes = place_ + "/processes";
    search.processes = processes.c_str();
    search.look = [](const std::string& path) -> std::optional<SocketFile> {
      SocketFile file = {path, {}};
      if (lstat(path.c_str(), &file.info) != 0) return std::nullopt;
      return file;
    };
    search.covered = [](const std::string&) { return false; };
    search.dump = [this] { return dump_; };
    search.mounts = mounts_;
    return FindUnixSockets(search);
  }
  // A process that works in the directory `name`.
  void AddProcess(const std::string& name) {
    const std::string process =
        place_ + "/processes/" + std::to_string(++processes_);
    std::filesystem::create_directories(process);
    std::filesystem::create_directories(place_ + "/" + name);
    std::filesystem::create_symlink(place_ + "/" + name, process + "/cwd");
  }
  // Somebody listens there, and is known to the kernel as `bound`.
  void Listen(const std::string& path, const std::string& bound) {
    const std::string name = place_ + "/" + path;
    ASSERT_TRUE(listeners_.emplace_back(ListenAt(name)));
    dump_->sockets.push_back({bound, 100 + listeners_.size(),
                              static_cast<uint32_t>(NumberOf(name)), "0:1",
                              geteuid()});
  }
  const TemporaryDirectory made_;
  const std::string place_ = made_.path();
  std::string table_;
  std::optional<UnixDump> dump_{std::in_place};
  std::vector<HostMount> mounts_;

 private:
  std::vector<Fd> listeners_;
  int processes_ = 0;
};

TEST_F(FindUnixSocketsTest, SaysWhatItDoesNotKnow) {
  const std::string entry =
      "0000000000000000: 00000002 00000000 00010000 0001 01 ";
  dump_.reset();
  EXPECT_NE(Find().unknown, "");  // no table
  EXPECT_EQ(Find("Num\n").unknown, "");
  EXPECT_EQ(Find("Num\n" + entry + "4294967290 @abstract\n").unknown, "");
  const std::string gone = place_ + "/removed";
  EXPECT_EQ(Find("Num\n" + entry + "4294967290 " + gone + "\n").unknown, "");
  EXPECT_NE(
      Find("Num\n" + entry + "4294967290 no/such\n").unknown.find("no/such"),
      std::string::npos);
  const std::string name = " /a/socket/that/is/not/there\n";
  std::string longest;
  while (longest.size() <= size_t{8} << 20) longest += entry + "1" + name;
  EXPECT_NE(Find(longest).unknown, "");
}

// A name tells nothing of whose socket is there: one that was renamed is looked
// for by its number though another listens where it was.
TEST_F(FindUnixSocketsTest, TakesTheOneThatWasBoundAndNotJustItsName) {
  AddProcess("a");
  AddProcess("b");
  Listen("a/s", place_ + "/a/s");
  Listen("b/t", "s");
  OutsideSockets found = Find();
  EXPECT_EQ(found.unknown, "");
  EXPECT_EQ(Sorted(found.paths), Sorted({place_ + "/a/s", place_ + "/b/t"}));

  Listen("a/renamed", place_ + "/a/s");
  dump_->sockets.erase(dump_->sockets.begin());  // a/s has a network of its own
  found = Find();
  EXPECT_EQ(found.unknown, "");
  EXPECT_EQ(Sorted(found.paths),
            Sorted({place_ + "/a/s", place_ + "/b/t", place_ + "/a/renamed"}));
}

TEST_F(FindUnixSocketsTest, TakesARelativeNameOnlyWithItsNumberForFound) {
  const std::string entry =
      "0000000000000000: 00000002 00000000 00010000 0001 01 ";
  AddProcess("a");
  Listen("a/s", "s");
  dump_.reset();
  OutsideSockets found = Find("Num\n" + entry + "101 s\n");
  EXPECT_EQ(found.paths, Paths{place_ + "/a/s"});
  EXPECT_NE(found.unknown, "");
}

TEST_F(FindUnixSocketsTest, TakesWhatTheTableDoesNotTell) {
  AddProcess("a");
  Listen("a/@s", "@s");  // looks like one that has no file
  Listen("a/skipped", place_ + "/a/skipped");
  dump_->whole = false;
  EXPECT_NE(Find().unknown, "");  // no table
  const OutsideSockets found = Find("Num\n");
  EXPECT_EQ(found.unknown, "");
  EXPECT_EQ(Sorted(found.paths),
            Sorted({place_ + "/a/@s", place_ + "/a/skipped"}));
}

TEST_F(FindUnixSocketsTest, LosesWhatTheTableDoesNotTell) {
  Listen("@s", "@s");  // nobody works there
  EXPECT_NE(Find().unknown.find("(@s)"), std::string::npos);
}

// A name may be that of another process's /proc, root or mounts.
TEST_F(FindUnixSocketsTest, LosesWhatANameDoesNotLeadToOnASeenFileSystem) {
  Listen("s", "/proc/self/fd/999/s");
  EXPECT_EQ(Find().unknown, "");
  mounts_ = {{"0:2", "/", "/"}};
  EXPECT_EQ(Find().unknown, "");
  mounts_.push_back({"0:1", "/", "/mnt"});
  EXPECT_NE(Find().unknown.find("fd/999"), std::string::npos);
}

// podman's conmon, which has closed the directory that it bound in.
TEST_F(FindUnixSocketsTest, TakesWhatItsHolderNamesOtherwise) {
  mounts_ = {{"0:1", "/", "/"}};
  AddProcess("elsewhere");
  std::filesystem::create_directories(place_ + "/c/userdata");
  Listen("c/userdata/attach", "/proc/self/fd/14/attach");
  EXPECT_NE(Find().unknown.find("fd/14"), std::string::npos);
  const std::string conmon = place_ + "/processes/1";
  std::filesystem::create_directories(conmon + "/fd");
  std::filesystem::create_symlink("socket:[101]", conmon + "/fd/9");
  EXPECT_NE(Find().unknown.find("fd/14"), std::string::npos);
  std::filesystem::create_directories(place_ + "/wrong");
  Fd other = ListenAt(place_ + "/wrong/attach");
  const std::string bundle = place_ + "/c/userdata";
  for (const std::string& words :
       {"conmon" + std::string(1, '\0') + "-b" + std::string(1, '\0') + bundle +
            std::string(1, '\0'),
        "conmon" + std::string(1, '\0') + "--bundle=" + bundle +
            std::string(1, '\0'),
        "conmon" + std::string(1, '\0') + place_ + "/wrong" +
            std::string(1, '\0') + "-p" + std::string(1, '\0') + bundle +
            "/pidfile" + std::string(1, '\0')}) {
    ASSERT_TRUE(WriteFileAtomically(conmon + "/cmdline", words, 0600));
    const OutsideSockets found = Find();
    EXPECT_EQ(found.unknown, "") << words;
    EXPECT_EQ(found.paths, Paths{bundle + "/attach"}) << words;
  }
  // Where its words name another socket of that name only.
  ASSERT_TRUE(WriteFileAtomically(conmon + "/cmdline",
                                  "conmon" + std::string(1, '\0') + place_ +
                                      "/wrong" + std::string(1, '\0'),
                                  0600));
  EXPECT_NE(Find().unknown.find("fd/14"), std::string::npos);
  std::filesystem::create_symlink(bundle + "/log", conmon + "/fd/5");
  EXPECT_EQ(Find().unknown, "");
}

TEST_F(FindUnixSocketsTest, PassesOverWhoseFileIsGone) {
  mounts_ = {{"0:1", "/", "/"}};
  AddProcess("a");
  Listen("a/s", place_ + "/a/s");
  std::filesystem::remove(place_ + "/a/s");
  const OutsideSockets found = Find();
  EXPECT_EQ(found.unknown, "");
  EXPECT_TRUE(found.paths.empty());
}

TEST(DumpUnixSockets, TellsTheFileOfEachName) {
  const TemporaryDirectory place;
  std::vector<Fd> listeners;
  std::map<std::string, ino_t> expected;
  for (int n = 0; n < 300; ++n) {  // more than one answer holds
    const std::string name = place / std::to_string(n);
    ASSERT_TRUE(listeners.emplace_back(ListenAt(name)));
    expected[name] = NumberOf(name);
  }
  const auto dump = DumpUnixSockets();
  if (!dump) GTEST_SKIP() << "this kernel does not tell";
  for (const UnixSocket& socket : dump->sockets) {
    const auto at = expected.find(socket.name);
    if (at == expected.end()) continue;
    EXPECT_EQ(socket.file, static_cast<uint32_t>(at->second)) << socket.name;
    EXPECT_EQ(socket.owner, geteuid()) << socket.name;
    EXPECT_GT(socket.inode, 0);
    expected.erase(at);
  }
  EXPECT_TRUE(expected.empty()) << expected.begin()->first;
}

struct Case {
  const char* name;
  int type;
  // From X; absolute when it begins with "X/"; "F" is a descriptor of X, "K"
  // one that is closed then, by somebody who works elsewhere and has a file of
  // X open (as conmon has), "R/" makes X the root, "M/" mounts X elsewhere
  // first (the last two as root).
  const char* bound;
  const char* then;  // a line for sh in X
  const char* reached;
};
constexpr Case kCases[] = {
    {"absolute", SOCK_STREAM, "X/s", "", "s"},
    {"absolute datagrams", SOCK_DGRAM, "X/s", "", "s"},
    {"absolute packets", SOCK_SEQPACKET, "X/s", "", "s"},
    {"relative", SOCK_STREAM, "s", "", "s"},
    {"relative datagrams", SOCK_DGRAM, "s", "", "s"},
    {"relative packets", SOCK_SEQPACKET, "s", "", "s"},
    {"by a descriptor", SOCK_STREAM, "/proc/self/fd/F/s", "", "s"},
    {"by a descriptor that was closed", SOCK_STREAM, "/proc/self/fd/K/s", "",
     "s"},
    {"datagrams by such a one", SOCK_DGRAM, "/proc/self/fd/K/s", "", "s"},
    {"in another root", SOCK_STREAM, "R/s", "", "s"},
    {"with other mounts", SOCK_STREAM, "M/s", "", "s"},
    {"relative, as if abstract", SOCK_STREAM, "@s", "", "@s"},
    {"below the working directory", SOCK_STREAM, "sub/s", "", "sub/s"},
    {"renamed", SOCK_STREAM, "X/s", "mv s t", "t"},
    {"relative and renamed", SOCK_STREAM, "s", "mv s t", "t"},
    {"datagrams renamed", SOCK_DGRAM, "X/s", "mv s t", "t"},
    {"moved up", SOCK_STREAM, "X/sub/s", "mv sub/s t", "t"},
    {"linked and unlinked", SOCK_STREAM, "X/s", "ln s t; rm s", "t"},
    {"linked", SOCK_STREAM, "X/s", "ln s t", "t"},
    {"exchanged", SOCK_STREAM, "X/s", "mv s t; echo > s", "t"},
    {"blank", SOCK_STREAM, "X/a b", "", "a b"},
    {"leading blank", SOCK_STREAM, " s", "", " s"},
    {"line break", SOCK_STREAM, "X/a\nb", "", "a\nb"},
    {"line breaks, relative", SOCK_STREAM, "\na\n\n", "", "\na\n\n"},
};

// Somebody outside who listens, with a process and a working directory of his
// own.
class Listening {
 public:
  Listening(const std::string& place, uid_t user, const Case& how,
            bool own_network) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return;
    process_ = fork();
    if (process_ == 0) {
      close(pair[0]);
      if (own_network && unshare(CLONE_NEWNET) != 0) _exit(1);
      // Who has a root or mounts of its own is root.
      if (*how.bound != 'R' && *how.bound != 'M' && user != geteuid() &&
          setresuid(user, user, user) != 0)
        _exit(1);
      prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
      Serve(place, how, pair[1]);
    }
    close(pair[1]);
    talk_ = Fd(pair[0]);
    char ready = 0;
    ready_ = read(talk_.get(), &ready, 1) == 1;
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  ~Listening() {
    talk_.reset();
    if (process_ > 0) waitpid(process_, nullptr, 0);
  }
  bool ready() const { return ready_; }
  // Whether anything came since the last question.
  bool Visited() const {
    char answer = '?';
    return write(talk_.get(), "?", 1) == 1 &&
           read(talk_.get(), &answer, 1) == 1 && answer == 'y';
  }

 private:
  [[noreturn]] static void Serve(const std::string& place, const Case& how,
                                 int talk) {
    const int listener = socket(AF_UNIX, how.type | SOCK_CLOEXEC, 0);
    std::string name = how.bound;
    if (name.starts_with("X/")) name.replace(0, 1, place);
    if (const size_t at = name.find("/F/"); at != std::string::npos)
      name.replace(at + 1, 1,
                   std::to_string(open(place.c_str(), O_PATH | O_DIRECTORY)));
    int closed = -1;
    if (const size_t at = name.find("/K/"); at != std::string::npos) {
      closed = open(place.c_str(), O_PATH | O_DIRECTORY);
      name.replace(at + 1, 1, std::to_string(closed));
      if (open((place + "/log").c_str(), O_WRONLY | O_CREAT, 0600) < 0)
        _exit(1);
    }
    if (name.starts_with("R/")) {
      name.erase(0, 1);
      if (chroot(place.c_str()) != 0) _exit(1);
    }
    if (name.starts_with("M/")) {
      name.replace(0, 1, place + "/sub");
      if (unshare(CLONE_NEWNS) != 0 ||
          mount("", "/", "", MS_REC | MS_PRIVATE, nullptr) != 0 ||
          mount(place.c_str(), (place + "/sub").c_str(), "", MS_BIND,
                nullptr) != 0)
        _exit(1);
    }
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    memcpy(address.sun_path, name.data(), name.size());
    if ((*how.bound != 'R' && chdir(place.c_str()) != 0) ||
        bind(listener, reinterpret_cast<const sockaddr*>(&address),
             sizeof(address)) != 0 ||
        (how.type != SOCK_DGRAM && listen(listener, 8) != 0) ||
        (*how.then != '\0' && system(how.then) != 0) ||
        (closed >= 0 && (close(closed) != 0 || chdir("/") != 0)))
      _exit(1);
    char question = 'r';
    while (write(talk, &question, 1) == 1 && read(talk, &question, 1) == 1) {
      pollfd fds = {listener, POLLIN, 0};
      question = poll(&fds, 1, 0) == 1 ? 'y' : 'n';
      char text[16];
      if (question == 'n') continue;
      if (how.type == SOCK_DGRAM)
        (void)!recv(listener, text, sizeof(text), 0);
      else
        close(accept(listener, nullptr, nullptr));
    }
    _exit(0);
  }

  pid_t process_ = -1;
  Fd talk_;
  bool ready_ = false;
};

class UnixSocketsTest : public Sandbox {
 protected:
  void SetUp() override {
    // The kernel lists the sockets of one network: in one of its own no other
    // program's come and go, or are lost, meanwhile.
    if (geteuid() == 0 && !IsEngine()) {
      before_ = Fd(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
      if (unshare(CLONE_NEWNET) != 0) before_.reset();
    }
    Sandbox::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    Write(w_ + "/connect",
          "import socket, sys\n"
          "s = socket.socket(socket.AF_UNIX, int(sys.argv[2]))\n"
          "s.connect(sys.argv[1])\n"
          "s.send(b'x')\n");
    Write(w_ + "/make",
          "import socket\n"
          "for type in (socket.SOCK_STREAM, socket.SOCK_DGRAM):\n"
          "  for make in (socket.socket, socket.socketpair):\n"
          "    try:\n"
          "      make(socket.AF_UNIX, type)\n"
          "      print('made')\n"
          "    except OSError:\n"
          "      print('refused')\n");
    MakeDirectory(x_ + "/sub");
  }
  void TearDown() override {
    Sandbox::TearDown();
    if (before_) {
      ASSERT_EQ(setns(before_.get(), CLONE_NEWNET), 0);
    }
  }
  std::string Connecting(const std::string& path, int type) {
    return "python3 connect '" + path + "' " + std::to_string(type);
  }

 private:
  Fd before_;
};
INSTANTIATE_TEST_SUITE_P(All, UnixSocketsTest, testing::ValuesIn(Everyone()),
                         WhoName);
INSTANTIATE_TEST_SUITE_P(Engines, UnixSocketsTest, testing::ValuesIn(Engines()),
                         WhoName);

TEST_P(UnixSocketsTest, AreNotReachedByWhateverNameTheyWereBound) {
  for (const Case& how : kCases) {
    if ((*how.bound == 'R' || *how.bound == 'M') &&
        (geteuid() != 0 || uid_ != geteuid()))
      continue;
    const std::string place = x_ + "/" + how.name;
    MakeDirectory(place);
    MakeDirectory(place + "/sub");
    const Listening listening(place, uid_, how, false);
    ASSERT_TRUE(listening.ready()) << how.name;
    const std::string line = Connecting(place + "/" + how.reached, how.type);
    const Ran ran = Bash(line);
    EXPECT_NE(ran.outcome.status, OutcomeStatus::kSetupFailed)
        << ran.outcome.reason;
    EXPECT_FALSE(listening.Visited()) << how.name;
    Outside(line);
    EXPECT_TRUE(listening.Visited()) << how.name;
  }
}

TEST_P(UnixSocketsTest, OfOtherNetworksAreNotReachedInTheWorkspace) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const Listening listening(w_, uid_, kCases[0], true);
  ASSERT_TRUE(listening.ready());
  const std::string line = Connecting(w_ + "/s", SOCK_STREAM);
  Bash(line);
  EXPECT_FALSE(listening.Visited());
  Outside(line);
  EXPECT_TRUE(listening.Visited());
}

TEST_P(UnixSocketsTest, AreNotReachedByTheNameOfASecondMount) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can mount";
  if (IsEngine()) GTEST_SKIP() << "an engine has mounts of its own";
  MakeDirectory(x_ + "/twin");
  const Listening listening(x_ + "/sub", uid_, kCases[0], false);
  ASSERT_TRUE(listening.ready());
  ASSERT_EQ(unshare(CLONE_NEWNS), 0);
  ASSERT_EQ(mount("", "/", "", MS_REC | MS_PRIVATE, nullptr), 0);
  ASSERT_EQ(mount((x_ + "/sub").c_str(), (x_ + "/twin").c_str(), "", MS_BIND,
                  nullptr),
            0);
  const std::string line = Connecting(x_ + "/twin/s", SOCK_STREAM);
  Bash(line);
  EXPECT_FALSE(listening.Visited());
  Outside(line);
  EXPECT_TRUE(listening.Visited());
  umount2((x_ + "/twin").c_str(), MNT_DETACH);
}

TEST_P(UnixSocketsTest, ThatNobodyListensOnCanBeRemoved) {
  {
    const Listening listening(w_, uid_, kCases[0], false);
    ASSERT_TRUE(listening.ready());
  }
  ASSERT_TRUE(Exists(w_ + "/s"));
  EXPECT_FALSE(IsLiveSocket(w_ + "/s"));
  const Ran ran = Bash("rm s");
  EXPECT_EQ(ran.outcome.exit_code, 0) << ran.output;
  EXPECT_FALSE(Exists(w_ + "/s"));
}

TEST_P(UnixSocketsTest, CanBeMadeThoughOnesOutsideWereRemoved) {
  constexpr Case kRemoved = {"removed", SOCK_STREAM, "X/s", "rm s", "s"};
  const Listening listening(x_, uid_, kRemoved, false);
  ASSERT_TRUE(listening.ready());
  EXPECT_EQ(Bash("python3 make").output, "made\nmade\nmade\nmade\n");
}

// An ordinary user does not see where another's process works; a mail server
// on the machine must not take his sockets away.
TEST_P(UnixSocketsTest, CanBeMadeThoughAnotherUsersHaveRelativeNames) {
  constexpr Case kRelative = {"relative", SOCK_STREAM, "s", "", "s"};
  const Listening listening(x_, geteuid(), kRelative, false);
  ASSERT_TRUE(listening.ready());
  const Ran ran = Bash("python3 make");
  EXPECT_EQ(ran.output, "made\nmade\nmade\nmade\n");
  EXPECT_TRUE(ran.outcome.violations.empty());
}

// Somebody who makes sockets and removes them at once keeps nothing from
// starting.
TEST_P(UnixSocketsTest, MayGoWhileTheyAreCovered) {
  if (!Is("native")) GTEST_SKIP() << "tries some times, and fails then";
  const pid_t busy = fork();
  if (busy == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::array<Fd, 16> listeners;
    for (size_t n = 0;; n = (n + 1) % listeners.size()) {
      const std::string name = x_ + "/" + std::to_string(n);
      unlink(name.c_str());
      listeners[n] = ListenAt(name);
      if (!listeners[n]) _exit(1);
    }
  }
  for (int run = 0; run < 100; ++run) {
    const Ran ran = Run({"/bin/true"});
    EXPECT_EQ(ran.outcome.status, OutcomeStatus::kExited) << ran.outcome.reason;
  }
  kill(busy, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(busy, &status, 0), busy);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST_P(UnixSocketsTest, CannotBeMadeWhereOneOutsideIsNotFound) {
  if (geteuid() != 0 || uid_ != 0) GTEST_SKIP() << "needs a network of its own";
  if (Is("gvisor") || Is("docker")) GTEST_SKIP() << "asks a server";
  machine_ = [&] {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    strcpy(address.sun_path, "lost");
    if (unshare(CLONE_NEWNET) != 0 || chdir(x_.c_str()) != 0) _exit(1);
    const int lost = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(lost, reinterpret_cast<const sockaddr*>(&address),
             sizeof(address)) != 0 ||
        listen(lost, 1) != 0 || chdir("/") != 0)
      _exit(1);
  };
  const Ran ran = Bash("python3 make");
  EXPECT_EQ(ran.output, "refused\nmade\nrefused\nrefused\n");
  ASSERT_TRUE(HasViolation(ran.outcome, ViolationKind::kUnixSockets))
      << ran.outcome.reason;
  EXPECT_NE(ran.outcome.violations[0].detail.find("(lost)"), std::string::npos);
}

}  // namespace
}  // namespace gate::backends
