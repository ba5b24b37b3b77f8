// What a run reaches by the network.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/machine.h"

namespace gate {
namespace {

using test::Done;
using test::Machine;

TEST(RunNetworkTest, TheCallersNetworkIsOnlyEverLess) {
  Machine machine;
  machine.Write(machine.home() + "/.config/gate/config.json", "{}");
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox here";
  const std::string outside =
      std::filesystem::read_symlink("/proc/self/ns/net").string() + "\n";
  const auto is_own = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> words = arguments;
    words.insert(words.end(), {"-c", "readlink /proc/self/ns/net"});
    const Done done = machine.Gate(words);
    return done.exit_code == 0 && done.out.starts_with("net:[") &&
           done.out != outside;
  };
  EXPECT_TRUE(is_own({"sandbox"}));
  EXPECT_TRUE(is_own({"sandbox", "--network=loopback"}));
  EXPECT_TRUE(
      is_own({"run", "--profile", "workspace-write", "--network", "none"}));
  EXPECT_EQ(
      machine.Gate({"sandbox", "--network", "open", "-c", "true"}).exit_code,
      64);
  EXPECT_EQ(
      machine.Gate({"sandbox", "--network", "domains", "-c", "true"}).exit_code,
      64);
  EXPECT_EQ(
      machine.Gate({"run", "--host", "a.example", "-c", "true"}).exit_code, 64);
  machine.Write(machine.home() + "/.config/gate/config.json",
                R"({"network": "none"})");
  EXPECT_TRUE(is_own({"sandbox", "--network", "loopback"}));
  EXPECT_TRUE(
      is_own({"run", "--profile", "workspace-write", "--network=open"}));
}

// Whatever name the network has that leads nowhere else: a test and its server
// find each other, two runs do not, and nobody finds the host's.
TEST(RunNetworkTest, APrivateNetworkLeadsToItself) {
  Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox here";
  machine.Write(machine.project() + "/talk.py", R"(
import socket, sys
def talk(family, kind, host):
  server = socket.socket(family, kind)
  server.bind((host, 0))
  client = socket.socket(family, kind)
  client.settimeout(5)
  if kind == socket.SOCK_STREAM: server.listen()
  client.connect(server.getsockname())
  client.send(b"x")
  if kind == socket.SOCK_STREAM: server = server.accept()[0]
  print(server.recv(1).decode(), end="")
def fails(host):
  try: socket.create_connection((host, 80), 5)
  except OSError as error: print(error.errno, end=" ")
def there(port):
  try: socket.create_connection(("127.0.0.1", port), 5); return True
  except OSError: return False
what = sys.argv[1]
if what == "away":
  fails("192.0.2.1")
  fails("10.1.2.3")
elif what == "there":
  while not there(8123): pass
  print("there")
elif what == "before":
  print(there(8123))
else:
  for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
    for host in "127.0.0.1", "127.1.2.3", "localhost":
      talk(socket.AF_INET, kind, host)
)");
  const struct {
    const char* line;
    const char* out;
  } cases[] = {
      {"python3 talk.py own", "xxxxxx"},
      {"python3 talk.py away", "101 101 "},  // ENETUNREACH
      {"python3 -m http.server 8123 >/dev/null 2>&1 & python3 talk.py there",
       "there\n"},
      {"python3 talk.py before", "False\n"},
      {"cut -d: -f1 -s /proc/net/dev | tr -d ' '", "lo\n"},
  };
  for (const std::vector<std::string>& how :
       std::vector<std::vector<std::string>>{
           {"sandbox"},
           {"sandbox", "--network", "none"},
           {"sandbox", "--network", "loopback"},
           {"run", "--profile", "workspace-write", "--network", "none"}})
    for (const auto& c : cases) {
      std::vector<std::string> words = how;
      words.insert(words.end(), {"-c", c.line});
      const Done done = machine.Gate(words);
      EXPECT_EQ(done.out, c.out) << how.back() << " " << c.line << done.err;
    }
}

}  // namespace
}  // namespace gate
