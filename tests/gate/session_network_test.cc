// The network that the lines of a session share.
#include "gateway/session_network.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "backends/landlock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/paths.h"
#include "base/session_wire.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Done;
using test::Machine;

// A server that ends when it is told to, and those who ask it.
constexpr char kTalk[] = R"(
import os, socket, struct, fcntl, sys
def there(port, word=b"x"):
  try:
    with socket.create_connection(("127.0.0.1", port), 5) as s:
      s.send(word)
      return True
  except OSError: return False
def tries(what, *args):
  try:
    what(*args)
    return "done"
  except OSError as error: return str(error.errno)
what = sys.argv[1]
if what == "serve":
  abstract = socket.socket(socket.AF_UNIX)
  abstract.bind("\0gate-session-test")
  abstract.listen()
  server = socket.socket()
  server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
  server.bind(("127.0.0.1", 8123))
  server.listen()
  while True:
    with server.accept()[0] as s:
      if s.recv(1) == b"q": break
elif what == "wait":
  while not there(8123): pass
  print("there")
elif what == "once": print(there(8123))
elif what == "end": print(there(8123, b"q"))
elif what == "attack":
  lo = struct.pack("16sh", b"lo", 0)
  s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
  print("down", tries(fcntl.ioctl, s, 0x8914, lo))
  print("raw", tries(socket.socket, socket.AF_INET, socket.SOCK_RAW, 1))
  print("sysctl", tries(open, "/proc/sys/net/ipv4/ip_default_ttl", "w"))
  print("namespace", tries(os.open, "/proc/1/ns/user", os.O_RDONLY))
  a = socket.socket(socket.AF_UNIX)
  print("abstract", tries(a.connect, "\0gate-session-test"))
  others = [p for p in os.listdir("/proc") if p.isdigit()
            and int(p) not in (1, os.getpid(), os.getppid())]
  print("others", others)
  print("kill", tries(os.kill, -1, 0))
)";

class SessionNetworkTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && (geteuid() != 0 || !std::filesystem::exists(kSetpriv)))
      GTEST_SKIP() << "only root can be another user";
    if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox here";
    if (backends::LandlockAbi() < 6)
      GTEST_SKIP() << "each line has a network of its own here";
    machine_.Write(machine_.project() + "/talk.py", kTalk);
    std::filesystem::remove_all(machine_.state());
    if (GetParam())
      machine_.Run({"/bin/chown", "-R", "65534:65534", machine_.root()});
  }

  // A bash script, as root or as an ordinary user. `A` and `B` run a line in
  // one of two sessions.
  Done Script(const std::string& text) {
    const std::string gate = test::GateBinary();
    const std::string script =
        "G() { '" + gate +
        "' \"$@\"; }; "
        "A() { G sandbox --session A -c \"$1\"; }; "
        "B() { G sandbox --session B -c \"$1\"; }; "
        "trap 'G sessions end --all >/dev/null 2>&1' EXIT; " +
        text;
    std::vector<std::string> words;
    if (GetParam())
      words = {kSetpriv, "--reuid=65534", "--regid=65534", "--clear-groups"};
    words.insert(words.end(), {"/bin/bash", "-c", script});
    return machine_.Run(words);
  }
  std::string Networks() const { return machine_.state() + "/networks"; }

  static constexpr const char* kSetpriv = "/usr/bin/setpriv";
  Machine machine_;
};

INSTANTIATE_TEST_SUITE_P(Users, SessionNetworkTest, testing::Bool(),
                         [](const auto& who) {
                           return who.param ? "Ordinary" : "Caller";
                         });

TEST_P(SessionNetworkTest, ItsEndIsTheEndOfWhatItsLinesLeft) {
  const Done done = Script(
      "R() { G run --session $1 -c \"$2\"; }; "
      "for s in A B; do R $s 'python3 talk.py serve >/dev/null 2>&1 &'; "
      "R $s 'python3 talk.py wait'; done; "
      "first=$(G sessions | sed -n '1s/ .*//p'); "
      "G sessions end $first | sed 's/^ended [0-9a-f]*$/ended ID/'; "
      "while [ $(G sessions | wc -l) != 1 ]; do :; done; "
      "(R A 'python3 talk.py once'; R B 'python3 talk.py once') | sort");
  EXPECT_EQ(done.out,
            "there\nthere\nended python3 talk.py serve >/dev/null 2>&1 &\n"
            "ended ID\nFalse\nTrue\n")
      << done.err;
}

