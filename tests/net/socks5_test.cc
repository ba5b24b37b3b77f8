#include "net/protocols/socks5.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace gate::net {
namespace {

using namespace std::string_literals;
using std::string_view;

std::string Named(const std::string& name, uint16_t port = 443) {
  return "\x05\x01\x00\x03"s + static_cast<char>(name.size()) + name +
         static_cast<char>(port >> 8) + static_cast<char>(port & 0xff);
}

TEST(SocksGreetingTest, WhatIsOfferedIsKnownOnceItIsWhole) {
  struct Case {
    std::string bytes;
    bool none, password;
  };
  const Case cases[] = {
      {"\x05\x01\x00"s, true, false},
      {"\x05\x01\x02"s, false, true},
      {"\x05\x02\x00\x02"s, true, true},
      {"\x05\x03\x02\x01\x00"s, true, true},
      {"\x05\x01\xff"s, false, false},
      {"\x05\x01\x01"s, false, false},
      {"\x05\xff"s + std::string(255, '\x05'), false, false},
  };
  for (const Case& each : cases) {
    for (const std::string& more : {""s, "\x01\x00"s}) {
      const SocksGreeting read = ReadSocksGreeting(each.bytes + more);
      EXPECT_EQ(read.status, SocksStatus::kRead);
      EXPECT_EQ(read.bytes, each.bytes.size());
      EXPECT_EQ(read.none, each.none);
      EXPECT_EQ(read.password, each.password);
    }
    for (size_t size = 0; size < each.bytes.size(); ++size) {
      const auto part =
          ReadSocksGreeting(string_view(each.bytes).substr(0, size));
      EXPECT_EQ(part.status, SocksStatus::kIncomplete);
      EXPECT_FALSE(part.none || part.password);
    }
  }
}

TEST(SocksGreetingTest, WhatIsNoSocks5IsRefusedByItsFirstByte) {
  for (const std::string& bytes :
       {"\x04"s, "\x04\x01\x00\x50\x7f\x00\x00\x01\x00"s, "GET"s, "\x16\x03"s,
        "\0"s, "\x06\x01\x00"s, "\x05\x00"s, "\x05\x00\x00"s})
    EXPECT_EQ(ReadSocksGreeting(bytes).status, SocksStatus::kMalformed);
}

TEST(SocksPasswordTest, NameAndPasswordAreBytesOfAnyKind) {
  struct Case {
    std::string user, password;
  };
  for (const Case& each :
       std::vector<Case>{{"gate", "secret"},
                         {"gate", ""},
                         {"", ""},
                         {"a\0b"s, "\0"s},
                         {std::string(255, 'u'), std::string(255, '\xff')}}) {
    const std::string bytes =
        "\x01"s + static_cast<char>(each.user.size()) + each.user +
        static_cast<char>(each.password.size()) + each.password;
    const std::string more = bytes + "\x05";
    const SocksPassword read = ReadSocksPassword(more);
    EXPECT_EQ(read.status, SocksStatus::kRead);
    EXPECT_EQ(read.bytes, bytes.size());
    EXPECT_EQ(read.user, each.user);
    EXPECT_EQ(read.password, each.password);
    for (size_t size = 0; size < bytes.size(); ++size) {
      const auto part = ReadSocksPassword(string_view(bytes).substr(0, size));
      EXPECT_EQ(part.status, SocksStatus::kIncomplete);
      EXPECT_TRUE(part.user.empty() && part.password.empty());
    }
  }
  for (const std::string& bytes : {"\x05"s, "\0"s, "\x02\x01\x61\x01\x61"s})
    EXPECT_EQ(ReadSocksPassword(bytes).status, SocksStatus::kMalformed);
}

TEST(SocksRequestTest, AHostHasTheFormThatRulesAreComparedWith) {
  struct Case {
    std::string bytes;
    const char* host;
    uint16_t port;
  };
  const Case cases[] = {
      {Named("example.org"), "example.org", 443},
      {Named("EXAMPLE.org."), "example.org", 443},
      {Named("example.org", 65535), "example.org", 65535},
      {Named("192.0.2.7", 1), "192.0.2.7", 1},
      {Named("::1"), "::1", 443},
      {Named("[::1]"), "::1", 443},
      {Named("::ffff:192.0.2.7"), "192.0.2.7", 443},
      {"\x05\x01\x00\x01\xc0\x00\x02\x07\x01\xbb"s, "192.0.2.7", 443},
      {"\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50"s, "127.0.0.1", 80},
      {"\x05\x01\x00\x01\x00\x00\x00\x00\x00\x50"s, "0.0.0.0", 80},
      {"\x05\x01\x00\x04"s + std::string(15, '\0') + "\x01\x01\xbb"s, "::1",
       443},
      {"\x05\x01\x00\x04"s + std::string(10, '\0') +
           "\xff\xff\xa9\xfe\xa9\xfe\x00\x50"s,
       "169.254.169.254", 80},
  };
  for (const Case& each : cases) {
    for (const char* more : {"", "\x16\x03\x01", "\x05"}) {
      const SocksRequest read = ReadSocksRequest(each.bytes + more);
      EXPECT_EQ(read.status, SocksStatus::kRead);
      EXPECT_EQ(read.code, 0);
      EXPECT_EQ(read.bytes, each.bytes.size());
      EXPECT_EQ(read.host, each.host);
      EXPECT_EQ(read.port, each.port);
    }
    for (size_t size = 0; size < each.bytes.size(); ++size) {
      const auto part =
          ReadSocksRequest(string_view(each.bytes).substr(0, size));
      EXPECT_EQ(part.status, SocksStatus::kIncomplete) << each.host << size;
      EXPECT_TRUE(part.host.empty());
      EXPECT_EQ(part.port, 0);
    }
  }
}

TEST(SocksRequestTest, EverythingElseIsRefusedByItsCode) {
  struct Case {
    std::string bytes;
    uint8_t code;
  };
  const Case cases[] = {
      {"\x04"s, 1},
      {"\x01"s, 1},
      {"\0"s, 1},
      {"\x05\x00"s, 7},
      {"\x05\x02"s, 7},
      {"\x05\x02\x00\x01\x01\x02\x03\x04\x00\x50"s, 7},
      {"\x05\x03\x00\x01\x01\x02\x03\x04\x00\x50"s, 7},
      {"\x05\xf0\x00\x03\x01\x61\x00\x50"s, 7},
      {"\x05\x01\x01\x01\x01\x02\x03\x04\x00\x50"s, 1},
      {"\x05\x01\x00\x00"s, 8},
      {"\x05\x01\x00\x02"s, 8},
      {"\x05\x01\x00\x05"s, 8},
      {"\x05\x01\x00\xff"s, 8},
      {"\x05\x01\x00\x01\x01\x02\x03\x04\x00\x00"s, 1},
      {Named("example.org", 0), 1},
      {Named(""), 1},
      {Named("."), 1},
      {Named("example.org\0"s), 1},
      {Named("example.org\0.evil.example"s), 1},
      {Named("\0"s), 1},
      {Named("example.org\r\nX: y"), 1},
      {Named("example.org\n"), 1},
      {Named(" example.org"), 1},
      {Named("example.org:443"), 1},
      {Named("user@example.org"), 1},
      {Named("http://example.org"), 1},
      {Named("example.org/"), 1},
      {Named("example%2eorg"), 1},
      {Named("*.example.org"), 1},
      {Named("ex\xc3\xa4mple.org"), 1},
      {Named("127.1"), 1},
      {Named("0x7f000001"), 1},
      {Named("2130706433"), 1},
      {Named("0177.0.0.1"), 1},
      {Named("127.0.0.1."), 1},
      {Named("fe80::1%eth0"), 1},
      {Named("[::1]:443"), 1},
      {Named(std::string(255, 'a')), 1},
      {Named(std::string(255, '.')), 1},
  };
  for (const Case& each : cases) {
    const SocksRequest read = ReadSocksRequest(each.bytes);
    EXPECT_EQ(read.status, SocksStatus::kMalformed)
        << testing::PrintToString(each.bytes);
    EXPECT_EQ(read.code, each.code) << testing::PrintToString(each.bytes);
    EXPECT_TRUE(read.host.empty());
    EXPECT_EQ(read.port, 0);
    for (size_t size = 0; size < each.bytes.size(); ++size)
      EXPECT_NE(
          ReadSocksRequest(string_view(each.bytes).substr(0, size)).status,
          SocksStatus::kRead);
  }
}

TEST(SocksAnswerTest, AnswersAreTheBytesOfTheStandards) {
  EXPECT_EQ(SocksChoice(0), "\x05\x00"s);
  EXPECT_EQ(SocksChoice(2), "\x05\x02"s);
  EXPECT_EQ(SocksChoice(0xff), "\x05\xff"s);
  EXPECT_EQ(SocksPasswordAnswer(true), "\x01\x00"s);
  EXPECT_EQ(SocksPasswordAnswer(false), "\x01\x01"s);
  EXPECT_EQ(SocksAnswer(0), "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"s);
  EXPECT_EQ(SocksAnswer(2), "\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00"s);
}

}  // namespace
}  // namespace gate::net
