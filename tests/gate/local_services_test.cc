// Services of this machine that a contained line asks by name.
#include "gateway/grants/local_services.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gateway/plan_json.h"
#include "tests/support/container_engine.h"
#include "tests/support/must_work.h"
#include "tests/support/servers.h"

namespace gate::app {
namespace {

using test::Done;
using test::OtherProcess;
using test::Server;

// Answers every connection with "yes", as a web server would.
class Yes {
 public:
  explicit Yes(uint16_t port = 0) : server_(AF_INET, false, port) {
    thread_ = std::thread([this] {
      while (true) {
        const Fd one(server_.Accept());
        if (!one) return;
        ++asked;
        char space[4096];
        (void)!::recv(one.get(), space, sizeof(space), 0);
        constexpr std::string_view kAnswer =
            "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nyes";
        (void)!::send(one.get(), kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
      }
    });
  }
  ~Yes() {
    ::shutdown(server_.socket(), SHUT_RDWR);
    thread_.join();
  }
  uint16_t port() const { return server_.port(); }
  std::string address() const { return "localhost:" + std::to_string(port()); }
  std::atomic<int> asked = 0;

 private:
  Server server_;
  std::thread thread_;
};

std::string This() {
  return std::filesystem::read_symlink("/proc/self/exe").filename();
}

// A line that asks what `addresses` name, and prints the answers.
std::string Line(const std::vector<std::string>& addresses) {
  std::string line;
  for (size_t i = 0; i < addresses.size(); ++i)
    line += "URL" + std::to_string(i) + "=http://" + addresses[i] + "/ ";
  return line + "python3 ask.py";
}

class LocalServicesTest : public testing::Test {
 protected:
  LocalServicesTest() {
    machine_.Write(machine_.project() + "/ask.py", R"(
import os, urllib.request
for name in sorted(os.environ):
  if not name.startswith("URL"): continue
  try: print(urllib.request.urlopen(os.environ[name], None, 20).read().decode())
  except OSError as error: print("no")
)");
  }

  void List(uint16_t port) {
    machine_.Write(machine_.home() + "/.config/gate/config.json",
                   R"({"local_services": [{"port": )" + std::to_string(port) +
                       R"(, "program": ")" + This() + "\"}]}");
  }

  Machine machine_;
};

TEST_F(LocalServicesTest, WhatListensOutsideIsAsked) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox here";
  const Yes server;
  const std::string port = std::to_string(server.port());
  for (const std::string& line :
       {"curl -s " + server.address(),
        "curl -s http://127.0.0.1:" + port + "/x",
        "wget -qO- " + server.address(), "psql -h localhost -p " + port,
        "redis-cli -p " + port + " ping", "nc -z localhost " + port,
        "PGHOST=localhost PGPORT=" + port + " psql", Line({server.address()}),
        // With this machine's network as well.
        "curl -s https://example.org/ " + server.address(),
        "DATABASE_URL=postgres://" + server.address() + "/x npm test"}) {
    const Done done = machine_.Gate({"check", "--json", "-c", line});
    EXPECT_EQ(done.exit_code, 3) << line << done.out;
    EXPECT_NE(done.out.find("it runs outside the sandbox and does what it is "
                            "sent"),
              std::string::npos)
        << line;
    EXPECT_NE(done.out.find(R"("kind":"sandbox","services":[{"port":)" + port),
              std::string::npos)
        << line << done.out;
    // Of many lines nobody looks.
    EXPECT_NE(
        machine_
            .Gate({"check", "--batch"}, R"({"id":1,"cmd":")" + line + "\"}\n")
            .out.find(R"("action":"sandbox")"),
        std::string::npos)
        << line;
  }
  const Done run = machine_.Gate({"run", "-c", Line({server.address()})});
  EXPECT_EQ(run.exit_code, 126);
  EXPECT_EQ(server.asked, 0);
}

TEST_F(LocalServicesTest, WhereNobodyListensNothingIsAsked) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox here";
  uint16_t port = 0;
  port = Server(AF_INET).port();
  const std::string address = "localhost:" + std::to_string(port);
  for (const std::string& line :
       {"curl -s " + address + "/health",
        "psql -h localhost -p " + std::to_string(port), Line({address})})
    EXPECT_EQ(machine_.Gate({"check", "-c", line}).exit_code, 4) << line;
  const Done done = machine_.Gate({"run", "-c", Line({address})});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "no\n");
  // A server of the line's own is the line's own, whoever listens outside.
  const Yes server;
  EXPECT_EQ(
      machine_
          .Gate({"check", "-c",
                 "python3 -m http.server " + std::to_string(server.port()) +
                     " & curl -s " + server.address()})
          .exit_code,
      4);
}

