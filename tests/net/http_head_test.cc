#include "net/protocols/http_head.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace gate::net {
namespace {

using namespace std::string_literals;
using std::string_view;

std::string Connect(const std::string& target, const std::string& fields = "") {
  return "CONNECT " + target + " HTTP/1.1\r\nHost: example.org:443\r\n" +
         fields + "\r\n";
}
std::string Get(const std::string& fields,
                const std::string& target = "http://example.org/") {
  return "GET " + target + " HTTP/1.1\r\nHost: example.org\r\n" + fields +
         "\r\n";
}
std::string Post(const std::string& fields) {
  return "POST http://example.org/ HTTP/1.1\r\nHost: example.org\r\n" + fields +
         "\r\n";
}

// Every prefix of a head is incomplete, and what follows the head changes
// nothing.
void ExpectReadOnlyWhole(const std::string& bytes, HeadForm form) {
  const HttpHead whole = ReadHttpHead(bytes, form);
  ASSERT_EQ(whole.status, HeadStatus::kRead) << bytes << whole.why;
  ASSERT_EQ(whole.bytes, bytes.size());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const HttpHead part =
        ReadHttpHead(string_view(bytes).substr(0, size), form);
    ASSERT_EQ(part.status, HeadStatus::kIncomplete) << bytes.substr(0, size);
    ASSERT_TRUE(part.host.empty() && part.forwarded.empty());
  }
  for (const char* more : {"GET / HTTP/1.1\r\n\r\n", "\n", "\x16\x03\x01"}) {
    const HttpHead again = ReadHttpHead(bytes + more, form);
    EXPECT_EQ(again.status, HeadStatus::kRead);
    EXPECT_EQ(again.bytes, whole.bytes);
    EXPECT_EQ(again.forwarded, whole.forwarded);
  }
}

TEST(HttpHeadTest, ConnectNamesAHostAndAPort) {
  struct Case {
    std::string head;
    const char* host;
    uint16_t port;
  };
  const Case cases[] = {
      {Connect("example.org:443"), "example.org", 443},
      {Connect("EXAMPLE.org.:443"), "example.org", 443},
      {Connect("example.org:443", "User-Agent: curl/8\r\n"), "example.org",
       443},
      {Connect("example.org:443", "Content-Length: 0\r\n"), "example.org", 443},
      {"CONNECT example.org:22 HTTP/1.0\r\n\r\n", "example.org", 22},
      {"CONNECT example.org:8443 HTTP/1.1\r\nHost: example.org\r\n\r\n",
       "example.org", 8443},
      {"CONNECT [2001:DB8::1]:443 HTTP/1.1\r\nHost: "
       "[2001:db8:0::1]:443\r\n\r\n",
       "2001:db8::1", 443},
      {"CONNECT [::ffff:c000:207]:443 HTTP/1.1\r\nHost: 192.0.2.7:443\r\n\r\n",
       "192.0.2.7", 443},
  };
  for (const Case& each : cases) {
    ExpectReadOnlyWhole(each.head, HeadForm::kProxy);
    const HttpHead head = ReadHttpHead(each.head);
    EXPECT_TRUE(head.connect);
    EXPECT_EQ(head.method, "CONNECT");
    EXPECT_EQ(head.host, each.host) << each.head;
    EXPECT_EQ(head.port, each.port) << each.head;
    EXPECT_TRUE(head.path.empty() && head.forwarded.empty());
    EXPECT_EQ(head.body, BodyKind::kNone);
  }
}

