#include "net/host_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gate::net {
namespace {

using namespace std::string_literals;
using std::string_view;

TEST(ReadHostTest, EverySpellingThatIsTakenHasOneForm) {
  const std::pair<std::string, const char*> cases[] = {
      {"example.org", "example.org"},
      {"EXAMPLE.Org", "example.org"},
      {"example.org.", "example.org"},
      {"localhost", "localhost"},
      {"_dmarc.example.org", "_dmarc.example.org"},
      {"my_bucket.example.org", "my_bucket.example.org"},
      {"xn--mnchen-3ya.example", "xn--mnchen-3ya.example"},
      {"XN--MNCHEN-3YA.example", "xn--mnchen-3ya.example"},
      {"r3---sn-abc.example.org", "r3---sn-abc.example.org"},
      {"1.example.org", "1.example.org"},
      {"0x7f.example.org", "0x7f.example.org"},
      {"4.3.2.1.in-addr.arpa", "4.3.2.1.in-addr.arpa"},
      {"example.0x7fg", "example.0x7fg"},
      {"192.0.2.7", "192.0.2.7"},
      {"0.0.0.0", "0.0.0.0"},
      {"::1", "::1"},
      {"[::1]", "::1"},
      {"[2001:DB8:0:0::1]", "2001:db8::1"},
      {"2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1"},
      {"::ffff:192.0.2.7", "192.0.2.7"},
      {"[::ffff:c000:207]", "192.0.2.7"},
      {"0:0:0:0:0:ffff:c000:0207", "192.0.2.7"},
      {std::string(63, 'a') + ".example", nullptr},
  };
  for (const auto& [text, normal] : cases) {
    const auto host = ReadHost(text);
    ASSERT_TRUE(host) << text << ": " << host.error().message;
    EXPECT_EQ(*host, normal == nullptr ? text : normal) << text;
    const auto again = ReadHost(*host);
    ASSERT_TRUE(again) << text;
    EXPECT_EQ(*again, *host) << text;
  }
}

TEST(ReadHostTest, WhatTwoReadersMayTakeForDifferentHostsIsRefused) {
  const std::string long_label(64, 'a');
  std::string long_name;
  while (long_name.size() < 254) long_name += "abcdefgh.";
  long_name.resize(254, 'a');
  const std::string cases[] = {
      ""s,
      "."s,
      ".."s,
      "example.org.."s,
      ".example.org"s,
      "a..b"s,
      // Where the text ends for one of them.
      "example.org\0.evil.example"s,
      "evil.example\0"s,
      "\0example.org"s,
      "example.org\n"s,
      "example.org\r\nHost: evil.example"s,
      "example.org\t"s,
      " example.org"s,
      "example.org "s,
      "exa mple.org"s,
      "example.org\x7f"s,
      "example.org\x01"s,
      "example.org#.evil.example"s,
      "example.org?.evil.example"s,
      "example.org;evil.example"s,
      "example.org,evil.example"s,
      "example.org/"s,
      "example.org\\@evil.example"s,
      "evil.example/example.org"s,
      // Who stands before it.
      "user@example.org"s,
      "user:password@example.org"s,
      "example.org@evil.example"s,
      "http://example.org"s,
      "//example.org"s,
      // What is decoded, mapped or expanded.
      "%65xample.org"s,
      "example%2eorg"s,
      "example.org%00"s,
      "example.org%"s,
      "127.0.0.1%2f"s,
      "*.example.org"s,
      "*"s,
      "{a,b}.example.org"s,
      "$HOME.example.org"s,
      "exämple.org"s,
      "ｅxample.org"s,
      "example。org"s,
      "１２７.0.0.1"s,
      "example.org\xc2\xad"s,
      "ex\u200bample.org"s,
      "\xff.org"s,
      "xn--"s,
      "xn--abc-.example"s,
      "-example.org"s,
      "--help"s,
      "example-.org"s,
      "a.-b.example"s,
      long_label + ".example",
      long_name,
      std::string(100000, 'a'),
      std::string(100000, '.'),
      // IPv4 as inet_aton(3) and others read it.
      "127.1"s,
      "127.0.1"s,
      "1"s,
      "2130706433"s,
      "0x7f000001"s,
      "0X7F000001"s,
      "0x7f.0.0.1"s,
      "0x7f.1"s,
      "1.2.3.0x4"s,
      "1.2.3.0x"s,
      "0x"s,
      "0177.0.0.1"s,
      "017700000001"s,
      "127.0.0.01"s,
      "127.000.000.001"s,
      "127.0.0.256"s,
      "127.0.0.1.1"s,
      "127.0.0.1."s,
      "127.0.0.1.."s,
      "127..0.1"s,
      "127.0.0.-1"s,
      "127.0.0.+1"s,
      "127.0.0. 1"s,
      "999.999.999.999"s,
      "4294967297"s,
      "example.123"s,
      "example.org.1"s,
      "1.2.3.4.5"s,
      "00000000000000000000000000000000001.2.3.4"s,
      // IPv6.
      "[::1"s,
      "::1]"s,
      "[]"s,
      "["s,
      "[::1]."s,
      "[::1]:443"s,
      "[[::1]]"s,
      "[127.0.0.1]"s,
      "[example.org]"s,
      "fe80::1%eth0"s,
      "[fe80::1%25eth0]"s,
      "[fe80::1%1]"s,
      "::1%"s,
      "1::2::3"s,
      "::12345"s,
      "::00001"s,
      "1:2:3:4:5:6:7"s,
      "1:2:3:4:5:6:7:8:9"s,
      "::ffff:127.0.0.01"s,
      "::ffff:127.1"s,
      "::127.0.0.256"s,
      "::g"s,
      ":"s,
      ":::"s,
      "[v1.fe80]"s,
      "example.org:443"s,
  };
  for (const std::string& text : cases) {
    const auto host = ReadHost(text);
    ASSERT_FALSE(host) << testing::PrintToString(text) << " is " << *host;
    EXPECT_EQ(host.error().code, ErrorCode::kInvalid);
    EXPECT_FALSE(host.error().message.empty());
  }
}

TEST(ReadHostTest, EveryByteThatNoNameHasIsRefusedWhereverItStands) {
  constexpr string_view kName =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool taken = kName.find(c) != kName.npos;
    EXPECT_EQ(ReadHost("exam"s + c + "ple.org").has_value(), taken) << byte;
    if (taken) continue;
    EXPECT_FALSE(ReadHost(c + "example.org"s)) << byte;
    EXPECT_FALSE(ReadHost("example.org"s + c)) << byte;
  }
}