TEST_F(LocalServicesTest, OnlyWhatIsListedIsThere) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox here";
  const Yes server, other;
  List(server.port());
  Done done = machine_.Gate({"run", "--json", "-c", Line({server.address()})});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "yes\n") << done.err;
  EXPECT_NE(
      done.err.find(R"("services":[{"port":)" + std::to_string(server.port())),
      std::string::npos)
      << done.err;
  EXPECT_EQ(server.asked, 1);
  // The record says what went through.
  const Done list = machine_.Gate({"audit", "list", "--json"});
  EXPECT_NE(list.out.find("\"forwarded\""), std::string::npos) << list.out;
  EXPECT_NE(list.out.find("connections"), std::string::npos);
  // What the line finds out by itself is not there.
  machine_.Write(machine_.project() + "/hidden.py",
                 "import socket\ntry:\n  socket.create_connection(('127.0.0.1'"
                 ", " +
                     std::to_string(other.port()) +
                     "), 20)\n  print('there')\nexcept OSError: print('no')\n");
  done = machine_.Gate(
      {"run", "-c", Line({server.address()}) + "; python3 hidden.py"});
  EXPECT_EQ(done.out, "yes\nno\n") << done.err;
  EXPECT_EQ(other.asked, 0);
  // Nor is any other line's.
  done = machine_.Gate({"run", "-c", "python3 hidden.py"});
  EXPECT_EQ(done.out, "no\n");
}

TEST_F(LocalServicesTest, OnlyThePasswordsOfWhatIsGivenAreThere) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox here";
  const Yes server, other;
  const std::string port = std::to_string(server.port());
  machine_.Write(machine_.home() + "/.pgpass",
                 "# mine\nlocalhost:" + port + ":*:app:hunter2\nlocalhost:" +
                     std::to_string(other.port()) +
                     ":*:app:hunter3\n*:*:*:*:hunter4\ndb:5432:*:a:hunter5\n");
  machine_.Write(machine_.project() + "/show.py", R"(
import os
try: print(open(os.path.expanduser("~/.pgpass")).read())
except OSError: print("none")
)");
  const std::string line = Line({server.address()}) + "; python3 show.py";
  const Done asked = machine_.Gate({"check", "--json", "-c", line});
  EXPECT_EQ(asked.exit_code, 3) << asked.out;
  EXPECT_NE(asked.out.find("~/.pgpass"), std::string::npos) << asked.out;
  // Of a port without an entry nothing is said.
  EXPECT_EQ(machine_
                .Gate({"check", "--json", "-c",
                       "curl -s http://[::1]:" + std::to_string(other.port())})
                .out.find("hunter"),
            std::string::npos);
  List(server.port());
  const Done done = machine_.Gate({"run", "--json", "-c", line});
  EXPECT_EQ(done.out, "yes\nlocalhost:" + port + ":*:app:hunter2\n\n")
      << done.err;
  EXPECT_NE(done.err.find("passwords in ~/.pgpass"), std::string::npos)
      << done.err;
  // Without the service there is no password.
  EXPECT_EQ(machine_.Gate({"run", "-c", "python3 show.py"}).out, "none\n");
}

// What an earlier line of the session left looks for what the next one has.
TEST_F(LocalServicesTest, WhatAnEarlierLineLeftReachesNothingOfALaterOne) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox here";
  const Yes server;
  const std::string port = std::to_string(server.port());
  List(server.port());
  machine_.Write(machine_.home() + "/.pgpass",
                 "localhost:" + port + ":*:app:hunter2\n");
  machine_.Write(machine_.project() + "/watch.py", R"(
import os, socket, sys
seen = set()
def readable(path, word):
  try: return word in open(path, "rb").read()
  except OSError: return False
turn = 0
while not os.path.exists("stop"):
  try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), 1).close()
    seen.add("port")
  except OSError: pass
  for p in os.listdir("/proc"):
    if p.isdigit() and readable("/proc/" + p + "/environ", b"LATER"):
      seen.add("environment")
  if readable(os.path.expanduser("~/.pgpass"), b"hunter2"): seen.add("password")
  turn += 1
  with open("turn.new", "w") as f: f.write(str(turn))
  os.rename("turn.new", "turn")