TEST(HttpHeadTest, AnAbsoluteUrlIsSentOnAsAPath) {
  struct Case {
    std::string head;
    const char* host;
    uint16_t port;
    const char *path, *forwarded;
  };
  const Case cases[] = {
      {"GET http://Example.ORG/a?b=c HTTP/1.1\r\nHost: example.org\r\n\r\n",
       "example.org", 80, "/a?b=c",
       "GET /a?b=c HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n"},
      {"GET HTTP://example.org HTTP/1.1\r\nhost:example.org:80\r\n\r\n",
       "example.org", 80, "/",
       "GET / HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n"},
      {"GET http://example.org?q HTTP/1.1\r\nHost: example.org.\r\n\r\n",
       "example.org", 80, "/?q",
       "GET /?q HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n"},
      {"GET http://example.org//evil.example/ HTTP/1.0\r\n\r\n", "example.org",
       80, "//evil.example/",
       "GET //evil.example/ HTTP/1.0\r\nHost: example.org\r\n"
       "Connection: close\r\n\r\n"},
      {"GET http://example.org/@evil.example/ HTTP/1.0\r\n\r\n", "example.org",
       80, "/@evil.example/",
       "GET /@evil.example/ HTTP/1.0\r\nHost: example.org\r\n"
       "Connection: close\r\n\r\n"},
      {"GET http://example.org?@evil.example HTTP/1.0\r\n\r\n", "example.org",
       80, "/?@evil.example",
       "GET /?@evil.example HTTP/1.0\r\nHost: example.org\r\n"
       "Connection: close\r\n\r\n"},
      {"GET http://[2001:db8::1]:8080/ HTTP/1.1\r\n"
       "Host: [2001:db8::1]:8080\r\n\r\n",
       "2001:db8::1", 8080, "/",
       "GET / HTTP/1.1\r\nHost: [2001:db8::1]:8080\r\n"
       "Connection: close\r\n\r\n"},
      {"OPTIONS http://example.org HTTP/1.1\r\nHost: example.org\r\n\r\n",
       "example.org", 80, "*",
       "OPTIONS * HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n"},
      {Get("Accept:  a, b \t\r\nX-Empty:\r\nCookie: a=b\r\n"), "example.org",
       80, "/",
       "GET / HTTP/1.1\r\nHost: example.org\r\nAccept: a, b\r\nX-Empty: \r\n"
       "Cookie: a=b\r\nConnection: close\r\n\r\n"},
      // What is for the proxy alone.
      {Get("Connection: keep-alive, X-Private ,,te\r\nKeep-Alive: 5\r\n"
           "X-Private: 1\r\nX-Public: 2\r\nTE: trailers\r\n"
           "Proxy-Authorization: Basic Z2F0ZTp4\r\nProxy-Connection: close\r\n"
           "PROXY-Other: 1\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n"),
       "example.org", 80, "/",
       "GET / HTTP/1.1\r\nHost: example.org\r\nX-Public: 2\r\n"
       "Connection: close\r\n\r\n"},
      {Post("Content-Length: 5\r\nExpect: 100-continue\r\n"), "example.org", 80,
       "/",
       "POST / HTTP/1.1\r\nHost: example.org\r\nContent-Length: 5\r\n"
       "Expect: 100-continue\r\nConnection: close\r\n\r\n"},
      {Post("transfer-encoding: Chunked\r\n"), "example.org", 80, "/",
       "POST / HTTP/1.1\r\nHost: example.org\r\n"
       "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"},
  };
  for (const Case& each : cases) {
    ExpectReadOnlyWhole(each.head, HeadForm::kProxy);
    const HttpHead head = ReadHttpHead(each.head);
    EXPECT_FALSE(head.connect);
    EXPECT_EQ(head.host, each.host) << each.head;
    EXPECT_EQ(head.port, each.port) << each.head;
    EXPECT_EQ(head.path, each.path) << each.head;
    EXPECT_EQ(head.forwarded, each.forwarded);
    // What is sent on is a head for a server that names the same.
    const HttpHead again = ReadHttpHead(head.forwarded, HeadForm::kServer);
    EXPECT_EQ(again.status, HeadStatus::kRead) << again.why;
    EXPECT_EQ(again.host, head.host);
    EXPECT_EQ(again.port, head.port);
    EXPECT_EQ(again.forwarded, head.forwarded);
    EXPECT_EQ(again.body, head.body);
    EXPECT_EQ(again.length, head.length);
  }
}