// With no session, or with a supervisor that was killed, only that line's own
// id is left to end it by.
TEST_P(SessionNetworkTest, WhatIsInNoKeptNetworkIsListedAndEndedByItself) {
  const Done done = Script(
      "serve='python3 talk.py serve >/dev/null 2>&1 &'; "
      "ids() { G sessions --json | sed 's/.*\"id\":\"\\([^\"]*\\).*/\\1/'; }; "
      "end() { G sessions end $1 | sed 's/^ended [0-9a-f]*$/ended ID/'; }; "
      // A session whose supervisor is killed, and a line of none.
      "G run --session A -c \"$serve\"; "
      "kill -9 $(G sessions | sed 's/.*process //; s/ .*//'); "
      "G run -c \"$serve\"; G sessions | sed 's/^[0-9a-f-]*//; s/[0-9]* s,/N "
      "s,/'; "
      "G sessions --json | grep -c '\"command\":'; "
      "G sessions end 0 2>/dev/null; echo $?; "
      "end $(ids | head -n 1); while [ $(G sessions | wc -l) != 1 ]; do :; "
      "done; "
      // Beside a network that is kept they all end.
      "G run --session B -c \"$serve\"; end --all; "
      "while ! G sessions | grep -q ^no; do :; done; echo none");
  const std::string serve = "python3 talk.py serve >/dev/null 2>&1 &\n";
  const std::string alone =
      "  left running for N s, in a network of its own  " + serve;
  EXPECT_EQ(done.out, alone + alone + "2\n64\nended " + serve + "ended " +
                          serve + "ended " + serve + "ended ID\nnone\n")
      << done.err;
}

// Nobody could join it, and its socket would stand in the way of later runs.
TEST_P(SessionNetworkTest, ItEndsWithTheNameOfItsSocket) {
  const Done done = Script(
      "A 'python3 talk.py once'; G sessions | sed 's/.*process //; s/ .*//' "
      ">p; "
      "kill -0 $(cat p) && echo there; rm -r '" +
      Networks() +
      "'; while kill -0 $(cat p) 2>/dev/null && "
      "[ \"$(cut -d' ' -f3 /proc/$(cat p)/stat)\" != Z ]; do :; done; "
      "echo gone; A 'python3 talk.py once'; G sessions | wc -l");
  EXPECT_EQ(done.out, "False\nthere\ngone\nFalse\n1\n") << done.err;
}

TEST_P(SessionNetworkTest, LinesOfOneSessionFindEachOthersServers) {
  const Done done = Script(
      "A 'python3 talk.py serve' & A 'python3 talk.py wait'; "
      "B 'python3 talk.py once'; G sandbox -c 'python3 talk.py once'; "
      "A 'python3 talk.py end'; wait; A 'python3 talk.py once'");
  EXPECT_EQ(done.out, "there\nFalse\nFalse\nTrue\nFalse\n") << done.err;
}

TEST_P(SessionNetworkTest, ALineReachesOnlyTheServersOfAnother) {
  const Done done = Script(
      "A 'python3 talk.py serve' & A 'python3 talk.py wait'; "
      "A 'python3 talk.py attack'; A 'python3 talk.py end'; wait");
  EXPECT_EQ(done.out,
            "there\ndown 1\nraw 1\nsysctl 30\nnamespace 13\nabstract 1\n"
            "others []\nkill 3\nTrue\n")
      << done.err;
}

