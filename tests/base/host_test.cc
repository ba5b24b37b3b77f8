#include "base/host.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gate {
namespace {

// The address that `text` is, or that it may stand for.
bool Reaches(const std::string& text, const std::string& address) {
  const HostForms forms = NormaliseHost(text);
  return forms.normal == address ||
         std::ranges::find(forms.also, address) != forms.also.end();
}

TEST(HostTest, EverySpellingOfAnAddressIsTheSameText) {
  for (const char* text : {"169.254.169.254",
                           "0251.254.169.254",
                           "0251.0376.0251.0376",
                           "00251.00376.0251.254",
                           "0xa9.0xfe.0xa9.0xfe",
                           "0XA9.0XFE.0xA9.254",
                           "0x00a9.254.169.254",
                           "2852039166",
                           "0xa9fea9fe",
                           "0xA9FEA9FE",
                           "0x00000000a9fea9fe",
                           "025177524776",
                           "0000025177524776",
                           "169.16689662",
                           "169.0xfea9fe",
                           "0xa9.077524776",
                           "169.254.43518",
                           "169.254.0xa9fe",
                           "0251.0376.0124776",
                           "169.254.169.254.",
                           "169.254.169.254..",
                           "[::ffff:169.254.169.254]",
                           "::ffff:a9fe:a9fe",
                           "[::ffff:a9fe:a9fe]",
                           "[::FFFF:A9FE:A9FE]",
                           "0:0:0:0:0:ffff:a9fe:a9fe",
                           "[0000:0000:0000:0000:0000:ffff:a9fe:a9fe]",
                           "[::ffff:a9fe:a9fe%lo]",
                           "[::ffff:a9fe:a9fe%25eth0]",
                           "[0::ffff:169.254.169.254]",
                           "%31%36%39.254.169.254",
                           "169%2e254%2E169%2e254",
                           "%2531%2536%2539.254.169.254",
                           "１６９.２５４.１６９.２５４",
                           "169。254。169。254",
                           "169．254．169．254",
                           "169｡254｡169｡254",
                           "①⑥⑨.②⑤④.①⑥⑨.②⑤④",
                           "¹⁶⁹.²⁵⁴.¹⁶⁹.²⁵⁴",
                           "₁₆₉.₂₅₄.₁₆₉.₂₅₄",
                           "𝟏𝟔𝟗.𝟐𝟓𝟒.𝟏𝟔𝟗.𝟐𝟓𝟒",
                           "𝟷𝟼𝟿.254.169.254",
                           "１６９。254.169.254",
                           "169.254\u200b.169.254",
                           "169.254.169\u00ad.254",
                           "0ｘa9fea9fe",
                           "169\t.254.169.254",
                           "［::ffff:a9fe:a9fe］"}) {
    EXPECT_EQ(NormaliseHost(text).normal, "169.254.169.254") << text;
    EXPECT_TRUE(NormaliseHost(text).is_address) << text;
  }
}

TEST(HostTest, AnAddressInsideAnotherIsReached) {
  for (const char* text :
       {"[64:ff9b::a9fe:a9fe]", "64:ff9b::169.254.169.254",
        "[64:ff9b:1::a9fe:a9fe]", "[64:FF9B:0:0::A9FE:A9FE]",
        "[::169.254.169.254]", "[::a9fe:a9fe]", "[2002:a9fe:a9fe::]",
        "[2002:a9fe:a9fe::1]", "[2001:0:1:2:3:4:5601:5601]",
        "[::ffff:0:a9fe:a9fe]", "[fe80::5efe:169.254.169.254]",
        "[fe80::200:5efe:a9fe:a9fe%25eth0]",
        // Numbers as readers of other kinds take them.
        "0169.0254.0169.0254", "425.510.425.510", "681.254.169.254",
        "7147006462", "169.254.169.510", "0x1a9fea9fe"}) {
    EXPECT_TRUE(Reaches(text, "169.254.169.254")) << text;
    EXPECT_NE(NormaliseHost(text).normal, "169.254.169.254") << text;
  }
}

TEST(HostTest, Ipv6IsWrittenInOneWay) {
  for (const char* text :
       {"fd00:ec2::254", "[fd00:ec2::254]", "[fd00:0ec2::254]",
        "[FD00:EC2::0254]", "fd00:0ec2:0000:0000:0000:0000:0000:0254",
        "[fd00:ec2:0:0::254]", "[fd00:ec2::0:0:254%25en0]",
        "fd00:ec2::0.0.2.84", "[fd00%3aec2::254]"})
    EXPECT_EQ(NormaliseHost(text).normal, "fd00:ec2::254") << text;
  EXPECT_EQ(NormaliseHost("[::1]").normal, "::1");
  EXPECT_EQ(NormaliseHost("0:0:0:0:0:0:0:1").normal, "::1");
  EXPECT_EQ(NormaliseHost("[::]").normal, "::");
}

TEST(HostTest, NamesAreInLowerCaseAndMapped) {
  const struct {
    const char* text;
    const char* normal;
  } kRows[] = {
      {"Example.ORG", "example.org"},
      {"example.org.", "example.org"},
      {"ｇoogle.com", "google.com"},
      {"metadata。google。internal", "metadata.google.internal"},
      {"ⓜⓔⓣⓐⓓⓐⓣⓐ.google.internal", "metadata.google.internal"},
      {"𝓶𝓮𝓽𝓪𝓭𝓪𝓽𝓪.google.internal", "metadata.google.internal"},
      {"githu%62.com", "github.com"},
      {"Kaggle.com", "kaggle.com"},
      {"127.0.0.1.example.org", "127.0.0.1.example.org"},
      {"1.2.3.4.5", "1.2.3.4.5"},
      {"0xg.1.2.3", "0xg.1.2.3"},
      {"a1.b", "a1.b"},
      {"münchen.de", "münchen.de"},
      {"host", "host"},
      {"1.2.3.com", "1.2.3.com"},
      {"127.1", "127.0.0.1"},
      {"0x7f.1", "127.0.0.1"},
      {"017700000001", "127.0.0.1"},
      {"0", "0.0.0.0"},
      {"10.1", "10.0.0.1"},
      {"1.1", "1.0.0.1"},
      {"08.8.8.8", "08.8.8.8"},
  };
  for (const auto& row : kRows)
    EXPECT_EQ(NormaliseHost(row.text).normal, row.normal) << row.text;
}

TEST(HostTest, WhatIsLongerThanAnyNameIsNotKnown) {
  EXPECT_EQ(NormaliseHost(std::string(kMaxHostBytes + 1, 'a')).normal, "");
  EXPECT_EQ(NormaliseHost("").normal, "");
  EXPECT_EQ(NormaliseHost("169.254.169.{254,1}").normal, "169.254.169.{254,1}");
}

TEST(HostTest, WhatIsOnlyPossibleIsNeverThisMachine) {
  for (const char* text :
       {"[::7f00:1]", "[2002:7f00:1::]", "[64:ff9b::7f00:1]", "383.0.0.1",
        "4294967296", "0127.0.0.1", "[2002::]"}) {
    for (const std::string& also : NormaliseHost(text).also)
      EXPECT_FALSE(IsLoopback(also)) << text << " " << also;
    EXPECT_FALSE(IsLoopback(NormaliseHost(text).normal)) << text;
  }
  for (const char* text : {"127.1", "[::1]", "localhost.", "a.LOCALHOST", "0",
                           "[::ffff:127.0.0.1]", "127.255.0.9", "::"})
    EXPECT_TRUE(IsLoopback(NormaliseHost(text).normal)) << text;
  for (const char* text : {"127.0.0.1.example.org", "localhost.example.org",
                           "128.0.0.1", "xlocalhost", ""})
    EXPECT_FALSE(IsLoopback(NormaliseHost(text).normal)) << text;
}

TEST(HostTest, ParsersOfUrlsFindTheHost) {
  const struct {
    const char* url;
    const char* hosts;  // scheme|host|port, joined by blanks
  } kRows[] = {
      {"http://a.org/x", "http|a.org|0"},
      {"HTTPS://a.org:8443/x", "https|a.org|8443"},
      {"a.org", "|a.org|0"},
      {"a.org:80/x", "|a.org|80"},
      {"a.org/?u=http://b.org/", "|a.org|0"},
      {"a.org#http://b.org", "|a.org|0"},
      {"//a.org/x", "|a.org|0"},
      {"http:/a.org/", "http|a.org|0"},
      {"http:///a.org/", "http|a.org|0"},
      {"http:\\\\a.org\\x", "http|a.org\\x|0 http|a.org|0"},
      {"http:a.org/", "|http|0 http|a.org|0"},
      {"http://u@a.org/", "http|a.org|0"},
      {"http://u:p@a.org:1/", "http|a.org|1"},
      {"http://b.org@a.org/", "http|a.org|0"},
      {"http://u@b.org@a.org/", "http|a.org|0"},
      {"http://b.org\\@a.org/", "http|a.org|0 http|b.org|0"},
      {"http://b.org#@a.org/", "http|b.org|0"},
      {"http://b.org?@a.org/", "http|b.org|0"},
      {"http://b.org/@a.org/", "http|b.org|0"},
      {"http://[::1]:80/", "http|::1|80"},
      {"http://u@[fd00:ec2::254]/", "http|fd00:ec2::254|0"},
      {"fd00:ec2::254", "|fd00:ec2::254|0"},
      {"[::1]:22", "|::1|22"},
      {"git@host.org:a/b", "|host.org|0"},
      {"host:/srv", "|host|0"},
      {"host:a/b", "|host|0"},
      {"ssh://git@host:22/a", "ssh|host|22"},
      {"postgres://u:p@db:5432/x", "postgres|db|5432"},
      {"http://a:99999/", "http|a|0"},
      {"file:///etc/x", "file||0"},
      {" http://a/", "http|a|0"},
      {"", "||0"},
      {"http://", "http||0"},
      {"http://[::1", "http|::1|0"},
  };
  for (const auto& row : kRows) {
    std::string found;
    for (const UrlHost& each : HostsOfUrl(row.url))
      found += (found.empty() ? "" : " ") + each.scheme + "|" + each.host +
               "|" + std::to_string(each.port);
    EXPECT_EQ(found, row.hosts) << row.url;
  }
  EXPECT_EQ(HostsOfUrl("http://a", false)[0].host, "");
  EXPECT_EQ(HostsOfUrl("http://a/b", false)[0].host, "a");
}

}  // namespace
}  // namespace gate