TEST(HttpHeadTest, ARequestToAServerIsForTheHostThatItNames) {
  const std::string head =
      "GET /a?b HTTP/1.1\r\nHost: Example.org.\r\nA: b\r\n\r\n";
  ExpectReadOnlyWhole(head, HeadForm::kServer);
  const HttpHead read = ReadHttpHead(head, HeadForm::kServer);
  EXPECT_EQ(read.host, "example.org");
  EXPECT_EQ(read.port, 80);
  EXPECT_EQ(read.forwarded,
            "GET /a?b HTTP/1.1\r\nHost: example.org\r\nA: b\r\n"
            "Connection: close\r\n\r\n");
  for (const char* bad :
       {"GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost:\r\n\r\n",
        "GET http://example.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n",
        "GET * HTTP/1.1\r\nHost: example.org\r\n\r\n",
        "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n",
        "CONNECT / HTTP/1.1\r\nHost: example.org\r\n\r\n",
        "GET example.org HTTP/1.1\r\nHost: example.org\r\n\r\n"})
    EXPECT_EQ(ReadHttpHead(bad, HeadForm::kServer).status,
              HeadStatus::kMalformed)
        << bad;
  EXPECT_EQ(ReadHttpHead(head).status, HeadStatus::kMalformed);
}

TEST(HttpHeadTest, TheBodyIsFramedInOneWay) {
  const std::tuple<std::string, BodyKind, uint64_t> cases[] = {
      {Get(""), BodyKind::kNone, 0},
      {Post(""), BodyKind::kNone, 0},
      {Post("Content-Length: 0\r\n"), BodyKind::kLength, 0},
      {Post("Content-Length: 12345678901\r\n"), BodyKind::kLength, 12345678901},
      {Post("Content-Length: 999999999999999999\r\n"), BodyKind::kLength,
       999999999999999999},
      {Post("Transfer-Encoding: chunked\r\n"), BodyKind::kChunked, 0},
      {Get("Content-Length: 3\r\n"), BodyKind::kLength, 3},
  };
  for (const auto& [text, body, length] : cases) {
    const HttpHead head = ReadHttpHead(text);
    EXPECT_EQ(head.status, HeadStatus::kRead) << text << head.why;
    EXPECT_EQ(head.body, body) << text;
    EXPECT_EQ(head.length, length) << text;
  }
}