TEST(ReadHostTest, AName253BytesLongIsTakenAndALongerOneIsNot) {
  std::string name(63, 'a');
  name += '.' + std::string(63, 'b') + '.' + std::string(63, 'c') + '.';
  const std::string whole = name + std::string(61, 'd');
  ASSERT_EQ(whole.size(), 253U);
  EXPECT_TRUE(ReadHost(whole));
  EXPECT_TRUE(ReadHost(whole + '.'));
  EXPECT_FALSE(ReadHost(whole + 'd'));
  EXPECT_FALSE(ReadHost(whole + "d."));
}

TEST(ReadHostPortTest, APortIsOneNumberBehindTheHost) {
  struct Case {
    std::string text;
    std::optional<HostPort> named;
  };
  const Case cases[] = {
      {"example.org", {{"example.org", 0}}},
      {"Example.org.:443", {{"example.org", 443}}},
      {"192.0.2.7:65535", {{"192.0.2.7", 65535}}},
      {"[::1]", {{"::1", 0}}},
      {"[::1]:8443", {{"::1", 8443}}},
      {"[::ffff:192.0.2.7]:80", {{"192.0.2.7", 80}}},
      {"", {}},
      {":443", {}},
      {"example.org:", {}},
      {"example.org:0", {}},
      {"example.org:0443", {}},
      {"example.org:+443", {}},
      {"example.org:-1", {}},
      {"example.org:443 ", {}},
      {"example.org: 443", {}},
      {"example.org:65536", {}},
      {"example.org:4294967739", {}},
      {"example.org:18446744073709552059", {}},
      {"example.org:0x1bb", {}},
      {"example.org:https", {}},
      {"example.org:443:80", {}},
      {"example.org:443/", {}},
      {"example.org:443@evil.example", {}},
      {"user@example.org:443", {}},
      {"example.org:443\0"s, {}},
      {"::1", {}},
      {"::1:443", {}},
      {"[::1]443", {}},
      {"[::1]]:443", {}},
      {"[::1]:", {}},
      {"[::1]:443:80", {}},
      {"[::1].example.org:443", {}},
      {"[example.org]:443", {}},
      {"[::1", {}},
  };
  for (const Case& each : cases) {
    const auto named = ReadHostPort(each.text);
    EXPECT_EQ(named.has_value(), each.named.has_value()) << each.text;
    if (!named || !each.named) continue;
    EXPECT_EQ(*named, *each.named) << each.text;
    EXPECT_EQ(*ReadHostPort(PrintHostPort(named->host, named->port)), *named);
  }
}

