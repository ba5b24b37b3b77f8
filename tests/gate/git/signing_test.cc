// Signed commits from inside a sandbox: by the key of the person's
// configuration, in the person's agent or a file, and by nothing else.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/gate/git/ssh_remote.h"

namespace gate::app {
namespace {

using test::Count;
using test::Done;
using test::Machine;

class SigningTest : public GitRunTest {
 protected:
  void SetUp() override {
    if (!HasBackend()) GATE_SKIP_WITHOUT("bwrap") << "no bwrap here";
    machine_.environment = {"PATH=" + machine_.project() +
                            "/bin:/usr/bin:/bin"};
    Outside(
        "mkdir -m 700 ~/.ssh && cd ~/.ssh && for k in key other locked; do "
        "ssh-keygen -q -t ed25519 -C '' -N '' -f $k; done && "
        "ssh-keygen -q -p -N secret -f locked && "
        "for k in key other locked; do echo \"n@example.org namespaces="
        "\\\"git\\\" $(cat $k.pub)\" >>allowed_signers; done");
    Configure("~/.ssh/key.pub");
    Outside("git init -q . && git commit -q --no-gpg-sign --allow-empty -m 0");
    if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox here";
  }
  void TearDown() override {
    if (!agent_.empty()) Outside("kill " + agent_);
  }

  void Configure(const std::string& key,
                 const std::string& more = "[gpg]\nformat = ssh\n") {
    machine_.Write(
        machine_.home() + "/.gitconfig",
        "[user]\nname = n\nemail = n@example.org\nsigningKey = " + key +
            "\n[commit]\ngpgSign = true\n"
            "[init]\ndefaultBranch = main\n"
            "[gpg \"ssh\"]\n"
            "allowedSignersFile = ~/.ssh/allowed_signers\n" +
            more);
  }

  // An agent of the person's that has `keys` of ~/.ssh.
  void StartAgent(const std::string& keys) {
    const std::string socket = machine_.root() + "/agent";
    const Done started = Outside("ssh-agent -a " + socket + " 2>&1");
    const size_t pid = started.out.find("SSH_AGENT_PID=") + 14;
    agent_ = started.out.substr(pid, started.out.find(';') - pid);
    agent_ = agent_.substr(0, agent_.find(';'));
    machine_.environment.push_back("SSH_AUTH_SOCK=" + socket);
    Outside(
        "cd ~/.ssh && printf '#!/bin/sh\\necho secret\\n' >ask && "
        "chmod 700 ask && SSH_ASKPASS=$PWD/ask SSH_ASKPASS_REQUIRE=force "
        "ssh-add -q " +
        keys + " </dev/null");
  }

  // "G" of a good signature, "N" of none.
  std::string Signed(const std::string& what = "HEAD") const {
    return Outside("git log -1 --format=%G? " + what).out;
  }
  std::string Newest() const {
    return machine_.Gate({"audit", "list", "--json", "-n", "1"}).out;
  }