TEST(HttpHeadTest, WhatTwoReadersMayTakeForDifferentRequestsIsRefused) {
  const std::string nul(1, '\0');
  const std::string host = "Host: example.org\r\n";
  const std::pair<std::string, int> cases[] = {
      // The first line.
      {"\r\n" + Get(""), 400},
      {"\n" + Get(""), 400},
      {" " + Get(""), 400},
      {"GET  http://example.org/ HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET http://example.org/  HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET http://example.org/ HTTP/1.1 \r\n" + host + "\r\n", 400},
      {"GET\thttp://example.org/ HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET http://example.org/ a HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET http://example.org/\r\n" + host + "\r\n", 400},
      {"GET http://example.org/ HTTP/1.1 HTTP/1.1\r\n" + host + "\r\n", 400},
      {"G ET http://example.org/ HTTP/1.1\r\n" + host + "\r\n", 400},
      {"G(T http://example.org/ HTTP/1.1\r\n" + host + "\r\n", 400},
      {"connect example.org:443 HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET http://example.org/ http/1.1\r\n" + host + "\r\n", 400},
      {"GET http://example.org/ HTTP/1.10\r\n" + host + "\r\n", 400},
      {"GET http://example.org/ HTTP/1.1x\r\n" + host + "\r\n", 400},
      {"GET http://example.org/ HTTP/1,1\r\n" + host + "\r\n", 400},
      {"GET http://example.org/ HTTP/1.2\r\n" + host + "\r\n", 505},
      {"GET http://example.org/ HTTP/2.0\r\n" + host + "\r\n", 505},
      {"GET http://example.org/ HTTP/0.9\r\n" + host + "\r\n", 505},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {Get("", "https://example.org/"), 501},
      {Get("", "ftp://example.org/"), 501},
      {Get("", "file:///etc/passwd"), 501},
      {Get("", "/"), 400},
      {Get("", "*"), 400},
      {Get("", "example.org/"), 400},
      {Get("", "http:/example.org/"), 400},
      {Get("", "http:example.org"), 400},
      {Get("", "http:///example.org/"), 400},
      {Get("", "http://"), 400},
      {Get("", "//example.org/"), 400},
      {Get("", "http://user@example.org/"), 400},
      {Get("", "http://user:password@example.org/"), 400},
      {Get("", "http://evil.example@example.org/"), 400},
      {Get("", "http://example.org@evil.example/"), 400},
      {Get("", "http://example.org\\@evil.example/"), 400},
      {Get("", "http://evil.example\\.example.org/"), 400},
      {Get("", "http://example.org#@evil.example/"), 400},
      {Get("", "http://example.org/#x"), 400},
      {Get("", "http://example%2eorg/"), 400},
      {Get("", "http://example.org%00.evil.example/"), 400},
      {Get("", "http://example.org:80:80/"), 400},
      {Get("", "http://example.org:/"), 400},
      {Get("", "http://example.org:0/"), 400},
      {Get("", "http://example.org:080/"), 400},
      {Get("", "http://example.org:65616/"), 400},
      {Get("", "http://127.1/"), 400},
      {Get("", "http://0x7f000001/"), 400},
      {Get("", "http://2130706433/"), 400},
      {Get("", "http://[::1/"), 400},
      {Get("", "http://[fe80::1%25eth0]/"), 400},
      {Get("", "http://ex\xc3\xa4mple.org/"), 400},
      {Get("", "http://example.org/\xff"), 400},
      {Get("", "http://example.org/\x7f"), 400},
      {Get("", "http://example.org/" + nul), 400},
      {Get("", "http://example.org" + nul + ".evil.example/"), 400},
      {Connect("example.org"), 400},
      {Connect("example.org:"), 400},
      {Connect("example.org:0"), 400},
      {Connect("example.org:443/"), 400},
      {Connect("http://example.org:443"), 400},
      {Connect("user@example.org:443"), 400},
      {Connect("example.org:443@evil.example"), 400},
      {Connect("example.org:443:443"), 400},
      {Connect("*:443"), 400},
      {Connect(":443"), 400},
      {Connect("::1:443"), 400},
      {Connect("evil.example:443"), 400},
      {Connect("example.org:80"), 400},
      {Connect("example.org:443", "Content-Length: 5\r\n"), 400},
      {Connect("example.org:443", "Transfer-Encoding: chunked\r\n"), 400},
      {"CONNECT example.org:443 HTTP/1.1\r\n\r\n", 400},
      // Ends of lines.
      {"GET http://example.org/ HTTP/1.1\n" + host + "\r\n", 400},
      {"GET http://example.org/ HTTP/1.1\nHost: example.org\n\n", 400},
      {"GET http://example.org/ HTTP/1.1\r" + host + "\r\n", 400},
      {Get("A: b\nC: d\r\n"), 400},
      {Get("A: b\rC: d\r\n"), 400},
      {Get("A: b\r\rC: d\r\n"), 400},
      {Get("A: b\r\n\n"), 400},
      {Get("A: b\r\r\n"), 400},
      {Get("A: b\n\r\n"), 400},
      {Get("A: b" + nul + "\r\n"), 400},
      {Get("A: b\x0b\r\n"), 400},
      {Get("A: b\x0c\r\n"), 400},
      {Get("A: b\x1b\r\n"), 400},
      {Get("A: b\x7f\r\n"), 400},
      // Fields.
      {Get("A: b\r\n c\r\n"), 400},
      {Get("A: b\r\n\tc\r\n"), 400},
      {Get(" A: b\r\n"), 400},
      {"GET http://example.org/ HTTP/1.1\r\n Host: evil.example\r\n" + host +
           "\r\n",
       400},
      {Get("A : b\r\n"), 400},
      {Get("A\t: b\r\n"), 400},
      {Get("A b: c\r\n"), 400},
      {Get(": b\r\n"), 400},
      {Get("A\r\n"), 400},
      {Get("A" + nul + ": b\r\n"), 400},
      {Get("A(: b\r\n"), 400},
      {Get("\xc3\xa4: b\r\n"), 400},
      {Get("Transfer-Encoding : chunked\r\n"), 400},
      // Whose it is.
      {"GET http://example.org/ HTTP/1.1\r\n\r\n", 400},
      {"GET http://example.org/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", 400},
      {"GET http://example.org/ HTTP/1.0\r\nHost: evil.example\r\n\r\n", 400},
      {"GET http://example.org/ HTTP/1.1\r\nHost: example.org:8080\r\n\r\n",
       400},
      {"GET http://example.org:8080/ HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET http://example.org/ HTTP/1.1\r\nHost:\r\n\r\n", 400},
      {"GET http://example.org/ HTTP/1.1\r\nHost: user@example.org\r\n\r\n",
       400},
      {"GET http://example.org/ HTTP/1.1\r\n"
       "Host: example.org, evil.example\r\n\r\n",
       400},
      {"GET http://example.org/ HTTP/1.1\r\n"
       "Host: example.org evil.example\r\n\r\n",
       400},
      {"GET http://example.org/ HTTP/1.1\r\nHost: example.org/\r\n\r\n", 400},
      {Get("Host: example.org\r\n"), 400},
      {Get("hOST: evil.example\r\n"), 400},
      {Connect("example.org:443", "Host: example.org:443\r\n"), 400},
      {Get("Proxy-Authorization: Basic a\r\nProxy-Authorization: Basic b\r\n"),
       400},
      // Where its body ends.
      {Post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 400},
      {Post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), 400},
      {Post("Content-Length: 5\r\nContent-Length: 5\r\n"), 400},
      {Post("Content-Length: 5\r\ncontent-length: 6\r\n"), 400},
      {Post("Content-Length: 5, 5\r\n"), 400},
      {Post("Content-Length: 5;6\r\n"), 400},
      {Post("Content-Length: +5\r\n"), 400},
      {Post("Content-Length: -5\r\n"), 400},
      {Post("Content-Length: 05\r\n"), 400},
      {Post("Content-Length: 0x5\r\n"), 400},
      {Post("Content-Length: 5 6\r\n"), 400},
      {Post("Content-Length: 5.0\r\n"), 400},
      {Post("Content-Length:\r\n"), 400},
      {Post("Content-Length: 18446744073709551621\r\n"), 400},
      {Post("Content-Length: 9999999999999999999999\r\n"), 400},
      {Post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
       400},
      {Post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"),
       400},
      {Post("Transfer-Encoding: identity\r\n"), 501},
      {Post("Transfer-Encoding: gzip, chunked\r\n"), 501},
      {Post("Transfer-Encoding: chunked, chunked\r\n"), 501},
      {Post("Transfer-Encoding: chunked, identity\r\n"), 501},
      {Post("Transfer-Encoding: chunked;a=b\r\n"), 501},
      {Post("Transfer-Encoding: xchunked\r\n"), 501},
      {Post("Transfer-Encoding: \"chunked\"\r\n"), 501},
      {Post("Transfer-Encoding: chunke\xc5\xbf\r\n"), 501},
      {Post("Transfer-Encoding:\r\n"), 501},
      {"POST http://example.org/ HTTP/1.0\r\n" + host +
           "Transfer-Encoding: chunked\r\n\r\n",
       400},
      {Post("Content-Length: 5\r\nConnection: Content-Length\r\n"), 400},
      {Post("Connection: close, transfer-ENCODING\r\n"), 400},
      {Get("Connection: Host\r\n"), 400},
      {Get("Connection: a b\r\n"), 400},
  };
  for (const auto& [text, code] : cases) {
    const HttpHead head = ReadHttpHead(text);
    EXPECT_EQ(head.status, HeadStatus::kMalformed)
        << testing::PrintToString(text);
    EXPECT_EQ(head.code, code) << testing::PrintToString(text) << head.why;
    EXPECT_FALSE(head.why.empty());
    EXPECT_TRUE(head.host.empty() && head.forwarded.empty());
    for (size_t size = 0; size < text.size(); ++size) {
      // A head that ends before what is wrong is a head of its own.
      if (text.substr(0, size).ends_with("\r\n\r\n")) break;
      EXPECT_NE(ReadHttpHead(string_view(text).substr(0, size)).status,
                HeadStatus::kRead)
          << testing::PrintToString(text.substr(0, size));
    }
  }
}

