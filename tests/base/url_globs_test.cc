#include "base/url_globs.h"

#include <gtest/gtest.h>

#include "base/host.h"

namespace gate {
namespace {

bool Reaches(const std::string& url, const std::string& address) {
  for (const std::string& each : HostGlobs(url)) {
    for (const UrlHost& host : HostsOfUrl(each)) {
      if (NormaliseHost(host.host).normal == address) return true;
    }
  }
  return false;
}

TEST(UrlGlobsTest, HostsThatSetsAndRangesSpellAreFound) {
  for (const char* url : {"http://[1-1]69.254.169.254/",
                          "http://{169.254.169.254,x}/",
                          "http://{x,169.254.169.254}/latest",
                          "http://{169.254.169.254}",
                          "http://169.254.169.25[4-4]/",
                          "http://169.254.169.[250-255]",
                          "http://169.254.[160-170].254/x",
                          "http://169.254.[169-169].[254-254]/",
                          "http://[0-9]69.254.169.254/[1-100]",
                          "http://16[1-9:2].254.169.254/",
                          "http://{1,2}{6,7}9.254.169.254/",
                          "http://169.254.169.254/{a,b}/[1-9999]",
                          "{http://169.254.169.254/,http://x/}",
                          "htt[p-p]://169.254.169.254/",
                          "http://16{9.254.169.254/latest,8.1.1.1/}",
                          "http:/{/169.254.169.254/,x}",
                          "http://u:p@{169,1}.254.169.254/",
                          "http://u[1-3]@169.254.169.254/",
                          "http://0[251-251].254.169.254/",
                          "http://0x[a-a]9fea9fe/",
                          "[1-1]69.254.169.254",
                          "{169.254.169.254,b}:80/x",
                          "http://\\{a@169.254.169.254/",
                          "http://285203[9160-9170]/"}) {
    EXPECT_TRUE(Reaches(url, "169.254.169.254")) << url;
  }
}

TEST(UrlGlobsTest, UrlsWithoutGlobsInTheHostAreTheyThemselves) {
  for (const char* url :
       {"https://example.org/", "http://[::1]:3000/{a,b}",
        "http://[fe80::1%25eth0]/[1-9]", "https://example.org/img[1-99].png",
        "https://example.org/x?ids[]=1&ids[]=2", "localhost:3000/{id}",
        "http://a[", "http://{a", "http://[9-1].example.org/", "http://[]/",
        ""}) {
    EXPECT_EQ(HostGlobs(url), std::vector<std::string>{url});
  }
  EXPECT_EQ(
      HostGlobs("https://{a,b}.org/{x,y}"),
      (std::vector<std::string>{"https://a.org/{x,y}", "https://b.org/{x,y}"}));
  EXPECT_EQ(HostGlobs("h[08-10].org/"),
            (std::vector<std::string>{"h08.org/", "h09.org/", "h10.org/"}));
  EXPECT_EQ(HostGlobs("h[a-e:2].org"),
            (std::vector<std::string>{"ha.org", "hc.org", "he.org"}));
}

TEST(UrlGlobsTest, MoreHostsThanItReadsAreNotKnown) {
  EXPECT_TRUE(HostGlobs("http://10.[0-255].[0-255].1/").empty());
  EXPECT_TRUE(HostGlobs("http://10.0.0.[1-999999999999]/").empty());
  const std::string many(200000, '[');
  EXPECT_TRUE(HostGlobs("http://[1-500]" + many + "/").empty());
  EXPECT_FALSE(HostGlobs("http://example.org/" + many).empty());
  // Hosts that are whole already count with those that are not.
  EXPECT_TRUE(HostGlobs("{a,b/,c/,d/}[1-510]/").empty());
  EXPECT_FALSE(HostGlobs("{a,b/,c/,d/}[1-509]/").empty());
  std::string commas = "http://{";
  commas += std::string(100000, ',') + "}/";
  EXPECT_TRUE(HostGlobs(commas).empty());
}

}  // namespace
}  // namespace gate
