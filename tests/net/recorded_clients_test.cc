// What programs of every day send to a proxy and to a name server, as recorded.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "net/protocols/dns.h"
#include "net/protocols/http_head.h"
#include "net/protocols/socks5.h"

namespace gate::net {
namespace {

using namespace std::string_literals;

#define AUTHORIZED "Proxy-Authorization: Basic Z2F0ZTpzZWNyZXQ=\r\n"

TEST(RecordedClientsTest, TheirRequestsToAProxyAreRead) {
  struct Case {
    const char* client;
    std::string head;
    const char* host;
    uint16_t port;
    const char* forwarded;
  };
  const Case cases[] = {
      {"curl",
       "GET http://example.org/a?b=c HTTP/1.1\r\nHost: "
       "example.org\r\n" AUTHORIZED "User-Agent: curl/7.88.1\r\nAccept: */*\r\n"
       "Proxy-Connection: Keep-Alive\r\n\r\n",
       "example.org", 80,
       "GET /a?b=c HTTP/1.1\r\nHost: example.org\r\n"
       "User-Agent: curl/7.88.1\r\nAccept: */*\r\nConnection: close\r\n\r\n"},
      {"curl that sends",
       "POST http://example.org:8080/ HTTP/1.1\r\nHost: "
       "example.org:8080\r\n" AUTHORIZED
       "User-Agent: curl/7.88.1\r\nAccept: */*\r\n"
       "Proxy-Connection: Keep-Alive\r\nContent-Length: 3\r\n"
       "Content-Type: application/x-www-form-urlencoded\r\n\r\n",
       "example.org", 8080,
       "POST / HTTP/1.1\r\nHost: example.org:8080\r\n"
       "User-Agent: curl/7.88.1\r\nAccept: */*\r\nContent-Length: 3\r\n"
       "Content-Type: application/x-www-form-urlencoded\r\n"
       "Connection: close\r\n\r\n"},
      {"curl that sends chunks",
       "PUT http://example.org/up HTTP/1.1\r\nHost: example.org\r\n" AUTHORIZED
       "User-Agent: curl/7.88.1\r\nAccept: */*\r\n"
       "Proxy-Connection: Keep-Alive\r\nTransfer-Encoding: chunked\r\n"
       "Expect: 100-continue\r\n\r\n",
       "example.org", 80,
       "PUT /up HTTP/1.1\r\nHost: example.org\r\nUser-Agent: curl/7.88.1\r\n"
       "Accept: */*\r\nExpect: 100-continue\r\n"
       "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"},
      {"wget",
       "GET http://example.org/ HTTP/1.1\r\nHost: example.org\r\n"
       "User-Agent: Wget/1.21.3\r\nAccept: */*\r\n"
       "Accept-Encoding: identity\r\nConnection: Keep-Alive\r\n"
       "Proxy-Connection: Keep-Alive\r\n" AUTHORIZED "\r\n",
       "example.org", 80,
       "GET / HTTP/1.1\r\nHost: example.org\r\nUser-Agent: Wget/1.21.3\r\n"
       "Accept: */*\r\nAccept-Encoding: identity\r\n"
       "Connection: close\r\n\r\n"},
      {"Python's urllib",
       "GET http://example.org/ HTTP/1.1\r\nAccept-Encoding: identity\r\n"
       "Host: example.org\r\nUser-Agent: Python-urllib/3.11\r\n" AUTHORIZED
       "Connection: close\r\n\r\n",
       "example.org", 80,
       "GET / HTTP/1.1\r\nHost: example.org\r\nAccept-Encoding: identity\r\n"
       "User-Agent: Python-urllib/3.11\r\nConnection: close\r\n\r\n"},
      {"npm",
       "GET http://example.org/x HTTP/1.1\r\n"
       "user-agent: npm/11.19.1 node/v20.20.2 linux x64 workspaces/false\r\n"
       "pacote-version: 21.5.1\r\naccept: application/json\r\n"
       "Accept-Encoding: gzip,deflate\r\nHost: example.org\r\n" AUTHORIZED
       "Proxy-Connection: Keep-Alive\r\nconnection: keep-alive\r\n\r\n",
       "example.org", 80,
       "GET /x HTTP/1.1\r\nHost: example.org\r\n"
       "user-agent: npm/11.19.1 node/v20.20.2 linux x64 workspaces/false\r\n"
       "pacote-version: 21.5.1\r\naccept: application/json\r\n"
       "Accept-Encoding: gzip,deflate\r\nConnection: close\r\n\r\n"},
      {"curl, TLS",
       "CONNECT example.org:443 HTTP/1.1\r\nHost: "
       "example.org:443\r\n" AUTHORIZED
       "User-Agent: curl/7.88.1\r\nProxy-Connection: Keep-Alive\r\n\r\n",
       "example.org", 443, ""},
      {"wget, TLS",
       "CONNECT example.org:443 HTTP/1.1\r\nUser-Agent: "
       "Wget/1.21.3\r\n" AUTHORIZED "Host: example.org:443\r\n\r\n",
       "example.org", 443, ""},
      {"pip", "CONNECT pypi.org:443 HTTP/1.0\r\n" AUTHORIZED "\r\n", "pypi.org",
       443, ""},
      {"npm, TLS",
       "CONNECT example.org:443 HTTP/1.1\r\n" AUTHORIZED
       "Host: example.org:443\r\nProxy-Connection: Keep-Alive\r\n\r\n",
       "example.org", 443, ""},
      {"cargo",
       "CONNECT index.crates.io:443 HTTP/1.1\r\n"
       "Host: index.crates.io:443\r\n" AUTHORIZED
       "User-Agent: cargo/1.95.0 (f2d3ce0bd 2026-03-21)\r\n"
       "Proxy-Connection: Keep-Alive\r\n\r\n",
       "index.crates.io", 443, ""},
  };
  for (const Case& each : cases) {
    const HttpHead head = ReadHttpHead(each.head);
    ASSERT_EQ(head.status, HeadStatus::kRead) << each.client << head.why;
    EXPECT_EQ(head.bytes, each.head.size()) << each.client;
    EXPECT_EQ(head.host, each.host) << each.client;
    EXPECT_EQ(head.port, each.port) << each.client;
    EXPECT_EQ(head.proxy_authorization, "Basic Z2F0ZTpzZWNyZXQ=");
    EXPECT_EQ(head.forwarded, each.forwarded) << each.client;
  }
  // git sends its password once it is asked for.
  const HttpHead git = ReadHttpHead(
      "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n"
      "User-Agent: git/2.39.5\r\nProxy-Connection: Keep-Alive\r\n\r\n");
  EXPECT_EQ(git.status, HeadStatus::kRead);
  EXPECT_TRUE(git.proxy_authorization.empty());
}

TEST(RecordedClientsTest, CurlsSocksIsRead) {
  const SocksGreeting greeting = ReadSocksGreeting("\x05\x03\x00\x01\x02"s);
  EXPECT_TRUE(greeting.none && greeting.password);
  const std::string bytes = "\x01\x04gate\x06secret";
  const SocksPassword password = ReadSocksPassword(bytes);
  EXPECT_EQ(password.user, "gate");
  EXPECT_EQ(password.password, "secret");
  EXPECT_EQ(ReadSocksRequest("\x05\x01\x00\x03\x0b"
                             "example.org\x01\xbb"s)
                .host,
            "example.org");
  EXPECT_EQ(ReadSocksRequest("\x05\x01\x00\x01\xc0\x00\x02\x07\x01\xbb"s).host,
            "192.0.2.7");
}

TEST(RecordedClientsTest, TheQuestionOfCAresIsRead) {
  const auto question = ReadDnsQuestion(
      "\xba\x41\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
      "\x07"
      "example\x03org\x00\x00\x01\x00\x01"s);
  ASSERT_TRUE(question) << question.error().message;
  EXPECT_EQ(question->name, "example.org");
  EXPECT_EQ(question->type, DnsType::kA);
}

}  // namespace
}  // namespace gate::net