TEST(HttpHeadTest, BytesThatAreNoHttpAreRefusedAtOnce) {
  for (const std::string& text :
       {"\x16\x03\x01"s, "\x05\x01\x00"s, "\x04"s, "\0"s, "\r"s, "\n"s,
        "GET\n"s, "GET / HTTP/1.1\r\nA\0"s})
    EXPECT_EQ(ReadHttpHead(text).status, HeadStatus::kMalformed)
        << testing::PrintToString(text);
}

TEST(HttpHeadTest, AHeadThatIsTooLongIsRefusedByItsCode) {
  const std::string most(kMaxHeadBytes, 'a');
  EXPECT_EQ(ReadHttpHead(most.substr(1)).status, HeadStatus::kIncomplete);
  EXPECT_EQ(ReadHttpHead(most).code, 414);
  EXPECT_EQ(ReadHttpHead(most).status, HeadStatus::kMalformed);
  EXPECT_EQ(ReadHttpHead(Get("A: " + most + "\r\n")).code, 431);
  EXPECT_EQ(ReadHttpHead(Get("A: " + most)).status, HeadStatus::kMalformed);

  std::string fields;
  for (size_t i = 1; i < kMaxHeadFields; ++i)
    fields += "a" + std::to_string(i) + ": b\r\n";
  EXPECT_EQ(ReadHttpHead(Get(fields)).status, HeadStatus::kRead);
  EXPECT_EQ(ReadHttpHead(Get(fields + "one: more\r\n")).code, 431);

  const std::string exact = Get(
      "A: " + std::string(kMaxHeadBytes - Get("A: \r\n").size(), 'a') + "\r\n");
  ASSERT_EQ(exact.size(), kMaxHeadBytes);
  EXPECT_EQ(ReadHttpHead(exact).status, HeadStatus::kRead);
  EXPECT_EQ(ReadHttpHead("X" + exact).status, HeadStatus::kMalformed);
}

