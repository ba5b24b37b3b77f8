// Files that mix settings and secrets, as copies written anew.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "tests/support/machine.h"

namespace gate {
namespace {

using test::Done;
using test::Machine;

constexpr const char* kKey =
    "AAAAC3NzaC1lZDI1NTE5AAAAIEl0c0EgUHVibGljS2V5VGhhdElzTm90QVNlY3JldA";

class ShownSettingsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox works here";
    machine_.Write(machine_.project() + "/package.json", "{}");
  }
  // What a command finds at `name` of the home.
  Done Find(const char* backend, const std::string& name) const {
    return machine_.Gate({"sandbox", "--backend", backend, "--", "/bin/sh",
                          "-c",
                          "cat \"$HOME/" + name +
                              "\"; echo x 2>/dev/null"
                              " >> \"$HOME/" +
                              name + "\" && echo WRITTEN"});
  }
  std::string At(const std::string& name) const {
    return machine_.home() + "/" + name;
  }
  static constexpr const char* kBackends[] = {"native", "bwrap"};
  bool Works(const char* backend) const {
    return machine_.Gate({"sandbox", "--backend", backend, "--", "true"})
                   .exit_code == 0 ||
           test::MustWork(backend);
  }
  Machine machine_;
};

TEST_F(ShownSettingsTest, ACommandFindsTheCopyAndNotTheSecret) {
  const std::string key = std::string("ssh-ed25519 ") + kKey;
  machine_.Write(At(".npmrc"),
                 "@acme:registry=https://npm.acme.example/\n"
                 "//npm.acme.example/:_authToken=CANARY-NPM\n# CANARY-NOTE\n",
                 0600);
  machine_.Write(
      At(".ssh/config"),
      "Host work\n HostName git.acme.example\n SetEnv A=CANARY-ENV\n", 0600);
  machine_.Write(At(".ssh/known_hosts"), "github.com " + key + "\n", 0600);
  machine_.Write(At(".ssh/id.pub"), key + " CANARY-COMMENT\n", 0644);
  machine_.Write(At(".ssh/id"), "CANARY-PRIVATE\n", 0600);
  machine_.Write(At(".ssh/trap.pub"), "CANARY-PRIVATE\n", 0600);
  std::filesystem::create_symlink("id", At(".ssh/link.pub"));
  const std::pair<const char*, std::string> kShown[] = {
      {".npmrc", "@acme:registry=https://npm.acme.example/\n"},
      {".ssh/config", "Host work\nHostName git.acme.example\n"},
      {".ssh/known_hosts", "github.com " + key + "\n"},
      {".ssh/id.pub", key + "\n"},
      {".ssh/id", ""},
      {".ssh/trap.pub", ""},
      {".ssh/link.pub", ""},
  };
  for (const char* backend : kBackends) {
    if (!Works(backend)) continue;
    for (const auto& [name, shown] : kShown) {
      const std::string before = machine_.Read(At(name));
      EXPECT_EQ(Find(backend, name).out, shown) << backend << name;
      EXPECT_EQ(machine_.Read(At(name)), before) << backend << name;
    }
    const Done all =
        machine_.Gate({"sandbox", "--backend", backend, "--", "/bin/sh", "-c",
                       "grep -r CANARY \"$HOME\" 2>/dev/null"});
    EXPECT_EQ(all.out, "") << backend;
    // A change is seen by the next line.
    machine_.Write(At(".npmrc"), "registry=https://new.example/\n", 0600);
    EXPECT_EQ(Find(backend, ".npmrc").out, "registry=https://new.example/\n");
    machine_.Write(At(".npmrc"),
                   "@acme:registry=https://npm.acme.example/\n"
                   "//npm.acme.example/:_authToken=CANARY-NPM\n",
                   0600);
  }
}

TEST_F(ShownSettingsTest, WhatIsNoPlainFileStaysHidden) {
  const std::string npmrc = At(".npmrc");
  machine_.Write(At("dotfiles/npmrc"), "registry=https://r.example/\n");
  const std::pair<const char*, std::function<void()>> kMade[] = {
      {"a FIFO", [&] { ::mkfifo(npmrc.c_str(), 0600); }},
      {"a link",
       [&] { std::filesystem::create_symlink("dotfiles/npmrc", npmrc); }},
      {"a link to itself",
       [&] { std::filesystem::create_symlink(".npmrc", npmrc); }},
      {"a directory", [&] { std::filesystem::create_directory(npmrc); }},
      {"a gigabyte",
       [&] {
         machine_.Write(npmrc, "registry=https://r.example/\n");
         std::filesystem::resize_file(npmrc, uintmax_t{1} << 30);
       }},
      {"no settings", [&] { machine_.Write(npmrc, "CANARY\nhunter2\n"); }},
  };
  for (const char* backend : kBackends) {
    if (!Works(backend)) continue;
    for (const auto& [what, make] : kMade) {
      std::filesystem::remove_all(npmrc);
      make();
      EXPECT_EQ(Find(backend, ".npmrc").out, "") << backend << what;
    }
  }
}

