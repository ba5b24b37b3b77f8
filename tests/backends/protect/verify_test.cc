// What a command may do to be passed over by the search after the run.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "backends/protect/quarantine.h"
#include "backends/protected_paths.h"
#include "tests/support/sandbox_fixture.h"

namespace gate::backends {
namespace {

constexpr char kEvil[] = "printf '[core]\\n\\tfsmonitor = ./e\\n' >> ";

class ProtectedPathsVerify : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    profile_.protect_names = {".envrc",   ".mcp.json",
                              ".vscode",  ".claude/settings.json",
                              ".jj/repo", ".config/git/config"};
  }
  // Runs `line`; nothing at `paths` afterwards, and that is reported.
  void ExpectTaken(const std::string& line,
                   const std::vector<std::string>& paths) {
    const Ran ran = Bash(line);
    ASSERT_NE(ran.outcome.status, OutcomeStatus::kSetupFailed)
        << ran.outcome.reason;
    for (const std::string& path : paths)
      EXPECT_FALSE(Exists(w_ + "/" + path)) << path << " after " << line;
    EXPECT_FALSE(ran.outcome.violations.empty()) << line << ran.output;
  }
  void ExpectHarmless(const std::string& config, const std::string& line) {
    const std::string text = Read(w_ + "/" + config);
    EXPECT_EQ(text.find("fsmonitor"), std::string::npos) << line;
  }
};
INSTANTIATE_TEST_SUITE_P(All, ProtectedPathsVerify,
                         testing::ValuesIn(Everyone()), WhoName);

// A file with another name is copied away, which takes longer than the search
// may.
TEST_P(ProtectedPathsVerify, TakingAwayWhatWasFoundDoesNotEndTheSearch) {
  constexpr int kFiles = 40;
  const Ran ran = Bash(
      "for i in {1..40}; do mkdir -p t/$i; truncate -s 4M t/$i/a; "
      "ln t/$i/a t/$i/.envrc; done");
  int left = 0;
  for (int i = 1; i <= kFiles; ++i)
    left += Exists(w_ + "/t/" + std::to_string(i) + "/.envrc") ? 1 : 0;
  EXPECT_EQ(left, 0);
  EXPECT_TRUE(ran.outcome.sweep_complete) << ran.outcome.sweep_end;
  EXPECT_EQ(ran.outcome.violations.size(), size_t{kFiles});
}

TEST_P(ProtectedPathsVerify, NamesOfABareRepositoryHideNothing) {
  ASSERT_EQ(Outside("mkdir pkg && git init -q nest && mkdir hooks"), "");
  Write(w_ + "/hooks/use-state.js", "mine\n");
  for (const char* made :
       {"touch HEAD objects refs", "mkdir objects refs; touch HEAD",
        "mkdir objects refs; echo ref: refs/heads/m > HEAD",
        "cp -r nest/.git/{HEAD,objects,refs} ."}) {
    const std::string line =
        std::string(made) +
        "; mkdir -p pkg/.claude pkg/.vscode; touch pkg/.envrc pkg/.mcp.json "
        "pkg/.claude/settings.json pkg/.vscode/tasks.json "
        "nest/.git/hooks/pre-commit; " +
        kEvil + "nest/.git/config";
    ExpectTaken(line,
                {"pkg/.envrc", "pkg/.mcp.json", "pkg/.claude/settings.json",
                 "pkg/.vscode/tasks.json", "nest/.git/hooks/pre-commit"});
    ExpectHarmless("nest/.git/config", line);
    Outside("rm -rf HEAD objects refs");
  }
}