  std::string agent_;
};

TEST_P(SigningTest, EveryCommandThatSignsDoesSo) {
  StartAgent("key other");
  Outside(
      "git branch base && git checkout -q -b side base && "
      "git commit -q --no-gpg-sign --allow-empty -m side && "
      "git checkout -q main");
  for (const char* line :
       {"git commit -q --allow-empty -m a",
        "git commit -q -S --allow-empty -m a",
        "git commit -q --amend --no-edit --allow-empty",
        "cd . && git commit -qam b --allow-empty",
        "git commit --gpg-sign -q --allow-empty -m c",
        "git -C . commit -q --allow-empty -m d",
        "git merge -q --no-ff -m merged side",
        "echo 1 >f && git add f && git commit -qm f && git revert --no-edit "
        "HEAD",
        "git cherry-pick --allow-empty side",
        "git commit -q --allow-empty -m e && git status && git log -1",
        "git rebase -q --force-rebase base",
        "git -c user.signingKey=~/.ssh/key.pub commit -q --allow-empty -m f",
        "git -c commit.gpgSign=true commit -q --allow-empty -m g"}) {
    const Done done = Inside(line);
    EXPECT_EQ(done.exit_code, 0) << line << "\n" << done.err;
    EXPECT_EQ(Signed(), "G\n") << line;
    EXPECT_NE(Newest().find("sha512:"), std::string::npos) << line;
  }
  for (const char* line : {"git tag -s v1 -m one", "git tag --sign v2 -m two",
                           "git tag -a -s -m three v3"}) {
    EXPECT_EQ(Inside(line).exit_code, 0) << line;
    Outside("git tag -v " +
            std::string(line).substr(std::string(line).find('v'), 2));
  }
  EXPECT_TRUE(std::filesystem::is_empty(machine_.state() + "/signing"));
}

TEST_P(SigningTest, LendsNothingToOtherLines) {
  StartAgent("key");
  for (const char* line :
       {"git status; echo agent=$SSH_AUTH_SOCK", "echo agent=$SSH_AUTH_SOCK",
        "git log -1; echo agent=$SSH_AUTH_SOCK",
        "git add .; echo agent=$SSH_AUTH_SOCK",
        "git tag; echo agent=$SSH_AUTH_SOCK"}) {
    const Done done = Inside(line);
    EXPECT_NE(done.out.find("agent=\n"), std::string::npos) << done.out;
    EXPECT_NE(Inside(std::string(line) + "; ls /run/gate-signing").exit_code,
              0);
  }
  // Where nobody says that commits are signed, none is.
  machine_.Write(machine_.home() + "/.gitconfig",
                 "[user]\nname = n\nemail = n@example.org\n"
                 "signingKey = ~/.ssh/key.pub\n[gpg]\nformat = ssh\n");
  EXPECT_EQ(
      Inside("git commit -q --allow-empty -m x; echo a=$SSH_AUTH_SOCK").out,
      "a=\n");
  EXPECT_EQ(Signed(), "N\n");
  // The repository may: its key is the person's all the same.
  Outside("git config commit.gpgSign true");
  EXPECT_EQ(Inside("git commit -q --allow-empty -m x").exit_code, 0);
  Outside("git config gpg.ssh.allowedSignersFile ~/.ssh/allowed_signers");
  EXPECT_EQ(Signed(), "G\n");
}

TEST_P(SigningTest, TheAgentInsideSignsNothingElse) {
  StartAgent("key other");
  machine_.Write(
      machine_.project() + "/t.sh",
      "echo text >t; ssh-add -l\n"
      "for n in file ssh Git git@x; do\n"
      "ssh-keygen -q -Y sign -n $n -f ~/.ssh/key.pub t && echo signed $n\n"
      "done\n"
      "ssh-keygen -q -Y sign -n git -f ~/.ssh/other.pub t && echo signed o\n"
      "ssh-add -D; ssh-add -x </dev/null\n"
      "ssh-keygen -q -t ed25519 -N '' -f k; ssh-add -q k && echo added\n"
      "ssh-add -l; cat ~/.ssh/key ~/.ssh/locked; true\n");
  const Done done = Inside("git commit -q --allow-empty -m a; sh t.sh");
  EXPECT_EQ(Count(done.out, "SHA256:"), 2u) << done.out << done.err;
  EXPECT_EQ(done.out.find("signed"), std::string::npos) << done.out;
  EXPECT_EQ(done.out.find("added"), std::string::npos);
  EXPECT_EQ(done.out.find("PRIVATE"), std::string::npos);
  // The person's agent has what it had.
  EXPECT_EQ(Count(Outside("ssh-add -l").out, "SHA256:"), 2u);
  EXPECT_NE(Newest().find("signatures_refused"), std::string::npos);
}

TEST_P(SigningTest, EverySpellingOfTheKeyWorks) {
  StartAgent("key other");
  const std::string text =
      Outside("cut -d' ' -f1,2 ~/.ssh/key.pub | tr -d '\\n'").out;
  for (const std::string& key :
       {std::string("~/.ssh/key.pub"), std::string("~/.ssh/key"),
        machine_.home() + "/.ssh/key.pub", machine_.home() + "/.ssh/key",
        "key::" + text, text}) {
    Configure(key);
    const Done done = Inside("git commit -q --allow-empty -m a");
    EXPECT_EQ(done.exit_code, 0) << key << done.err;
    EXPECT_EQ(Signed(), "G\n") << key;
  }
}

TEST_P(SigningTest, AFileWithoutAPassphraseNeedsNoAgent) {
  const Done done = Inside("git commit -q --allow-empty -m a");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(Signed(), "G\n");
}

TEST_P(SigningTest, SaysWhatIsWithheldAndWhoCanGiveIt) {
  const std::string commit = "git commit -q --allow-empty -m a";
  const struct {
    std::string key, more, line, said;
  } kRows[] = {
      {"~/.ssh/locked.pub", "[gpg]\nformat = ssh\n", commit,
       "let the person run: ssh-add"},
      {"~/.ssh/locked", "[gpg]\nformat = ssh\n", commit, "/.ssh/locked"},
      {"~/.ssh/missing.pub", "[gpg]\nformat = ssh\n", commit,
       "there is no public key in ~/.ssh/missing.pub"},
      {"ABCDEF0123456789", "", commit, "a signature ("},
      {"ABCDEF0123456789", "[gpg]\nformat = openpgp\n", commit,
       "a signature ("},
      {"x", "[gpg]\nformat = x509\n", commit,
       "the certificate that signs commits"},
      {"ABCDEF0123456789", "[gpg]\nprogram = /opt/x/smart-gpg\n", commit,
       "gpg.program (/opt/x/smart-gpg)"},
      {"ABCDEF0123456789", "", "git tag -s v9 -m a", "a signature ("},
      {"~/.ssh/key.pub",
       "[gpg]\nformat = ssh\n[gpg \"ssh\"]\nprogram = /opt/x/op-ssh-sign\n",
       commit, "gpg.ssh.program"},
      {"~/.ssh/key.pub", "[gpg]\nformat = ssh\n",
       "git -c user.signingKey=~/.ssh/other.pub commit -q --allow-empty -m a",
       "another key than SHA256:"},
  };
  for (const auto& row : kRows) {
    Configure(row.key, row.more);
    const Done done = Inside(row.line);
    EXPECT_NE(done.exit_code, 0) << row.said;
    EXPECT_NE(done.err.find(row.said), std::string::npos) << row.said << "\n"
                                                          << done.err;
    EXPECT_NE(done.err.find("do not switch signing off"), std::string::npos)
        << done.err;
    EXPECT_EQ(done.err.find("no-gpg-sign"), std::string::npos);
  }
}

TEST_P(SigningTest, TheRepositoryDoesNotChooseTheKey) {
  StartAgent("key other");
  Outside("git config user.signingKey ~/.ssh/other.pub");
  const Done done = Inside("git commit -q --allow-empty -m a");
  EXPECT_NE(done.exit_code, 0);
  EXPECT_NE(done.err.find("the repository's own configuration names"),
            std::string::npos)
      << done.err;
  EXPECT_NE(done.err.find("git config --global user.signingKey"),
            std::string::npos);
  // A key of the person's configuration that lies in the workspace is the
  // workspace's.
  Outside("git config --unset user.signingKey && cp ~/.ssh/other.pub .");
  Configure(machine_.project() + "/other.pub");
  EXPECT_NE(Inside("git commit -q --allow-empty -m a").exit_code, 0);
  // So is an agent.
  Configure("~/.ssh/locked.pub");
  machine_.environment.back() = "SSH_AUTH_SOCK=" + machine_.project() + "/a";
  machine_.Write(machine_.project() + "/a", "");
  EXPECT_NE(Inside("git commit -q --allow-empty -m a").exit_code, 0);
}

TEST_P(SigningTest, TheSettingsSwitchItOff) {
  StartAgent("key");
  machine_.Write(machine_.home() + "/.config/gate/config.json",
                 "{\"signing\": false}");
  const Done done = Inside("git commit -q --allow-empty -m a");
  EXPECT_NE(done.exit_code, 0);
  EXPECT_NE(done.err.find("gate's settings: `signing`"), std::string::npos)
      << done.err;
  machine_.Write(machine_.home() + "/.config/gate/config.json",
                 "{\"signing\": true}");
  EXPECT_EQ(Inside("git commit -q --allow-empty -m a").exit_code, 0);
  machine_.Write(machine_.home() + "/.config/gate/config.json",
                 "{\"signing\": 1}");
  EXPECT_NE(machine_.Gate({"check", "git commit -m a"}).exit_code, 0);
}

TEST_P(SigningTest, CheckShowsWhatIsLent) {
  StartAgent("key");
  const std::string print =
      Outside("ssh-keygen -lf ~/.ssh/key.pub | cut -d' ' -f2 | tr -d '\\n'")
          .out;
  const Done json = machine_.Gate({"check", "--json", "git commit -m a"});
  EXPECT_NE(json.out.find("\"signs_with\":[\"" + print + "\"]"),
            std::string::npos)
      << json.out;
  const Done text = machine_.Gate({"explain", "git commit -m a"});
  EXPECT_NE(text.out.find("signatures of commits and tags by the key"),
            std::string::npos)
      << text.out;
  EXPECT_EQ(
      machine_.Gate({"check", "--json", "git status"}).out.find("signs_with"),
      std::string::npos);
}

TEST_P(SigningTest, ARebaseOfManyCommitsIsSignedAndRecordedWhole) {
  StartAgent("key");
  Outside(
      "git branch base; i=0; while [ $i -lt 300 ]; do echo \"commit "
      "refs/heads/main\ncommitter n <n@example.org> 1700000000 +0000\ndata "
      "2\nx\"; [ $i = 0 ] && echo 'from refs/heads/base'; echo \"M 644 inline "
      "f\ndata <<E\n$i\nE\n\"; i=$((i+1)); done | git fast-import --quiet "
      "--force && git reset -q --hard");
  const Done done = Inside("git rebase -q --force-rebase base");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(Count(Outside("git log --format=%G? base..main").out, "G"), 300u);
  EXPECT_EQ(Count(Newest(), "sha512:"), 300u);
}

TEST_P(SigningTest, TwoRunsAtOnceSignBoth) {
  StartAgent("key");
  Outside("git worktree add -q ../second && git init -q ../third");
  const std::string gate = test::GateBinary();
  const std::string run = gate + " run --backend " + GetParam() +
                          " -c 'for i in 1 2 3 4 5; do git commit -q "
                          "--allow-empty -m $i || exit 1; "
                          "done'";
  const Done done = machine_.Run(
      {"/bin/sh", "-c",
       "(cd ../third && exec " + run + ") & " + run + " && wait $!"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(Count(Outside("git log --format=%G?").out, "G"), 5u);
  EXPECT_EQ(Count(Outside("git -C ../third log --format=%G?").out, "G"), 5u);
}

TEST_P(SigningTest, ASignatureIsCheckedInside) {
  StartAgent("key");
  const Done done = Inside(
      "git commit -q --allow-empty -m a && git log -1 --format=%G? && "
      "git log -1 --show-signature");
  EXPECT_EQ(done.out.substr(0, 2), "G\n") << done.out << done.err;
  EXPECT_NE(done.out.find("Good \"git\" signature for n@example.org"),
            std::string::npos);
}

// A person who signs with gpg.
class OpenPgpTest : public SigningTest {
 protected:
  void SetUp() override {
    SigningTest::SetUp();
    if (IsSkipped()) return;
    if (machine_.Run({"gpg", "--version"}).exit_code != 0)
      GATE_SKIP_WITHOUT("gpg") << "no gpg here";
    Outside(
        "mkdir -m 700 ~/.gnupg && for m in n o; do gpg --batch --quiet "
        "--passphrase '' --quick-gen-key \"n <$m@example.org>\" ed25519 sign "
        "never 2>&1; done");
    key_ = KeyOf("n@example.org");
    Configure(key_, "");
    Outside("gpg --batch -k >/dev/null 2>&1");
  }
  void TearDown() override {
    machine_.Run({"gpgconf", "--kill", "all"});
    SigningTest::TearDown();
  }
  std::string KeyOf(const std::string& mail) const {
    return Outside("gpg --list-keys --with-colons " + mail +
                   " 2>/dev/null | awk -F: '/^fpr/ {printf \"%s\", $10; "
                   "exit}'")
        .out;
  }
  std::string key_;
};

TEST_P(OpenPgpTest, CommitsAndTagsAreSignedAndRecorded) {
  for (const char* line :
       {"git commit -q --allow-empty -m a",
        "git commit -q -S --allow-empty -m a && git log -1 --format=%G?",
        "git commit -q --amend --no-edit --allow-empty"}) {
    const Done done = Inside(line);
    EXPECT_EQ(done.exit_code, 0) << line << "\n" << done.err;
    EXPECT_EQ(Signed(), "G\n") << line;
    EXPECT_NE(Newest().find("\"gpg:" + key_ + "\":[\"sha256:"),
              std::string::npos)
        << Newest();
  }
  EXPECT_EQ(Inside("git tag -s v1 -m one").exit_code, 0);
  Outside("git tag -v v1");
  // Without a key in the configuration git asks for the one of the name.
  Configure("", "");
  const Done named = Inside("git commit -q --allow-empty -m b");
  EXPECT_EQ(named.exit_code, 0) << named.err;
  EXPECT_EQ(Signed(), "G\n");
}

TEST_P(OpenPgpTest, SignaturesAreCheckedInside) {
  Outside("git commit -q --allow-empty -m a && git tag -s v1 -m one");
  for (const char* line :
       {"git log -1 --format=%G? | grep G", "git verify-commit HEAD",
        "git tag -v v1",
        "git log -1 --show-signature | grep 'Good signature'"}) {
    const Done done = Inside(line);
    EXPECT_EQ(done.exit_code, 0) << line << "\n" << done.out << done.err;
  }
}

TEST_P(OpenPgpTest, NothingElseIsSigned) {
  const std::string other = KeyOf("o@example.org");
  machine_.Write(machine_.project() + "/t.sh",
                 "sign() { " + std::string(test::GateBinary()) +
                     " --status-fd=2 -bsau \"$1\" && echo signed; }\n"
                     "echo text | sign " +
                     key_ +
                     "\n"
                     "git cat-file commit HEAD | sed /^gpgsig/,/END/d | sign " +
                     other +
                     "\n"
                     "gpg -bsa -u " +
                     key_ +
                     " t.sh && echo signed\n"
                     "ls ~/.gnupg/private-keys-v1.d && echo seen; true\n");
  const Done done = Inside("git commit -q --allow-empty -m a; sh t.sh");
  EXPECT_EQ(done.out.find("signed"), std::string::npos) << done.out << done.err;
  EXPECT_EQ(done.out.find("seen"), std::string::npos) << done.out;
  EXPECT_EQ(Signed(), "G\n");
  EXPECT_NE(Newest().find("neither a commit nor a tag"), std::string::npos);
  EXPECT_NE(Newest().find("is not one that the person's configuration"),
            std::string::npos);
  // The repository names neither the key nor the program.
  Outside("git config gpg.program /bin/false");
  EXPECT_EQ(Inside("git commit -q --allow-empty -m b").exit_code, 0);
  Outside("git config user.signingKey " + other);
  EXPECT_NE(Inside("git commit -q --allow-empty -m c").exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(Backends, OpenPgpTest,
                         ::testing::Values("native", "bwrap"));

INSTANTIATE_TEST_SUITE_P(Backends, SigningTest,
                         ::testing::Values("native", "bwrap"));

}  // namespace
}  // namespace gate::app
