// What a contained command, a name server or a host may try against gate-net.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/text.h"
#include "tests/net/filter_fixture.h"
#include "tests/net/hello_text.h"

namespace gate::net {
namespace {

using namespace gate::test;

const std::map<std::string, std::string> kNames = {
    {"listed.test", "127.0.0.1"}};

std::string At(const std::string& host, uint16_t port) {
  return host + ":" + std::to_string(port);
}

int CodeOf(const Filter& filter, const std::string& place) {
  const Fd client = filter.ConnectToProxy();
  Send(client, ConnectRequest(place));
  return CodeIn(ReadUntil(client, "\r\n\r\n"));
}

TEST(FilterAttacksTest, ANameThatIsBoundAnewIsJudgedAnew) {
  const NameServer names([](const std::string& name, unsigned type, int time) {
    DnsReply reply;
    if (type == kTypeA)
      reply.records = {{name, time == 0 ? "127.0.0.2" : "127.0.0.3", {}, 0}};
    return reply;
  });
  uint16_t port = 0;
  const Fd server = Bind("127.0.0.2", SOCK_STREAM, &port);
  const Fd inner = Bind("127.0.0.3", SOCK_STREAM, &port);
  FilterPolicy policy = PolicyFor(names, {At("listed.test", port)});
  policy.excepted = {"127.0.0.2"};
  Filter filter(policy);
  EXPECT_EQ(CodeOf(filter, At("listed.test", port)), 200);
  EXPECT_EQ(CodeOf(filter, At("listed.test", port)), 403);
  pollfd next = {inner.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&next, 1, 0), 0);
  const FilterReport report = filter.Finish();
  ASSERT_EQ(report.connections.size(), 2u);
  EXPECT_EQ(report.passed, 1u);
}

// Every kind of address, whatever is excepted; only 127.0.0.2 is there.
TEST(FilterAttacksTest, OnlyAddressesThatMayBeReachedAreDialled) {
  const struct {
    const char* what;
    std::vector<std::string> addresses;
    std::vector<std::string> excepted;
    int code;
  } kCases[] = {
      {"loopback", {"127.0.0.2"}, {}, 403},
      {"excepted", {"127.0.0.2"}, {"127.0.0.2"}, 200},
      {"the right one of two", {"10.0.0.1", "127.0.0.2"}, {"127.0.0.2"}, 200},
      {"private", {"10.0.0.1", "192.168.0.1", "172.16.0.1"}, {}, 403},
      {"unique local", {"fd00::1"}, {}, 403},
      {"mapped", {"::ffff:7f00:2"}, {}, 403},
      {"metadata", {"169.254.169.254"}, {"0.0.0.0/0", "169.254.169.254"}, 403},
      {"mapped metadata", {"::ffff:a9fe:a9fe"}, {"::/0"}, 403},
      {"translated metadata", {"64:ff9b::a9fe:a9fe"}, {"::/0"}, 403},
      {"link-local", {"fe80::1"}, {"fe80::/10"}, 403},
      {"this network", {"0.0.0.0"}, {}, 403},
      {"any", {"::"}, {}, 403},
  };
  uint16_t port = 0;
  const Fd server = Bind("127.0.0.2", SOCK_STREAM, &port);
  for (const auto& one : kCases) {
    const NameServer names([&](const std::string& name, unsigned type, int) {
      DnsReply reply;
      for (const std::string& address : one.addresses)
        if ((type == kTypeAaaa) == (address.find(':') != std::string::npos))
          reply.records.push_back({name, address, {}, 0});
      return reply;
    });
    FilterPolicy policy = PolicyFor(names, {At("listed.test", port)});
    policy.excepted = one.excepted;
    Filter filter(policy);
    EXPECT_EQ(CodeOf(filter, At("listed.test", port)), one.code) << one.what;
    const Connection done = filter.FinishOne();
    EXPECT_EQ(done.verdict, one.code == 200 ? ConnectionVerdict::kPassed
                                            : ConnectionVerdict::kAddress)
        << one.what << ": " << done.why;
  }
}

TEST(FilterAttacksTest, AnswersOfANameServerAreChecked) {
  const struct {
    const char* what;
    DnsReply reply;
    int code;
  } kCases[] = {
      {"alias",
       {{{"listed.test", {}, "a.test", 0},
         {"a.test", {}, "b.test", 0},
         {"b.test", "127.0.0.1", {}, 0}}},
       200},
      {"alias in another order",
       {{{"b.test", "127.0.0.1", {}, 0}, {"listed.test", {}, "b.test", 0}}},
       200},
      {"of another name", {{{"other.test", "127.0.0.1", {}, 0}}}, 502},
      {"alias without an address", {{{"listed.test", {}, "a.test", 0}}}, 502},
      {"a ring",
       {{{"listed.test", {}, "a.test", 0}, {"a.test", {}, "listed.test", 0}}},
       502},
      {"cut off", {{{"listed.test", "127.0.0.1", {}, 0}}, 0, true}, 200},
      {"another id before",
       {{{"listed.test", "127.0.0.1", {}, 0}}, 0, false, false, true},
       200},
      {"another question before",
       {{{"listed.test", "127.0.0.1", {}, 0}}, 0, false, false, false, true},
       200},
      {"silence", {{}, 0, false, true}, 504},
  };
  for (const auto& one : kCases) {
    const Server server(AF_INET);
    const NameServer names([&](const std::string&, unsigned type, int) {
      DnsReply reply = one.reply;
      if (type == kTypeAaaa)
        std::erase_if(reply.records, [](const DnsRecord& record) {
          return !record.address.empty();
        });
      return reply;
    });
    FilterPolicy policy = PolicyFor(names, {At("listed.test", server.port())});
    policy.limits.resolve_ms = 1'000;
    Filter filter(policy);
    EXPECT_EQ(CodeOf(filter, At("listed.test", server.port())), one.code)
        << one.what;
  }
}

TEST(FilterAttacksTest, NothingIsSmuggledBehindARequest) {
  const NameServer names(kNames);
  const Server server(AF_INET);
  const std::string place = At("listed.test", server.port());
  Filter filter(PolicyFor(names, {place}));
  const std::string second =
      "GET http://other.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n";
  const auto post = [&](const std::string& fields, const std::string& body) {
    return "POST http://" + place + "/ HTTP/1.1\r\nHost: " + place + "\r\n" +
           fields + "\r\n" + body;
  };
  const struct {
    std::string request;
    std::string body;  // that arrives; "-": nothing does
  } kCases[] = {
      {post("", second), ""},
      {post("Content-Length: 4\r\n", "body" + second), "body"},
      {post("Content-Length: 0\r\n", second), ""},
      {post("Transfer-Encoding: chunked\r\n",
            "4\r\nbody\r\n0\r\n\r\n" + second),
       "4\r\nbody\r\n0\r\n\r\n"},
      {post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", second),
       "-"},
      {post("Content-Length: 4\r\nContent-Length: 5\r\n", second), "-"},
      {post("Transfer-Encoding: chunked, identity\r\n", second), "-"},
      {post("X: a\r\n Content-Length: 4\r\n", second), "-"},
      {post("Content-Length : 4\r\n", second), "-"},
      {post("X: a\nContent-Length: 4\r\n", second), "-"},
      {post("Host: other.test\r\n", ""), "-"},
      {post("Connection: host\r\n", ""), "-"},
      {"GET http://" + place + "@other.test/ HTTP/1.1\r\nHost: " + place +
           "\r\n\r\n",
       "-"},
      {"GET http://other.test/ HTTP/1.1\r\nHost: " + place + "\r\n\r\n", "-"},
      {"CONNECT " + place + " HTTP/1.1\r\nHost: other.test\r\n\r\n", "-"},
  };
  for (const auto& one : kCases) {
    const Fd client = filter.ConnectToProxy();
    Send(client, one.request);
    EndSending(client);
    if (one.body == "-") {
      const int code = CodeIn(ReadToEnd(client).value_or(""));
      EXPECT_TRUE(code == 400 || code == 501) << Visible(one.request);
      pollfd next = {server.socket(), POLLIN, 0};
      EXPECT_EQ(::poll(&next, 1, 0), 0) << Visible(one.request);
      continue;
    }
    const Fd outside(server.Accept());
    EXPECT_TRUE(ReadUntil(outside, "\r\n\r\n").starts_with("POST / HTTP/1.1"));
    EXPECT_EQ(ReadBytes(outside, one.body.size()), one.body);
    Send(outside, "HTTP/1.1 204 x\r\n\r\n");
    EndSending(outside);
    EXPECT_EQ(CodeIn(ReadToEnd(client).value_or("")), 204);
    // Nothing came behind it.
    EXPECT_EQ(ReadToEnd(outside).value_or(""), "") << Visible(one.request);
  }
}

TEST(FilterAttacksTest, AChunkedBodyThatIsNoneEndsTheConnection) {
  const NameServer names(kNames);
  const Server server(AF_INET);
  const std::string place = At("listed.test", server.port());
  Filter filter(PolicyFor(names, {place}));
  const Fd client = filter.ConnectToProxy();
  Send(client, "POST http://" + place + "/ HTTP/1.1\r\nHost: " + place +
                   "\r\nTransfer-Encoding: chunked\r\n\r\n");
  const Fd outside(server.Accept());
  ReadUntil(outside, "\r\n\r\n");
  Send(client, "4;x\r\nbody\r\n0\r\n\r\n");
  EXPECT_EQ(ReadToEnd(outside).value_or(""), "");
  EXPECT_EQ(ReadToEnd(client).value_or(""), "");
  EXPECT_EQ(filter.FinishOne().verdict, ConnectionVerdict::kMalformed);
}

// Who does not finish what he has begun is sent away.
TEST(FilterAttacksTest, WhoIsSlowIsSentAway) {
  const NameServer names(kNames);
  const Server server(AF_INET);
  const std::string place = At("listed.test", server.port());
  FilterPolicy policy = PolicyFor(names, {place});
  policy.limits.head_ms = 60;
  policy.limits.idle_ms = 120;
  Filter filter(policy);
  const uint16_t tls = filter.Listen(ListenerKind::kTls);
  const uint16_t http = filter.Listen(ListenerKind::kHttp);
  const uint16_t dns = filter.Listen(ListenerKind::kDnsTcp);
  const struct {
    uint16_t port;
    std::string bytes;
  } kCases[] = {
      {filter.proxy(), ""},
      {filter.proxy(), "G"},
      {filter.proxy(), "GET http://" + place + "/ HTTP/1.1\r\nX: "},
      {filter.proxy(), "\x05"},
      {filter.proxy(), std::string("\x05\x01\x00\x05\x01", 5)},
      // A tunnel that stays idle, and one that begins TLS.
      {filter.proxy(), ConnectRequest(place)},
      {filter.proxy(), ConnectRequest(place) + "\x16\x03\x01"},
      {tls, ""},
      {tls, "\x16\x03"},
      {http, "GET / HT"},
      {dns, "\x00"},
      {dns, std::string("\x00\x40half", 6)},
  };
  std::vector<Fd> clients;
  for (const auto& one : kCases) {
    clients.push_back(ConnectTo(one.port));
    Send(clients.back(), one.bytes);
  }
  // The end comes by itself; the patience of a read is much longer.
  for (const Fd& client : clients) {
    errno = 0;
    (void)ReadToEnd(client);
    EXPECT_NE(errno, EAGAIN);
  }
}

TEST(FilterAttacksTest, WhoSendsTooMuchIsSentAway) {
  const NameServer names(kNames);
  Filter filter(PolicyFor(names, {"listed.test"}));
  const std::string much(size_t{1} << 20, 'x');
  const std::string cases[] = {
      much,
      "GET http://listed.test/" + much,
      "GET http://listed.test/ HTTP/1.1\r\nX: " + much,
      "GET http://listed.test/ HTTP/1.1\r\n" + std::string(300'000, '\n'),
  };
  for (const std::string& one : cases) {
    const Fd client = filter.ConnectToProxy();
    std::thread writer([&] { Send(client, one); });
    const int code = CodeIn(ReadUntil(client, "\r\n"));
    EXPECT_TRUE(code == 400 || code == 414 || code == 431) << code;
    writer.join();
  }
}

TEST(FilterAttacksTest, FurtherConnectionsWaitTheirTurn) {
  const NameServer names(kNames);
  const Server server(AF_INET);
  FilterPolicy policy = PolicyFor(names, {At("listed.test", server.port())});
  policy.limits.connections_at_once = 4;
  Filter filter(policy);
  constexpr int kClients = 40;
  std::vector<Fd> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(filter.ConnectToProxy());
    Send(clients.back(), ConnectRequest(At("listed.test", server.port())));
  }
  std::vector<Fd> outside;
  for (int i = 0; i < 4; ++i) outside.emplace_back(server.Accept());
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(CodeIn(ReadUntil(clients[i], "\r\n\r\n")), 200);
  pollfd next = {server.socket(), POLLIN, 0};
  EXPECT_EQ(::poll(&next, 1, 20), 0);
  outside.clear();
  for (int i = 0; i < 4; ++i) clients[i].reset();
  for (int i = 4; i < kClients; ++i) {
    const Fd one(server.Accept());
    EXPECT_EQ(CodeIn(ReadUntil(clients[i], "\r\n\r\n")), 200);
    clients[i].reset();
  }
  EXPECT_EQ(filter.Finish().passed, static_cast<uint64_t>(kClients));
}

TEST(FilterAttacksTest, ARateIsKept) {
  const NameServer names(kNames);
  FilterPolicy policy = PolicyFor(names, {});
  policy.limits.connections_per_second = 20;
  Filter filter(policy);
  const uint64_t begin = MonotonicMs();
  for (int i = 0; i < 30; ++i)
    EXPECT_EQ(CodeOf(filter, "listed.test:443"), 403);
  EXPECT_GE(MonotonicMs() - begin, 400u);
}

TEST(FilterAttacksTest, ARunHasSoManyConnectionsAndBytes) {
  const NameServer names(kNames);
  const Server server(AF_INET);
  const std::string place = At("listed.test", server.port());
  FilterPolicy policy = PolicyFor(names, {place});
  policy.limits.connections = 2;
  {
    Filter filter(policy);
    EXPECT_EQ(CodeOf(filter, place), 200);
    EXPECT_EQ(CodeOf(filter, place), 200);
    EXPECT_EQ(CodeOf(filter, place), 403);
    EXPECT_EQ(filter.Finish().passed, 2u);
  }
  Server other(AF_INET);
  const std::string second = At("listed.test", other.port());
  policy = PolicyFor(names, {second});
  policy.limits.bytes_out = 100'000;
  Filter filter(policy);
  const Fd client = filter.ConnectToProxy();
  Send(client, ConnectRequest(second));
  ReadUntil(client, "\r\n\r\n");
  const Fd outside(other.Accept());
  std::thread writer([&] { Send(client, std::string(1 << 20, 'x')); });
  std::string got;
  char part[4096];
  for (ssize_t size = 0; (size = ::recv(outside.get(), part, 4096, 0)) > 0;)
    got.append(part, static_cast<size_t>(size));
  writer.join();
  EXPECT_LE(got.size(), 100'000u);
  EXPECT_EQ(CodeOf(filter, second), 403);
  const FilterReport report = filter.Finish();
  EXPECT_LE(report.bytes_out, 100'000u);
  ASSERT_EQ(report.connections.size(), 2u);
  EXPECT_EQ(std::ranges::count(report.connections, ConnectionVerdict::kLimit,
                               &Connection::verdict),
            1);
}

TEST(FilterAttacksTest, TheReportHasABound) {
  const NameServer names(kNames);
  Filter filter(PolicyFor(names, {}));
  constexpr size_t kMany = kMaxReportedConnections + 76;
  const std::string label(60, 'x');
  for (size_t i = 0; i < kMany; ++i) {
    const Fd client = filter.ConnectToProxy();
    Send(client, ConnectRequest(label + "." + label + "." + label + ".n" +
                                std::to_string(i) + ":443"));
    ReadUntil(client, "\r\n");
  }
  const FilterReport report = filter.Finish();
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.total, kMany);
  EXPECT_EQ(report.connections.size(), kMaxReportedConnections);
  EXPECT_EQ(report.refused.size(), kMaxReportedHosts);
}

}  // namespace
}  // namespace gate::net
