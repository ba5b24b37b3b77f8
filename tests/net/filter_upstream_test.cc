// gate-net behind another proxy.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "tests/net/filter_fixture.h"
#include "tests/net/hello_text.h"

namespace gate::net {
namespace {

using namespace gate::test;

const std::map<std::string, std::string> kNames = {{"proxy.test", "127.0.0.1"},
                                                   {"listed.test", "10.0.0.1"}};

// The upstream proxy is a socket of the test; its address is not excepted.
struct Behind {
  explicit Behind(const std::string& login = "")
      : names(kNames), upstream(AF_INET), filter(PolicyOf(login)) {}
  FilterPolicy PolicyOf(const std::string& login) const {
    FilterPolicy policy = PolicyFor(
        names, {"listed.test", "listed.test:22", "10.0.0.1", "192.0.2.1"});
    policy.excepted = {};
    policy.upstream =
        "http://" + login + "proxy.test:" + std::to_string(upstream.port());
    return policy;
  }
  NameServer names;
  Server upstream;
  Filter filter;
};

TEST(FilterUpstreamTest, TunnelsGoThroughIt) {
  Behind behind("user:p%40ss@");
  const Fd client = behind.filter.ConnectToProxy();
  Send(client, ConnectRequest("listed.test:443"));
  const Fd outside(behind.upstream.Accept());
  EXPECT_EQ(ReadUntil(outside, "\r\n\r\n"),
            "CONNECT listed.test:443 HTTP/1.1\r\nHost: listed.test:443\r\n"
            "Proxy-Authorization: Basic dXNlcjpwQHNz\r\n\r\n");
  Send(outside, "HTTP/1.1 200 OK\r\nX: y\r\n\r\n");
  EXPECT_EQ(CodeIn(ReadUntil(client, "\r\n\r\n")), 200);
  const std::string hello = Hello(ServerName("listed.test"));
  Send(client, hello);
  EXPECT_EQ(ReadBytes(outside, hello.size()), hello);
  EndSending(client);
  EndSending(outside);
  (void)ReadToEnd(client);
  const Connection done = behind.filter.FinishOne();
  EXPECT_EQ(done.verdict, ConnectionVerdict::kPassed);
  EXPECT_EQ(done.address, "127.0.0.1");
}

TEST(FilterUpstreamTest, WhatComesBehindItsAnswerIsPassedOn) {
  Behind behind;
  const Fd client = behind.filter.ConnectToProxy();
  Send(client, ConnectRequest("listed.test:22"));
  const Fd outside(behind.upstream.Accept());
  ReadUntil(outside, "\r\n\r\n");
  Send(outside, "HTTP/1.1 200 OK\r\n\r\nSSH-2.0-x\r\n");
  ReadUntil(client, "\r\n\r\n");
  EXPECT_EQ(ReadUntil(client, "\r\n"), "SSH-2.0-x\r\n");
}

TEST(FilterUpstreamTest, RequestsGoThroughItInAbsoluteForm) {
  Behind behind("user:pass@");
  const Fd client = behind.filter.ConnectToProxy();
  Send(client,
       "GET http://listed.test/a?b HTTP/1.1\r\nHost: listed.test\r\n\r\n");
  const Fd outside(behind.upstream.Accept());
  EXPECT_EQ(ReadUntil(outside, "\r\n\r\n"),
            "GET http://listed.test/a?b HTTP/1.1\r\n"
            "Proxy-Authorization: Basic dXNlcjpwYXNz\r\n"
            "Host: listed.test\r\nConnection: close\r\n\r\n");
  Send(outside, "HTTP/1.1 204 x\r\n\r\n");
  EndSending(outside);
  EXPECT_EQ(CodeIn(ReadToEnd(client).value_or("")), 204);
}

TEST(FilterUpstreamTest, WhatIsNotListedOrNotPublicDoesNotReachIt) {
  Behind behind;
  for (const char* place :
       {"other.test:443", "10.0.0.1:443", "192.0.2.1:443", "127.0.0.1:443"}) {
    const Fd client = behind.filter.ConnectToProxy();
    Send(client, ConnectRequest(place));
    EXPECT_EQ(CodeIn(ReadUntil(client, "\r\n\r\n")), 403) << place;
  }
  pollfd next = {behind.upstream.socket(), POLLIN, 0};
  EXPECT_EQ(::poll(&next, 1, 0), 0);
}

TEST(FilterUpstreamTest, WhatItRefusesFails) {
  for (const char* answer :
       {"HTTP/1.1 403 no\r\n\r\n", "HTTP/1.1 407 who\r\n\r\n", "nonsense\r\n",
        "HTTP/1.1 20\r\n\r\n", ""}) {
    Behind behind;
    const Fd client = behind.filter.ConnectToProxy();
    Send(client, ConnectRequest("listed.test:443"));
    Fd outside(behind.upstream.Accept());
    ReadUntil(outside, "\r\n\r\n");
    Send(outside, answer);
    outside.reset();
    EXPECT_EQ(CodeIn(ReadUntil(client, "\r\n\r\n")), 502) << answer;
    EXPECT_EQ(behind.filter.FinishOne().verdict,
              ConnectionVerdict::kUnreachable);
  }
}

}  // namespace
}  // namespace gate::net
