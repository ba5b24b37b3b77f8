#include "net/address.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gate::net {
namespace {

using namespace std::string_literals;
using enum AddressKind;

Address At(const std::string& text) {
  const auto address = ParseAddress(text);
  EXPECT_TRUE(address) << text;
  return address.value_or(Address{});
}

TEST(AddressTest, OneAddressHasOneText) {
  const std::pair<const char*, const char*> cases[] = {
      {"192.0.2.7", "192.0.2.7"},        {"::ffff:192.0.2.7", "192.0.2.7"},
      {"::FFFF:c000:0207", "192.0.2.7"}, {"0:0:0:0:0:0:0:1", "::1"},
      {"2001:DB8::0:1", "2001:db8::1"},  {"::", "::"},
  };
  for (const auto& [text, printed] : cases) {
    EXPECT_EQ(Print(At(text)), printed);
    EXPECT_EQ(At(Print(At(text))), At(text));
  }
  EXPECT_TRUE(IsIpv4(At("192.0.2.7")));
  EXPECT_TRUE(IsIpv4(At("::ffff:192.0.2.7")));
  EXPECT_FALSE(IsIpv4(At("::192.0.2.7")));
  EXPECT_EQ(Print(FromIpv4(0xc0000207)), "192.0.2.7");
}

TEST(AddressTest, NoOtherSpellingIsAnAddress) {
  for (const std::string& text : {""s,
                                  "127.1"s,
                                  "0177.0.0.1"s,
                                  "0x7f.0.0.1"s,
                                  "127.0.0.1 "s,
                                  "127.0.0.1\0"s,
                                  "127.0.0.1\0.x"s,
                                  "127.0.0.01"s,
                                  "127.0.0.256"s,
                                  "127.0.0.1."s,
                                  "[::1]"s,
                                  "fe80::1%lo"s,
                                  "::1%1"s,
                                  "::1\0"s,
                                  "::1 "s,
                                  "1:2:3:4:5:6:7"s,
                                  "::12345"s,
                                  "::ffff:127.0.0.01"s,
                                  "localhost"s,
                                  std::string(200, ':'),
                                  std::string(200, '1')})
    EXPECT_FALSE(ParseAddress(text)) << testing::PrintToString(text);
}

TEST(AddressTest, EveryAddressThatIsNotPublicSaysWhatItIs) {
  const std::pair<const char*, AddressKind> cases[] = {
      {"1.1.1.1", kPublic},
      {"8.8.8.8", kPublic},
      {"172.15.255.255", kPublic},
      {"172.32.0.0", kPublic},
      {"100.63.255.255", kPublic},
      {"100.128.0.0", kPublic},
      {"169.253.255.255", kPublic},
      {"169.255.0.0", kPublic},
      {"126.255.255.255", kPublic},
      {"128.0.0.0", kPublic},
      {"223.255.255.255", kPublic},
      {"198.20.0.0", kPublic},
      {"2606:4700:4700::1111", kPublic},
      {"2a00:1450:4001:80e::200e", kPublic},
      {"2001:4860:4860::8888", kPublic},
      {"2001:200::1", kPublic},
      // The clouds' metadata, however it is written.
      {"169.254.169.254", kMetadata},
      {"169.254.170.2", kMetadata},
      {"169.254.170.23", kMetadata},
      {"169.254.0.23", kMetadata},
      {"169.254.42.42", kMetadata},
      {"168.63.129.16", kMetadata},
      {"100.100.100.200", kMetadata},
      {"192.0.0.192", kMetadata},
      {"::ffff:169.254.169.254", kMetadata},
      {"::ffff:a9fe:a9fe", kMetadata},
      {"::169.254.169.254", kMetadata},
      {"::ffff:0:169.254.169.254", kMetadata},
      {"64:ff9b::169.254.169.254", kMetadata},
      {"64:ff9b::a9fe:a9fe", kMetadata},
      {"64:ff9b:1::a9fe:a9fe", kMetadata},
      {"64:ff9b:1:a9fe:a9:fe00::", kMetadata},
      {"64:ff9b:1:a9:fe:a9fe::", kMetadata},
      {"64:ff9b:1:0:a9:fea9:fe00:0", kMetadata},
      {"2002:a9fe:a9fe::1", kMetadata},
      {"2002:a83f:8110::", kMetadata},
      {"2001:0:a9fe:a9fe::1", kMetadata},
      {"2001:0:102:304:0:0:5601:5601", kMetadata},
      {"2a00::5efe:169.254.169.254", kMetadata},
      {"2a00::200:5efe:169.254.169.254", kMetadata},
      {"fe80::5efe:169.254.169.254", kMetadata},
      {"fd00:ec2::254", kMetadata},
      {"fd00:ec2::23", kMetadata},
      {"fd20:ce::254", kMetadata},
      {"fd00:42::42", kMetadata},
      {"fd00:c1::a9fe:a9fe", kMetadata},
      {"fe80::a9fe:a9fe", kMetadata},
      {"169.254.0.1", kLinkLocal},
      {"169.254.255.255", kLinkLocal},
      {"fe80::1", kLinkLocal},
      {"febf:ffff::1", kLinkLocal},
      {"2002:a9fe:1::", kLinkLocal},
      {"127.0.0.1", kLoopback},
      {"127.255.255.255", kLoopback},
      {"127.64.0.1", kLoopback},
      {"0.0.0.0", kLoopback},
      {"::", kLoopback},
      {"::1", kLoopback},
      {"::ffff:127.0.0.1", kLoopback},
      {"::ffff:0.0.0.0", kLoopback},
      {"::127.0.0.1", kLoopback},
      {"::ffff:0:127.0.0.1", kLoopback},
      {"64:ff9b::7f00:1", kLoopback},
      {"64:ff9b::", kLoopback},
      {"2002:7f00:1::", kLoopback},
      {"2001:0:7f00:1::", kLoopback},
      {"2a00::5efe:7f00:1", kLoopback},
      {"10.0.0.0", kPrivate},
      {"10.255.255.255", kPrivate},
      {"172.16.0.0", kPrivate},
      {"172.31.255.255", kPrivate},
      {"192.168.0.1", kPrivate},
      {"100.64.0.1", kPrivate},
      {"100.127.255.255", kPrivate},
      {"100.100.100.100", kPrivate},
      {"fc00::1", kPrivate},
      {"fdff::1", kPrivate},
      {"fec0::1", kPrivate},
      {"64:ff9b::10.0.0.1", kPrivate},
      {"2002:c0a8:101::1", kPrivate},
      {"2a00:1:2:3:0:5efe:10.0.0.1", kPrivate},
      {"224.0.0.1", kMulticast},
      {"239.255.255.255", kMulticast},
      {"255.255.255.255", kMulticast},
      {"ff02::1", kMulticast},
      {"2002:ffff:ffff::", kMulticast},
      {"0.0.0.1", kReserved},
      {"0.255.255.255", kReserved},
      {"192.0.0.1", kReserved},
      {"192.0.2.1", kReserved},
      {"192.88.99.1", kReserved},
      {"198.18.0.1", kReserved},
      {"198.19.255.255", kReserved},
      {"198.51.100.1", kReserved},
      {"203.0.113.1", kReserved},
      {"240.0.0.1", kReserved},
      {"255.255.255.254", kReserved},
      {"2001:db8::1", kReserved},
      {"3fff::1", kReserved},
      {"100::1", kReserved},
      {"5f00::1", kReserved},
      {"4000::1", kReserved},
      {"::2", kReserved},
      {"::8.8.8.8", kReserved},
      {"::ffff:0:8.8.8.8", kReserved},
      {"64:ff9b:2::1", kReserved},
      {"2001:0:808:808:0:0:fefe:fefe", kReserved},
      {"64:ff9b::8.8.8.8", kPublic},
      {"2002:808:808::1", kPublic},
  };
  for (const auto& [text, kind] : cases)
    EXPECT_EQ(Name(KindOf(At(text), {})), Name(kind)) << text;
}

TEST(AddressTest, WhatRulesKnowOfCloudsIsKnownHereToo) {
  std::ifstream file(GATE_SOURCE_DIR "/rules.d/00-classes.json");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  size_t at = text.find("\"cloud-metadata\": [");
  ASSERT_NE(at, text.npos);
  at = text.find('[', at);
  const std::string list = text.substr(at, text.find(']', at) - at);
  size_t count = 0;
  for (size_t begin = list.find('"'); begin != list.npos;) {
    const size_t end = list.find('"', begin + 1);
    ASSERT_NE(end, list.npos);
    const std::string name = list.substr(begin + 1, end - begin - 1);
    if (const auto address = ParseAddress(name)) {
      EXPECT_EQ(KindOf(*address, {}), kMetadata) << name;
      ++count;
    }
    begin = list.find('"', end + 1);
  }
  EXPECT_GE(count, 10U);
}

TEST(AddressTest, AnAddressOfThisMachineIsNotPublic) {
  const std::vector<Address> own = {At("8.8.8.8"), At("2606:4700::1"),
                                    At("10.0.0.5")};
  const std::pair<const char*, AddressKind> cases[] = {
      {"8.8.8.8", kOwn},         {"8.8.4.4", kPublic},
      {"2606:4700::1", kOwn},    {"2606:4700::2", kPublic},
      {"10.0.0.5", kPrivate},    {"64:ff9b::8.8.8.8", kOwn},
      {"2002:808:808::1", kOwn}, {"::ffff:8.8.8.8", kOwn},
      {"::8.8.8.8", kOwn},
  };
  for (const auto& [text, kind] : cases)
    EXPECT_EQ(Name(KindOf(At(text), own)), Name(kind)) << text;
}

TEST(AddressTest, AnExceptionOpensItsRangeAndNeverMetadataOrTheLink) {
  const std::vector<Address> own = {At("8.8.8.8")};
  struct Case {
    const char* address;
    std::vector<const char*> excepted;
    bool may;
  };
  const Case cases[] = {
      {"1.1.1.1", {}, true},
      {"10.0.0.1", {}, false},
      {"10.0.0.1", {"10.0.0.0/8"}, true},
      {"10.0.0.1", {"10.0.1.0/24"}, false},
      {"10.0.0.1", {"192.168.0.0/16", "10.0.0.1"}, true},
      {"::ffff:10.0.0.1", {"10.0.0.0/8"}, true},
      {"10.0.0.1", {"::ffff:10.0.0.0/104"}, true},
      {"64:ff9b::10.0.0.1", {"10.0.0.0/8"}, false},
      {"2002:a00:1::", {"10.0.0.0/8"}, false},
      {"127.0.0.1", {"127.0.0.0/8"}, true},
      {"::1", {"127.0.0.0/8"}, false},
      {"::1", {"::1"}, true},
      {"0.0.0.0", {"127.0.0.0/8"}, false},
      {"8.8.8.8", {}, false},
      {"8.8.8.8", {"8.8.8.8"}, true},
      {"169.254.169.254", {"0.0.0.0/0"}, false},
      {"169.254.169.254", {"169.254.169.254"}, false},
      {"169.254.1.1", {"169.254.0.0/16"}, false},
      {"168.63.129.16", {"168.63.129.16/32"}, false},
      {"100.100.100.200", {"100.64.0.0/10"}, false},
      {"fd00:ec2::254", {"fd00::/8"}, false},
      {"fd00:ec2::255", {"fd00::/8"}, true},
      {"fe80::1", {"fe80::/10"}, false},
      {"2002:a9fe:a9fe::1", {"2002::/16"}, false},
      {"64:ff9b::a9fe:a9fe", {"64:ff9b::/96"}, false},
      {"::ffff:169.254.169.254", {"::/0"}, false},
  };
  for (const Case& each : cases) {
    std::vector<AddressRange> excepted;
    for (const char* text : each.excepted)
      excepted.push_back(*ParseRange(text));
    EXPECT_EQ(MayConnect(At(each.address), own, excepted), each.may)
        << each.address;
  }
}

TEST(AddressRangeTest, ARangeHoldsWhatBeginsAsItDoes) {
  struct Case {
    const char *range, *address;
    bool holds;
  };
  const Case cases[] = {
      {"10.0.0.0/8", "10.255.255.255", true},
      {"10.0.0.0/8", "11.0.0.0", false},
      {"10.0.0.0/9", "10.127.255.255", true},
      {"10.0.0.0/9", "10.128.0.0", false},
      {"192.0.2.128/25", "192.0.2.127", false},
      {"192.0.2.7", "192.0.2.7", true},
      {"192.0.2.7/32", "192.0.2.6", false},
      {"0.0.0.0/0", "255.1.2.3", true},
      {"0.0.0.0/0", "::1", false},
      {"fd00::/8", "fdff::1", true},
      {"fd00::/8", "fc00::1", false},
      {"2001:db8::/33", "2001:db8:7fff::", true},
      {"2001:db8::/33", "2001:db8:8000::", false},
      {"::1/128", "::1", true},
      {"::/0", "1.2.3.4", true},
  };
  for (const Case& each : cases) {
    const auto range = ParseRange(each.range);
    ASSERT_TRUE(range) << each.range;
    EXPECT_EQ(Contains(*range, At(each.address)), each.holds)
        << each.range << ' ' << each.address;
  }
}

TEST(AddressRangeTest, WhatIsNoRangeIsRefused) {
  for (const std::string& text : {""s,
                                  "/8"s,
                                  "10.0.0.0/"s,
                                  "10.0.0.0/33"s,
                                  "10.0.0.0/-1"s,
                                  "10.0.0.0/+8"s,
                                  "10.0.0.0/08"s,
                                  "10.0.0.0/8 "s,
                                  "10.0.0.0/ 8"s,
                                  "10.0.0.0/8/8"s,
                                  "10.0.0.0/255.0.0.0"s,
                                  "10.0.0.1/8"s,
                                  "10.1.0.0/8"s,
                                  "10.0.0.0/4294967304"s,
                                  "10.0.0.0/8\0"s,
                                  "10/8"s,
                                  "10.0.0/8"s,
                                  "fd00::/129"s,
                                  "fd00::1/8"s,
                                  "fd00::/1000"s,
                                  "[fd00::]/8"s,
                                  "fe80::%lo/10"s,
                                  "example.org/8"s,
                                  "10.0.0.0-10.0.0.9"s}) {
    const auto range = ParseRange(text);
    ASSERT_FALSE(range) << text;
    EXPECT_EQ(range.error().code, ErrorCode::kInvalid);
  }
}

TEST(AddressTest, ThisMachineHasItsLoopbackAddress) {
  const auto own = OwnAddresses();
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_NE(std::ranges::find(*own, At("127.0.0.1")), own->end());
}

}  // namespace
}  // namespace gate::net
