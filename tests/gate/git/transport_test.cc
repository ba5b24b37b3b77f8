// git over ssh from inside a sandbox: with the person's ssh, for the remotes
// that the repository had when gate first saw it, and for nothing else.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "tests/gate/git/ssh_remote.h"

namespace gate::app {
namespace {

using test::Count;
using test::Done;
using test::Machine;

// A person's project, cloned from a repository on another machine, for which a
// stand-in for ssh goes to a directory of this one.
class GitTransportTest : public SshRemoteTest {
 protected:
  void SetUp() override {
    if (!HasBackend()) GATE_SKIP_WITHOUT("bwrap") << "no bwrap here";
    machine_.environment = {
        "PATH=" + machine_.project() + "/bin:" + bin() + ":/usr/bin:/bin",
        "SSH_AUTH_SOCK=" + machine_.root() + "/agent.sock"};
    machine_.Write(machine_.root() + "/agent.sock", "");
    Prepare("{ echo \"ssh $*\"; env; } >>" + log());
    Outside("git init -q --bare " + server() + " && git clone -q " + server() +
            " . && echo 1 >f && git add f && git commit -qm one && "
            "git push -q origin HEAD:main && git remote set-url origin " +
            url() +
            " && cp -r . ../other && git -C ../other commit -q "
            "--allow-empty -m two && git -C ../other push -q " +
            server() + " HEAD:main");
    // The first run here, which sees the remote.
    if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox here";
  }

  // A person says yes to the question in `asked`.
  void Approve(const Done& asked) const {
    constexpr std::string_view kBefore = "gate approve ";
    const size_t at = asked.err.find(kBefore);
    ASSERT_NE(at, std::string::npos) << asked.err;
    const auto [code, shown] = machine_.OnTerminal(
        {"approve", asked.err.substr(at + kBefore.size(), 36)}, "y");
    EXPECT_EQ(code, 0) << shown;
    EXPECT_NE(shown.find("ssh login for"), std::string::npos) << shown;
  }

  // How often ssh was started.
  size_t Asked() const { return Count(machine_.Read(log()), "ssh -a"); }

