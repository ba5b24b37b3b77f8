#include "net/protocols/dns.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gate::net {
namespace {

using namespace std::string_literals;
using std::string_view;

std::string Header(uint16_t flags = 0x0100, uint16_t questions = 1,
                   uint16_t answers = 0, uint16_t authorities = 0,
                   uint16_t additional = 0) {
  std::string out = "\x12\x34"s;
  for (const uint16_t number :
       {flags, questions, answers, authorities, additional}) {
    out += static_cast<char>(number >> 8);
    out += static_cast<char>(number & 0xff);
  }
  return out;
}
// The labels of `name`, which dots part, and the root.
std::string Name(string_view name) {
  std::string out;
  while (!name.empty()) {
    const string_view label = name.substr(0, name.find('.'));
    out += static_cast<char>(label.size());
    out += label;
    name.remove_prefix(std::min(label.size() + 1, name.size()));
  }
  return out + '\0';
}
const std::string kA = "\x00\x01\x00\x01"s, kAaaa = "\x00\x1c\x00\x01"s,
                  kHttps = "\x00\x41\x00\x01"s;
const std::string kOpt = "\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00"s;

TEST(DnsQuestionTest, OneQuestionIsRead) {
  struct Case {
    std::string message;
    const char* name;
    DnsType type;
    uint16_t raw;
  };
  const Case cases[] = {
      {Header() + Name("example.org") + kA, "example.org", DnsType::kA, 1},
      {Header() + Name("ExAmPlE.oRg") + kAaaa, "example.org", DnsType::kAaaa,
       28},
      {Header() + Name("example.org") + kHttps, "example.org", DnsType::kOther,
       65},
      {Header() + Name("example.org") + "\x00\xff\x00\x01"s, "example.org",
       DnsType::kOther, 255},
      {Header() + Name("_443._tcp.example.org") + "\x00\x21\x00\x01"s,
       "_443._tcp.example.org", DnsType::kOther, 33},
      {Header() + Name("localhost") + kA, "localhost", DnsType::kA, 1},
      {Header() + Name("4.3.2.1.in-addr.arpa") + "\x00\x0c\x00\x01"s,
       "4.3.2.1.in-addr.arpa", DnsType::kOther, 12},
      {Header() + Name("") + kA, "", DnsType::kA, 1},
      {Header(0x0000) + Name("example.org") + kA, "example.org", DnsType::kA,
       1},
      // dig asks for authentic data, and some for unchecked.
      {Header(0x0130) + Name("example.org") + kA, "example.org", DnsType::kA,
       1},
      {Header(0x0100, 1, 0, 0, 1) + Name("example.org") + kA + kOpt,
       "example.org", DnsType::kA, 1},
      {Header(0x0100, 1, 0, 0, 1) + Name("example.org") + kA +
           "\x00\x00\x29\x04\xd0\x00\x00\x80\x00\x00\x0c"
           "\x00\x0a\x00\x08"
           "12345678"s,
       "example.org", DnsType::kA, 1},
  };
  for (const Case& each : cases) {
    const auto read = ReadDnsQuestion(each.message);
    ASSERT_TRUE(read) << each.name << ": " << read.error().message;
    EXPECT_EQ(read->id, 0x1234);
    EXPECT_EQ(read->name, each.name);
    EXPECT_EQ(read->type, each.type);
    EXPECT_EQ(read->raw_type, each.raw);
    EXPECT_EQ(read->recursion, (each.message[2] & 1) != 0);
    for (size_t size = 0; size < each.message.size(); ++size)
      EXPECT_FALSE(ReadDnsQuestion(string_view(each.message).substr(0, size)))
          << each.name << ' ' << size;
    EXPECT_FALSE(ReadDnsQuestion(each.message + '\0')) << each.name;
  }
}

TEST(DnsQuestionTest, EverythingElseIsRefused) {
  const std::string name = Name("example.org");
  const auto asks = [](const std::string& labels) {
    return Header() + labels + kA;
  };
  const auto labels = [](std::initializer_list<std::string> list) {
    std::string out;
    for (const std::string& label : list)
      out += static_cast<char>(label.size()) + label;
    return out + '\0';
  };
  std::string long_name;
  for (int i = 0; i < 4; ++i) long_name += '\x3f' + std::string(63, 'a');
  const std::pair<const char*, std::string> cases[] = {
      {"nothing", ""},
      {"half a header", Header().substr(0, 11)},
      {"no question", Header(0x0100, 0)},
      {"no question, but one counted", Header()},
      {"a question that is not counted", Header(0x0100, 0) + name + kA},
      {"two questions",
       Header(0x0100, 2) + name + kA + Name("evil.example") + kA},
      {"two questions of one name",
       Header(0x0100, 2) + name + kA + name + kAaaa},
      {"two questions, one counted", Header() + name + kA + name + kA},
      {"65535 questions", Header(0x0100, 65535) + name + kA},
      {"an answer", Header(0x8180) + name + kA},
      {"an answer's record", Header(0x0100, 1, 1) + name + kA},
      {"an authority", Header(0x0100, 1, 0, 1) + name + kA},
      {"an update", Header(0x2800) + name + kA},
      {"a notification", Header(0x2000) + name + kA},
      {"an inverse query", Header(0x0800) + name + kA},
      {"a truncated one", Header(0x0300) + name + kA},
      {"an authoritative one", Header(0x0500) + name + kA},
      {"a code", Header(0x0105) + name + kA},
      {"the reserved bit", Header(0x0140) + name + kA},
      {"recursion available", Header(0x0180) + name + kA},
      {"class CHAOS", Header() + name + "\x00\x01\x00\x03"s},
      {"class ANY", Header() + name + "\x00\x01\x00\xff"s},
      {"multicast DNS's bit", Header() + name + "\x00\x01\x80\x01"s},
      // Names.
      {"a pointer to itself", asks("\xc0\x0c"s)},
      {"a pointer to the header", asks("\xc0\x00"s)},
      {"a pointer behind a label", asks("\x07"
                                        "example\xc0\x0c"s)},
      {"a pointer beyond the end", asks("\xc0\xff"s)},
      {"a label of an extended type", asks("\x41"
                                           "a\0"s)},
      {"a label of 128", asks("\x80" + std::string(128, 'a') + '\0')},
      {"a label of 64", asks("\x40" + std::string(64, 'a') + '\0')},
      {"a name of more than 255", asks(long_name + '\0')},
      {"a name without an end", Header() + "\x07"
                                           "example"},
      {"a label without an end", Header() + "\x3f"
                                            "example"},
      {"a dot in a label", asks(labels({"example.org"}))},
      {"a dot behind a label", asks(labels({"example", "org."}))},
      {"a NUL", asks(labels({"example\0x"s, "org"}))},
      {"only a NUL", asks(labels({"\0"s}))},
      {"a blank", asks(labels({"exam ple", "org"}))},
      {"a line's end", asks(labels({"example", "org\n"}))},
      {"an at sign", asks(labels({"user@example", "org"}))},
      {"a slash", asks(labels({"a/b", "org"}))},
      {"a backslash", asks(labels({"a\\b", "org"}))},
      {"a percent sign", asks(labels({"a%00", "org"}))},
      {"a wildcard", asks(labels({"*", "example", "org"}))},
      {"a colon", asks(labels({"::1"}))},
      {"brackets", asks(labels({"[::1]"}))},
      {"characters beyond ASCII", asks(labels({"ex\xc3\xa4mple", "org"}))},
      {"an IPv4 address", asks(Name("127.0.0.1"))},
      {"a part of one", asks(Name("127.1"))},
      {"a number", asks(Name("2130706433"))},
      {"a hexadecimal number", asks(Name("0x7f000001"))},
      // What follows.
      {"no type", Header() + name},
      {"no class", Header() + name + "\x00\x01"s},
      {"bytes behind it", Header() + name + kA + "x"},
      {"an OPT that is not counted", Header() + name + kA + kOpt},
      {"an OPT that is not there", Header(0x0100, 1, 0, 0, 1) + name + kA},
      {"two OPT", Header(0x0100, 1, 0, 0, 2) + name + kA + kOpt + kOpt},
      {"two OPT, one counted",
       Header(0x0100, 1, 0, 0, 1) + name + kA + kOpt + kOpt},
      {"bytes behind the OPT",
       Header(0x0100, 1, 0, 0, 1) + name + kA + kOpt + "x"},
      {"an A record", Header(0x0100, 1, 0, 0, 1) + name + kA +
                          "\x00\x00\x01\x00\x01\x00\x00\x00\x00\x00\x00"s},
      {"an OPT with a name", Header(0x0100, 1, 0, 0, 1) + name + kA +
                                 "\x01"
                                 "a" +
                                 kOpt},
      {"an OPT of version 1",
       Header(0x0100, 1, 0, 0, 1) + name + kA +
           "\x00\x00\x29\x04\xd0\x00\x01\x00\x00\x00\x00"s},
      {"an OPT with half an option",
       Header(0x0100, 1, 0, 0, 1) + name + kA +
           "\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x02\x00\x0a"s},
      {"an OPT with an option that is too long",
       Header(0x0100, 1, 0, 0, 1) + name + kA +
           "\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x04\x00\x0a\x00\x01"s},
      {"an OPT longer than the message",
       Header(0x0100, 1, 0, 0, 1) + name + kA +
           "\x00\x00\x29\x04\xd0\x00\x00\x00\x00\xff\xff"s},
      {"a message of more than 4096 bytes",
       Header(0x0100, 1, 0, 0, 1) + name + kA +
           "\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x10\x04"
           "\x00\x0c\x10\x00"s +
           std::string(4096, '\0')},
  };
  for (const auto& [about, message] : cases) {
    const auto read = ReadDnsQuestion(message);
    ASSERT_FALSE(read) << about << ": " << read->name;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalid);
  }
}