TEST(HostRuleTest, ARuleIsAHostWithAWildcardAndAPort) {
  const std::pair<const char*, HostRule> cases[] = {
      {"example.org", {"example.org", false, 0}},
      {"Example.ORG.:443", {"example.org", false, 443}},
      {"*.example.org", {"example.org", true, 0}},
      {"*.Example.org:22", {"example.org", true, 22}},
      {"localhost:8080", {"localhost", false, 8080}},
      {"192.0.2.7:8443", {"192.0.2.7", false, 8443}},
      {"[2001:DB8::1]:443", {"2001:db8::1", false, 443}},
      {"[2001:db8::1]", {"2001:db8::1", false, 0}},
      {"[::ffff:192.0.2.7]", {"192.0.2.7", false, 0}},
  };
  for (const auto& [text, rule] : cases) {
    const auto read = ParseHostRule(text);
    ASSERT_TRUE(read) << text << ": " << read.error().message;
    EXPECT_EQ(*read, rule) << text;
    EXPECT_EQ(*ParseHostRule(Print(*read)), rule) << text;
  }
}

TEST(HostRuleTest, WhatIsNoRuleSaysWhatIsWrong) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "no host"},
      {"*", "wildcard"},
      {"*.", "no host"},
      {"*.*", "wildcard"},
      {"*.com", "top-level"},
      {"*.com.", "top-level"},
      {"*.localhost:80", "top-level"},
      {"**.example.org", "wildcard"},
      {"*.*.example.org", "wildcard"},
      {"api.*.example.org", "wildcard"},
      {"api*.example.org", "wildcard"},
      {"*example.org", "wildcard"},
      {"example.*", "wildcard"},
      {"example.org:*", "wildcard"},
      {"*.192.0.2.7", "address"},
      {"*.[2001:db8::1]", "address"},
      {"*.0.2.7", "IPv4"},
      {"*..example.org", "empty label"},
      {"a..example.org", "empty label"},
      {".example.org", "empty label"},
      {"https://example.org", "scheme"},
      {"example.org/", "path"},
      {"example.org/path", "path"},
      {"10.0.0.0/8", "path"},
      {"user@example.org", "user"},
      {"example.org:", "port"},
      {"example.org:0", "port"},
      {"example.org:65536", "port"},
      {"example.org:80-90", "port"},
      {"example.org:80,443", "port"},
      {"2001:db8::1", "brackets"},
      {"!example.org", "character"},
      {" example.org", "character"},
      {"example.org\n", "character"},
      {"example.org\0"s, "character"},
      {"münchen.example", "punycode"},
      {"127.1", "IPv4"},
      {"[fe80::1%eth0]", "zone"},
      {std::string(301, 'a'), "300"},
  };
  for (const auto& [text, why] : cases) {
    const auto read = ParseHostRule(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalid);
    EXPECT_NE(read.error().message.find(why), std::string::npos)
        << text << ": " << read.error().message;
  }
}

std::vector<HostRule> Rules(const std::vector<const char*>& texts) {
  std::vector<HostRule> rules;
  for (const char* text : texts) rules.push_back(*ParseHostRule(text));
  return rules;
}