TEST(HttpHeadTest, TheProxysPasswordIsReadAndNotSentOn) {
  const HttpHead head =
      ReadHttpHead(Get("proxy-AUTHORIZATION:   Basic Z2F0ZTpzZWNyZXQ= \r\n"));
  EXPECT_EQ(head.proxy_authorization, "Basic Z2F0ZTpzZWNyZXQ=");
  EXPECT_EQ(head.forwarded.find("Z2F0ZTpzZWNyZXQ"), std::string::npos);
  const HttpHead connect = ReadHttpHead(
      Connect("example.org:443", "Proxy-Authorization: Bearer x\r\n"));
  EXPECT_EQ(connect.proxy_authorization, "Bearer x");
}

// The body, and how the reader ends where it gets one byte at a time.
std::pair<HeadStatus, size_t> ReadByBytes(const std::string& body) {
  ChunkedBody reader;
  size_t all = 0;
  HeadStatus status = HeadStatus::kIncomplete;
  for (const char c : body) {
    size_t taken = 7;
    status = reader.Read(string_view(&c, 1), &taken);
    all += taken;
    if (status != HeadStatus::kIncomplete) break;
    EXPECT_EQ(taken, 1U);
  }
  return {status, all};
}

TEST(ChunkedBodyTest, ABodyEndsBehindItsLastChunk) {
  for (const std::string& body :
       {"0\r\n\r\n"s, "000\r\n\r\n"s, "5\r\nhello\r\n0\r\n\r\n"s,
        "A\r\n0123456789\r\n0\r\n\r\n"s, "a\r\n0\r\n\r\n45678\r\n0\r\n\r\n"s,
        "1\r\n\r\r\n1\r\n\n\r\n0\r\n\r\n"s,
        "005\r\nhello\r\n1\r\n \r\n0\r\n\r\n"s, "1\r\n\0\r\n0\r\n\r\n"s}) {
    EXPECT_EQ(ReadByBytes(body), std::pair(HeadStatus::kRead, body.size()));
    for (const char* more : {"", "GET / HTTP/1.1\r\n\r\n", "\r\n", "0\r\n"}) {
      ChunkedBody reader;
      size_t taken = 0;
      EXPECT_EQ(reader.Read(body + more, &taken), HeadStatus::kRead);
      EXPECT_EQ(taken, body.size());
      EXPECT_EQ(reader.Read("5\r\n", &taken), HeadStatus::kRead);
      EXPECT_EQ(taken, 0U);
    }
    for (size_t size = 0; size < body.size(); ++size) {
      ChunkedBody reader;
      size_t taken = 0;
      EXPECT_EQ(reader.Read(body.substr(0, size), &taken),
                HeadStatus::kIncomplete);
      EXPECT_EQ(taken, size);
      EXPECT_EQ(reader.Read(body.substr(size) + "x", &taken),
                HeadStatus::kRead);
      EXPECT_EQ(taken, body.size() - size);
    }
  }
}