TEST(DnsAnswerTest, AddressesOfTheQuestionsTypeAreAnswered) {
  const std::vector<Address> addresses = {*ParseAddress("127.64.0.1"),
                                          *ParseAddress("2001:db8::1"),
                                          *ParseAddress("127.64.0.2")};
  const std::string name = Name("Example.ORG");
  const std::string a = Header() + name + kA, aaaa = Header() + name + kAaaa,
                    other = Header(0x0000) + name + kHttps;
  EXPECT_EQ(
      AnswerDns(a, *ReadDnsQuestion(a), addresses),
      Header(0x8180, 1, 2) + name + kA +
          "\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x00\x00\x04\x7f\x40\x00\x01"
          "\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x00\x00\x04\x7f\x40\x00\x02"s);
  EXPECT_EQ(
      AnswerDns(aaaa, *ReadDnsQuestion(aaaa), addresses),
      Header(0x8180, 1, 1) + name + kAaaa +
          "\xc0\x0c\x00\x1c\x00\x01\x00\x00\x00\x00\x00\x10\x20\x01\x0d\xb8"s +
          std::string(11, '\0') + "\x01");
  EXPECT_EQ(AnswerDns(other, *ReadDnsQuestion(other), addresses),
            Header(0x8080, 1, 0) + name + kHttps);
  EXPECT_EQ(AnswerDns(a, *ReadDnsQuestion(a), std::vector<Address>{}),
            Header(0x8180, 1, 0) + name + kA);
}

