// Lines whose network is limited to hosts, from the rule to the record.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

#include "tests/support/machine.h"
#include "tests/support/servers.h"

namespace gate::app {
namespace {

using test::Done;
using test::Machine;
using test::Server;

// Answers each connection to a port of 127.0.0.1 with "hello".
class Hello {
 public:
  Hello() : server_(AF_INET) {
    thread_ = std::thread([this] {
      for (;;) {
        const Fd one(server_.Accept());
        if (!one) return;
        char space[4096];
        (void)!::recv(one.get(), space, sizeof(space), 0);
        constexpr std::string_view kAnswer =
            "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\n"
            "hello\n";
        (void)!::send(one.get(), kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
      }
    });
  }
  ~Hello() {
    ::shutdown(server_.socket(), SHUT_RDWR);
    thread_.join();
  }
  std::string host() const {
    return "127.0.0.1:" + std::to_string(server_.port());
  }

 private:
  Server server_;
  std::thread thread_;
};

class NamedHostsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox here";
    // Names loopback itself, which clients do not ask proxies for.
    machine_.Write(machine_.project() + "/ask.py", R"(
import http.client, sys
for host in sys.argv[1:]:
  proxy = http.client.HTTPConnection("127.0.0.1", 1023, timeout=20)
  proxy.request("GET", "http://" + host + "/")
  answer = proxy.getresponse()
  print(answer.status, answer.read().decode().split("\n")[0])
)");
  }

  // A rule that gives python3 `hosts` (a JSON array), and no wider network.
  void Give(const std::string& hosts, const std::string& more = "") {
    machine_.Write(machine_.home() + "/.config/gate/rules.d/mine.json",
                   R"({"schema": 1, "pack": "mine", "rules": [{"id": "mine.ask",
            "action": "sandbox", "network": "domains",
            "network_max": "domains", "reason": "asks its hosts", "hosts": )" +
                       hosts + more +
                       R"(, "match": {"program": ["python3"]}}]})");
  }
  void Settings(const std::string& json) {
    machine_.Write(machine_.home() + "/.config/gate/config.json", json);
  }
  Done Ask(const std::string& host) {
    return machine_.Gate({"run", "-c", "python3 ask.py " + host});
  }

  Machine machine_;
};

constexpr const char* kLoopback = R"({"private_ranges": ["127.0.0.0/8"]})";

TEST_F(NamedHostsTest, AListedHostIsReachedAndRecorded) {
  const Hello server;
  Give("[\"" + server.host() + "\"]");
  Settings(kLoopback);
  const Done done = Ask(server.host());
  EXPECT_EQ(done.out, "200 hello\n") << done.err;
  EXPECT_EQ(done.err, "");
  const Done listed = machine_.Gate({"audit", "net", "--json"});
  for (const char* part :
       {R"("verdict":"passed")", R"("via":"http")", R"("host":"127.0.0.1")"})
    EXPECT_NE(listed.out.find(part), std::string::npos) << listed.out;
}

TEST_F(NamedHostsTest, AnotherHostIsRefusedAndNamedWithTheRuleThatWouldDo) {
  const Hello server;
  Give("[\"registry.example\"]");
  Settings(kLoopback);
  const Done done = Ask(server.host());
  EXPECT_TRUE(done.out.starts_with("403 ")) << done.out;
  EXPECT_NE(done.err.find("withheld " + server.host() +
                          ", which is not among the hosts"),
            std::string::npos)
      << done.err;
  EXPECT_NE(done.err.find(R"("hosts": [")" + server.host() + "\"]"),
            std::string::npos)
      << done.err;
  EXPECT_EQ(machine_.Gate({"audit", "net", "--verdict", "passed"}).exit_code,
            1);
  EXPECT_NE(machine_.Gate({"audit", "net", "--sum"}).out.find("not-listed"),
            std::string::npos);
}

TEST_F(NamedHostsTest, WhatADenyNamesIsNotReached) {
  const Hello server;
  Give("[\"" + server.host() + "\"]", ", \"hosts_deny\": [\"127.0.0.1\"]");
  Settings(kLoopback);
  EXPECT_TRUE(Ask(server.host()).out.starts_with("403 "));
}