TEST(HostListTest, WhatDeniesWinsAndWhatIsNotListedIsNotReached) {
  using enum HostVerdict;
  const std::vector<const char*> allow = {
      "example.org",      "*.example.org",     "git.example.com:22",
      "192.0.2.7:8443",   "[2001:db8::1]:443", "*.deep.example.net",
      "api.both.example", "*.both.example:443"};
  const std::vector<const char*> deny = {
      "secret.example.org", "*.secret.example.org", "upload.example.org:443",
      "*.both.example:443", "*.deny.deep.example.net"};
  struct Case {
    const char* host;
    uint16_t port;
    HostVerdict verdict;
  };
  const Case cases[] = {
      {"example.org", 443, kAllowed},
      {"example.org", 80, kAllowed},
      {"example.org", 22, kNotListed},
      {"example.org", 8443, kNotListed},
      {"example.org", 0, kNotListed},
      {"a.example.org", 443, kAllowed},
      {"a.b.c.d.example.org", 443, kAllowed},
      {"notexample.org", 443, kNotListed},
      {"example.org.evil.example", 443, kNotListed},
      {"org", 443, kNotListed},
      {"evil.example", 443, kNotListed},
      {"secret.example.org", 443, kDenied},
      {"secret.example.org", 9, kDenied},
      {"a.secret.example.org", 80, kDenied},
      {"notsecret.example.org", 80, kAllowed},
      {"upload.example.org", 443, kDenied},
      {"upload.example.org", 80, kAllowed},
      {"x.upload.example.org", 443, kAllowed},
      {"git.example.com", 22, kAllowed},
      {"git.example.com", 443, kNotListed},
      {"x.git.example.com", 22, kNotListed},
      {"192.0.2.7", 8443, kAllowed},
      {"192.0.2.7", 443, kNotListed},
      {"192.0.2.70", 8443, kNotListed},
      {"2001:db8::1", 443, kAllowed},
      {"2001:db8::1", 80, kNotListed},
      {"2001:db8::2", 443, kNotListed},
      {"deep.example.net", 443, kNotListed},
      {"x.deep.example.net", 443, kAllowed},
      {"deny.deep.example.net", 443, kAllowed},
      {"x.deny.deep.example.net", 443, kDenied},
      {"api.both.example", 443, kDenied},
      {"api.both.example", 80, kAllowed},
      {"both.example", 443, kNotListed},
      // What ReadHost never returns.
      {"EXAMPLE.ORG", 443, kNotListed},
      {"Secret.example.org", 443, kNotListed},
      {"secret.example.org.", 443, kNotListed},
      {"secret..example.org", 443, kNotListed},
      {".example.org", 443, kNotListed},
      {"a@b.example.org", 443, kNotListed},
      {"", 443, kNotListed},
      {".", 443, kNotListed},
  };
  for (const bool turned : {false, true}) {
    auto allowed = Rules(allow), denied = Rules(deny);
    if (turned) {
      std::ranges::reverse(allowed);
      std::ranges::reverse(denied);
    }
    const auto list = HostList::Make(allowed, denied);
    ASSERT_TRUE(list);
    for (const Case& each : cases)
      EXPECT_EQ(list->Judge(each.host, each.port), each.verdict)
          << each.host << ':' << each.port;
    EXPECT_EQ(list->Judge("secret.example.org\0.x"s, 443), kNotListed);
  }
}

TEST(HostListTest, ANameIsAnsweredForWhereSomePortIsLeft) {
  const auto list = HostList::Make(
      Rules({"*.example.org", "ssh.example.org:22", "only.example.com:443",
             "192.0.2.7"}),
      Rules({"gone.example.org", "half.example.org:443", "ssh.example.org:80",
             "ssh.example.org:443", "both.example.org:80",
             "both.example.org:443", "only.example.com:443"}));
  ASSERT_TRUE(list);
  const std::pair<const char*, bool> cases[] = {
      {"a.example.org", true},     {"example.org", false},
      {"gone.example.org", false}, {"half.example.org", true},
      {"ssh.example.org", true},   {"both.example.org", false},
      {"only.example.com", false}, {"192.0.2.7", true},
      {"A.example.org", false},    {"", false},
  };
  for (const auto& [host, may] : cases)
    EXPECT_EQ(list->MayReach(host), may) << host;
}

