#include "backends/git_config.h"

#include <gtest/gtest.h>

namespace gate::backends {
namespace {

std::string Print(std::string_view text) {
  std::vector<GitEntry> entries;
  const bool whole = ParseGitConfig(text, &entries);
  std::string out;
  for (const GitEntry& entry : entries)
    out +=
        entry.key + "=" + entry.value + (RunsProgram(entry) ? "!" : "") + "\n";
  return out + (whole ? "" : "ERROR\n");
}

TEST(ParseGitConfig, ReadsWhatGitReads) {
  const struct {
    const char* text;
    const char* printed;
  } kCases[] = {
      {"", ""},
      {"[core]\n\tbare = false\n", "core.bare=false\n"},
      {"[Core]PAGER=x", "core.pager=x!\n"},
      {"[a \"B\\\"c\"] k = v # note\n", "a.B\"c.k=v\n"},
      {"[a.B]k=v", "a.b.k=v\n"},
      {"[a]\nk\n", "a.k=true\n"},
      {"[a]\nk = \"x ; y\"  z ; note\n", "a.k=x ; y  z\n"},
      {"[a]\nk = one\\\n two\n", "a.k=one two\n"},
      {"[a]\nk = a\\tb\\\\c\\\"\n", "a.k=a\tb\\c\"\n"},
      {"; c\n# d\n[a]\r\nk = v\r\n", "a.k=v\n"},
      {"\xef\xbb\xbf[a]\nk=v", "a.k=v\n"},
      {"[a]\nk = \"open\n", "ERROR\n"},
      {"[a]\nk = \\q\n", "ERROR\n"},
      {"[a\nk=v", "ERROR\n"},
      {"k = v\n", "ERROR\n"},
      {"[a]\n9 = v\n", "ERROR\n"},
  };
  for (const auto& test : kCases) EXPECT_EQ(Print(test.text), test.printed);
}

TEST(RunsProgram, KnowsGitsDoors) {
  for (const char* text : {"[core]fsmonitor=.git/x",
                           "[core]hooksPath=h",
                           "[core]sshCommand=x",
                           "[core]pager=x",
                           "[core]editor=x",
                           "[core]gitProxy=x",
                           "[core]askPass=x",
                           "[diff]external=x",
                           "[diff \"d\"]textconv=x",
                           "[diff \"d\"]command=x",
                           "[filter \"f\"]clean=x",
                           "[filter \"f\"]process=x",
                           "[filter \"f\"]smudge=x",
                           "[alias]st=!x",
                           "[alias]st=-c core.pager=x log",
                           "[alias]st=grep -Ox y",
                           "[alias]st=rebase --exec x",
                           "[alias]st=log --ext-diff",
                           "[alias]st=submodule foreach x",
                           "[branch \"b\"]remote=ext::sh",
                           "[submodule \"s\"]url=ext::sh",
                           "[http]proxy=x",
                           "[http \"https://h\"]sslVerify=false",
                           "[remote \"o\"]proxy=x",
                           "[credential]helper=x",
                           "[credential \"https://h\"]helper=!x",
                           "[gpg]program=x",
                           "[gpg \"ssh\"]defaultKeyCommand=x",
                           "[include]path=x",
                           "[includeIf \"gitdir:/\"]path=x",
                           "[merge \"m\"]driver=x",
                           "[mergetool \"m\"]cmd=x",
                           "[difftool \"m\"]path=x",
                           "[sequence]editor=x",
                           "[pager]log=x",
                           "[init]templateDir=x",
                           "[remote \"o\"]uploadpack=x",
                           "[remote \"o\"]vcs=x",
                           "[remote \"o\"]url=ext::sh",
                           "[url \"ext::sh\"]insteadOf=x",
                           "[protocol \"ext\"]allow=always",
                           "[submodule \"s\"]update=!x",
                           "[tar \"t\"]command=x",
                           "[hook \"h\"]command=x",
                           "[trailer \"t\"]cmd=x",
                           "[uploadpack]packObjectsHook=x",
                           "[interactive]diffFilter=x",
                           "[sendemail]smtpServer=/x",
                           "[gc]recentObjectsHook=x",
                           "[future]someNewCommand=x",
                           "[lfs \"customtransfer.x\"]path=x",
                           "[core]alternateRefsCommand=x"})
    EXPECT_NE(Print(text).find('!'), std::string::npos) << text;
}

TEST(RunsProgram, LetsOrdinaryKeysPass) {
  for (const char* text : {"[core]bare=false",
                           "[core]fsmonitor=true",
                           "[core]worktree=../..",
                           "[core]autocrlf=input",
                           "[user]name=x",
                           "[user]email=x",
                           "[remote \"o\"]url=git@h:p",
                           "[remote \"o\"]fetch=+refs/*:refs/*",
                           "[remote \"o\"]promisor=true",
                           "[remote \"o\"]partialclonefilter=blob:none",
                           "[branch \"b\"]remote=o",
                           "[branch \"b\"]merge=refs/heads/b",
                           "[submodule \"s\"]url=u",
                           "[submodule \"s\"]path=p",
                           "[submodule \"s\"]active=true",
                           "[submodule \"s\"]update=rebase",
                           "[alias]co=checkout",
                           "[alias]lg=log --graph --pretty=format:'%h %s'",
                           "[alias]p=push -u origin HEAD",
                           "[alias]rb=rebase -i --autosquash",
                           "[http]sslVerify=true",
                           "[pager]log=false",
                           "[pull]rebase=true",
                           "[extensions]worktreeConfig=true",
                           "[gc]auto=0",
                           "[diff]algorithm=x",
                           "[commit]gpgSign=true",
                           "[push]default=simple"})
    EXPECT_EQ(Print(text).find('!'), std::string::npos) << text;
}

TEST(NewProgramEntries, ReportsOnlyWhatIsNewOrChanged) {
  const char* before = "[core]\npager=less\n[user]name=a\n";
  EXPECT_TRUE(NewProgramEntries(before, before).empty());
  EXPECT_TRUE(
      NewProgramEntries(before, "[core]\npager=less\n[user]name=b\n").empty());
  EXPECT_TRUE(NewProgramEntries(before, "").empty());
  const auto changed = NewProgramEntries(before, "[core]pager=evil");
  ASSERT_EQ(changed.size(), 1u);
  EXPECT_EQ(changed[0].key, "core.pager");
  EXPECT_EQ(NewProgramEntries(before, "[core").size(), 1u);
}

TEST(WithoutProgramEntries, KeepsTheRest) {
  EXPECT_EQ(Print(WithoutProgramEntries(
                "[core]\n\tbare = false\n\tpager = a\\\n b\n\teditor = x\n"
                "[remote \"o\"] vcs = x\n\turl = u\n")),
            "core.bare=false\nremote.o.url=u\n");
  EXPECT_EQ(WithoutProgramEntries("[broken"), "");
}

TEST(IncludedFiles, AreResolvedWhateverTheirConditions) {
  EXPECT_EQ(IncludedFiles("[include]\npath = ../a\npath = /b\npath = ~/c\n"
                          "[includeIf \"onbranch:x\"] path = d\n",
                          "/w/.git"),
            (std::vector<std::string>{"/w/a", "/b", "/w/.git/d"}));
}

}  // namespace
}  // namespace gate::backends