TEST_P(SessionNetworkTest, TheFirstLinesAtOnceStartOneKeeper) {
  const Done done = Script(
      "for i in 1 2 3 4 5 6; do A 'readlink /proc/self/ns/net' & done; wait; "
      "echo; G sessions --json");
  const size_t blank = done.out.find("\n\n");
  ASSERT_NE(blank, std::string::npos) << done.out << done.err;
  const std::string first = done.out.substr(0, done.out.find('\n') + 1);
  EXPECT_EQ(test::Count(done.out, first), 6u) << done.out;
  EXPECT_EQ(test::Count(done.out, "gate.sessions/1"), 1u) << done.out;
}

TEST_P(SessionNetworkTest, AKeeperThatIsGoneIsReplaced) {
  const Done done = Script(
      "pid() { G sessions --json | sed 's/.*\"pid\":\\([0-9]*\\).*/\\1/'; }; "
      "A true; one=$(pid); kill -9 $one; G sessions; A 'echo works'; "
      "two=$(pid); [ $one != $two ] && echo other; "
      "G sessions end --all | sed 's/ .*//'; A 'echo again'; "
      "three=$(pid); [ $two != $three ] && echo other; "
      "G sessions end none 2>/dev/null; G sessions end; "
      "G sessions end x --all");
  EXPECT_EQ(done.out,
            "no session has a network now\nworks\nother\nended\nagain\n"
            "other\n")
      << done.err;
  EXPECT_EQ(done.exit_code, 64);
}

TEST_P(SessionNetworkTest, ADirectoryThatIsNotTheCallersAloneIsRefused) {
  const struct {
    const char* what;
    const char* make;
  } cases[] = {
      {"open to others", "mkdir -p $N && chmod 755 $N"},
      {"open to the group", "mkdir -p $N && chmod 770 $N"},
      {"a link", "mkdir -m 700 $N.real && ln -s $N.real $N"},
      {"a dangling link", "ln -s $N.none $N"},
      {"a file", "touch $N"},
  };
  for (const auto& c : cases) {
    const Done done =
        Script("N='" + Networks() + "'; mkdir -m 700 -p '" + machine_.state() +
               "'; rm -rf $N $N.real; " + c.make +
               "; A 'readlink /proc/self/ns/net; exit 3'; echo $?; G sessions; "
               "echo $?; ls -A $N/ $N.real 2>/dev/null | grep -v :");
    // It ran, in a network of its own, and said so because it failed.
    EXPECT_TRUE(done.out.starts_with("net:[")) << c.what << done.err;
    EXPECT_NE(done.out.find("\n3\n1\n"), std::string::npos)
        << c.what << done.out;
    EXPECT_TRUE(done.out.ends_with("\n1\n") || done.out.ends_with("\n\n"))
        << c.what << done.out;
    EXPECT_NE(done.err.find("network it could not join"), std::string::npos)
        << c.what << done.err;
  }
}

TEST_P(SessionNetworkTest, WhatIsNoKeeperIsNotJoined) {
  const struct {
    const char* what;
    const char* make;  // of $K, the name of the socket
  } cases[] = {
      {"a file", "touch $K"},
      {"a link", "ln -s /dev/null $K"},
      {"a directory", "mkdir $K"},
      // It answers with the network of the host.
      {"another program",
       "python3 -c 'import socket,os,sys,struct\n"
       "s=socket.socket(socket.AF_UNIX,socket.SOCK_SEQPACKET)\n"
       "s.bind(sys.argv[1]); s.listen(); print(\"up\",flush=True)\n"
       "c=s.accept()[0]; c.recv(8)\n"
       "f=os.open(\"/proc/self/ns/net\",os.O_RDONLY)\n"
       "socket.send_fds(c,[struct.pack(\"IiIIQ\",1,1,0,0,0)],[f])\n"
       "' $K & read -r"},
  };
  for (const auto& c : cases) {
    const std::string make(c.make);
    const size_t background = make.find(" & read -r");
    const std::string made =
        background == make.npos
            ? make
            : "exec 7< <(" + make.substr(0, background) + "); read -r up <&7";
    const Done done =
        Script("A true; K='" + Networks() + "'/$(ls '" + Networks() +
               "'); G sessions end --all >/dev/null; rm -rf $K; " + made +
               "; A 'readlink /proc/self/ns/net; cut -d: -f1 -s /proc/net/dev; "
               "exit 3'; readlink /proc/self/ns/net; rm -rf $K");
    const std::string own = done.out.substr(0, done.out.find('\n') + 1);
    EXPECT_TRUE(own.starts_with("net:[")) << c.what << done.err;
    EXPECT_EQ(test::Count(done.out, own), 1u) << c.what << done.out;
    EXPECT_NE(done.err.find("network it could not join"), std::string::npos)
        << c.what << done.err;
  }
}