with open("seen.new", "w") as f: f.write("seen: " + " ".join(sorted(seen)))
os.rename("seen.new", "seen")
)");
  machine_.Write(machine_.project() + "/later.py", R"(
import os, urllib.request
def turn():
  try: return int(open("turn").read())
  except (OSError, ValueError): return 0
first = turn()
while turn() < first + 3: pass
print(urllib.request.urlopen(os.environ["URL"], None, 20).read().decode())
print(open(os.path.expanduser("~/.pgpass")).read().count("hunter2"))
while turn() < first + 6: pass
open("stop", "w").close()
while not os.path.exists("seen"): pass
print(open("seen").read())
)");
  const Done left =
      machine_.Gate({"run", "--session", "A", "-c",
                     "python3 watch.py " + port + " >/dev/null 2>&1 &"});
  if (left.err.find("ended with") != std::string::npos)
    GTEST_SKIP() << "nothing outlives its line here";
  ASSERT_EQ(left.exit_code, 0) << left.err;
  const Done done = machine_.Gate(
      {"run", "--session", "A", "-c",
       "LATER=1 URL=http://" + server.address() + "/ python3 later.py"});
  EXPECT_EQ(done.out, "yes\n1\nseen: \n") << done.err;
}

TEST_F(LocalServicesTest, AThousandConnectionsOfOneLine) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox here";
  const Yes server;
  List(server.port());
  machine_.Write(machine_.project() + "/many.py", R"(
import os, urllib.request
print(sum(urllib.request.urlopen(os.environ["URL"], None, 60).read() == b"yes" for i in range(1000)))
)");
  const Done done = machine_.Gate(
      {"run", "-c", "URL=http://" + server.address() + "/ python3 many.py"});
  EXPECT_EQ(done.out, "1000\n") << done.err;
  EXPECT_EQ(server.asked, 1000);
}

// Low ports are to be had inside as well; the machine's may be in use.
TEST_F(LocalServicesTest, APortBelow1024IsThereToo) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox here";
  uint16_t port = 700;
  while (port < 1024 && Server(AF_INET, false, port).port() != port) ++port;
  if (port == 1024) GTEST_SKIP() << "this user has no low ports";
  const Yes server(port);
  List(port);
  const Done done = machine_.Gate({"run", "-c", Line({server.address()})});
  EXPECT_EQ(done.out, "yes\n") << done.err;
}

// A ticket was given for who listened then.
TEST_F(LocalServicesTest, APortThatChangesHandsBeforeTheRunIsNotThere) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox here";
  std::optional<Yes> server(std::in_place);
  const uint16_t port = server->port();
  const std::string address = server->address();
  List(port);
  Gateway gateway([&] {
    GlobalOptions options;
    options.config_dir = machine_.home() + "/.config/gate";
    options.state_dir = machine_.state();
    return ReadProcessFacts(options);
  }());
  Request question;
  question.command = Line({address});
  question.cwd = machine_.project();
  Authorization authorization = gateway.Authorize(question, /*pin=*/false);
  ASSERT_EQ(authorization.plan.profile.services.size(), 1u);
  // As a ticket carries it.
  const auto carried = PlanFromJson(PlanToJson(authorization.plan));
  ASSERT_TRUE(carried);
  EXPECT_EQ(carried->profile.services, authorization.plan.profile.services);
  server.reset();
  const OtherProcess other(port);
  const auto forwarder = OfferLocalServices(gateway, &authorization);
  ASSERT_TRUE(forwarder);
  EXPECT_FALSE(*forwarder);
  EXPECT_TRUE(authorization.plan.profile.services.empty());
  ASSERT_EQ(authorization.forwarded.size(), 1u);
  EXPECT_TRUE(authorization.forwarded[0].changed);
}

TEST_F(LocalServicesTest, AYesHoldsUntilWhatListensEnds) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox here";
  std::optional<Yes> server(std::in_place);
  const uint16_t port = server->port();
  const std::string line = Line({server->address()});
  const Done asked = machine_.Gate({"run", "-c", line});
  ASSERT_EQ(asked.exit_code, 126) << asked.err;
  const std::string kApprove = "gate approve ";
  const size_t at = asked.err.find(kApprove);
  ASSERT_NE(at, std::string::npos) << asked.err;
  const std::string id = asked.err.substr(at + kApprove.size(), 36);
  const auto [code, shown] = machine_.OnTerminal({"approve", id}, "y");
  if (Machine::NoPerson(shown)) GTEST_SKIP() << "no person's terminal here";
  ASSERT_EQ(code, 0) << shown;
  EXPECT_NE(shown.find("of this machine"), std::string::npos) << shown;
  EXPECT_EQ(machine_.Gate({"run", "-c", line}).out, "yes\n");
  // Another line is not asked about the same service, in the same project.
  EXPECT_EQ(machine_.Gate({"run", "-c", line + " again"}).out, "yes\n");
  EXPECT_NE(machine_.Gate({"approvals", "list"}).out.find("service"),
            std::string::npos);
  // Another server on the same port is.
  server.reset();
  const OtherProcess other(port);
  EXPECT_EQ(machine_.Gate({"run", "-c", line}).exit_code, 126);
}

