// What of a URL, and of git's arguments to ssh, is taken for a repository.
#include "credentials/ssh_target.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace gate::credentials {
namespace {

TEST(SshTargetTest, ReadsUrlsAsGitDoes) {
  const struct {
    const char* url;
    SshTarget target;
  } kRows[] = {
      {"git@github.com:a/b.git", {"git", "github.com", 0, "a/b.git"}},
      {"github.com:a/b", {"", "github.com", 0, "a/b"}},
      {"work:a/b", {"", "work", 0, "a/b"}},
      {"git@host:/srv/a.git", {"git", "host", 0, "/srv/a.git"}},
      {"git@host:~me/a", {"git", "host", 0, "~me/a"}},
      {"git@host:/~me/a", {"git", "host", 0, "~me/a"}},
      {"ssh://git@host/a/b.git", {"git", "host", 0, "/a/b.git"}},
      {"ssh://host/a", {"", "host", 0, "/a"}},
      {"ssh://git@host:2222/a", {"git", "host", 2222, "/a"}},
      {"ssh://host:7/~me/a", {"", "host", 7, "~me/a"}},
      {"git+ssh://git@host/a", {"git", "host", 0, "/a"}},
      {"ssh+git://git@host/a", {"git", "host", 0, "/a"}},
      {"host:with space's", {"", "host", 0, "with space's"}},
      {"10.0.0.7:a", {"", "10.0.0.7", 0, "a"}},
      {"first.last@host:a", {"first.last", "host", 0, "a"}},
  };
  for (const auto& row : kRows) {
    const auto target = ParseSshUrl(row.url);
    ASSERT_TRUE(target) << row.url;
    EXPECT_EQ(*target, row.target) << row.url;
  }
}

TEST(SshTargetTest, TakesNoOtherUrl) {
  for (const char* url : {"",
                          ":",
                          "host:",
                          "https://host/a",
                          "git://host/a",
                          "file:///a",
                          "/a:b",
                          "./a:b",
                          "ext::sh -c x",
                          "-oProxyCommand=x:a",
                          "git@-oProxyCommand=x:a",
                          "-l@host:a",
                          "host:-x",
                          "ssh://-oProxyCommand=x/a",
                          "ssh://host",
                          "ssh://host:/a",
                          "ssh://host:0/a",
                          "ssh://host:65536/a",
                          "ssh://host:22x/a",
                          "ssh://host:+22/a",
                          "ssh://a@b@host/a",
                          "ssh://us%72@host/a",
                          "ssh://host/a%2fb",
                          "ssh://user:secret@host/a",
                          "us;er@host:a",
                          "us er@host:a",
                          "h$(id):a",
                          "h`id`:a",
                          "ho|st:a",
                          "[::1]:a",
                          "host:a\nb",
                          "host:a\x01",
                          "host://a"})
    EXPECT_FALSE(ParseSshUrl(url)) << url;
  EXPECT_FALSE(ParseSshUrl("host:" + std::string(kMaxSshPathBytes + 1, 'a')));
  EXPECT_FALSE(ParseSshUrl(std::string(kMaxSshHostBytes + 1, 'h') + ":a"));
}

std::string Why(const std::vector<std::string>& words) {
  const auto request = ParseSshArguments(words, "version=2");
  return request ? "" : request.error().message;
}

TEST(SshTargetTest, TakesWhatGitWrites) {
  const auto request =
      ParseSshArguments({"-o", "SendEnv=GIT_PROTOCOL", "-4", "-p", "2222",
                         "git@host", "git-upload-pack '/a/it'\\''s'\\!'.git'"},
                        "version=2");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->target, (SshTarget{"git", "host", 2222, "/a/it's!.git"}));
  EXPECT_EQ(request->protocol, 2);
  EXPECT_EQ(request->family, 4);
  // What is passed on is written anew, and means the same.
  const auto words = SshArguments(*request);
  EXPECT_EQ(words.back(), "git-upload-pack '/a/it'\\''s'\\!'.git'");
  EXPECT_EQ(words[words.size() - 2], "git@host");
  EXPECT_EQ(words[words.size() - 3], "--");
}

TEST(SshTargetTest, TakesNothingElse) {
  using Words = std::vector<std::string>;
  const std::string fetch = "git-upload-pack 'a'";
  for (const Words& words : {
           Words{},
           Words{"host"},
           Words{fetch},
           Words{"host", fetch, "more"},
           Words{"host", "sh"},
           Words{"host", "git-upload-pack"},
           Words{"host", "git-upload-pack "},
           Words{"host", "git-upload-pack a"},
           Words{"host", "git-upload-pack 'a' 'b'"},
           Words{"host", "git-upload-pack 'a'; sh"},
           Words{"host", "git-upload-pack 'a'\\'"},
           Words{"host", "git-upload-pack 'a'\\x'b'"},
           Words{"host", "git-upload-pack ''"},
           Words{"host", "git-upload-pack '-x'"},
           Words{"host", "git-upload-pack --strict 'a'"},
           Words{"host", "git-upload-pack 'a\nb'"},
           Words{"host", "git-upload-archive 'a'"},
           Words{"host", "git upload-pack 'a'"},
           Words{"host", " git-upload-pack 'a'"},
           Words{"-oProxyCommand=sh", "host", fetch},
           Words{"-o", "ProxyCommand=sh", "host", fetch},
           Words{"-F", "/w/config", "host", fetch},
           Words{"-i", "/w/key", "host", fetch},
           Words{"-A", "host", fetch},
           Words{"-L", "1:h:2", "host", fetch},
           Words{"-p", "0", "host", fetch},
           Words{"-p", "22;sh", "host", fetch},
           Words{"-p2222", "host", fetch},
           Words{"-G", "host"},
           Words{"--", "host", fetch},
           Words{"us er@host", fetch},
           Words{"ho$(id)st", fetch},
           Words{"a@b@host", fetch},
           Words{"@host", fetch},
           Words{"", fetch},
       })
    EXPECT_NE(Why(words), "") << (words.empty() ? "" : words.back());
}

TEST(SshTargetTest, GivesSshNoTerminalNoForwardingAndNoPrompt) {
  const auto words = SshArguments({.target = {"", "host", 0, "a"}});
  for (const char* word :
       {"-a", "-x", "-T", "-oBatchMode=yes", "-oClearAllForwardings=yes",
        "-oPermitLocalCommand=no", "-oControlMaster=no"})
    EXPECT_NE(std::find(words.begin(), words.end(), word), words.end()) << word;
}

TEST(SshTargetTest, AsksForNoOtherProtocol) {
  for (const char* text : {"version=3", "version=2:x", "", "LD_PRELOAD=x"}) {
    const auto request = ParseSshArguments(
        {"-o", "SendEnv=GIT_PROTOCOL", "host", "git-upload-pack 'a'"}, text);
    ASSERT_TRUE(request);
    EXPECT_EQ(request->protocol, 0) << text;
  }
}

}  // namespace
}  // namespace gate::credentials