TEST(DnsAnswerTest, AnAnswerHasAnOptWhereTheQuestionHad) {
  const std::string message =
      Header(0x0100, 1, 0, 0, 1) + Name("example.org") + kA + kOpt;
  const auto question = ReadDnsQuestion(message);
  ASSERT_TRUE(question);
  const std::string opt = "\x00\x00\x29\x10\x00\x00\x00\x00\x00\x00\x00"s;
  EXPECT_EQ(
      AnswerDns(message, *question, {*ParseAddress("127.64.0.1")}),
      Header(0x8180, 1, 1, 0, 1) + Name("example.org") + kA +
          "\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x00\x00\x04\x7f\x40\x00\x01"s +
          opt);
  EXPECT_EQ(AnswerDns(message, *question, DnsAnswer::kRefused),
            Header(0x8185, 1, 0, 0, 1) + Name("example.org") + kA + opt);
}

TEST(DnsAnswerTest, ARefusalHasItsCodeAndTheQuestion) {
  const std::string message = Header() + Name("example.org") + kA;
  const auto question = ReadDnsQuestion(message);
  ASSERT_TRUE(question);
  const std::pair<DnsAnswer, uint16_t> cases[] = {
      {DnsAnswer::kRefused, 0x8185},
      {DnsAnswer::kEmpty, 0x8180},
      {DnsAnswer::kFormatError, 0x8181},
      {DnsAnswer::kNoSuchName, 0x8183},
  };
  for (const auto& [answer, flags] : cases)
    EXPECT_EQ(AnswerDns(message, *question, answer),
              Header(flags) + Name("example.org") + kA);
}

TEST(DnsAnswerTest, ManyAddressesFitIntoAMessageOf512Bytes) {
  const std::vector<Address> many(1000, *ParseAddress("127.64.0.1"));
  std::string name;
  for (int i = 0; i < 3; ++i) name += '\x3f' + std::string(63, 'a');
  name += '\x3b' + std::string(59, 'b') + '\0';
  for (const std::string& message :
       {Header() + Name("a.example") + kA, Header() + name + kA,
        Header(0x0100, 1, 0, 0, 1) + name + kA + kOpt}) {
    const auto question = ReadDnsQuestion(message);
    ASSERT_TRUE(question) << question.error().message;
    const std::string answer = AnswerDns(message, *question, many);
    EXPECT_LE(answer.size(), 512U);
    EXPECT_GT(answer.size(), 512U - 32);
    const bool opt = message.size() > question->end;
    EXPECT_EQ(answer.size(), question->end + (opt ? 11U : 0U) +
                                 16U * static_cast<unsigned char>(answer[7]));
  }
}

TEST(DnsAnswerTest, WhatCannotBeReadHasAFormatErrorAndAnAnswerHasNone) {
  EXPECT_EQ(RefuseDns(Header()), Header(0x8181, 0));
  EXPECT_EQ(RefuseDns(Header(0x0000, 9, 9, 9, 9) + "rest"), Header(0x8081, 0));
  EXPECT_EQ(RefuseDns(Header(0x2fff & ~0x8000)), Header(0xa981, 0));
  EXPECT_EQ(RefuseDns(Header(0x8180)), "");
  EXPECT_EQ(RefuseDns(Header().substr(0, 11)), "");
  EXPECT_EQ(RefuseDns(""), "");
}

}  // namespace
}  // namespace gate::net