// A yes in the client's own dialog is to who listened when it was shown.
TEST_F(LocalServicesTest, AClientsYesIsToWhoListenedThen) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox here";
  std::optional<Yes> server(std::in_place);
  const uint16_t port = server->port();
  const auto rewritten = [&] {
    const Done done = machine_.Gate(
        {"hook", "claude"},
        R"({"session_id":"s","cwd":")" + machine_.project() +
            R"(","hook_event_name":"PreToolUse","permission_mode":"default",)"
            R"("tool_name":"Bash","tool_input":{"command":")" +
            Line({server->address()}) + "\"}}");
    EXPECT_NE(done.out.find(R"("permissionDecision":"ask")"), std::string::npos)
        << done.out;
    const std::string kKey = R"("updatedInput":{"command":")";
    const size_t begin = done.out.find(kKey) + kKey.size();
    return done.out.substr(begin, done.out.find('"', begin) - begin);
  };
  const std::string first = rewritten(), second = rewritten();
  EXPECT_EQ(machine_.Run({"/bin/bash", "-c", first}).out, "yes\n");
  server.reset();
  const OtherProcess other(port);
  EXPECT_EQ(machine_.Run({"/bin/bash", "-c", second}).exit_code, 126);
}

TEST_F(LocalServicesTest, NobodyToAskMeansThatItIsNotThere) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox here";
  const Yes server;
  machine_.Write(machine_.home() + "/.config/gate/config.json",
                 R"({"preset": "autonomous"})");
  Done done = machine_.Gate({"run", "-c", Line({server.address()})});
  EXPECT_EQ(done.out, "no\n") << done.err;
  machine_.Write(machine_.home() + "/.config/gate/config.json",
                 R"({"local_services": "none"})");
  done = machine_.Gate({"run", "-c", Line({server.address()})});
  EXPECT_EQ(done.out, "no\n") << done.err;
  EXPECT_EQ(server.asked, 0);
}

TEST_F(LocalServicesTest, OfTwoLayersTheStricterHolds) {
  using Mode = LocalServicesSetting::Mode;
  const std::string one = R"({"port": 1, "program": "a"})",
                    two = R"({"port": 2, "user": "b"})";
  const struct {
    const char* system;
    std::string user;
    std::optional<Mode> mode;  // none: it does not load
    size_t listed;
  } cases[] = {
      {"", "", Mode::kContainers, 0},
      {"", R"("none")", Mode::kNone, 0},
      {"", R"("containers")", Mode::kContainers, 0},
      {"", "[" + one + "]", Mode::kListed, 1},
      {"", "[]", Mode::kListed, 0},
      {"\"none\"", "[" + one + "]", Mode::kNone, 0},
      {"\"containers\"", "[" + one + "]", Mode::kContainers, 0},
      {R"([{"port": 1, "program": "a"}])", R"("none")", Mode::kNone, 0},
      {R"([{"port": 1, "program": "a"}])", "[" + one + "," + two + "]",
       Mode::kListed, 1},
      {R"([{"port": 1, "program": "a"}])", "[" + two + "]", Mode::kListed, 0},
      {"", R"("all")", std::nullopt, 0},
      {"", R"(["5432"])", std::nullopt, 0},
      {"", R"([{"port": 5432}])", std::nullopt, 0},
      {"", R"([{"program": "x"}])", std::nullopt, 0},
      {"", R"([{"port": 0, "program": "x"}])", std::nullopt, 0},
      {"", R"([{"port": 65536, "program": "x"}])", std::nullopt, 0},
      {"", R"([{"port": 1, "program": "x", "more": 1}])", std::nullopt, 0},
      {"", "true", std::nullopt, 0},
  };
  for (const auto& c : cases) {
    GlobalOptions options;
    options.config_dir = machine_.home() + "/.config/gate";
    ProcessFacts facts = ReadProcessFacts(options);
    facts.places.system = machine_.root() + "/system";
    for (const auto& [place, text] :
         {std::pair(facts.places.system, std::string(c.system)),
          std::pair(facts.places.config, c.user)})
      machine_.Write(
          place + "/config.json",
          text.empty() ? "{}" : R"({"local_services": )" + text + "}");
    const LoadedSettings settings = LoadSettings(facts);
    EXPECT_EQ(SettingsTrouble(settings).empty(), c.mode.has_value()) << c.user;
    if (!c.mode) continue;
    EXPECT_EQ(settings.local_services.mode, *c.mode) << c.system << c.user;
    EXPECT_EQ(settings.local_services.listed.size(), c.listed)
        << c.system << c.user;
  }
}

}  // namespace
}  // namespace gate::app