TEST(ChunkedBodyTest, FramingThatReadersDisagreeOnIsRefused) {
  for (const std::string& body :
       {"\r\n"s,
        "\n"s,
        ""s + '\0',
        "g\r\n"s,
        "0x5\r\nhello\r\n"s,
        "-5\r\n"s,
        "+5\r\n"s,
        " 5\r\nhello\r\n"s,
        "5 \r\nhello\r\n"s,
        "5\t\r\n"s,
        "5\nhello\n0\n\n"s,
        "5\r\nhello\n"s,
        "5\r\nhello0\r\n\r\n"s,
        "5\r\nhello\r0\r\n"s,
        "5\r\nhell\r\n0\r\n\r\n"s,
        "5\rhello"s,
        "5\r\rhello"s,
        "5;\r\nhello\r\n"s,
        "5;a=b\r\nhello\r\n"s,
        "5;a=\"\r\n\"\r\n"s,
        "5;\nGET"s,
        "0;a\r\n\r\n"s,
        "0\r\nA: b\r\n\r\n"s,
        "0\r\nContent-Length: 5\r\n\r\n"s,
        "0\r\n\n"s,
        "0\n\r\n"s,
        "0\r\n\r\r"s,
        "0000000000000000\r\n\r\n"s,
        "1000000000000000\r\n"s,
        "ffffffffffffffff\r\n"s,
        "10000000000000005\r\nhello\r\n"s,
        "100000000000000000000000000000005\r\nhello\r\n"s,
        "5,5\r\n"s,
        "5\r\nhello\r\n\r\n"s,
        "5\r\nhello\r\n 0\r\n"s}) {
    ChunkedBody reader;
    size_t taken = 7;
    EXPECT_EQ(reader.Read(body, &taken), HeadStatus::kMalformed)
        << testing::PrintToString(body);
    EXPECT_EQ(taken, 0U);
    EXPECT_EQ(reader.Read("0\r\n\r\n", &taken), HeadStatus::kMalformed);
    EXPECT_EQ(taken, 0U);
    EXPECT_EQ(ReadByBytes(body).first, HeadStatus::kMalformed)
        << testing::PrintToString(body);
  }
}

TEST(ChunkedBodyTest, AHugeChunkIsCountedAndNotHeld) {
  ChunkedBody reader;
  size_t taken = 0;
  ASSERT_EQ(reader.Read("fffffffffffffff\r\n", &taken),
            HeadStatus::kIncomplete);
  const std::string data(1 << 16, '0');
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(reader.Read(data, &taken), HeadStatus::kIncomplete);
    ASSERT_EQ(taken, data.size());
  }
}

TEST(HttpAnswerTest, AnAnswerIsWholeAndItsReasonIsOneLine) {
  EXPECT_EQ(HttpAnswer(403, "Forbidden", "no\n"),
            "HTTP/1.1 403 Forbidden\r\n"
            "Content-Type: text/plain; charset=utf-8\r\n"
            "Content-Length: 3\r\nConnection: close\r\n\r\nno\n");
  EXPECT_EQ(HttpAnswer(407, "A", "", "Proxy-Authenticate: Basic\r\n"),
            "HTTP/1.1 407 A\r\nContent-Type: text/plain; charset=utf-8\r\n"
            "Content-Length: 0\r\nConnection: close\r\n"
            "Proxy-Authenticate: Basic\r\n\r\n");
  EXPECT_EQ(HttpAnswer(400, "a\r\nb", "").find("a\r\nb"), std::string::npos);
}

}  // namespace
}  // namespace gate::net
