// Lines that print a token out of a file of which most hold none: asked where
// this one does, and as before where it does not.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/machine.h"

namespace gate {
namespace {

using test::Machine;
using test::MakeRepository;

constexpr int kAsk = 3;

int Check(const Machine& machine, const std::string& line) {
  return machine.Gate({"check", "-c", line}).exit_code;
}

constexpr const char* kPlain =
    "[remote \"origin\"]\n\turl = https://me@git.example.org/a/b.git\n"
    "\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
    "[user]\n\tname = Me\n";

const std::vector<std::string> kLists = {"git config --list",
                                         "git config -l",
                                         "git config -lz",
                                         "git config --lis",
                                         "git config --local --list",
                                         "git config --show-origin -l",
                                         "git config --get-regexp .",
                                         "git config --get-regexp 'http.*'",
                                         "git -C . config --list",
                                         "git --no-pager config -l",
                                         "git config --list | grep header",
                                         "cat .git/config",
                                         "head -50 .git/config",
                                         "grep -r x .git",
                                         "cat < .git/config",
                                         "cd .git && cat config",
                                         "sed -n 1,20p .git/config",
                                         "sub=config; git $sub --list"};

TEST(PrintedSecretsTest, GitsConfigurationIsAskedWhereItHoldsACredential) {
  for (const char* config :
       {"[http \"https://git.example.org/\"]\n\textraheader = AUTHORIZATION: "
        "basic eDp5\n",
        "[http]\n\textraHeader = X: y\n",
        "[remote \"origin\"]\n\turl = https://x:secret@git.example.org/a\n",
        "[remote \"origin\"]\n\tpushurl = "
        "https://0123456789abcdef0123456789@git.example.org/a\n",
        "[url \"https://x:secret@git.example.org/\"]\n\tinsteadOf = "
        "https://git.example.org/\n",
        "[github]\n\ttoken = 0123456789\n", "[sendemail]\n\tsmtpPass = x\n",
        "[credential]\n\thelper = \"!f() { echo password=x; }; f\"\n"}) {
    const Machine machine;
    MakeRepository(machine.project() + "/.git", config);
    for (const std::string& line : kLists)
      EXPECT_EQ(Check(machine, line), kAsk) << line << "\n" << config;
  }
  const Machine machine;
  MakeRepository(machine.project() + "/.git", "[a]\n\ttoken = x\n");
  EXPECT_EQ(Check(machine, "cat .git/con*"), kAsk);
  MakeRepository(machine.project() + "/.git", kPlain);
  for (const std::string& line : kLists)
    EXPECT_NE(Check(machine, line), kAsk) << line;
  for (const char* line :
       {"git config --list", "git config -l", "git config --get-regexp .",
        "git remote -v", "cat .git/config", "grep -r x .git"})
    EXPECT_EQ(Check(machine, line), 0) << line;
}

TEST(PrintedSecretsTest, OneKeyIsAskedWhenItIsTheSecretOne) {
  const Machine machine;
  MakeRepository(machine.project() + "/.git",
                 "[remote \"origin\"]\n\turl = https://x:y@git.example.org/a\n"
                 "[http]\n\textraheader = X: y\n[user]\n\tname = Me\n");
  for (const char* line :
       {"git config http.extraheader", "git config --get http.extraHeader",
        "git config --get-all http.extraheader",
        "git config get http.extraheader", "git config --get remote.origin.url",
        "git config remote.origin.url", "git remote -v", "git remote --verbose",
        "git remote get-url origin", "git remote show origin",
        "git -C . remote -v", "git ls-remote --get-url origin",
        "git config \"$key\"", "git var -l"})
    EXPECT_EQ(Check(machine, line), kAsk) << line;
  for (const char* line :
       {"git config user.name", "git config --get user.name", "git remote",
        "git status", "git log -1", "grep -r TODO .", "ls .git", "rg x"})
    EXPECT_NE(Check(machine, line), kAsk) << line;
}

TEST(PrintedSecretsTest, WhatIsIncludedAndThePersonsOwnCountsToo) {
  const Machine machine;
  MakeRepository(machine.project() + "/.git", "[include]\n\tpath = ../more\n");
  EXPECT_NE(Check(machine, "git config --list"), kAsk);
  machine.Write(machine.project() + "/more", "[http]\n\textraheader = X: y\n");
  EXPECT_EQ(Check(machine, "git config --list"), kAsk);
  machine.Write(machine.project() + "/more", "");
  machine.Write(machine.home() + "/.gitconfig", "[hub]\n\toauthtoken = abc\n");
  EXPECT_EQ(Check(machine, "git config --global -l"), kAsk);
  EXPECT_EQ(Check(machine, "git config hub.oauthtoken"), kAsk);
  EXPECT_NE(Check(machine, "git config user.name"), kAsk);
  machine.Write(machine.project() + "/x", "[a]\n\ttoken = abc\n");
  machine.Write(machine.home() + "/.gitconfig", "");
  EXPECT_EQ(Check(machine, "git config -f x -l"), kAsk);
  EXPECT_EQ(Check(machine, "git config --file=x a.token"), kAsk);
}

TEST(PrintedSecretsTest, SettingsOfPackageManagersAreAskedWithAToken) {
  const Machine machine;
  const std::string project = machine.project() + "/";
  const struct {
    const char *file, *text;
    bool secret;
  } kRows[] = {
      {".npmrc", "//registry.npmjs.org/:_authToken=npm_0123456789\n", true},
      {".npmrc", "_auth = eDp5\n", true},
      {".npmrc", "//r.example.org/:_password=\"eA==\"\n", true},
      {".npmrc", "//registry.npmjs.org/:_authToken=${NPM_TOKEN}\n", false},
      {".npmrc", "registry=https://registry.npmjs.org/\nsave-exact=true\n",
       false},
      {".npmrc", "# _authToken=x\nalways-auth=true\n", false},
      {".yarnrc.yml", "npmAuthToken: abcdef\n", true},
      {".yarnrc.yml", "npmAuthToken: \"${NPM_TOKEN}\"\n", false},
      {".yarnrc.yml", "nodeLinker: node-modules\n", false},
      {"pip.conf", "[global]\nindex-url = https://u:p@pypi.example.org/s\n",
       true},
      {"pip.conf", "[global]\nindex-url = https://pypi.org/simple\n", false},
      {"auth.json", "{\n \"github-oauth\": {\n  \"token\": \"abc\"\n }\n}\n",
       true},
      {"auth.json", "{\"bearer\":{\"x\":{\"token\":\"abc\"}}}\n", true},
      {"NuGet.Config", "<add key=\"ClearTextPassword\" value=\"x\" />\n", true},
  };
  for (const auto& row : kRows) {
    machine.Write(project + row.file, row.text);
    const std::string file = row.file;
    for (const std::string& line :
         {"cat " + file, "head -3 " + file, "cat < " + file, "grep . " + file,
          "cat ./" + file, "cat " + file + " | wc -l"}) {
      EXPECT_EQ(Check(machine, line) == kAsk, row.secret) << line << "\n"
                                                          << row.text;
    }
    EXPECT_NE(Check(machine, "ls " + file), kAsk) << file;
    EXPECT_NE(Check(machine, "wc -l " + file), kAsk) << file;
    machine.Write(project + row.file, "");
  }
}

}  // namespace
}  // namespace gate