  std::string Newest() const {
    return Outside("git -C . log --format=%s -1 origin/main").out;
  }
};

TEST_P(GitTransportTest, FetchesFromThePinnedRemoteWithoutKeysInside) {
  const Done done = Inside("git fetch; echo \"agent=$SSH_AUTH_SOCK\"");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "agent=\n");
  EXPECT_EQ(Newest(), "two\n");
  EXPECT_EQ(Asked(), 1u);
  const std::string asked = machine_.Read(log());
  EXPECT_NE(
      asked.find("-- git@host.example git-upload-pack '" + server() + "'\n"),
      std::string::npos)
      << asked;
  EXPECT_NE(asked.find("SSH_AUTH_SOCK=" + machine_.root() + "/agent.sock\n"),
            std::string::npos);
  EXPECT_EQ(asked.find("GIT_SSH_COMMAND"), std::string::npos);
  const Done record = machine_.Gate({"audit", "list", "--json"});
  EXPECT_EQ(Count(record.out + machine_.Gate({"audit", "show", "2"}).out,
                  "git@host.example:" + server()) > 0,
            true)
      << record.out;
  EXPECT_TRUE(std::filesystem::is_empty(machine_.state() + "/transports"));
}

TEST_P(GitTransportTest, FetchesWhereTheNetworkIsLimitedToHosts) {
  machine_.Write(machine_.home() + "/.config/gate/config.json",
                 R"({"network": "domains"})");
  const Done done = Inside("git fetch");
  if (GetParam() != std::string("native")) {
    // It gives no network by name: then nothing runs.
    EXPECT_NE(done.exit_code, 0);
    EXPECT_NE(done.err.find("network-domains"), std::string::npos) << done.err;
    EXPECT_EQ(Asked(), 0u);
    return;
  }
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(Newest(), "two\n");
  EXPECT_NE(Inside("git fetch git@evil.example:" + server()).exit_code, 0);
  EXPECT_EQ(Asked(), 1u);
}

TEST_P(GitTransportTest, EveryReadingCommandWorks) {
  for (const char* line :
       {"git ls-remote", "git ls-remote origin main", "git fetch origin",
        "git fetch -q --all", "git fetch origin main:topic",
        "git remote update", "git remote show origin", "git pull -q",
        "cd . && git fetch", "git status && git fetch -q", "git -C . fetch"}) {
    const size_t before = Asked();
    const Done done = Inside(line);
    EXPECT_EQ(done.exit_code, 0) << line << "\n" << done.err;
    EXPECT_EQ(Asked(), before + 1) << line;
  }
  for (const char* version : {"0", "1", "2"}) {
    Outside(std::string("git config protocol.version ") + version);
    const Done done = Inside("git fetch");
    EXPECT_EQ(done.exit_code, 0) << version << done.err;
  }
  const Done clone = Inside("git clone -q " + url() + " copy");
  EXPECT_EQ(clone.exit_code, 0) << clone.err;
  EXPECT_TRUE(machine_.Exists(machine_.project() + "/copy/f"));
}

TEST_P(GitTransportTest, GoesNowhereElseWhateverTheWorkspaceSays) {
  // The first run; what is written from here on is not the person's.
  ASSERT_EQ(Inside("true && git status").exit_code, 0);
  const std::string config = machine_.Read(machine_.project() + "/.git/config");
  const std::string evil = "git@evil.example:" + server();
  size_t asked = 0;
  const struct {
    std::string line, config;
  } kRows[] = {
      {"git fetch " + evil, ""},
      {"git ls-remote " + evil, ""},
      {"git clone " + evil + " evil", ""},
      {"git fetch ssh://git@host.example:2222" + server(), ""},
      {"git fetch root@host.example:" + server(), ""},
      {"git fetch host.example:" + server(), ""},
      {"git fetch git@host.example:" + server() + "/", ""},
      {"git fetch git@host.example:" + server() + "/../a.git", ""},
      {"git fetch evil", "[remote \"evil\"]\nurl = " + evil + "\n"},
      {"git fetch --all", "[remote \"evil\"]\nurl = " + evil + "\n"},
      {"git fetch",
       "[url \"git@evil.example:\"]\ninsteadOf = git@host.example:\n"},
      {"git ls-remote", "[remote \"origin\"]\nurl = " + evil + "\n"},
      {"git fetch evil", "[remote \"evil\"]\nurl = " + url() +
                             "\nuploadpack = git-upload-pack --x\n"},
  };
  for (const auto& row : kRows) {
    machine_.Write(machine_.project() + "/.git/config",
                   row.line == "git ls-remote"
                       ? row.config + "[core]\nbare = false\n"
                       : config + row.config);
    const Done done = Inside(row.line);
    EXPECT_NE(done.exit_code, 0) << row.line;
    EXPECT_TRUE(done.err.find("is not a remote that") != std::string::npos ||
                done.err.find("did not have when gate first saw it") !=
                    std::string::npos ||
                done.err.find("not one plain quoted word") != std::string::npos)
        << row.line << done.err;
    EXPECT_EQ(Count(machine_.Read(log()), "evil"), 0u) << row.line;
    EXPECT_EQ(Count(machine_.Read(log()), "--x"), 0u) << row.line;
    // `--all` fetches from the one that is pinned as well.
    EXPECT_LE(Asked(), row.line == "git fetch --all" ? 1u : asked) << row.line;
    asked = Asked();
  }
  machine_.Write(machine_.project() + "/.git/config", config);
  EXPECT_EQ(Inside("git fetch").exit_code, 0);
}

TEST_P(GitTransportTest, SaysWhatWasWithheldAndWhoCanGiveIt) {
  // Of a remote that git finds by itself nobody was asked before.
  Outside("git remote add other git@other.example:x/y && git fetch -q " +
          server());
  ASSERT_EQ(Inside("git status").exit_code, 0);
  Outside("git remote set-url other git@other.example:x/z");
  const Done done = Inside("git fetch --all");
  EXPECT_NE(done.err.find("withheld the ssh login for git@other.example:x/z"),
            std::string::npos)
      << done.err;
  EXPECT_NE(done.err.find("gate trust --remote git@other.example:x/z"),
            std::string::npos);
  EXPECT_EQ(Count(machine_.Read(log()), "other.example"), 0u);
}

TEST_P(GitTransportTest, AYesLendsTheLoginForAnotherRemoteOnce) {
  const std::string other = "git@other.example:" + server();
  Outside("git clone -q --bare " + server() + " " + machine_.root() + "/b.git");
  for (const std::string& line :
       {"git fetch -q " + other, "git ls-remote -q " + other,
        "git clone -q " + other + " one",
        "git clone -q other.example:" + server() + " two",
        "git fetch -q other.example:" + server() + " main:three",
        "git submodule --quiet add git@other.example:" + server() + " four",
        std::string("git submodule --quiet add ../../b.git five")}) {
    const size_t before = Asked();
    const Done asked = Inside(line);
    EXPECT_EQ(asked.exit_code, 126) << line;
    EXPECT_NE(asked.err.find("your ssh login for"), std::string::npos)
        << line << asked.err;
    EXPECT_EQ(Asked(), before) << line;
    EXPECT_NE(machine_.Gate({"check", "--json", "-c", line})
                  .out.find(R"("grants":{"kind":"sandbox","ssh_logins":[")"),
              std::string::npos)
        << line;
    Approve(asked);
    const Done done = Inside(line);
    EXPECT_EQ(done.exit_code, 0) << line << done.err;
    EXPECT_EQ(Asked(), before + 1) << line;
    EXPECT_EQ(Inside(line).exit_code, 126) << line;
  }
  // What is relative begins at the remote.
  const Done done = Inside("git submodule --quiet add ../a.git six");
  EXPECT_EQ(done.exit_code, 0) << done.err;
}

TEST_P(GitTransportTest, AYesHoldsForTheRemoteThatWasShownAlone) {
  ASSERT_EQ(Inside("git status").exit_code, 0);
  Outside("git remote add up git@other.example:" + server());
  const Done asked = Inside("git fetch up");
  EXPECT_EQ(asked.exit_code, 126) << asked.err;
  Approve(asked);
  Outside("git remote set-url up git@evil.example:" + server());
  EXPECT_EQ(Inside("git fetch up").exit_code, 126);
  // Nor is what git finds out by itself part of it.
  Outside("git remote set-url up git@other.example:" + server() +
          " && git remote add evil git@evil.example:" + server());
  const Done both = Inside("git fetch --multiple up evil");
  EXPECT_NE(both.exit_code, 0) << both.err;
  EXPECT_EQ(Asked(), 0u);
}

TEST_P(GitTransportTest, AYesToAFetchIsNoneToAPushThere) {
  ASSERT_EQ(Inside("git status").exit_code, 0);
  const std::string other = "git@other.example:" + server();
  machine_.Write(machine_.project() + "/move",
                 "git config remote.origin.url " + other + "\n");
  const std::string line = "git fetch -q " + other +
                           " && sh ./move && git push -q origin HEAD:moved";
  const Done asked = Inside(line);
  EXPECT_EQ(asked.exit_code, 126) << asked.err;
  Approve(asked);
  const Done done = Inside(line);
  EXPECT_NE(done.exit_code, 126) << done.err;
  EXPECT_NE(done.exit_code, 0) << done.err;
  EXPECT_EQ(Asked(), 1u) << done.err;
  EXPECT_EQ(Count(machine_.Read(log()), "receive-pack"), 0u);
  EXPECT_NE(done.err.find("withheld the ssh login for " + other),
            std::string::npos)
      << done.err;
}

TEST_P(GitTransportTest, WithoutALoginToLendNobodyIsAsked) {
  machine_.environment[1] = "SSH_AUTH_SOCK=";
  const Done done = Inside("git fetch git@other.example:x/y");
  EXPECT_NE(done.exit_code, 126) << done.err;
  EXPECT_EQ(Asked(), 0u);
}

TEST_P(GitTransportTest, StartsNeitherAnSshNorAnAgentOfTheWorkspace) {
  machine_.Write(machine_.project() + "/bin/ssh",
                 "#!/bin/sh\ntouch " + machine_.root() + "/hostile\n", 0755);
  machine_.Write(machine_.project() + "/agent", "");
  machine_.environment[1] = "SSH_AUTH_SOCK=" + machine_.project() + "/agent";
  machine_.Write(machine_.project() + "/.git/config",
                 machine_.Read(machine_.project() + "/.git/config") +
                     "[core]\nsshCommand = touch " + machine_.root() +
                     "/hostile; false\n");
  const Done done = Inside("git fetch");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_FALSE(machine_.Exists(machine_.root() + "/hostile"));
  EXPECT_EQ(Asked(), 1u);
  EXPECT_EQ(machine_.Read(log()).find("SSH_AUTH_SOCK"), std::string::npos);
}

TEST_P(GitTransportTest, UsesAnAgentWhoseSocketLiesInTmp) {
  char directory[] = "/tmp/ssh-XXXXXX";
  ASSERT_NE(::mkdtemp(directory), nullptr);
  const std::string socket = std::string(directory) + "/agent.1";
  machine_.Write(socket, "");
  machine_.environment[1] = "SSH_AUTH_SOCK=" + socket;
  EXPECT_EQ(Inside("git fetch").exit_code, 0);
  EXPECT_NE(machine_.Read(log()).find("SSH_AUTH_SOCK=" + socket + "\n"),
            std::string::npos);
  // Not where anybody could have put it.
  std::filesystem::permissions(directory, std::filesystem::perms(0777));
  machine_.Write(log(), "");
  EXPECT_EQ(Inside("git fetch").exit_code, 0);
  EXPECT_EQ(machine_.Read(log()).find("SSH_AUTH_SOCK"), std::string::npos);
  std::filesystem::remove_all(directory);
}

TEST_P(GitTransportTest, PinsNothingThatAContainedRunCouldWrite) {
  // A repository that a run made, one that it put in another's place, and one
  // that lies in what it could write, when that is a workspace of its own.
  const Done made = Inside("git init -q sub && touch sub/package.json");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  machine_.Write(machine_.project() + "/sub/.git/config",
                 "[remote \"origin\"]\nurl = git@evil.example:a\n");
  EXPECT_NE(Inside("git fetch", machine_.project() + "/sub").exit_code, 0);
  Outside(
      "rm -rf .git && git init -q . && git remote add origin "
      "git@evil.example:a");
  EXPECT_NE(Inside("git fetch").exit_code, 0);
  EXPECT_EQ(Asked(), 0u);
}

// What names or copies the layout of a repository has not its remotes.
TEST_P(GitTransportTest, PinsNothingOfARepositoryThatIsOnlyNamed) {
  const std::string home = machine_.home();
  Outside(
      "mkdir -p ../file ../bare/objects ../bare/refs && "
      "echo 'gitdir: " +
      machine_.project() +
      "/.git' > ../file/.git && "
      "cp .git/HEAD .git/config ../bare && "
      "git worktree add -q ../tree && mkdir ../false && "
      "cp ../tree/.git ../false");
  const std::string line = "git ls-remote " + url();
  for (const char* named : {"/file", "/bare", "/false"}) {
    EXPECT_NE(Inside(line, home + named).exit_code, 0) << named;
    EXPECT_EQ(Asked(), 0u) << named;
  }
  // The repository itself lost nothing by it, and has this worktree.
  EXPECT_EQ(Inside(line, home + "/tree").exit_code, 0);
  EXPECT_EQ(Inside(line).exit_code, 0);
}

// More than the broker's report would hold.
TEST_P(GitTransportTest, LongRequestsAreNotWaitedFor) {
  machine_.Write(machine_.project() + "/long.sh",
                 "x=$(head -c 60000 /dev/zero | tr '\\0' '\\001')\n"
                 "for i in $(seq 40); do\n"
                 "  $GIT_SSH_COMMAND \"-$x\" 2>/dev/null && echo went\n"
                 "done\n");
  const Done done = Inside("git ls-remote " + url() + "; sh long.sh; exit 3");
  EXPECT_EQ(done.out.find("went"), std::string::npos);
  EXPECT_EQ(done.exit_code, 3) << done.err;
  EXPECT_EQ(Asked(), 1u);
  EXPECT_NE(machine_.Gate({"audit", "list", "--json", "-n", "1"})
                .out.find("host.example"),
            std::string::npos);
}

TEST_P(GitTransportTest, SurvivesAnotherSideThatLies) {
  const char* const kAnswers[] = {
      "printf garbage",
      "printf '0004'",
      "printf 'ffff'",
      ":",
      "head -c 300000 /dev/zero",
      "kill -9 $$",
      "printf '000eversion 2\\n0000'; cat >/dev/null"};
  for (const char* answer : kAnswers) {
    machine_.Write(bin() + "/ssh", std::string("#!/bin/sh\n") + answer + "\n",
                   0755);
    const Done done = Inside("git fetch");
    EXPECT_NE(done.exit_code, 0) << answer;
    EXPECT_EQ(Newest(), "one\n") << answer;
  }
  EXPECT_TRUE(std::filesystem::is_empty(machine_.state() + "/transports"));
}

TEST_P(GitTransportTest, APersonAddsAndTakesBackARemote) {
  const std::string other = "git@other.example:" + server();
  EXPECT_NE(Inside("git fetch " + other).exit_code, 0);
  // Not the agent.
  EXPECT_NE(machine_.Gate({"trust", "--remote", other}).exit_code, 0);
  EXPECT_NE(Inside("git fetch " + other).exit_code, 0);
  const auto [code, shown] =
      machine_.OnTerminal({"trust", "--remote", other}, "y");
  if (Machine::NoPerson(shown)) GTEST_SKIP() << "no terminal of a person's";
  EXPECT_EQ(code, 0) << shown;
  EXPECT_NE(shown.find(other), std::string::npos) << shown;
  EXPECT_EQ(Inside("git fetch " + other).exit_code, 0);
  machine_.OnTerminal({"untrust", "--remote", other}, "");
  EXPECT_NE(Inside("git fetch " + other).exit_code, 0);
  EXPECT_EQ(Inside("git fetch").exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(Backends, GitTransportTest,
                         ::testing::Values("native", "bwrap"));

}  // namespace
}  // namespace gate::app
