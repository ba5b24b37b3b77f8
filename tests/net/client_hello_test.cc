#include "net/protocols/client_hello.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "net/protocols/reader.h"
#include "tests/net/recorded_hellos.h"

namespace gate::net {
namespace {

using namespace std::string_literals;
using std::string_view;

std::string Bytes(string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(HexValue(hex[i]) * 16 + HexValue(hex[i + 1]));
  return bytes;
}

std::string Vector(size_t width, string_view bytes) {
  std::string out;
  PutNumber(static_cast<uint32_t>(bytes.size()), width, &out);
  return out.append(bytes);
}
std::string Number(uint32_t number, size_t width) {
  std::string out;
  PutNumber(number, width, &out);
  return out;
}
std::string Extension(uint32_t type, string_view data) {
  return Number(type, 2) + Vector(2, data);
}
std::string NameEntry(string_view name, uint32_t type = 0) {
  return Number(type, 1) + Vector(2, name);
}
std::string ServerName(string_view name) {
  return Extension(0, Vector(2, NameEntry(name)));
}
std::string Body(string_view extensions) {
  return "\x03\x03"s + std::string(32, 'r') + Vector(1, std::string(32, 's')) +
         Vector(2, "\x13\x01\x13\x02"s) + Vector(1, "\0"s) +
         Vector(2, extensions);
}
std::string Message(string_view body, uint32_t type = 1) {
  return Number(type, 1) + Vector(3, body);
}
std::string Record(string_view fragment, uint32_t type = 22) {
  return Number(type, 1) + "\x03\x01" + Vector(2, fragment);
}
std::string Hello(string_view extensions) {
  return Record(Message(Body(extensions)));
}
// In records of `size` bytes each.
std::string InRecords(string_view message, size_t size) {
  std::string out;
  for (; !message.empty();
       message.remove_prefix(std::min(size, message.size())))
    out += Record(message.substr(0, size));
  return out;
}

// Whole, it has this name; no part of it has any; what follows changes nothing.
void ExpectName(const std::string& bytes, string_view name, bool encrypted,
                const std::string& about) {
  for (const std::string& more :
       {""s, Record("x", 23), "\x14\x03\x03\x00\x01\x01"s, "GET"s, "\0"s,
        Hello(ServerName("evil.example"))}) {
    const ClientHello hello = ReadClientHello(bytes + more);
    ASSERT_EQ(hello.status, HelloStatus::kRead) << about << hello.why;
    EXPECT_EQ(hello.server_name, name) << about;
    EXPECT_EQ(hello.encrypted, encrypted) << about;
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto part = ReadClientHello(string_view(bytes).substr(0, size));
    ASSERT_EQ(part.status, HelloStatus::kIncomplete) << about << ' ' << size;
    ASSERT_TRUE(part.server_name.empty());
  }
}

TEST(ClientHelloTest, TheNameThatRealClientsSendIsRead) {
  for (const RecordedHello& each : kRecordedHellos)
    ExpectName(Bytes(each.hex), each.server_name, false, each.client);
}

TEST(ClientHelloTest, HowRecordsCutItUpChangesNothing) {
  for (const RecordedHello& each : kRecordedHellos) {
    const std::string bytes = Bytes(each.hex);
    const std::string message = bytes.substr(5);
    for (const size_t size : {1, 2, 3, 4, 5, 40, 100, 200})
      ExpectName(InRecords(message, size), each.server_name, false,
                 each.client);
    // In the middle of the name, so that no record holds it whole.
    const size_t at = message.find(each.server_name);
    ExpectName(
        Record(message.substr(0, at + 3)) + Record(message.substr(at + 3)),
        each.server_name, false, each.client);
  }
}

TEST(ClientHelloTest, TheNameStandsThereAsItWasSent) {
  for (const std::string& name :
       {"example.org"s, "EXAMPLE.org."s, "example.org\0.evil.example"s, "\0"s,
        "192.0.2.7"s, "*.example.org"s, "\xff\n"s, std::string(255, 'a'),
        std::string(1000, '.')})
    ExpectName(Hello(ServerName(name)), name, false, name.substr(0, 20));
}

TEST(ClientHelloTest, ANameIsReadWhereverItStandsAmongExtensions) {
  const std::string grease = Extension(0x0a0a, ""),
                    other = Extension(0x2a2a, "\0"s),
                    big = Extension(51, std::string(1200, 'k')),
                    name = ServerName("example.org");
  for (const std::string& extensions :
       {name, grease + name, name + grease + other,
        grease + big + name + other})
    ExpectName(Hello(extensions), "example.org", false, "extensions");
  for (const std::string& extensions : {""s, grease, big})
    ExpectName(Hello(extensions), "", false, "no name");
  const std::string body = Body("");
  ExpectName(Record(Message(string_view(body).substr(0, body.size() - 2))), "",
             false, "no extensions at all");
}

TEST(ClientHelloTest, AnEncryptedHelloIsSeenWhateverItHolds) {
  const std::string name = ServerName("public.example");
  for (const std::string& data :
       {""s, "\x01"s, "\x00\x00\x01\x00\x01\x2a"s + std::string(200, 'e')}) {
    const std::string ech = Extension(0xfe0d, data);
    ExpectName(Hello(name + ech), "public.example", true, "behind the name");
    ExpectName(Hello(ech + name), "public.example", true, "before the name");
    ExpectName(Hello(ech), "", true, "without a name");
  }
}

TEST(ClientHelloTest, WhatReadersMayTakeForDifferentNamesIsRefused) {
  const std::string good = ServerName("example.org");
  const std::string message = Message(Body(good));
  const auto with = [](const std::string& data) {
    return Hello(Extension(0, data));
  };
  std::string wrong_version = Hello(good), wrong_legacy = Hello(good);
  wrong_version[1] = 2;
  wrong_legacy[9] = 2;
  const std::pair<const char*, std::string> cases[] = {
      {"two extensions of names", Hello(good + good)},
      {"two of different names", Hello(good + ServerName("evil.example"))},
      {"an empty one first", Hello(Extension(0, "") + good)},
      {"two names in a list",
       with(Vector(2, NameEntry("example.org") + NameEntry("evil.example")))},
      {"the same name twice",
       with(Vector(2, NameEntry("example.org") + NameEntry("example.org")))},
      {"a name of another type", with(Vector(2, NameEntry("example.org", 1)))},
      {"another type first",
       with(Vector(2, NameEntry("x", 255) + NameEntry("example.org")))},
      {"another type behind",
       with(Vector(2, NameEntry("example.org") + NameEntry("x", 255)))},
      {"no list", with("")},
      {"an empty list", with(Vector(2, ""))},
      {"an empty name", with(Vector(2, NameEntry("")))},
      {"bytes behind the list",
       with(Vector(2, NameEntry("example.org")) + "x")},
      {"bytes behind the name",
       with(Vector(2, NameEntry("example.org") + "x"))},
      {"a list longer than the extension",
       with(Number(99, 2) + NameEntry("example.org"))},
      {"a list shorter than its name",
       with(Number(5, 2) + NameEntry("example.org"))},
      {"a name longer than the list",
       with(Vector(2, "\0"s + Number(99, 2) + "example.org"))},
      {"the bare name", with("example.org")},
      {"any other extension twice",
       Hello(good + Extension(0x0a0a, "") + Extension(0x0a0a, ""))},
      {"an extension that is cut short", Hello(good + "\x00\x0a\x00\x09xx"s)},
      {"a type without a length", Hello(good + "\x00\x0a"s)},
      {"one byte behind the extensions", Hello(good + "x")},
      {"bytes behind the body", Record(Message(Body(good) + "x"))},
      {"a body that ends in its extensions",
       Record(
           Message(string_view(Body(good)).substr(0, Body(good).size() - 1)))},
      {"half a length of extensions",
       Record(Message(string_view(Body("")).substr(0, Body("").size() - 1)))},
      {"an empty body", Record(Message(""))},
      {"half a random", Record(Message("\x03\x03rrrr"))},
      {"a session of 33 bytes",
       Record(Message("\x03\x03"s + std::string(32, 'r') +
                      Vector(1, std::string(33, 's')) + Vector(2, "\x13\x01") +
                      Vector(1, "\0"s) + Vector(2, good)))},
      {"no cipher suite",
       Record(Message("\x03\x03"s + std::string(32, 'r') + Vector(1, "") +
                      Vector(2, "") + Vector(1, "\0"s) + Vector(2, good)))},
      {"half a cipher suite",
       Record(Message("\x03\x03"s + std::string(32, 'r') + Vector(1, "") +
                      Vector(2, "\x13\x01\x13") + Vector(1, "\0"s) +
                      Vector(2, good)))},
      {"no compression", Record(Message("\x03\x03"s + std::string(32, 'r') +
                                        Vector(1, "") + Vector(2, "\x13\x01") +
                                        Vector(1, "") + Vector(2, good)))},
      {"a server's hello", Record(Message(Body(good), 2))},
      {"no message's type", Record(Message(Body(good), 0))},
      {"another message first", Record(Message("", 0) + message)},
      {"a second message behind it", Record(message + Message("", 1))},
      {"a byte behind it", Record(message + "x")},
      {"a byte behind it in a later record",
       Record(message.substr(0, 50)) + Record(message.substr(50) + "x")},
      {"an empty record", Record("")},
      {"an empty record between",
       Record(message.substr(0, 50)) + Record("") + Record(message.substr(50))},
      {"an alert between", Record(message.substr(0, 50)) +
                               Record("\x01\x00"s, 21) +
                               Record(message.substr(50))},
      {"data between", Record(message.substr(0, 50)) + Record("x", 23) +
                           Record(message.substr(50))},
      {"a change of ciphers first", Record("\x01", 20) + Hello(good)},
      {"an alert", Record("\x01\x00"s, 21)},
      {"data", Record(message, 23)},
      {"an unknown type", Record(message, 0)},
      {"a record of version 2", wrong_version},
      {"a hello of version 2", wrong_legacy},
      {"a record of 16385 bytes",
       "\x16\x03\x01\x40\x01"s + message + std::string(16385, 'x')},
      {"SSL 2", "\x80\x2e\x01\x03\x01\x00\x15\x00\x00\x00\x10"s},
      {"HTTP", "GET / HTTP/1.1\r\n\r\n"},
      {"SSH", "SSH-2.0-OpenSSH_9.2\r\n"},
      {"a zero", "\0"s},
  };
  for (const auto& [about, bytes] : cases) {
    const ClientHello hello = ReadClientHello(bytes);
    EXPECT_EQ(hello.status, HelloStatus::kMalformed) << about;
    EXPECT_TRUE(hello.server_name.empty()) << about;
    EXPECT_FALSE(hello.why.empty()) << about;
    for (size_t size = 0; size < bytes.size(); ++size)
      ASSERT_NE(ReadClientHello(string_view(bytes).substr(0, size)).status,
                HelloStatus::kRead)
          << about << ' ' << size;
  }
}

TEST(ClientHelloTest, WhatAnnouncesTooMuchIsRefusedAtOnce) {
  const std::pair<const char*, std::string> cases[] = {
      {"a message of 16 MiB", Record("\x01\xff\xff\xff")},
      {"a message of 64 KiB", Record("\x01\x01\x00\x00"s)},
      {"one byte too many",
       Record("\x01"s + Number(kMaxClientHelloBytes - 3, 3))},
      {"a record that goes on behind the message",
       "\x16\x03\x01\x01\x00\x01\x00\x00\x10"s},
      {"no record's length", "\x16\x03\x01\x00\x00"s},
      {"a record of 64 KiB", "\x16\x03\x01\xff\xff"s},
      {"no version of TLS", "\x16\x02"s},
      {"another message", "\x16\x03\x01\x00\xff\x02"s},
  };
  for (const auto& [about, bytes] : cases)
    EXPECT_EQ(ReadClientHello(bytes).status, HelloStatus::kMalformed) << about;
}

TEST(ClientHelloTest, TheMostBytesAreReadAndNoMore) {
  const auto padded = [](size_t size) {
    return Message(Body(ServerName("example.org") +
                        Extension(21, std::string(size, '\0'))));
  };
  const size_t rest =
      kMaxClientHelloBytes - 10 - padded(0).size();  // two records
  const std::string most = padded(rest);
  const std::string bytes =
      Record(most.substr(0, 10000)) + Record(most.substr(10000));
  ASSERT_EQ(bytes.size(), kMaxClientHelloBytes);
  EXPECT_EQ(ReadClientHello(bytes).server_name, "example.org");
  const std::string more = padded(rest + 1);
  EXPECT_EQ(ReadClientHello(Record(more.substr(0, 10000)) +
                            Record(more.substr(10000)))
                .status,
            HelloStatus::kMalformed);
  // Records of one byte each are six bytes of the connection's.
  EXPECT_EQ(ReadClientHello(InRecords(padded(4000), 1)).status,
            HelloStatus::kMalformed);
  EXPECT_EQ(ReadClientHello(string_view(InRecords(padded(4000), 1))
                                .substr(0, kMaxClientHelloBytes))
                .status,
            HelloStatus::kMalformed);
}

}  // namespace
}  // namespace gate::net
