// Which targets the configuration of a repository stands for.
#include "credentials/pinned_remotes.h"

#include <gtest/gtest.h>

namespace gate::credentials {
namespace {

PinnedRemotes Read(std::string_view config) {
  std::vector<GitEntry> entries;
  EXPECT_TRUE(ParseGitConfig(config, &entries)) << config;
  PinnedRemotes remotes;
  AddRemotes(entries, &remotes);
  return remotes;
}

std::string Targets(std::string_view config, std::string_view person = "",
                    SshService service = SshService::kFetch) {
  std::string text;
  for (const SshTarget& target : TargetsOf(Read(config), Read(person), service))
    text += Describe(target) + "\n";
  return text;
}

TEST(PinnedRemotesTest, AreTheUrlsAndWhatTheyAreRewrittenTo) {
  const struct {
    const char *config, *person, *fetch;
  } kRows[] = {
      {"", "", ""},
      {"[remote \"origin\"]\nurl = git@h:a\n", "", "git@h:a\n"},
      {"[remote \"o\"]\nurl = git@h:a\n[remote \"u\"]\nurl = git@h:b\n", "",
       "git@h:a\ngit@h:b\n"},
      {"[remote \"o\"]\nurl = git@h:a\nurl = git@h:b\n", "",
       "git@h:a\ngit@h:b\n"},
      {"[remote \"o\"]\nurl = https://h/a\n", "", ""},
      {"[remote \"o\"]\nurl = /srv/a\n", "", ""},
      {"[submodule \"s\"]\nurl = git@h:s\n", "", "git@h:s\n"},
      {"[submodule \"s\"]\npath = git@h:s\n", "", ""},
      {"[branch \"m\"]\nurl = git@h:a\n", "", ""},
      {"[remote]\nurl = git@h:a\n", "", ""},
      {"[remote \"o\"]\nurl = https://h/a\n",
       "[url \"git@h:\"]\ninsteadOf = https://h/\n", "git@h:a\n"},
      {"[remote \"o\"]\nurl = gh:a\n[url \"git@h:\"]\ninsteadOf = gh:\n", "",
       "gh:a\ngit@h:a\n"},
      // The longest prefix counts, and the first of two that are equal.
      {"[remote \"o\"]\nurl = https://h/x/a\n",
       "[url \"git@one:\"]\ninsteadOf = https://h/\n"
       "[url \"git@two:\"]\ninsteadOf = https://h/x/\n",
       "git@two:a\n"},
      {"[remote \"o\"]\nurl = https://h/a\n"
       "[url \"git@two:\"]\ninsteadOf = https://h/\n",
       "[url \"git@one:\"]\ninsteadOf = https://h/\n", "git@one:a\n"},
      // A rewrite for pushing says nothing of fetching.
      {"[remote \"o\"]\nurl = https://h/a\n",
       "[url \"git@h:\"]\npushInsteadOf = https://h/\n", ""},
      {"[remote \"o\"]\nurl = https://h/a\npushurl = git@h:a\n", "", ""},
      {"[remote \"o\"]\nurl = \"-oProxyCommand=x:a\"\n", "", ""},
      {"[remote \"o\"]\nurl = \"git@h:a\\nfetch\\tgit@evil:b\"\n", "", ""},
      // What the person's configuration has of remotes is no workspace's.
      {"", "[remote \"o\"]\nurl = git@h:a\n", ""},
      {"[remote \"o\"]\nurl = ssh://git@h:22/a\n", "", "ssh://git@h:22/a\n"},
  };
  for (const auto& row : kRows)
    EXPECT_EQ(Targets(row.config, row.person), row.fetch)
        << row.config << row.person;
}

TEST(PinnedRemotesTest, ArePushedToAsGitWould) {
  EXPECT_EQ(Targets("[remote \"o\"]\nurl = git@h:a\npushurl = git@h:b\n", "",
                    SshService::kPush),
            "git@h:b\n");
  EXPECT_EQ(Targets("[remote \"o\"]\nurl = https://h/a\n",
                    "[url \"git@h:\"]\npushInsteadOf = https://h/\n",
                    SshService::kPush),
            "git@h:a\n");
}

TEST(PinnedRemotesTest, AreStoredAndReadBack) {
  const PinnedRemotes remotes = Read(
      "[remote \"o\"]\nurl = git@h:a\npushurl = git@h:b\n"
      "[url \"git@h:\"]\ninsteadOf = gh:\npushInsteadOf = gp:\n");
  const auto again = ParsePinned(Serialise(remotes));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, remotes);
  for (const char* text :
       {"", "x", "gate.remotes/1", "gate.remotes/2\n",
        "gate.remotes/1\nfetch\n", "gate.remotes/1\nfetch\ta",
        "gate.remotes/1\nother\ta\n", "gate.remotes/1\nin-place\ta\n"})
    EXPECT_FALSE(ParsePinned(text)) << text;
}

TEST(PinnedRemotesTest, PushWhereEachRemotePushes) {
  const struct {
    const char *config, *person, *push;
  } kRows[] = {
      {"[remote \"o\"]\nurl = git@h:a\n", "", "git@h:a\n"},
      {"[remote \"o\"]\nurl = git@h:a\npushurl = git@h:b\n", "", "git@h:b\n"},
      {"[remote \"o\"]\nurl = git@h:a\npushurl = no_push\n", "", ""},
      // One remote's pushurl is not another's.
      {"[remote \"o\"]\nurl = git@h:a\n[remote \"u\"]\nurl = git@h:u\n"
       "pushurl = no_push\n",
       "", "git@h:a\n"},
      {"[remote \"u\"]\npushurl = git@h:p\n[remote \"o\"]\nurl = git@h:a\n"
       "[remote \"u\"]\nurl = git@h:u\n",
       "", "git@h:a\ngit@h:p\n"},
      {"[remote \"o\"]\nurl = https://h/a\n",
       "[url \"git@h:\"]\npushInsteadOf = https://h/\n", "git@h:a\n"},
      {"[remote \"o\"]\nurl = https://h/a\n[remote \"u\"]\nurl = git@h:u\n"
       "pushurl = https://h/p\n",
       "[url \"git@h:\"]\npushInsteadOf = https://h/\n", "git@h:a\n"},
      {"[submodule \"s\"]\nurl = git@h:s\n", "", "git@h:s\n"},
  };
  for (const auto& row : kRows)
    EXPECT_EQ(Targets(row.config, row.person, SshService::kPush), row.push)
        << row.config;
}

}  // namespace
}  // namespace gate::credentials
