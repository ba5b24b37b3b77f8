// What gate-net lets through and what it does not, by each protocol.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "tests/net/filter_fixture.h"

namespace gate::net {
namespace {

using namespace gate::test;

const std::map<std::string, std::string> kNames = {
    {"listed.test", "127.0.0.1"},
    {"other.test", "127.0.0.1"},
    {"six.test", "::1"},
};

std::string At(const std::string& host, uint16_t port) {
  return host + ":" + std::to_string(port);
}

// One answer to whoever connects next.
std::thread AnswerOnce(const Server& server, std::string answer,
                       std::string* heard, std::string mark = "\r\n\r\n") {
  return std::thread(
      [&server, answer = std::move(answer), heard, mark = std::move(mark)] {
        const Fd client(server.Accept());
        if (!client) return;
        *heard = ReadUntil(client, mark);
        Send(client, answer);
        EndSending(client);
      });
}

TEST(FilterTest, ConnectReachesAListedHost) {
  const NameServer names(kNames);
  const Server server(AF_INET);
  Filter filter(PolicyFor(names, {At("listed.test", server.port())}));
  std::string heard;
  std::thread service = AnswerOnce(server, "pong", &heard, "ping");
  const Fd client = filter.ConnectToProxy();
  ASSERT_TRUE(Send(client, ConnectRequest(At("listed.test", server.port()))));
  EXPECT_EQ(CodeIn(ReadUntil(client, "\r\n\r\n")), 200);
  ASSERT_TRUE(Send(client, "ping"));
  EXPECT_EQ(ReadToEnd(client), "pong");
  service.join();
  EndSending(client);
  EXPECT_EQ(heard, "ping");
  const Connection done = filter.FinishOne();
  EXPECT_EQ(done.host, "listed.test");
  EXPECT_EQ(done.port, server.port());
  EXPECT_EQ(done.via, "connect");
  EXPECT_EQ(done.verdict, ConnectionVerdict::kPassed);
  EXPECT_EQ(done.address, "127.0.0.1");
  EXPECT_EQ(done.bytes_out, 4u);
  EXPECT_EQ(done.bytes_in, 4u);
}

TEST(FilterTest, SocksReachesAListedHost) {
  const NameServer names(kNames);
  const Server server(AF_INET);
  Filter filter(PolicyFor(names, {At("listed.test", server.port())}));
  std::string heard;
  std::thread service = AnswerOnce(server, "pong", &heard, "ping");
  const Fd client = filter.ConnectToProxy();
  ASSERT_TRUE(Send(client, std::string_view("\x05\x01\x00", 3)));
  EXPECT_EQ(ReadBytes(client, 2), std::string_view("\x05\x00", 2));
  ASSERT_TRUE(Send(client, SocksRequestFor("listed.test", server.port())));
  EXPECT_EQ(ReadBytes(client, 10).substr(0, 2), std::string_view("\x05\0", 2));
  ASSERT_TRUE(Send(client, "ping"));
  EXPECT_EQ(ReadToEnd(client), "pong");
  service.join();
  EndSending(client);
  const Connection done = filter.FinishOne();
  EXPECT_EQ(done.via, "socks5");
  EXPECT_EQ(done.verdict, ConnectionVerdict::kPassed);
}

TEST(FilterTest, AnAbsoluteUrlReachesAListedHost) {
  const NameServer names(kNames);
  const Server server(AF_INET);
  Filter filter(PolicyFor(names, {At("listed.test", server.port())}));
  std::string heard;
  std::thread service = AnswerOnce(
      server, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nbody", &heard);
  const Fd client = filter.ConnectToProxy();
  const std::string place = At("listed.test", server.port());
  ASSERT_TRUE(
      Send(client, "GET http://" + place + "/x?y HTTP/1.1\r\nHost: " + place +
                       "\r\nProxy-Connection: keep-alive\r\n" + "\r\n"));
  EXPECT_EQ(ReadToEnd(client),
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nbody");
  service.join();
  EXPECT_EQ(heard, "GET /x?y HTTP/1.1\r\nHost: " + place +
                       "\r\nConnection: close\r\n\r\n");
  const Connection done = filter.FinishOne();
  EXPECT_EQ(done.via, "http");
  EXPECT_EQ(done.verdict, ConnectionVerdict::kPassed);
}

TEST(FilterTest, ABodyReachesTheServerWhole) {
  const NameServer names(kNames);
  const Server server(AF_INET);
  const std::string place = At("listed.test", server.port());
  Filter filter(PolicyFor(names, {place}));
  const std::string body(3'000'000, 'b');
  std::string chunks;
  for (size_t at = 0; at < body.size(); at += 30'000)
    chunks += "7530\r\n" + body.substr(at, 30'000) + "\r\n";
  chunks += "0\r\n\r\n";
  const std::pair<std::string, std::string> cases[] = {
      {"Content-Length: 3000000\r\n", body},
      {"Transfer-Encoding: chunked\r\n", chunks}};
  for (const auto& [fields, sent] : cases) {
    const Fd client = filter.ConnectToProxy();
    std::thread writer([&, &fields = fields, &sent = sent] {
      Send(client, "POST http://" + place + "/ HTTP/1.1\r\nHost: " + place +
                       "\r\n" + fields + "\r\n" + sent);
    });
    const Fd outside(server.Accept());
    ReadUntil(outside, "\r\n\r\n");
    EXPECT_EQ(ReadBytes(outside, sent.size()) == sent, true);
    Send(outside, "HTTP/1.1 204 x\r\n\r\n");
    EndSending(outside);
    EXPECT_EQ(CodeIn(ReadToEnd(client).value_or("")), 204);
    writer.join();
  }
}

TEST(FilterTest, AnAnswerBeforeTheBodyHasEndedArrives) {
  const NameServer names(kNames);
  const Server server(AF_INET);
  const std::string place = At("listed.test", server.port());
  Filter filter(PolicyFor(names, {place}));
  const Fd client = filter.ConnectToProxy();
  Send(client, "POST http://" + place + "/ HTTP/1.1\r\nHost: " + place +
                   "\r\nContent-Length: 100000000\r\n\r\nbegin");
  Fd outside(server.Accept());
  ReadUntil(outside, "begin");
  Send(outside, "HTTP/1.1 413 x\r\n\r\n");
  outside.reset();
  EXPECT_EQ(CodeIn(ReadToEnd(client).value_or("")), 413);
}

TEST(FilterTest, WhatIsNotListedIsRefusedByEachProtocol) {
  const NameServer names(kNames);
  const Server server(AF_INET);
  FilterPolicy policy = PolicyFor(
      names, {At("listed.test", server.port()), "*.below.test", "denied.test"});
  policy.deny = {"denied.test"};
  Filter filter(policy);
  const std::string place = At("other.test", server.port());
  const struct {
    std::string request;
    std::string answer;  // how it begins
  } kCases[] = {
      {ConnectRequest(place), "HTTP/1.1 403"},
      {ConnectRequest("below.test:443"), "HTTP/1.1 403"},
      {ConnectRequest("denied.test:443"), "HTTP/1.1 403"},
      {ConnectRequest("listed.test:443"), "HTTP/1.1 403"},
      {ConnectRequest("127.0.0.1:443"), "HTTP/1.1 403"},
      {ConnectRequest("[::1]:443"), "HTTP/1.1 403"},
      {"GET http://" + place + "/ HTTP/1.1\r\nHost: " + place + "\r\n\r\n",
       "HTTP/1.1 403"},
      {"GET / HTTP/1.1\r\nHost: " + place + "\r\n\r\n", "HTTP/1.1 400"},
      {"\x04\x01\x01\xbb", "HTTP/1.1 400"},
      {std::string("\x05\x01\x00", 3) + SocksRequestFor("other.test", 443),
       std::string("\x05\x00\x05\x02", 4)},
      {std::string("\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01\x01\xbb", 13),
       std::string("\x05\x00\x05\x02", 4)},
      // BIND
      {std::string("\x05\x01\x00\x05\x02\x00\x01\x7f\x00\x00\x01\x01\xbb", 13),
       std::string("\x05\x00\x05\x07", 4)},
  };
  for (const auto& one : kCases) {
    const Fd client = filter.ConnectToProxy();
    ASSERT_TRUE(Send(client, one.request));
    EndSending(client);
    const auto answer = ReadToEnd(client);
    ASSERT_TRUE(answer) << Visible(one.request);
    EXPECT_TRUE(answer->starts_with(one.answer))
        << Visible(one.request) << " -> " << Visible(*answer);
  }
  // Nobody was asked about them, and nobody was reached.
  EXPECT_EQ(names.questions(), 0);
  pollfd next = {server.socket(), POLLIN, 0};
  EXPECT_EQ(::poll(&next, 1, 0), 0);
  const FilterReport report = filter.Finish();
  EXPECT_EQ(report.total, std::size(kCases));
  EXPECT_EQ(report.passed, 0u);
  EXPECT_EQ(report.bytes_out, 0u);
}

TEST(FilterTest, ARefusalSaysHowToLetItThrough) {
  const NameServer names(kNames);
  Filter filter(PolicyFor(names, {}));
  const Fd client = filter.ConnectToProxy();
  ASSERT_TRUE(Send(client, ConnectRequest("other.test:443")));
  const std::string answer = ReadToEnd(client).value_or("");
  EXPECT_NE(answer.find("gate: other.test:443 is not among the hosts that this "
                        "command may reach\n"),
            std::string::npos)
      << answer;
  EXPECT_NE(answer.find(R"("hosts": ["other.test"])"), std::string::npos);
  const FilterReport report = filter.Finish();
  const std::vector<RefusedHost> refused = {{"other.test", 443, "connect"}};
  EXPECT_EQ(report.refused, refused);
}

TEST(FilterTest, TheTokenIsAskedForByEachProtocol) {
  const NameServer names(kNames);
  const Server server(AF_INET);
  FilterPolicy policy = PolicyFor(names, {At("listed.test", server.port())});
  policy.token = "s3cret";
  Filter filter(policy);
  const std::string place = At("listed.test", server.port());
  const auto basic = [](const std::string& login) {
    return "Proxy-Authorization: Basic " + Base64(login) + "\r\n";
  };
  const std::string socks = SocksRequestFor("listed.test", server.port());
  const struct {
    std::string request;
    std::string answer;
  } kCases[] = {
      {ConnectRequest(place), "HTTP/1.1 407"},
      {ConnectRequest(place, basic("gate:other")), "HTTP/1.1 407"},
      {ConnectRequest(place, basic("gate:")), "HTTP/1.1 407"},
      {ConnectRequest(place, basic("gate:s3cret2")), "HTTP/1.1 407"},
      {ConnectRequest(place, basic("user:s3cret")), "HTTP/1.1 407"},
      {ConnectRequest(place, "Proxy-Authorization: Bearer s3cret\r\n"),
       "HTTP/1.1 407"},
      {ConnectRequest(place, basic("gate:s3cret")), "HTTP/1.1 200"},
      {"GET http://" + place + "/ HTTP/1.1\r\nHost: " + place + "\r\n\r\n",
       "HTTP/1.1 407"},
      {std::string("\x05\x01\x00", 3) + socks, "\x05\xff"},
      {std::string("\x05\x01\x02\x01\x04gate\x05wrong", 15) + socks,
       std::string("\x05\x02\x01\x01", 4)},
      {std::string("\x05\x02\x00\x02\x01\x04gate\x06s3cret", 17) + socks,
       std::string("\x05\x02\x01\x00\x05\x00", 6)},
  };
  for (const auto& one : kCases) {
    const Fd client = filter.ConnectToProxy();
    ASSERT_TRUE(Send(client, one.request));
    EXPECT_EQ(Visible(ReadBytes(client, one.answer.size())),
              Visible(one.answer))
        << Visible(one.request);
  }
  const FilterReport report = filter.Finish();
  EXPECT_EQ(report.total, std::size(kCases));
  EXPECT_EQ(report.passed, 2u);
}

TEST(FilterTest, WhatFailsOutsideIsNotARefusal) {
  uint16_t closed = 0;
  Bind("127.0.0.1", SOCK_STREAM, &closed).reset();
  const NameServer names([](const std::string& name, unsigned, int) {
    DnsReply reply;
    if (name == "gone.test") reply.code = 3;
    if (name == "failing.test") reply.code = 2;
    if (name == "silent.test") reply.silent = true;
    if (name == "closed.test") reply.records = {{name, "127.0.0.1", {}, 0}};
    return reply;
  });
  FilterPolicy policy = PolicyFor(names, {});
  policy.any_host = true;
  policy.limits.resolve_ms = 200;
  Filter filter(policy);
  const struct {
    const char* host;
    int code;
    char socks;
  } kCases[] = {{"gone.test", 502, 4},
                {"empty.test", 502, 4},
                {"failing.test", 502, 4},
                {"silent.test", 504, 4},
                {"closed.test", 502, 5}};
  for (const auto& one : kCases) {
    const Fd client = filter.ConnectToProxy();
    ASSERT_TRUE(Send(client, ConnectRequest(At(one.host, closed))));
    EXPECT_EQ(CodeIn(ReadToEnd(client).value_or("")), one.code) << one.host;
    const Fd other = filter.ConnectToProxy();
    ASSERT_TRUE(Send(other, std::string("\x05\x01\x00", 3) +
                                SocksRequestFor(one.host, closed)));
    const std::string answer = ReadToEnd(other).value_or("");
    ASSERT_GE(answer.size(), 4u) << one.host;
    EXPECT_EQ(answer[3], one.socks) << one.host;
  }
}

}  // namespace
}  // namespace gate::net
