// Names inside: gate-net's name server, made-up addresses, and the names that
// TLS and HTTP ask for.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "base/text.h"
#include "tests/net/filter_fixture.h"
#include "tests/net/hello_text.h"

namespace gate::net {
namespace {

using namespace gate::test;

constexpr unsigned kTypeHttps = 65;

const std::map<std::string, std::string> kNames = {
    {"listed.test", "127.0.0.1"}, {"second.test", "127.0.0.1"}};

std::string Question(const std::string& name, unsigned type) {
  std::string message("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00", 12);
  message += DnsName(name);
  Put16(type, &message);
  Put16(1, &message);
  return message;
}

struct Asked {
  int code = -1;
  std::string address;  // of the first record
  uint32_t seconds = 1;
  int answers = 0;
};

Asked ReadAnswer(const std::string& answer, const std::string& question) {
  Asked asked;
  if (answer.size() < question.size() || answer.substr(0, 2) != "\x12\x34")
    return asked;
  asked.code = answer[3] & 0xf;
  asked.answers = answer[7];
  if (asked.answers == 0) return asked;
  // The last record is an address.
  const std::string_view end =
      std::string_view(answer).substr(answer.size() - 10);
  asked.seconds = static_cast<uint8_t>(end[3]);
  for (size_t i = 6; i < 10; ++i)
    asked.address +=
        (i > 6 ? "." : "") + std::to_string(static_cast<uint8_t>(end[i]));
  return asked;
}

Asked AskUdp(uint16_t port, const std::string& name, unsigned type = kTypeA) {
  const Fd socket = ConnectTo(port, "127.0.0.1", SOCK_DGRAM);
  const std::string question = Question(name, type);
  Send(socket, question);
  char bytes[2048];
  const ssize_t got = ::recv(socket.get(), bytes, sizeof(bytes), 0);
  return ReadAnswer({bytes, static_cast<size_t>(std::max<ssize_t>(got, 0))},
                    question);
}

Asked AskTcp(const Fd& socket, const std::string& name) {
  const std::string question = Question(name, kTypeA);
  std::string framed;
  Put16(static_cast<unsigned>(question.size()), &framed);
  Send(socket, framed + question);
  const std::string size = ReadBytes(socket, 2);
  if (size.size() < 2) return {};
  return ReadAnswer(ReadBytes(socket, static_cast<uint8_t>(size[1])), question);
}

TEST(FilterNamesTest, TheNameServerKnowsListedNamesAlone) {
  const NameServer names(kNames);
  FilterPolicy policy = PolicyFor(names, {"listed.test", "second.test:8443",
                                          "*.below.test", "denied.below.test"});
  policy.deny = {"denied.below.test"};
  Filter filter(policy);
  const uint16_t udp = filter.Listen(ListenerKind::kDnsUdp);
  const uint16_t tcp = filter.Listen(ListenerKind::kDnsTcp);
  const Asked listed = AskUdp(udp, "listed.test");
  EXPECT_EQ(listed.code, 0);
  EXPECT_EQ(listed.answers, 1);
  EXPECT_EQ(listed.seconds, 0u);
  EXPECT_TRUE(listed.address.starts_with("127.64.")) << listed.address;
  EXPECT_EQ(AskUdp(udp, "LISTED.test").address, listed.address);
  const Asked second = AskUdp(udp, "second.test");
  EXPECT_EQ(second.answers, 1);
  EXPECT_NE(second.address, listed.address);
  EXPECT_EQ(AskUdp(udp, "a.below.test").answers, 1);
  for (const unsigned type : {kTypeAaaa, kTypeHttps}) {
    const Asked other = AskUdp(udp, "listed.test", type);
    EXPECT_EQ(other.code, 0);
    EXPECT_EQ(other.answers, 0);
  }
  for (const char* name : {"other.test", "below.test", "denied.below.test",
                           "listed.test.other.test", "localhost", "test"}) {
    const Asked refused = AskUdp(udp, name);
    EXPECT_EQ(refused.code, 3) << name;
    EXPECT_EQ(refused.answers, 0) << name;
  }
  const Fd connection = ConnectTo(tcp);
  EXPECT_EQ(AskTcp(connection, "listed.test").address, listed.address);
  EXPECT_EQ(AskTcp(connection, "other.test").code, 3);
  // A name alone goes to nobody outside.
  EXPECT_EQ(names.questions(), 0);
  AskUdp(udp, "other.test");
  const FilterReport report = filter.Finish();
  EXPECT_EQ(report.total, 0u);
  EXPECT_EQ(report.refused.size(), 6u);
  EXPECT_EQ(report.refused.front(), (RefusedHost{"other.test", 0, "dns"}));
}

TEST(FilterNamesTest, WhatIsNoQuestionStopsNothing) {
  const NameServer names(kNames);
  Filter filter(PolicyFor(names, {"listed.test"}));
  const uint16_t udp = filter.Listen(ListenerKind::kDnsUdp);
  const uint16_t tcp = filter.Listen(ListenerKind::kDnsTcp);
  const std::string good = Question("listed.test", kTypeA);
  std::string answer = good;
  answer[2] = static_cast<char>(0x81);
  const std::string cases[] = {"",
                               "x",
                               std::string(12, '\0'),
                               good.substr(0, 20),
                               good + "more",
                               answer,
                               std::string(5000, 'x'),
                               good.substr(0, 12) + std::string("\xc0\x0c", 2)};
  for (const std::string& one : cases) {
    const Fd by_udp = ConnectTo(udp, "127.0.0.1", SOCK_DGRAM);
    ::send(by_udp.get(), one.data(), one.size(), 0);
    const Fd by_tcp = ConnectTo(tcp);
    std::string framed;
    Put16(static_cast<unsigned>(one.size()), &framed);
    Send(by_tcp, framed + one);
    EndSending(by_tcp);
    (void)ReadToEnd(by_tcp);
    EXPECT_EQ(AskUdp(udp, "listed.test").answers, 1);
  }
}

// A made-up address of a name, and a listener there.
struct MadeUp {
  MadeUp(Filter& filter, const std::string& name, ListenerKind kind,
         uint16_t port) {
    const uint16_t udp = filter.Listen(ListenerKind::kDnsUdp);
    address = AskUdp(udp, name).address;
    filter.Listen(kind, address, port);
  }
  std::string address;
};

TEST(FilterNamesTest, HttpToAMadeUpAddressReachesItsName) {
  const NameServer names(kNames);
  const Server server(AF_INET);
  const std::string place = "listed.test:" + std::to_string(server.port());
  Filter filter(PolicyFor(
      names, {place, "second.test:" + std::to_string(server.port())}));
  const MadeUp listed(filter, "listed.test", ListenerKind::kHttp,
                      server.port());
  std::thread service([&] {
    const Fd client(server.Accept());
    EXPECT_EQ(
        ReadUntil(client, "\r\n\r\n"),
        "GET /x HTTP/1.1\r\nHost: " + place + "\r\nConnection: close\r\n\r\n");
    Send(client, "HTTP/1.1 204 No Content\r\n\r\n");
  });
  const Fd client = ConnectTo(server.port(), listed.address);
  Send(client, "GET /x HTTP/1.1\r\nHost: " + place + "\r\n\r\n");
  EXPECT_EQ(ReadToEnd(client), "HTTP/1.1 204 No Content\r\n\r\n");
  service.join();
  // Another host by the same address, listed or not.
  const std::string refused[] = {
      "GET / HTTP/1.1\r\nHost: second.test:" + std::to_string(server.port()) +
          "\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: listed.test\r\n\r\n",
      "GET http://" + place + "/ HTTP/1.1\r\nHost: " + place + "\r\n\r\n",
      ConnectRequest(place),
      "GET / HTTP/1.1\r\n\r\n",
      "\x16\x03\x01",
  };
  for (const std::string& request : refused) {
    const Fd other = ConnectTo(server.port(), listed.address);
    Send(other, request);
    EndSending(other);
    const int code = CodeIn(ReadToEnd(other).value_or(""));
    EXPECT_TRUE(code == 400 || code == 403 || code == 405 || code == 408)
        << code << " " << Visible(request);
  }
  pollfd next = {server.socket(), POLLIN, 0};
  EXPECT_EQ(::poll(&next, 1, 0), 0);
  const FilterReport report = filter.Finish();
  EXPECT_EQ(report.passed, 1u);
  EXPECT_EQ(report.connections[0].via, "http");
  EXPECT_EQ(report.connections[0].host, "listed.test");
  EXPECT_EQ(report.connections[1].verdict, ConnectionVerdict::kOtherName);
}

const struct {
  const char* what;
  std::string bytes;
  bool passes;
} kHellos[] = {
    {"its name", Hello(ServerName("listed.test")), true},
    {"in capitals", Hello(ServerName("Listed.TEST")), true},
    {"in many records", Hello(ServerName("listed.test"), 7), true},
    {"other listed", Hello(ServerName("second.test")), false},
    {"not listed", Hello(ServerName("other.test")), false},
    {"none", Hello(TlsExtension(43, "\x02\x03\x04")), false},
    {"encrypted", Hello(ServerName("listed.test") + EncryptedHello()), false},
    {"two names", Hello(ServerName("listed.test") + ServerName("other.test")),
     false},
    {"zero byte",
     Hello(ServerName(std::string("listed.test\0.other.test", 23))), false},
    {"an address", Hello(ServerName("127.0.0.1")), false},
    {"cut off", Hello(ServerName("listed.test")).substr(0, 60), false},
};

TEST(FilterNamesTest, TlsToAMadeUpAddressMustAskForItsName) {
  const NameServer names(kNames);
  const Server server(AF_INET);
  const std::string port = ":" + std::to_string(server.port());
  Filter filter(PolicyFor(names, {"listed.test" + port, "second.test" + port}));
  const MadeUp listed(filter, "listed.test", ListenerKind::kTls, server.port());
  const auto attempt = [&](const std::string& bytes, bool passes,
                           const char* what) {
    const Fd client = ConnectTo(server.port(), listed.address);
    Send(client, bytes);
    EndSending(client);
    if (!passes) {
      EXPECT_EQ(ReadToEnd(client), AccessDenied()) << what;
      return;
    }
    const Fd outside(server.Accept());
    EXPECT_EQ(ReadToEnd(outside), bytes) << what;
    Send(outside, "answer");
    EndSending(outside);
    EXPECT_EQ(ReadToEnd(client), "answer") << what;
  };
  for (const auto& one : kHellos) attempt(one.bytes, one.passes, one.what);
  attempt("GET / HTTP/1.1\r\nHost: listed.test\r\n\r\n", false, "no TLS");
  attempt("SSH-2.0-x\r\n", false, "ssh");
  pollfd next = {server.socket(), POLLIN, 0};
  EXPECT_EQ(::poll(&next, 1, 0), 0);
  const FilterReport report = filter.Finish();
  EXPECT_EQ(report.total, std::size(kHellos) + 2);
  EXPECT_EQ(report.passed, 3u);
}

// Whoever asked for a tunnel to a name must name it in TLS too, at any port.
TEST(FilterNamesTest, TlsInATunnelMustAskForTheTunnelsName) {
  const NameServer names(kNames);
  const Server server(AF_INET);
  const std::string port = ":" + std::to_string(server.port());
  Filter filter(PolicyFor(names, {"listed.test" + port, "second.test" + port}));
  for (const auto& one : kHellos) {
    const Fd client = filter.ConnectToProxy();
    Send(client, ConnectRequest("listed.test" + port));
    EXPECT_EQ(CodeIn(ReadUntil(client, "\r\n\r\n")), 200);
    const Fd outside(server.Accept());
    Send(client, one.bytes);
    EndSending(client);
    if (!one.passes) {
      EXPECT_EQ(ReadToEnd(client), AccessDenied()) << one.what;
      EXPECT_EQ(ReadToEnd(outside).value_or(""), "") << one.what;
      continue;
    }
    EXPECT_EQ(ReadToEnd(outside), one.bytes) << one.what;
    Send(outside, "answer");
    EndSending(outside);
    EXPECT_EQ(ReadToEnd(client), "answer") << one.what;
  }
  EXPECT_EQ(filter.Finish().passed, 3u);
}

TEST(FilterNamesTest, OtherProtocolsAreTunnelledAsTheyAre) {
  const NameServer names(kNames);
  const Server server(AF_INET);
  const std::string place = "listed.test:" + std::to_string(server.port());
  Filter filter(PolicyFor(names, {place}));
  const Fd client = filter.ConnectToProxy();
  Send(client, ConnectRequest(place));
  ReadUntil(client, "\r\n\r\n");
  const Fd outside(server.Accept());
  // The server speaks first.
  Send(outside, "SSH-2.0-server\r\n");
  EXPECT_EQ(ReadUntil(client, "\r\n"), "SSH-2.0-server\r\n");
  Send(client, "SSH-2.0-client\r\n");
  EXPECT_EQ(ReadUntil(outside, "\r\n"), "SSH-2.0-client\r\n");
}

TEST(FilterNamesTest, AListedAddressNeedsNoName) {
  const NameServer names(kNames);
  const Server server(AF_INET);
  const std::string place = "127.0.0.1:" + std::to_string(server.port());
  Filter filter(PolicyFor(names, {place}));
  const Fd client = filter.ConnectToProxy();
  Send(client, ConnectRequest(place));
  ReadUntil(client, "\r\n\r\n");
  const Fd outside(server.Accept());
  const std::string hello = Hello(TlsExtension(43, "\x02\x03\x04"));
  Send(client, hello);
  EXPECT_EQ(ReadBytes(outside, hello.size()), hello);
}

// Clients of SOCKS that resolve by themselves ask for the made-up address.
TEST(FilterNamesTest, AMadeUpAddressIsItsNameForTheProxyToo) {
  const NameServer names(kNames);
  const Server server(AF_INET);
  const std::string port = ":" + std::to_string(server.port());
  Filter filter(PolicyFor(names, {"listed.test" + port}));
  const uint16_t udp = filter.Listen(ListenerKind::kDnsUdp);
  const std::string address = AskUdp(udp, "listed.test").address;
  const Fd client = filter.ConnectToProxy();
  Send(client, ConnectRequest(address + port));
  EXPECT_EQ(CodeIn(ReadUntil(client, "\r\n\r\n")), 200);
  const Fd other = filter.ConnectToProxy();
  Send(other, ConnectRequest("127.64.77.77" + port));
  EXPECT_EQ(CodeIn(ReadUntil(other, "\r\n\r\n")), 403);
  const FilterReport report = filter.Finish();
  ASSERT_EQ(report.connections.size(), 2u);
  EXPECT_EQ(report.connections[0].verdict == ConnectionVerdict::kPassed
                ? report.connections[0].host
                : report.connections[1].host,
            "listed.test");
}

TEST(FilterNamesTest, AnAddressOfNoNameLeadsNowhere) {
  const NameServer names(kNames);
  FilterPolicy policy = PolicyFor(names, {});
  policy.any_host = true;
  Filter filter(policy);
  for (const auto kind : {ListenerKind::kTls, ListenerKind::kHttp}) {
    const uint16_t port = filter.Listen(kind, "127.64.9.9");
    const Fd client = ConnectTo(port, "127.64.9.9");
    Send(client, kind == ListenerKind::kTls ? Hello(ServerName("listed.test"))
                                            : "GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(ReadToEnd(client).value_or(""), "");
  }
  const FilterReport report = filter.Finish();
  EXPECT_EQ(report.passed, 0u);
  EXPECT_EQ(report.total, 2u);
}

// What ports 443 and 80 are for is asked of tunnels too. Only root may listen
// there.
TEST(FilterNamesTest, TunnelsToTheWellKnownPortsSpeakTheirProtocols) {
  uint16_t tls_port = 443, http_port = 80;
  const Fd tls = Bind("127.0.0.9", SOCK_STREAM, &tls_port);
  const Fd http = Bind("127.0.0.9", SOCK_STREAM, &http_port);
  if ((!tls || !http) && ::geteuid() != 0)
    GTEST_SKIP() << "only root may listen at ports 443 and 80";
  ASSERT_TRUE(tls && http);
  const NameServer names(
      std::map<std::string, std::string>{{"listed.test", "127.0.0.9"}});
  Filter filter(PolicyFor(names, {"listed.test"}));
  const auto tunnel = [&](const char* place, const std::string& bytes) {
    Fd client = filter.ConnectToProxy();
    Send(client, ConnectRequest(place));
    EXPECT_EQ(CodeIn(ReadUntil(client, "\r\n\r\n")), 200);
    Send(client, bytes);
    EndSending(client);
    return ReadToEnd(client).value_or("");
  };
  EXPECT_EQ(tunnel("listed.test:443", "SSH-2.0-x\r\n"), AccessDenied());
  EXPECT_EQ(tunnel("listed.test:443", Hello(ServerName("other.test"))),
            AccessDenied());
  EXPECT_EQ(CodeIn(tunnel("listed.test:80",
                          "GET / HTTP/1.1\r\nHost: other.test\r\n\r\n")),
            403);
  EXPECT_EQ(CodeIn(tunnel("listed.test:80", "SSH-2.0-x\r\n\r\n")), 400);
  std::thread service([&] {
    for (int i = 0; i < 4; ++i) {
      const Fd client(::accept4(http.get(), nullptr, nullptr, SOCK_CLOEXEC));
      const std::string request = ReadUntil(client, "\r\n\r\n");
      if (request.empty()) continue;
      EXPECT_TRUE(request.starts_with("GET /y HTTP/1.1\r\nHost: listed.test"));
      Send(client, "HTTP/1.1 204 x\r\n\r\n");
      break;
    }
  });
  EXPECT_EQ(CodeIn(tunnel("listed.test:80",
                          "GET /y HTTP/1.1\r\nHost: listed.test\r\n\r\n")),
            204);
  service.join();
}

}  // namespace
}  // namespace gate::net
