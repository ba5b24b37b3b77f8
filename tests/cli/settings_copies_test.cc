// Files that mix settings and secrets, as copies written anew.
#include "cli/settings_copies.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "tests/cli/process.h"

namespace gate {
namespace {

using test::Done;
using test::Machine;

cli::SettingsCopy Copy(std::string_view name, const std::string& text) {
  for (const rules::SettingsFile& file : rules::SettingsFiles())
    if (file.file == name) return cli::CopySettings(file, text);
  ADD_FAILURE() << name;
  return {};
}

constexpr const char* kKey =
    "AAAAC3NzaC1lZDI1NTE5AAAAIEl0c0EgUHVibGljS2V5VGhhdElzTm90QVNlY3JldA";

struct Row {
  const char* text;
  const char* written;
  bool left_out;
};

TEST(SettingsCopiesTest, OfNpmrcOnlyHarmlessKeysAreWrittenAnew) {
  const std::string none =
      "registry=" + std::string(cli::kWithheldSource) + "\n";
  const Row kRows[] = {
      {"", "", false},
      {"# a comment with TOKEN\n; another\n", "", false},
      {"registry=https://registry.npmjs.org/\n",
       "registry=https://registry.npmjs.org/\n", false},
      {"registry = \"https://npm.acme.example:8443/a/b/\"",
       "registry=https://npm.acme.example:8443/a/b/\n", false},
      {"@acme:registry=https://npm.acme.example/npm/\n",
       "@acme:registry=https://npm.acme.example/npm/\n", false},
      {"save-exact=true\nfund = false\n", "save-exact=true\nfund=false\n",
       false},
      {"save-prefix=~\r\n", "save-prefix=~\n", false},
      {"package-lock\n", "package-lock=true\n", false},
      {"cafile=/etc/ssl/acme.pem\n", "cafile=/etc/ssl/acme.pem\n", false},
      {"proxy=http://proxy.acme.example:3128\n",
       "proxy=http://proxy.acme.example:3128\n", false},
      // What is secret, or may be.
      {"//registry.npmjs.org/:_authToken=npm_abcdefghijklmnopqrstuvwxyz0123\n",
       "", true},
      {"//r.example/:_password=aHVudGVyMg==\n//r.example/:username=me\n", "",
       true},
      {"_auth=bWU6aHVudGVyMg==\nemail=me@example.org\n", "", true},
      {"registry=https://me:hunter2@r.example/\n", none.c_str(), true},
      {"registry=https://token@r.example/\n", none.c_str(), true},
      {"registry=https://r.example/f/3f2504e0-4f89-41d3-9a0c-0305e82c3301/\n",
       none.c_str(), true},
      {"registry=https://r.example/qwertyuiopasdfghjklzxcvbnmqwert/\n",
       none.c_str(), true},
      {"registry=https://r.example/?token=hunter2\n", none.c_str(), true},
      {"registry=https://r.example/#hunter2\n", none.c_str(), true},
      {"registry=https://r.example/a8f5f167f44f4964e6c998dee827110c/npm/\n",
       none.c_str(), true},
      {"registry=https://r.example\\@evil.example/\n", none.c_str(), true},
      {"registry=${REGISTRY}\n", none.c_str(), true},
      {"registry=ftp://r.example/\n", none.c_str(), true},
      {"registry='https://r.example/\n", none.c_str(), true},
      {"proxy=http://me:hunter2@proxy.example:3128\n", "", true},
      {"cafile=/tmp/$(id)\n", "", true},
      {"init-version=npm_abcdefghijklmnopqrstuvwxyz0123456789\n", "", true},
      {"save-prefix=q8JH2kd93hTQz0plXv7\n", "", true},
      {"init-author-name=Me\ncert=\"-----BEGIN\"\nkey=x\n", "", true},
      {"unknown=hunter2\n", "", true},
  };
  for (const Row& row : kRows) {
    const cli::SettingsCopy copy = Copy(".npmrc", row.text);
    EXPECT_TRUE(copy.parsed) << row.text;
    EXPECT_EQ(copy.text, row.written) << row.text;
    EXPECT_EQ(copy.left_out, row.left_out) << row.text;
  }
  // A scope whose registry cannot be shown does not fall back to another.
  EXPECT_EQ(Copy(".npmrc", "@acme:registry=https://x:y@npm.example/\n").text,
            "@acme:registry=" + std::string(cli::kWithheldSource) + "\n");
  for (const std::string text :
       {std::string("[section]\n"), std::string("a b c\n"),
        std::string("registry=https://r.example/\n\x01=1\n"),
        std::string("registry=https://r.example/\n\0", 29),
        std::string(cli::kMaxSettingsCopyBytes + 1, '#')}) {
    EXPECT_FALSE(Copy(".npmrc", text).parsed) << text.substr(0, 40);
    EXPECT_EQ(Copy(".npmrc", text).text, "");
  }
}

TEST(SettingsCopiesTest, OfSshConfigurationAliasesAreWrittenAnew) {
  const Row kRows[] = {
      {"Host work\n  HostName git.acme.example\n  User git\n  Port 2222\n",
       "Host work\nHostName git.acme.example\nUser git\nPort 2222\n", false},
      {"host=a b *.c !d\nhostname = 10.0.0.1\n",
       "host a b *.c !d\nhostname 10.0.0.1\n", false},
      {"# TOKEN\nHost \"work\"\n\tProxyJump me@bastion.example:22\n",
       "Host work\nProxyJump me@bastion.example:22\n", false},
      {"Host a\nIdentityFile ~/.ssh/id\nUser me\n", "Host a\nUser me\n", true},
      {"Host a\nProxyCommand nc -X connect hunter2 %h\n", "Host a\n", true},
      {"Host a\nSetEnv TOKEN=hunter2\nLocalCommand x\n", "Host a\n", true},
      {"Include ~/.ssh/more\nHost a\nUser me\n", "Host a\nUser me\n", true},
      {"Match exec \"true\"\nUser you\nHost a\nUser me\n", "Host a\nUser me\n",
       true},
      {"Host $(x)\nUser you\nHost a\nUser me\n", "Host a\nUser me\n", true},
      {"Host a\nUser ghp_0123456789abcdefghijABCDEFGHIJ012345\n", "Host a\n",
       true},
  };
  for (const Row& row : kRows) {
    const cli::SettingsCopy copy = Copy(".ssh/config", row.text);
    EXPECT_TRUE(copy.parsed) << row.text;
    EXPECT_EQ(copy.text, row.written) << row.text;
    EXPECT_EQ(copy.left_out, row.left_out) << row.text;
  }
  for (const char* text :
       {"Host\n", "-----BEGIN OPENSSH PRIVATE KEY-----\n", "Host a\n}{\n"})
    EXPECT_FALSE(Copy(".ssh/config", text).parsed) << text;
}

TEST(SettingsCopiesTest, OfKeysOnlyPublicOnesAreWrittenAnew) {
  const std::string key = std::string("ssh-ed25519 ") + kKey;
  EXPECT_EQ(Copy(".ssh", key + " me@host secret\n").text, key + "\n");
  EXPECT_EQ(Copy(".ssh/known_hosts",
                 "# c\ngithub.com,1.2.3.4 " + key + " c\n|1|a=|b= " + key +
                     "\n@cert-authority *.x " + key + "\nhunter2\n")
                .text,
            "github.com,1.2.3.4 " + key + "\n|1|a=|b= " + key +
                "\n@cert-authority *.x " + key + "\n");
  for (const char* text :
       {"", "hunter2\n", "ssh-ed25519 hunter2\n", "ssh-ed25519\n",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaA==\n",
        "x AAAAC3NzaC1lZDI1NTE5\n", "@cert-authority\n"}) {
    EXPECT_FALSE(Copy(".ssh", text).parsed) << text;
    EXPECT_FALSE(Copy(".ssh/known_hosts", text).parsed) << text;
  }
}

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

}  // namespace
}  // namespace gate
