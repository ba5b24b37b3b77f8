// What a network by name gives a command: sockets that somebody outside serves,
// and nothing else.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/sandbox_fixture.h"

namespace gate::backends {
namespace {

const char* NameOf(FilterSocket kind) {
  switch (kind) {
    case FilterSocket::kProxy:
      return "proxy";
    case FilterSocket::kDnsDatagrams:
      return "dns-datagrams";
    case FilterSocket::kDns:
      return "dns";
    case FilterSocket::kHttp:
      return "http";
    case FilterSocket::kTls:
      return "tls";
  }
  return "";
}

// Tells whoever comes by which socket that is, and the address that was asked.
void Serve(FilterSocket kind, Fd socket) {
  std::thread([kind, socket = std::move(socket)] {
    const int flags = fcntl(socket.get(), F_GETFL);
    fcntl(socket.get(), F_SETFL, flags & ~O_NONBLOCK);
    for (;;) {
      sockaddr_in address = {};
      socklen_t size = sizeof(address);
      if (kind == FilterSocket::kDnsDatagrams) {
        char question[64];
        if (recvfrom(socket.get(), question, sizeof(question), 0,
                     reinterpret_cast<sockaddr*>(&address), &size) < 0)
          return;
        const std::string answer = NameOf(kind) + std::string("\n");
        (void)sendto(socket.get(), answer.data(), answer.size(), 0,
                     reinterpret_cast<const sockaddr*>(&address), size);
        continue;
      }
      const Fd one(accept(socket.get(), nullptr, nullptr));
      if (!one) return;
      char text[INET_ADDRSTRLEN] = "";
      getsockname(one.get(), reinterpret_cast<sockaddr*>(&address), &size);
      inet_ntop(AF_INET, &address.sin_addr, text, sizeof(text));
      const std::string answer =
          NameOf(kind) + std::string(" at ") + text + "\n";
      (void)send(one.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
    }
  }).detach();
}

class NamedNetworkTest : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    profile_.network = Network::kDomains;
  }
};

constexpr const char* kAskAll = R"(
ask() { exec 3<>"/dev/$1/$2/$3" && { [ $1 = tcp ] || echo q >&3; head -n 1 <&3; }; }
ask tcp 127.0.0.1 1023; ask tcp 127.0.0.1 53; ask udp 127.0.0.1 53
ask tcp 127.64.0.7 80; ask tcp 127.99.1.2 443)";

TEST_P(NamedNetworkTest, LeadsToTheFilterAlone) {
  filter_ = Serve;
  const Ran ran = Bash(kAskAll);
  EXPECT_EQ(ran.output,
            "proxy at 127.0.0.1\ndns at 127.0.0.1\ndns-datagrams\n"
            "http at 127.64.0.7\ntls at 127.99.1.2\n")
      << ran.outcome.reason;
  EXPECT_NE(Bash("exec 3<>/dev/tcp/192.0.2.1/443").outcome.exit_code, 0);
  EXPECT_NE(Bash("exec 3<>/dev/tcp/127.0.0.1/8080").outcome.exit_code, 0);
}

TEST_P(NamedNetworkTest, LeadsNowhereWhereNobodyServesIt) {
  const Ran ran = Bash(std::string(kAskAll) + " 2>/dev/null");
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kExited);
  EXPECT_EQ(ran.output.find(" at "), std::string::npos) << ran.output;
  // Whoever takes the sockets and drops them: they are closed.
  filter_ = [](FilterSocket, const Fd&) {};
  EXPECT_EQ(Bash(kAskAll).output.find(" at "), std::string::npos);
}

TEST_P(NamedNetworkTest, ProgramsAskTheFilterForNames) {
  filter_ = Serve;
  EXPECT_EQ(Bash("cat /etc/resolv.conf").output, "nameserver 127.0.0.1\n");
  EXPECT_NE(Bash("echo >> /etc/resolv.conf").outcome.exit_code, 0);
}

TEST_P(NamedNetworkTest, TheCommandCannotTakeThePlaceOfTheFilter) {
  for (const char* port : {"1023", "53", "80", "443"})
    EXPECT_NE(Bash(std::string("python3 -c 'import socket; "
                               "socket.create_server((\"127.0.0.2\", ") +
                   port + "))'")
                  .outcome.exit_code,
              0)
        << port;
}

TEST_P(NamedNetworkTest, IsNotSharedWithOtherLinesOfASession) {
  profile_.state_dir = base_;
  profile_.session = {"0123456789abcdef0123", "test"};
  const std::string own = Bash("readlink /proc/self/ns/net").output;
  EXPECT_NE(own, Bash("readlink /proc/self/ns/net").output);
}

// No other backend gives it.
std::vector<Who> Native() {
  std::vector<Who> everyone = Everyone();
  std::erase_if(everyone, [](const Who& who) {
    return who.backend != std::string("native");
  });
  return everyone;
}
INSTANTIATE_TEST_SUITE_P(Backends, NamedNetworkTest,
                         testing::ValuesIn(Native()), WhoName);

}  // namespace
}  // namespace gate::backends
