#include "backends/git_config.h"

#include <gtest/gtest.h>

namespace gate::backends {
namespace {

std::string Print(std::string_view text) {
  std::vector<GitEntry> entries;
  const bool whole = ParseGitConfig(text, &entries);
  std::string out;
  for (const GitEntry& entry : entries)
    out += entry.key + "=" + entry.value + "\n";
  return out + (whole ? "" : "ERROR\n");
}

TEST(NewProgramEntries, KnowGitsDoors) {
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
                           "[http]cookieFile=x",
                           "[http \"https://h\"]cookieFile=x",
                           "[http]saveCookies=true",
                           "[http \"https://h\"]saveCookies",
                           "[format]outputDirectory=x",
                           "[format]suffix=/../x",
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
    EXPECT_EQ(NewProgramEntries("", text).size(), 1u) << text;
}

TEST(NewProgramEntries, LetOrdinaryKeysPass) {
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
                           "[http]postBuffer=1",
                           "[format]suffix=.txt",
                           "[format]pretty=oneline",
                           "[diff]algorithm=x",
                           "[commit]gpgSign=true",
                           "[push]default=simple"})
    EXPECT_TRUE(NewProgramEntries("", text).empty()) << text;
}

TEST(NewProgramEntries, ReportOnlyWhatIsNewOrChanged) {
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