// What a line prints that a client runs after its hook; empty where the hook
// puts nothing in its place.
std::string OutputOfHooked(const Machine& machine, const std::string& session,
                           const std::string& command) {
  const Json event = {{"session_id", session},
                      {"cwd", machine.project()},
                      {"hook_event_name", "PreToolUse"},
                      {"tool_name", "Bash"},
                      {"tool_input", {{"command", command}}}};
  const Done hook = machine.Gate({"hook", "codex"}, event.dump());
  const auto answer = ParseJson(hook.out);
  if (!answer) return "";
  const Json& output = answer->at("hookSpecificOutput");
  if (!output.contains("updatedInput")) return "";
  return machine
      .Run({"/bin/bash", "-c",
            output.at("updatedInput").at("command").get<std::string>()})
      .out;
}

TEST(SessionNetworkOfHookTest, NoLineChoosesAnotherSessionThanItsOwn) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox here";
  if (backends::LandlockAbi() < 6)
    GTEST_SKIP() << "each line has a network of its own here";
  const std::string line =
      "python3 -c 'import os; print(os.readlink(\"/proc/self/ns/net\"))'";
  const std::string quoted =
      "python3 -c 'import os; print(os.readlink(\\\"/proc/self/ns/net\\\"))'";
  const std::string one = OutputOfHooked(machine, "one", line);
  const std::string two = OutputOfHooked(machine, "two", line);
  ASSERT_TRUE(one.starts_with("net:[")) << one;
  ASSERT_TRUE(two.starts_with("net:[")) << two;
  EXPECT_NE(one, two);
  EXPECT_EQ(OutputOfHooked(machine, "one", line), one);
  // What an agent adds to its line is not where the line runs.
  for (const std::string& named :
       {test::GateBinary() + " run --session two --agent codex -c ",
        test::GateBinary() + " sandbox --session two -c "})
    EXPECT_EQ(OutputOfHooked(machine, "one", named + "\"" + quoted + "\""), one)
        << named;
  // Nor is a session that is named as an argument one of a hook.
  for (const char* how : {"run", "sandbox"}) {
    const Done done =
        machine.Gate({how, "--agent", "codex", "--session", "two", "-c", line});
    EXPECT_TRUE(done.out.starts_with("net:[")) << done.err;
    EXPECT_NE(done.out, two) << how;
    EXPECT_NE(done.out, one) << how;
  }
}

TEST(SessionNetworkOfHookTest, AServerOfOneLineIsThereForTheNextOnes) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox here";
  if (backends::LandlockAbi() < 6)
    GTEST_SKIP() << "each line has a network of its own here";
  machine.Write(machine.project() + "/talk.py", kTalk);
  const auto line = [&](const std::string& session, const std::string& what) {
    return OutputOfHooked(machine, session, "python3 talk.py " + what);
  };
  EXPECT_EQ(line("one", "serve >/dev/null 2>&1 &"), "");
  EXPECT_EQ(line("one", "wait"), "there\n");
  EXPECT_EQ(line("two", "once"), "False\n");
  // Neither does what a line names bring it there.
  EXPECT_EQ(machine
                .Gate({"run", "--agent", "codex", "--session", "one", "-c",
                       "python3 talk.py once"})
                .out,
            "False\n");
  EXPECT_EQ(line("one", "end"), "True\n");
  machine.Gate({"sessions", "end", "--all"});
}

}  // namespace
}  // namespace gate::app
