// Settings that are command lines: a login on one is in no copy, and what needs
// such a line ends with a word.
#include <gtest/gtest.h>

#include "settings/copy.h"
#include "settings/values.h"

namespace gate {
namespace {

settings::Copy Copy(std::string_view name, const std::string& text) {
  for (const rules::SettingsFile& file : rules::SettingsFiles())
    if (file.file == name) return settings::CopyOf(file, text);
  ADD_FAILURE() << name;
  return {};
}

TEST(SettingsCommandsTest, ALoginOnACommandLineIsFound) {
  for (const char* line : {
           "!sshpass -p hunter2 ssh host",
           "!/usr/bin/sshpass -phunter2 ssh host",
           "!http -a me:hunter2 GET x",
           "!mysql -phunter2 db",
           "!cd x && mysqldump -u root -phunter2 db",
           "!wget --http-user=me --http-pass=hunter2 u",
           "!PASS=hunter2 ./x",
           "!PW=hunter2 ./x",
           "!export PGPASS=hunter2",
           "!f() { TOKEN=hunter2 ./x; }; f",
           "!openssl enc -k hunter2",
           "openssl enc -d -aes-256-cbc -pass pass:hunter2",
           "!curl\t-u me:hunter2 x",
           "!xargs -n1 curl -sX POST -d hunter2",
           "!smbclient -U me%hunter2 //h/s",
           "!lftp -u me,hunter2 h",
           "!any -u me:hunter2",
           "!any -a 'me:hunter2'",
           "publish --token hunter2",
           "!gpg --passphrase hunter2",
           "-Xmx1g -Djavax.net.ssl.trustStorePassword=hunter2",
           "--with-pass=hunter2",
           "!env A=b sudo redis-cli -a hunter2",
           "!ldapsearch -w hunter2",
       })
    EXPECT_TRUE(settings::GivesLogin(line)) << line;
}

TEST(SettingsCommandsTest, OrdinaryCommandLinesGiveNone) {
  for (const char* line : {
           "",
           "log --oneline --graph --all --decorate",
           "log --pretty=format:'%C(yellow)%h%Creset %an' --date=short",
           "push -u origin HEAD",
           "!git push -u origin HEAD:main",
           "push --set-upstream origin HEAD",
           "commit -a -m x",
           "commit --amend --no-edit --reuse-message=HEAD",
           "!f() { git log --author=\"$1\"; }; f",
           "add -p",
           "diff -u --word-diff=color",
           "!git branch --merged | grep -v main | xargs git branch -d",
           "!GIT_EDITOR=vim git rebase -i",
           "git-lfs clean -- %f",
           "git-crypt smudge",
           "vim -c 'set ft=diff'",
           "less -FRX",
           "build --release --target=x86_64-unknown-linux-gnu",
           "-Xmx4g -XX:MaxMetaspaceSize=1g -Dfile.encoding=UTF-8",
           "--with-xml2-config=/usr/bin/xml2-config",
           "-C link-arg=-fuse-ld=mold",
           "!cd \"$(git rev-parse --show-toplevel)\" && make test",
           "http",
           "http proxy",
           "the https registry",
       })
    EXPECT_FALSE(settings::GivesLogin(line)) << line;
}

TEST(SettingsCommandsTest, NoFormatShowsALineWithALogin) {
  const struct {
    const char* file;
    const char* text;
  } kRows[] = {
      {".gitconfig", "[alias]\n x = \"!sshpass -p hunter2 ssh h\"\n"},
      {".gitconfig", "[core]\n pager = \"PW=hunter2 less\"\n"},
      {".gitconfig", "[filter \"x\"]\n clean = openssl enc -k hunter2\n"},
      {".gitconfig",
       "[alias]\n f = \"!git -c http.extraHeader='X-K: "
       "hunter2' fetch\"\n"},
      {".cargo/config.toml", "[alias]\np = \"publish --token hunter2\"\n"},
      {".cargo/config.toml",
       "[alias]\np = [\"publish\", \"--token\", \"hunter2\"]\n"},
      {".cargo/config.toml",
       "[target.x86_64-unknown-linux-gnu]\n"
       "runner = [\"sshpass\", \"-p\", \"hunter2\"]\n"},
      {".bundle/config", "BUNDLE_BUILD__X: \"--with-pass=hunter2\"\n"},
      {".gradle/gradle.properties",
       "org.gradle.jvmargs=-Xmx1g -Da.trustStorePassword=hunter2\n"},
      {".config/gh/config.yml", "aliases:\n    x: \"!curl -u me:hunter2 h\"\n"},
      {".docker/config.json",
       "{\"aliases\": {\"builder\": \"x --token hunter2\"}}"},
  };
  for (const auto& row : kRows) {
    const settings::Copy copy = Copy(row.file, row.text);
    EXPECT_TRUE(copy.parsed) << row.text;
    EXPECT_TRUE(copy.left_out && copy.secret) << row.text;
    EXPECT_EQ(copy.text.find("hunter2"), std::string::npos) << copy.text;
  }
}

TEST(SettingsCommandsTest, ThePushOfEveryoneIsShown) {
  const settings::Copy copy =
      Copy(".gitconfig", "[alias]\n pu = push -u origin HEAD\n");
  EXPECT_NE(copy.text.find("push -u origin HEAD"), std::string::npos);
  EXPECT_FALSE(copy.left_out);
}

// Without it git would take a file into a commit as it stands.
TEST(SettingsCommandsTest, AFilterThatIsWithheldEndsGit) {
  for (const char* name : {"clean", "smudge", "process"}) {
    const settings::Copy copy =
        Copy(".gitconfig", "[filter \"x\"]\n " + std::string(name) +
                               " = openssl enc -k hunter2\n required = false\n"
                               "[filter \"lfs\"]\n clean = git-lfs clean\n");
    const size_t own = copy.text.find("required = \"false\"");
    const size_t last = copy.text.rfind("required = \"true\"");
    ASSERT_NE(last, std::string::npos) << copy.text;
    EXPECT_LT(own, last) << copy.text;
    EXPECT_NE(copy.text.find("\t" + std::string(name) + " = \"echo a filter"),
              std::string::npos)
        << copy.text;
    EXPECT_NE(copy.text.find("clean = \"git-lfs clean\""), std::string::npos);
  }
  EXPECT_EQ(Copy(".gitconfig", "[filter \"lfs\"]\n clean = git-lfs clean\n")
                .text.find("withheld"),
            std::string::npos);
}

}  // namespace
}  // namespace gate