TEST_P(ProtectedPathsVerify, OnlyARepositoryKeepsNamesAndOnlyWhatItTracks) {
  const std::string copy = "cp -r pkg p2; rm -rf pkg; mv p2 pkg; ";
  const std::string write =
      "; mkdir -p pkg/.claude pkg/.vscode; touch pkg/.envrc pkg/.mcp.json "
      "pkg/.claude/settings.json pkg/.vscode/tasks.json";
  for (const char* made :
       {"mkdir pkg/.git", "mkdir -p pkg/.git/objects pkg/.git/refs",
        "mkdir -p pkg/.git/objects pkg/.git/refs; touch pkg/.git/HEAD",
        "echo gitdir: /modules/ > pkg/.git",
        "mkdir -p x/modules/m; echo gitdir: ../x/modules/m > pkg/.git",
        "git init -q pkg"}) {
    ASSERT_EQ(Outside("mkdir pkg && echo 1 > pkg/a"), "");
    ExpectTaken(copy + made + write,
                {"pkg/.envrc", "pkg/.mcp.json", "pkg/.claude/settings.json",
                 "pkg/.vscode/tasks.json"});
    Outside("rm -rf pkg x");
  }
}

TEST_P(ProtectedPathsVerify, ACloneKeepsWhatItBringsAndLinksInIt) {
  ASSERT_EQ(Outside("mkdir ../o && cd ../o && git init -q . && mkdir -p "
                    ".vscode .claude s && echo x > .envrc && echo '{}' > "
                    ".vscode/tasks.json && echo '{}' > s/c.json && ln -s "
                    "../s/c.json .claude/settings.json && ln -s s/c.json "
                    ".mcp.json && git add -A && git commit -qm 1"),
            "");
  const Ran ran = Bash("git clone -q \"$W/../o\" c");
  for (const Violation& violation : ran.outcome.violations)
    ADD_FAILURE() << std::string(Name(violation.kind)) << ": "
                  << violation.detail;
  EXPECT_TRUE(ran.outcome.sweep_complete);
  for (const char* name : {"c/.envrc", "c/.vscode/tasks.json", "c/.mcp.json",
                           "c/.claude/settings.json"})
    EXPECT_TRUE(Exists(w_ + "/" + name)) << name;
  ExpectTaken("git clone -q \"$W/../o\" d; echo y > d/.envrc", {"d/.envrc"});
}