TEST_F(ShownSettingsTest, ALineThatFailsIsToldWhatStaysHidden) {
  machine_.Write(machine_.root() + "/bin/npm", "#!/bin/sh\nexit 1\n", 0755);
  machine_.environment = {"PATH=" + machine_.root() + "/bin:/usr/bin:/bin"};
  const auto said = [&](const char* text, const char* line) {
    machine_.Write(At(".npmrc"), text, 0600);
    return machine_.Gate({"run", "-c", line}).err;
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(
      has(said("hunter2 x\n", "npm ci"), "~/.npmrc, which gate cannot"));
  EXPECT_TRUE(has(said("//r.example/:_authToken=x\n", "npm ci"),
                  "probably the logins of ~/.npmrc are withheld"));
  EXPECT_FALSE(has(said("//r.example/:_authToken=x\n", "npm test"), ".npmrc"));
  EXPECT_FALSE(has(said("fund=false\n", "npm ci"), ".npmrc"));
}

TEST_F(ShownSettingsTest, GitCommitsAsThePersonWithoutTheirLogins) {
  machine_.Write(At(".gitconfig"),
                 "[user]\n name = Me\n[credential]\n helper = "
                 "!echo password=CANARY\n[include]\n path = "
                 "work.inc\n[includeIf \"gitdir:~/\"]\n path = ~/more.inc\n"
                 "[include]\n path = bad.inc\n");
  machine_.Write(At("work.inc"),
                 "[github]\n token = CANARY\n[alias]\n st = status -sb\n");
  machine_.Write(At("more.inc"), "[user]\n email = me@acme.example\n");
  machine_.Write(At("bad.inc"), "[CANARY\n");
  machine_.Write(At(".config/git/config"),
                 "[pull]\n rebase = true\n[http]\n extraheader = CANARY\n");
  for (const char* backend : kBackends) {
    if (!Works(backend)) continue;
    const Done done = machine_.Gate(
        {"sandbox", "--backend", backend, "--", "/bin/sh", "-c",
         "git init -q r && cd r && git commit -q --allow-empty -m x && git log "
         "--format='%an %ae' && git st && git config pull.rebase; rm -rf ../r; "
         "cat ~/.gitconfig ~/*.inc ~/.config/git/config | grep CANARY"});
    EXPECT_TRUE(done.out.starts_with("Me me@acme.example\n## ")) << done.err;
    EXPECT_TRUE(done.out.ends_with("\ntrue\n")) << backend << done.out;
  }
}

TEST_F(ShownSettingsTest, WhatCannotBeShownIsHiddenAndALineSaysWhere) {
  machine_.Write(At(".pip/pip.conf"), "[global]\nCANARY\n");
  machine_.Write(At(".m2/settings.xml"), "<settings>&CANARY;</settings>");
  machine_.Write(At("elsewhere"), "[user]\n email = a@b.example\n");
  std::filesystem::create_symlink("elsewhere", At(".gitconfig"));
  for (const char* backend : kBackends) {
    if (!Works(backend)) continue;
    EXPECT_EQ(Find(backend, ".pip/pip.conf").out, "") << backend;
    EXPECT_EQ(Find(backend, ".m2/settings.xml").out, "") << backend;
    EXPECT_EQ(Find(backend, ".gitconfig").out,
              "[user]\n\temail = \"a@b.example\"\n");
  }
  machine_.Write(machine_.root() + "/bin/pip", "#!/bin/sh\nexit 1\n", 0755);
  machine_.environment = {"PATH=" + machine_.root() + "/bin:/usr/bin:/bin"};
  const std::string said = machine_.Gate({"run", "-c", "pip list"}).err;
  EXPECT_NE(said.find("~/.pip/pip.conf, which gate cannot read as settings "
                      "(line 2, column 1), is withheld"),
            std::string::npos)
      << said;
}

TEST_F(ShownSettingsTest, WhatLiesInTheWorkspaceIsTheProjects) {
  const std::string file = machine_.project() + "/gitconfig";
  machine_.Write(file, "# a note\n[user]\n name = Me\n");
  std::filesystem::create_symlink(file, At(".gitconfig"));
  for (const char* backend : kBackends) {
    if (!Works(backend)) continue;
    EXPECT_EQ(
        machine_.Gate({"sandbox", "--backend", backend, "--", "cat", file}).out,
        "# a note\n[user]\n name = Me\n");
  }
}

}  // namespace
}  // namespace gate
