// The parts of gate-net's resolver that read: answers, resolv.conf, hosts; and
// its made-up addresses.
#include <gtest/gtest.h>

#include <string>

#include "net/proxy/dns_message.h"
#include "net/proxy/names.h"
#include "net/proxy/resolver_files.h"

namespace gate::net::proxy {
namespace {

std::vector<std::string> Places(std::string_view text) {
  std::vector<std::string> places;
  for (const Endpoint& server : ReadNameServers(text))
    places.push_back(PrintHostPort(Print(server.address), server.port));
  return places;
}

TEST(ResolverPartsTest, ReadsNameServersAsTheCLibraryDoes) {
  using List = std::vector<std::string>;
  const struct {
    const char* text;
    List places;
  } kCases[] = {
      {"", {"127.0.0.1:53"}},
      {"nameserver 192.0.2.1\nsearch a.test\nnameserver\t2001:db8::1 # x\n",
       {"192.0.2.1:53", "[2001:db8::1]:53"}},
      {"# nameserver 192.0.2.1\n; nameserver 192.0.2.2\n", {"127.0.0.1:53"}},
      {"nameserver fe80::1%eth0\nnameserver name\nnameserver 192.0.2.3",
       {"192.0.2.3:53"}},
      {"nameserver 192.0.2.1\nnameserver 192.0.2.2\nnameserver 192.0.2.3\n"
       "nameserver 192.0.2.4\n",
       {"192.0.2.1:53", "192.0.2.2:53", "192.0.2.3:53"}},
  };
  for (const auto& one : kCases) EXPECT_EQ(Places(one.text), one.places);
}

TEST(ResolverPartsTest, ReadsHosts) {
  const HostsFile hosts = ReadHosts(
      "127.0.0.1 localhost LocalHost\n"
      "192.0.2.1\ta.test b.test # c.test\n"
      "2001:db8::1 a.test\n"
      "name a.test\n"
      "192.0.2.2 bad!name d.test");
  const auto at = [&](const char* name) {
    std::string all;
    if (const auto line = hosts.find(name); line != hosts.end())
      for (const Address& address : line->second) all += Print(address) + " ";
    return all;
  };
  EXPECT_EQ(at("localhost"), "127.0.0.1 ");
  EXPECT_EQ(at("a.test"), "192.0.2.1 2001:db8::1 ");
  EXPECT_EQ(at("b.test"), "192.0.2.1 ");
  EXPECT_EQ(at("c.test"), "");
  EXPECT_EQ(at("d.test"), "192.0.2.2 ");
}

TEST(ResolverPartsTest, AnswersThatAreCutAnywhereAreHarmless) {
  const std::string question = AskDns(0x1234, "a.test", DnsType::kA);
  ASSERT_FALSE(question.empty());
  std::string answer = question;
  answer[2] = static_cast<char>(0x81);
  answer[7] = 1;
  answer += std::string("\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04", 12);
  answer += std::string("\xc0\x00\x02\x07", 4);
  const LookupAnswer read =
      ReadDnsAnswer(answer, 0x1234, "a.test", DnsType::kA);
  EXPECT_EQ(read.status, LookupStatus::kAnswered);
  ASSERT_EQ(read.addresses.size(), 1u);
  EXPECT_EQ(Print(read.addresses[0]), "192.0.2.7");
  EXPECT_EQ(read.seconds, 60u);
  for (size_t size = 0; size < answer.size(); ++size)
    EXPECT_TRUE(
        ReadDnsAnswer(answer.substr(0, size), 0x1234, "a.test", DnsType::kA)
            .addresses.empty());
  EXPECT_EQ(ReadDnsAnswer(answer, 0x1235, "a.test", DnsType::kA).status,
            LookupStatus::kOther);
  EXPECT_EQ(ReadDnsAnswer(answer, 0x1234, "b.test", DnsType::kA).status,
            LookupStatus::kOther);
  EXPECT_EQ(ReadDnsAnswer(answer, 0x1234, "a.test", DnsType::kAaaa).status,
            LookupStatus::kOther);
  EXPECT_EQ(ReadDnsAnswer(question, 0x1234, "a.test", DnsType::kA).status,
            LookupStatus::kOther);
  // A name that leads to itself.
  std::string ring = answer;
  ring[question.size() + 1] = static_cast<char>(question.size());
  EXPECT_TRUE(
      ReadDnsAnswer(ring, 0x1234, "a.test", DnsType::kA).addresses.empty());
}

TEST(ResolverPartsTest, WhatIsNoNameIsNotAskedFor) {
  for (const std::string& name :
       {std::string(), std::string(64, 'x') + ".test", std::string("a..test"),
        std::string(".test"), std::string(300, 'x')})
    EXPECT_TRUE(AskDns(1, name, DnsType::kA).empty()) << name;
}

TEST(ResolverPartsTest, EachNameHasAnAddressOfItsOwn) {
  MadeUpNames names;
  const auto first = names.AddressOf("a.test");
  ASSERT_TRUE(first);
  EXPECT_EQ(Print(*first), "127.64.0.1");
  EXPECT_EQ(names.AddressOf("a.test"), first);
  EXPECT_EQ(names.NameOf(*first), "a.test");
  for (size_t i = 1; i < MadeUpNames::kMost; ++i) {
    const std::string name = "n" + std::to_string(i) + ".test";
    const auto address = names.AddressOf(name);
    ASSERT_TRUE(address);
    ASSERT_EQ(names.NameOf(*address), name);
  }
  EXPECT_FALSE(names.AddressOf("more.test"));
  EXPECT_EQ(names.AddressOf("a.test"), first);
  for (const char* text : {"127.64.0.0", "127.64.16.1", "127.65.0.1",
                           "127.0.0.1", "::1", "10.64.0.1"})
    EXPECT_FALSE(names.NameOf(*ParseAddress(text))) << text;
}

}  // namespace
}  // namespace gate::net::proxy