TEST_P(ProtectedPathsVerify, ClosedDirectoriesAreOpenedAndClosedAgain) {
  ASSERT_EQ(Outside("git init -q sub && mkdir a v"), "");
  for (const char* mode : {"0311", "0000", "0500"}) {
    const std::string close = std::string("; chmod ") + mode + " ";
    ExpectTaken("mkdir -p a/b; echo x > a/b/.envrc" + close + "a/b a",
                {"a/b/.envrc"});
    struct stat info = {};
    ASSERT_EQ(stat((w_ + "/a").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, std::stoul(mode, nullptr, 8));
    ExpectTaken("mkdir -p v/.vscode; echo x > v/.vscode/tasks.json" + close +
                    "v/.vscode",
                {"v/.vscode/tasks.json"});
    const std::string line =
        std::string("echo x > sub/.git/hooks/pre-commit; ") + kEvil +
        "sub/.git/config";
    ExpectTaken(line + close + "sub/.git/hooks sub/.git",
                {"sub/.git/hooks/pre-commit"});
    ExpectHarmless("sub/.git/config", mode);
    ASSERT_EQ(Outside("chmod -R u+rwx sub"), "");
    ExpectTaken(
        "rm -rf sub/.git/hooks; mkdir sub/.git/hooks; echo x > "
        "sub/.git/hooks/update" +
            close + "sub/.git/hooks",
        {"sub/.git/hooks/update"});
    ASSERT_EQ(Outside("chmod -R u+rwx a v sub"), "");
  }
}

TEST_P(ProtectedPathsVerify, WhatIsReadOnlyIsPutBackAllTheSame) {
  ASSERT_EQ(Outside("git init -q . && rm -rf .git/hooks"), "");
  ExpectTaken(std::string(kEvil) +
                  ".git/config; mkdir .git/hooks; echo x > "
                  ".git/hooks/pre-push; chmod 555 .git/hooks; chmod 444 "
                  ".git/config; chmod 555 .git",
              {".git/hooks/pre-push"});
  ExpectHarmless(".git/config", "");
  EXPECT_TRUE(Exists(w_ + "/.git/config"));
  ASSERT_EQ(Outside("chmod u+w .git"), "");
  ExpectTaken("echo x > .envrc; chmod 555 .", {".envrc"});
  ASSERT_EQ(Outside("chmod u+w ."), "");
}

TEST_P(ProtectedPathsVerify, WhatLiesInAGitDirectoryIsLookedAt) {
  ASSERT_EQ(Outside("git init -q x && cd x && echo 1 > f && git add f && git "
                    "commit -qm 1"),
            "");
  for (const char* place :
       {"x/.git/refs/inner", "x/.git/objects/in2", "x/.git/objects/ab",
        "x/.git/objects/pack", "x/.git/refs/heads/b", "x/.git/logs/l",
        "x/.git/anything/else"}) {
    const std::string at = place;
    const std::string line =
        "git init -q " + at + "; " + kEvil + at + "/.git/config; touch " + at +
        "/.git/hooks/pre-commit " + at + "/.mcp.json; ln -sfn " + at + " lib";
    ExpectTaken(line, {at + "/.git/hooks/pre-commit", at + "/.mcp.json"});
    ExpectHarmless(at + "/.git/config", line);
    // What an earlier run left harmless, a later one does not change.
    AwaitTick();
    ExpectTaken(std::string(kEvil) + at + "/.git/config", {});
    ExpectHarmless(at + "/.git/config", line);
  }
}

TEST_P(ProtectedPathsVerify,
       WhatLazygitObeysInARepositoryIsTakenUnlessItWasThere) {
  ASSERT_EQ(Outside("git init -q x && git init -q y && echo mine > "
                    "x/.git/lazygit.yml"),
            "");
  AwaitTick();
  EXPECT_TRUE(Bash("git -C x config user.name n").outcome.violations.empty());
  EXPECT_EQ(Read(w_ + "/x/.git/lazygit.yml"), "mine\n");
  ExpectTaken("echo evil > x/.git/lazygit.yml; echo evil > y/.git/lazygit.yml",
              {"y/.git/lazygit.yml"});
  EXPECT_EQ(Read(w_ + "/x/.git/lazygit.yml"), "mine\n") << "put back";
}

TEST_P(ProtectedPathsVerify, ADirectoryOfObjectsLeadsNowhereElse) {
  ASSERT_EQ(Outside("git init -q x && mkdir -p x/.git/objects/ab"), "");
  const std::string at = "x/.git/objects/ab/";
  Bash("cd " + at +
       "; echo ref: refs/heads/m > HEAD; ln -s .. objects; ln -s ../../refs "
       "refs; touch config .git");
  AwaitTick();
  Bash(std::string(kEvil) + at + "config");
  EXPECT_FALSE(Exists(w_ + "/" + at + "HEAD"));
  EXPECT_FALSE(Exists(w_ + "/" + at + ".git"));
  // Where refs lie, a name may be a remote's.
  const Ran ran = Bash(
      "mkdir -p x/.git/refs/remotes/ab; echo ref: refs/heads/m > "
      "x/.git/refs/remotes/ab/HEAD");
  EXPECT_TRUE(ran.outcome.violations.empty());
  EXPECT_TRUE(Exists(w_ + "/x/.git/refs/remotes/ab/HEAD"));
}

TEST_P(ProtectedPathsVerify, PathsLongerThanThePathLimitAreLookedAt) {
  const std::string name(200, 'd');
  const Ran ran = Bash("for i in {1..24}; do mkdir " + name + "; cd " + name +
                       "; done; echo x > .envrc; git init -q r; cd r; echo x "
                       "> .git/hooks/pre-push");
  EXPECT_EQ(Outside("find . -name .envrc -o -name pre-push"), "");
  EXPECT_FALSE(ran.outcome.violations.empty());
  Outside("rm -rf " + name);
}

TEST_P(ProtectedPathsVerify, ALinkOnTheWayToANameIsTaken) {
  ASSERT_EQ(Outside("mkdir -p sub/.config sub/.jj e"), "");
  ExpectTaken(
      "echo x > e/config; ln -s ../../e sub/.config/git; ln -s ../../e "
      "sub/.jj/repo",
      {"sub/.config/git", "sub/.jj/repo"});
}

TEST_P(ProtectedPathsVerify, WhatGitDoesInARepositoryLeavesItsHooksAlone) {
  const std::string hook = w_ + "/sub/.git/hooks/pre-push";
  ASSERT_EQ(Outside("git init -q other && git -C other commit -q --allow-empty "
                    "-m b && git init -q sub && cd sub && echo 1 > f && git "
                    "add f && git commit -qm 1 && echo 2 > f && echo mine > "
                    ".git/hooks/pre-push"),
            "");
  for (const char* line :
       {"git remote add up ../other && git fetch -q up", "git stash -q",
        "git switch -q -c new && git stash pop -q && git stash -q"}) {
    AwaitTick();
    const Ran ran = Bash("cd sub && " + std::string(line));
    EXPECT_EQ(ran.outcome.exit_code, 0) << line << ran.output;
    EXPECT_TRUE(ran.outcome.violations.empty()) << line;
    EXPECT_EQ(Read(hook), "mine\n") << line;
  }
}

// The last of them is the first that shows a git directory.
TEST_P(ProtectedPathsVerify, ManyRunsMakeNoGitDirectoryOfOlderHooks) {
  const std::string head = "echo ref: refs/heads/m > x/g/HEAD";
  const std::vector<std::vector<std::string>> ways = {
      {"mkdir x/g/refs", "mkdir x/g/objects", head},
      {"mkdir x/g/objects", head, "mkdir x/g/refs"},
      {head, "mv x/a x/g/objects", "mv x/b x/g/refs; mkdir x/g/refs/new"},
      {"touch x/g/description", head, "mv x/a x/g/objects",
       "mv x/b x/g/refs; mkdir x/g/refs/new"},
      {"mv x/g/hooks h", head, "mv h x/g/hooks; mv x/a x/g/objects",
       "mv x/b x/g/refs; mkdir x/g/refs/new"},
  };
  for (const std::vector<std::string>& way : ways) {
    Bash(
        "mkdir -p x/g/hooks x/a x/b; echo e > x/g/hooks/pre-commit; printf "
        "'[core]\\n\\tfsmonitor = ./e\\n' > x/g/config");
    for (const std::string& line : way) {
      AwaitTick();
      Bash(line);
    }
    EXPECT_TRUE(Exists(w_ + "/x/g/refs")) << way[0];
    EXPECT_FALSE(Exists(w_ + "/x/g/hooks/pre-commit")) << way[0];
    ExpectHarmless("x/g/config", way[0]);
    Outside("rm -rf x h");
  }
}

TEST_P(ProtectedPathsVerify, RenamesMakeNoGitDirectoryOfOlderParts) {
  ASSERT_EQ(Outside("mkdir -p x/g/hooks x/e/objects x/r x/h"), "");
  Bash(
      "ln -s ../r x/g/later; mkdir x/g/objects; echo ref: refs/heads/m > "
      "x/g/H; echo x > x/g/hooks/pre-commit; printf '[core]\\n\\tfsmonitor "
      "= ./e\\n' > x/g/config; cp x/g/config x/e/config; echo ref: "
      "refs/heads/m > x/h/HEAD; echo ../e > x/h/commondir");
  ASSERT_TRUE(Exists(w_ + "/x/g/hooks/pre-commit"));
  AwaitTick();
  Bash(
      "mv x/g/H x/g/HEAD; mv x/g/later x/g/refs; mv x/g x/.git; mkdir x/y "
      "x/e/refs; mv x/h "
      "x/y/.git");
  EXPECT_FALSE(Exists(w_ + "/x/.git/hooks/pre-commit"));
  ExpectHarmless("x/.git/config", "a link renamed to refs");
  ExpectHarmless("x/e/config", "an older commondir");
}

// The search goes through the workspace alone, but a file in it may lead git to
// another place that runs can write.
TEST_P(ProtectedPathsVerify,
       AGitDirectoryInACacheIsLookedAtWhereAFileLeadsToIt) {
  const std::string cache = base_ + "/cache", git = cache + "/e.git";
  const std::string make =
      "g=\"" + git +
      "\"; mkdir -p \"$g/objects\" \"$g/refs/heads\" \"$g/hooks\"; "
      "echo 'ref: refs/heads/main' > \"$g/HEAD\"; "
      "git config -f \"$g/config\" core.fsmonitor evil; "
      "echo evil > \"$g/hooks/pre-commit\"; ";
  const std::string lead = "mkdir -p d; echo 'gitdir: " + git + "' > d/.git; ";
  const struct {
    const char* name;
    std::vector<std::string> runs;
  } cases[] = {
      {"made before the file", {make, lead}},
      {"made after the file", {lead, make}},
      {"changed later", {lead + "mkdir -p '" + git + "'", make}},
      {"exchanged",
       {make + "mv \"$g\" \"$g.old\"", lead,
        "mv '" + git + ".old' '" + git + "'"}},
      {"behind a link",
       {make, "ln -s '" + cache +
                  "' way; mkdir d; echo \"gitdir: $W/way/e.git\" "
                  "> d/.git"}},
      {"up from behind a link",
       {make, "mkdir -p '" + cache + "/deep'; ln -s '" + cache +
                  "/deep' way; mkdir d; echo \"gitdir: $W/way/../e.git\" "
                  "> d/.git"}},
      {"up from behind a link, in this run",
       {"mkdir -p '" + cache + "/deep'; ln -s '" + cache +
        "/deep' way; mkdir d; echo \"gitdir: ../way/../e.git\" "
        "> d/.git; " +
        make}},
  };
  for (const auto& c : cases) {
    for (const std::string& left : {w_ + "/d", w_ + "/way", cache})
      std::filesystem::remove_all(left);
    MakeDirectory(cache);
    profile_.write = {w_, cache};
    for (const std::string& run : c.runs) {
      AwaitTick();
      Bash(run);
    }
    EXPECT_FALSE(Exists(git + "/hooks/pre-commit")) << c.name;
    EXPECT_EQ(Read(git + "/config").find("evil"), std::string::npos) << c.name;
  }
}

// The private /tmp has a name outside, which mountinfo tells.
TEST_P(ProtectedPathsVerify, NothingLeadsGitToThePrivateTmp) {
  profile_.state_dir = base_ + "/state";
  profile_.private_tmp = profile_.state_dir + "/sessions/s/tmp";
  MakeDirectory(profile_.state_dir);
  MakeDirectory(profile_.state_dir + "/sessions");
  MakeDirectory(profile_.state_dir + "/sessions/s");
  MakeDirectory(profile_.private_tmp);
  profile_.deny_read.push_back(profile_.state_dir);
  const std::string tmp = profile_.private_tmp + "/tmp";
  const std::string make =
      "mkdir -p /tmp/g; cd /tmp/g; git init -q .; git config core.fsmonitor "
      "evil; cd \"$W\"; mkdir -p d; ";
  const struct {
    const char* name;
    std::vector<std::string> runs;
  } cases[] = {
      {"a .git file", {make + "echo 'gitdir: " + tmp + "/g/.git' > d/.git"}},
      {"before there is anything",
       {"mkdir d; echo 'gitdir: " + tmp + "/n/.git' > d/.git"}},
      {"another session's",
       {"mkdir d; echo 'gitdir: " + profile_.state_dir +
        "/sessions/t/tmp/tmp/g' > d/.git"}},
      {"what was taken before",
       {"mkdir d; echo 'gitdir: " + profile_.state_dir +
        "/quarantine/x' > d/.git"}},
      {"up and down",
       {make + "echo 'gitdir: ../../state/sessions/s/tmp/tmp/g/.git' > "
               "d/.git"}},
      {"a link", {make + "ln -s '" + tmp + "/g/.git' d/.git"}},
      {"a file through a link",
       {make + "ln -s '" + tmp +
        "' way; echo 'gitdir: ../way/g/.git' > "
        "d/.git"}},
      {"a link on the way that comes later",
       {make + "mkdir -p way/g/.git; echo 'gitdir: ../way/g/.git' > d/.git",
        "rm -rf way; ln -s '" + tmp + "' way"}},
      {"a link of each process",
       {make + "echo 'gitdir: /proc/self/cwd/../state/sessions/s/tmp/tmp/g' > "
               "d/.git"}},
      {"commondir",
       {make + "mkdir d/.git; cp -r /tmp/g/.git/HEAD d/.git/; echo '" + tmp +
        "/g/.git' > d/.git/commondir"}},
  };
  for (const auto& c : cases) {
    for (const char* left : {"/d", "/way"})
      std::filesystem::remove_all(w_ + left);
    for (const std::string& run : c.runs) {
      AwaitTick();
      const Ran ran = Bash(run);
      ASSERT_NE(ran.outcome.status, OutcomeStatus::kSetupFailed)
          << ran.outcome.reason;
    }
    const bool file = std::string_view(c.name) != "commondir";
    EXPECT_FALSE(Exists(w_ + (file ? "/d/.git" : "/d/.git/commondir")))
        << c.name;
  }
}

TEST_P(ProtectedPathsVerify, AGitFileIsReadAsGitReadsIt) {
  ASSERT_EQ(Outside("mkdir -p sub two e"), "");
  ExpectTaken(
      "mkdir -p e/objects e/refs \"e/li\nne\"; { printf 'gitdir: ../e'; printf "
      "'\\n%.0s' {1..5000}; } > sub/.git; echo ref: refs/heads/m > e/HEAD; "
      "printf '[core]\\n\\tfsmonitor = ./e\\n' > e/config; { printf 'gitdir: "
      "../e'; head -c 2000000 /dev/zero | tr '\\0' '\\n'; } > two/.git",
      {"two/.git"});
  ExpectHarmless("e/config", "");
}

TEST(ProtectedPathsStamps, AWholeSecondCountsAsChanged) {
  const timespec start = {100, 500};
  EXPECT_TRUE(ProtectedPaths::IsSince({100, 500}, start));
  EXPECT_TRUE(ProtectedPaths::IsSince({101, 0}, start));
  EXPECT_TRUE(ProtectedPaths::IsSince({100, 0}, start)) << "whole seconds";
  EXPECT_FALSE(ProtectedPaths::IsSince({100, 499}, start));
  EXPECT_FALSE(ProtectedPaths::IsSince({99, 0}, start));
  EXPECT_FALSE(ProtectedPaths::IsSince({99, 999}, start));
}

// The kernel takes the mount away with the old file.
TEST_P(ProtectedPathsVerify, WhatWasReplacedFromOutsideMeanwhileIsReported) {
  ASSERT_EQ(Outside("git init -q . && echo old > .envrc && mkdir .claude && "
                    "echo '{}' > .claude/settings.json && echo 1 > .mcp.json "
                    "&& git add -A && git commit -qm 1 && mkfifo began go"),
            "");
  struct Replaced {
    const char* line;
    std::vector<std::string> reported;
  };
  for (const Replaced& replaced : std::vector<Replaced>{
           {"echo mine > n && mv n .claude/settings.json", {"settings.json"}},
           {"echo mine > n && cat n > .envrc; echo 2 > other", {}},
           {"rm .mcp.json && git checkout -q -- .mcp.json", {}},
           {"rm .envrc && echo mine > .envrc", {".envrc"}}}) {
    const pid_t person = fork();
    ASSERT_GE(person, 0);
    if (person == 0) {
      Outside("read x < began");
      for (int ticks = 0; ticks < 8; ++ticks) AwaitTick();
      Outside(replaced.line + std::string("; echo > go"));
      _exit(0);
    }
    const Outcome outcome = Bash("echo > began; read x < go").outcome;
    EXPECT_EQ(waitpid(person, nullptr, 0), person);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.reason;
    EXPECT_EQ(outcome.violations.size(), replaced.reported.size())
        << replaced.line;
    for (size_t i = 0; i < outcome.violations.size(); ++i) {
      const std::string& detail = outcome.violations[i].detail;
      EXPECT_NE(detail.find("replaced from outside"), std::string::npos)
          << detail;
      EXPECT_NE(detail.find(replaced.reported[0]), std::string::npos) << detail;
    }
  }
  EXPECT_EQ(Read(w_ + "/.envrc"), "mine\n");
}

}  // namespace
}  // namespace gate::backends