TEST(HostListTest, AnEmptyListAllowsNothing) {
  const HostList none;
  EXPECT_EQ(none.Judge("example.org", 443), HostVerdict::kNotListed);
  EXPECT_FALSE(none.MayReach("example.org"));
}

TEST(HostListTest, TooManyRulesAndRulesThatAreNoneMakeNoList) {
  const std::vector<HostRule> most(kMaxHostRules, {"example.org", false, 0});
  std::vector<HostRule> more = most;
  more.push_back(most[0]);
  EXPECT_TRUE(HostList::Make(most, most));
  EXPECT_EQ(HostList::Make(more, {}).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(HostList::Make({}, more).error().code, ErrorCode::kTooLarge);
  for (const HostRule& rule : std::vector<HostRule>{{"", true, 0},
                                                    {"org", true, 0},
                                                    {"Example.org", false, 0},
                                                    {"example.org.", false, 0},
                                                    {"192.0.2.7", true, 0},
                                                    {"*.a.example", false, 0},
                                                    {"::0001", false, 0}}) {
    EXPECT_EQ(HostList::Make({rule}, {}).error().code, ErrorCode::kInvalid);
    EXPECT_EQ(HostList::Make({}, {rule}).error().code, ErrorCode::kInvalid);
  }
}

// What a rule means, said another way: every rule in turn, by texts alone.
bool Names(const HostRule& rule, const std::string& host, uint16_t port,
           bool allow) {
  if (rule.port != 0 ? port != rule.port : allow && port != 80 && port != 443)
    return false;
  if (!rule.below) return host == rule.host;
  if (host.find(':') != std::string::npos) return false;
  return host.size() > rule.host.size() + 1 &&
         host.substr(host.size() - rule.host.size() - 1) == '.' + rule.host;
}
HostVerdict JudgeNaively(const std::vector<HostRule>& allow,
                         const std::vector<HostRule>& deny,
                         const std::string& host, uint16_t port) {
  for (const HostRule& rule : deny)
    if (Names(rule, host, port, false)) return HostVerdict::kDenied;
  for (const HostRule& rule : allow)
    if (Names(rule, host, port, true)) return HostVerdict::kAllowed;
  return HostVerdict::kNotListed;
}

TEST(HostListTest, ThousandsOfListsJudgeAsOneRuleAfterTheOtherDoes) {
  std::mt19937 random(5);
  const auto below = [&random](size_t limit) { return random() % limit; };
  const std::vector<std::string> labels = {"a", "b", "ab", "org"};
  const std::vector<std::string> addresses = {"192.0.2.7", "192.0.2.70",
                                              "2001:db8::1", "::1", "2.7.a"};
  const std::vector<uint16_t> ports = {80, 443, 22, 1, 65535};
  const auto host = [&] {
    if (below(8) == 0) return addresses[below(addresses.size())];
    std::string name;
    for (size_t count = 1 + below(3); count > 0; --count)
      name += labels[below(labels.size())] + (count > 1 ? "." : "");
    return name;
  };
  const auto rules = [&] {
    std::vector<HostRule> made;
    for (size_t count = below(9); count > 0; --count) {
      const std::string text =
          (below(3) == 0 ? "*." : "") +
          PrintHostPort(host(), below(2) == 0 ? ports[below(5)] : 0);
      if (const auto rule = ParseHostRule(text)) made.push_back(*rule);
    }
    return made;
  };
  size_t seen[3] = {};
  for (int round = 0; round < 5000; ++round) {
    const auto allow = rules(), deny = rules();
    const auto list = HostList::Make(allow, deny);
    ASSERT_TRUE(list);
    for (int question = 0; question < 20; ++question) {
      const std::string name = host();
      const uint16_t port = ports[below(ports.size())];
      const HostVerdict verdict = list->Judge(name, port);
      ASSERT_EQ(verdict, JudgeNaively(allow, deny, name, port))
          << name << ':' << port;
      ++seen[static_cast<size_t>(verdict)];
      bool any = false;
      for (const uint16_t each : ports)
        any |= list->Judge(name, each) == HostVerdict::kAllowed;
      ASSERT_EQ(list->MayReach(name), any) << name;
    }
  }
  for (const size_t count : seen) EXPECT_GT(count, 1000U);
}

}  // namespace
}  // namespace gate::net