TEST_F(NamedHostsTest, AnAddressThatIsNotPublicNeedsAPersonsSetting) {
  const Hello server;
  Give("[\"" + server.host() + "\"]");
  for (const char* settings : {"{}", R"({"private_ranges": ["10.0.0.0/8"]})"}) {
    Settings(settings);
    const Done done = Ask(server.host());
    EXPECT_TRUE(done.out.starts_with("403 ")) << done.out;
    EXPECT_NE(done.err.find("its address is not a public one"),
              std::string::npos)
        << done.err;
  }
  // No setting opens these.
  Give(R"(["169.254.169.254:80"])");
  Settings(R"({"private_ranges": ["0.0.0.0/0"]})");
  EXPECT_TRUE(Ask("169.254.169.254").out.starts_with("403 "));
  // What is no range refuses everything until it is mended.
  Settings(R"({"private_ranges": ["10.0.0.1/8"]})");
  EXPECT_EQ(machine_.Gate({"check", "true"}).exit_code, 78);
}

TEST_F(NamedHostsTest, ALineHasNoOtherWayOut) {
  const Hello server;
  Give("[\"registry.example\"]");
  Settings(kLoopback);
  machine_.Write(machine_.project() + "/leave.py", R"(
import socket
def try_(what, family, kind, address):
  try:
    one = socket.socket(family, kind)
    one.settimeout(5)
    one.connect(address)
    if kind == socket.SOCK_DGRAM:
      one.send(b"x")
      one.recv(1)
    print(what, "reached")
  except (OSError, ValueError): pass
port = )" + server.host().substr(server.host().find(':') + 1) +
                                                       R"(
try_("direct", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", port))
try_("tcp", socket.AF_INET, socket.SOCK_STREAM, ("192.0.2.1", 443))
try_("udp", socket.AF_INET, socket.SOCK_DGRAM, ("192.0.2.1", 53))
try_("six", socket.AF_INET6, socket.SOCK_STREAM, ("2001:db8::1", 443))
try_("raw", socket.AF_INET, socket.SOCK_RAW, ("192.0.2.1", 0))
for name in ("registry.other", "secret.registry.other"):
  try: print(name, socket.getaddrinfo(name, 443))
  except OSError: pass
print(socket.gethostbyname("registry.example").startswith("127."))
)");
  const Done done = machine_.Gate({"run", "-c", "python3 leave.py"});
  EXPECT_EQ(done.out, "True\n") << done.err;
}

// The rule opens the network; the setting leaves what the rule names.
TEST_F(NamedHostsTest, ASettingNarrowsAnOpenNetworkToTheHostsOfItsRule) {
  const Hello server, other;
  machine_.Write(machine_.home() + "/.config/gate/rules.d/mine.json",
                 R"({"schema": 1, "pack": "mine", "rules": [{"id": "mine.ask",
            "action": "sandbox", "network": "open", "reason": "asks a host",
            "hosts": [")" +
                     server.host() +
                     R"("], "match": {"program": ["python3"]}}]})");
  Settings(R"({"network": "domains", "private_ranges": ["127.0.0.0/8"]})");
  EXPECT_EQ(Ask(server.host() + " " + other.host()).out.substr(0, 14),
            "200 hello\n403 ");
  const std::string line = "python3 ask.py " + server.host();
  EXPECT_NE(machine_.Gate({"explain", line})
                .out.find("hosts that the rules name\n  " + server.host() +
                          "  mine.ask\n"),
            std::string::npos);
  EXPECT_NE(machine_.Gate({"check", "--json", line})
                .out.find("\"hosts\":[\"" + server.host() + "\"]"),
            std::string::npos);
  // Without the setting nothing is said of them.
  Settings("{}");
  EXPECT_EQ(machine_.Gate({"explain", line}).out.find("hosts that"),
            std::string::npos);
  EXPECT_EQ(machine_.Gate({"check", "--json", line}).out.find("\"hosts\""),
            std::string::npos);
}

TEST_F(NamedHostsTest, WithoutItsFilterNothingRuns) {
  const std::string alone = machine_.root() + "/alone";
  std::filesystem::create_directory(alone);
  std::filesystem::copy_file(test::GateBinary(), alone + "/gate");
  Give("[\"registry.example\"]");
  machine_.Write(machine_.project() + "/run.sh",
                 "#!/bin/sh\nexec " + alone +
                     "/gate run -c 'python3 -c \"open(\\\"made\\\", "
                     "\\\"w\\\")\"'\n",
                 0755);
  const Done done = machine_.Run({machine_.project() + "/run.sh"});
  EXPECT_EQ(done.exit_code, 125) << done.err;
  EXPECT_NE(done.err.find("gate-net"), std::string::npos) << done.err;
  EXPECT_FALSE(machine_.Exists(machine_.project() + "/made"));
}

}  // namespace
}  // namespace gate::app
