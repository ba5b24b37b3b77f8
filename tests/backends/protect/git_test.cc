// What git may leave at protected names, and what it may not, whoever asks it.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "backends/protected_content.h"
#include "backends/protected_paths.h"
#include "base/hash.h"
#include "tests/support/sandbox_fixture.h"

namespace gate::backends {
namespace {

constexpr char kServers[] = "{\"mcpServers\":{}}\n";

class ProtectedPathsGit : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    profile_.protect_names = {
        ".npmrc",           ".vscode", ".mcp.json", ".claude/settings.json",
        ".claude/commands", ".bashrc", ".envrc"};
    profile_.git_only = true;
    ASSERT_EQ(Outside("git init -qb main . && mkdir -p p && echo 1 > f && echo "
                      "save-exact=true > .npmrc && cp .npmrc p/ && mkdir "
                      ".vscode .claude && echo '{\"editor.tabSize\": 2}' > "
                      ".vscode/settings.json && echo '{}' > "
                      ".claude/settings.json && git add -A && git commit -qm 1 "
                      "&& git branch topic"),
              "");
  }
  // `line` in the work tree of branch topic, committed there.
  void OnTopic(const std::string& line) {
    ASSERT_EQ(Outside("git checkout -q topic && " + line +
                      " && git add -A && git commit -qm t && git checkout -q "
                      "main"),
              "");
  }
  void ExpectQuiet(const Ran& ran) {
    EXPECT_EQ(ran.outcome.exit_code, 0) << ran.output;
    for (const Violation& violation : ran.outcome.violations)
      ADD_FAILURE() << std::string(Name(violation.kind)) << ": "
                    << violation.detail;
  }
};
INSTANTIATE_TEST_SUITE_P(All, ProtectedPathsGit, testing::ValuesIn(Everyone()),
                         WhoName);
INSTANTIATE_TEST_SUITE_P(Engines, ProtectedPathsGit,
                         testing::ValuesIn(Engines()), WhoName);

TEST_P(ProtectedPathsGit, ExchangesTrackedFilesThatOrderNothing) {
  OnTopic(
      "echo 'fund = false' >> .npmrc && cp .npmrc p/ && mkdir -p q/.vscode && "
      "echo '{\"search.exclude\":{}}' > q/.vscode/settings.json && echo "
      "'{\"editor.tabSize\": 4, \"[c]\":{\"editor.rulers\":[80]}}' > "
      ".vscode/settings.json && echo '{\"recommendations\":[\"a.b\"]}' > "
      ".vscode/extensions.json && echo 2 > f && echo x > p/.envrc && echo y > "
      ".bashrc");
  ExpectQuiet(Bash("git switch -q topic"));
  EXPECT_EQ(Outside("git status --porcelain; git branch --show-current"),
            "topic\n");
  EXPECT_TRUE(Exists(w_ + "/q/.vscode/settings.json"));
  EXPECT_TRUE(Exists(w_ + "/.bashrc"));
  ExpectQuiet(Bash("git switch -q main"));
  EXPECT_EQ(Outside("git status --porcelain"), "");
  EXPECT_FALSE(Exists(w_ + "/.vscode/extensions.json"));
  ExpectQuiet(
      Bash("git merge -q topic && git reset -q --hard HEAD~1 && git "
           "cherry-pick topic >/dev/null && git checkout -q -b other "
           "HEAD~1 && git checkout -q main"));
  EXPECT_EQ(Outside("git status --porcelain"), "");
  ASSERT_EQ(Outside("echo 'save = true' >> .npmrc"), "");
  ExpectQuiet(Bash("git stash -q && git stash pop -q"));
  EXPECT_NE(Read(w_ + "/.npmrc").find("save = true"), std::string::npos);
}

TEST_P(ProtectedPathsGit, PutsBackWhatOrders) {
  ASSERT_EQ(Outside("echo 'ignore-scripts=true' >> .npmrc; git commit -qam "
                    "2; git branch -f topic"),
            "");
  const std::string settings = Read(w_ + "/.claude/settings.json");
  OnTopic(std::string("echo '") + R"({"hooks":{"a":1}})" +
          "' > .claude/settings.json && mkdir -p .claude/commands && echo x > "
          ".claude/commands/c.md && echo '{}' > .mcp.json && cp .mcp.json p/ "
          "&& echo save-exact=true > .npmrc && echo 'script-shell=./x' > "
          "p/.npmrc && echo '{\"version\":\"2.0.0\"}' > .vscode/tasks.json && "
          "echo '{\"git.path\":\"./x\"}' > .vscode/settings.json");
  const Ran ran = Bash("git switch -q topic");
  EXPECT_EQ(ran.outcome.exit_code, 0) << ran.output;
  EXPECT_EQ(Outside("git branch --show-current"), "topic\n");
  EXPECT_EQ(Read(w_ + "/.claude/settings.json"), settings);
  EXPECT_EQ(Read(w_ + "/.vscode/settings.json"), "{\"editor.tabSize\": 2}\n");
  EXPECT_NE(Read(w_ + "/.npmrc").find("ignore-scripts"), std::string::npos);
  EXPECT_EQ(Read(w_ + "/p/.npmrc").find("script-shell"), std::string::npos);
  for (const char* name : {".mcp.json", "p/.mcp.json", ".claude/commands/c.md",
                           ".vscode/tasks.json"})
    EXPECT_FALSE(Exists(w_ + "/" + name)) << name;
  EXPECT_TRUE(HasViolation(ran.outcome, ViolationKind::kProtectedPath));
}

TEST_P(ProtectedPathsGit, RemovalLiftsNoGuard) {
  ASSERT_EQ(Outside(std::string("echo '") + kServers +
                    "' > .mcp.json; echo 'audit=true' >> .npmrc; git add -A; "
                    "git commit -qm 2; git branch -f topic"),
            "");
  OnTopic("git rm -q .mcp.json .npmrc .claude/settings.json p/.npmrc");
  Bash("git switch -q topic");
  EXPECT_FALSE(Exists(w_ + "/.mcp.json"));
  EXPECT_TRUE(Exists(w_ + "/.claude/settings.json"));
  EXPECT_NE(Read(w_ + "/.npmrc").find("audit"), std::string::npos);
}

TEST_P(ProtectedPathsGit, NoDetourLeavesMore) {
  ASSERT_EQ(Outside("echo 'audit=true' >> .npmrc; echo '{\"git.path\": \"g\"}' "
                    "> .vscode/settings.json"),
            "");
  const std::string npm = Read(w_ + "/.npmrc");
  const std::string editor = Read(w_ + "/.vscode/settings.json");
  const std::string agent = Read(w_ + "/.claude/settings.json");
  Write(x_ + "/settings.json", "{\"git.path\":\"evil\"}\n");
  for (const char* line :
       {"echo script-shell=x > .npmrc",
        "rm .npmrc; ln -s f .npmrc",
        "rm .npmrc; mkdir .npmrc",
        "rm .npmrc; mkfifo .npmrc",
        "ln .npmrc other",
        "cp .npmrc n; ln n m; mv -f n .npmrc",
        "printf 'save-exact=true\\rscript-shell=x\\n' > .npmrc",
        "printf 'save-exact=${HOME}\\n' > .npmrc",
        "echo ' script-shell = x' >> .npmrc",
        "echo '[a]' >> .npmrc",
        "mv .vscode v; mkdir v2; echo '{\"git.path\":\"x\"}' > "
        "v2/settings.json; ln -s v2 .vscode",
        "rm -r .vscode; ln -s \"$X\" .vscode",
        "rm -r .vscode; echo x > .vscode",
        "mkdir -p .vscode/a/b/c/d/e/f/g/h; echo x > "
        ".vscode/a/b/c/d/e/f/g/h/tasks.json",
        "echo '{\"git.path\": \"x\"}' > .vscode/settings.json",
        "echo '{\"editor.tabSize\": 2} x' > .vscode/settings.json",
        "mv .vscode/settings.json .vscode/Settings.json; echo "
        "'{\"git.path\":1}' > .vscode/Settings.json",
        "rm -r .claude; mkdir -p c; echo x > c/settings.json; ln -s c .claude",
        "rm -r .claude; echo x > .claude",
        "echo x > .claude/settings.json; git add -A; git commit -qm x; git "
        "checkout -q HEAD -- .claude",
        "for i in $(seq 100); do echo x > .vscode/$i.json; done"}) {
    const Ran ran = Bash(line);
    EXPECT_EQ(Read(w_ + "/.npmrc"), npm) << line;
    EXPECT_EQ(Read(w_ + "/.vscode/settings.json"), editor) << line;
    EXPECT_EQ(Read(w_ + "/.claude/settings.json"), agent) << line;
    struct stat info = {};
    ASSERT_EQ(lstat((w_ + "/.npmrc").c_str(), &info), 0) << line;
    EXPECT_TRUE(S_ISREG(info.st_mode) && info.st_nlink == 1) << line;
    ASSERT_EQ(lstat((w_ + "/.vscode").c_str(), &info), 0) << line;
    EXPECT_TRUE(S_ISDIR(info.st_mode)) << line;
    int others = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(w_ + "/.vscode"))
      others += entry.path().filename() != "settings.json" ? 1 : 0;
    EXPECT_EQ(others, 0) << line;
    EXPECT_EQ(Read(x_ + "/settings.json"), "{\"git.path\":\"evil\"}\n");
    std::error_code ignored;
    for (const char* left : {"v", "v2", "c", "n", "m", "other"})
      std::filesystem::remove_all(w_ + "/" + left, ignored);
  }
}

TEST_P(ProtectedPathsGit, ADirectoryThatBecomesALinkGivesItsFilesBack) {
  ASSERT_EQ(Outside("echo 'ignore-scripts=true' > p/.npmrc"), "");
  cwd_ = w_ + "/p";
  const Ran ran = Bash(
      "cd ..; mkdir e; echo 'script-shell=x' > e/.npmrc; mv p q; ln -s e p");
  EXPECT_EQ(Read(w_ + "/p/.npmrc"), "ignore-scripts=true\n") << ran.output;
  struct stat info = {};
  ASSERT_EQ(lstat((w_ + "/p").c_str(), &info), 0);
  EXPECT_TRUE(S_ISDIR(info.st_mode));
  EXPECT_TRUE(HasViolation(ran.outcome, ViolationKind::kProtectedPath));
}

TEST_P(ProtectedPathsGit, OnlyALineOfGitExchangesAnything) {
  profile_.git_only = false;
  OnTopic("echo 'fund=false' >> .npmrc; echo x > p/.bashrc");
  Bash("git switch -q topic; echo fund=false >> .npmrc");
  EXPECT_EQ(Read(w_ + "/.npmrc"), "save-exact=true\n");
  Bash("git checkout -q topic -- p");
  EXPECT_FALSE(Exists(w_ + "/p/.bashrc"));
}

TEST_P(ProtectedPathsGit, WhatIsObeyedElsewhereStaysOnlyAsCheckedOut) {
  OnTopic("echo x > p/.bashrc; echo x > p/.bash_profile; echo x > p/g");
  // Whatever the index is written as; one that gate cannot read tells nothing.
  for (const char* version : {"2", "4"}) {
    ASSERT_EQ(Outside("git reset -q --hard; git update-index --index-version " +
                      std::string(version)),
              "");
    Bash("git checkout -q topic -- p");
    EXPECT_TRUE(Exists(w_ + "/p/.bashrc")) << version;
    EXPECT_TRUE(Exists(w_ + "/p/.bash_profile")) << version;
  }
  ASSERT_EQ(Outside("git reset -q --hard; git update-index --split-index"), "");
  Bash("git checkout -q topic -- p; echo broken > .git/index");
  EXPECT_FALSE(Exists(w_ + "/p/.bashrc"));
  ASSERT_EQ(Outside("rm -f .git/index; git reset -q --hard"), "");
  Bash("git checkout -q topic -- p; echo more >> p/.bashrc");
  EXPECT_FALSE(Exists(w_ + "/p/.bashrc"));
  Bash("mkdir -p a; echo x > a/.bashrc");
  EXPECT_FALSE(Exists(w_ + "/a/.bashrc"));
  // One that is there is not exchanged.
  Write(w_ + "/.bashrc", "mine\n");
  ASSERT_EQ(Outside("git add -A; git commit -qm 3; git branch -f topic"), "");
  OnTopic("echo theirs > .bashrc");
  Bash("git switch -q topic");
  EXPECT_EQ(Read(w_ + "/.bashrc"), "mine\n");
}

TEST_P(ProtectedPathsGit, ALinkedWorktreeHoldsWhatTheWorkspaceHolds) {
  OnTopic(
      "echo '{\"hooks\":{}}' > .claude/settings.json; echo '{}' > "
      ".mcp.json");
  ExpectQuiet(Bash("git worktree add -q w1 -b same"));
  EXPECT_TRUE(Exists(w_ + "/w1/.claude/settings.json"));
  EXPECT_TRUE(Exists(w_ + "/w1/.npmrc"));
  Bash("git worktree add -q w2 topic");
  EXPECT_FALSE(Exists(w_ + "/w2/.claude/settings.json"));
  EXPECT_FALSE(Exists(w_ + "/w2/.mcp.json"));
  EXPECT_TRUE(Exists(w_ + "/w2/f"));
}

TEST_P(ProtectedPathsGit, ARepositoryInTheWorkspaceKeepsThePersonsPrograms) {
  ASSERT_EQ(Outside("git init -q sub && cd sub && git config filter.f.clean x "
                    "&& git config core.hooksPath .husky && git config "
                    "alias.l '!ls' && git init -q ../x/deep/er && cp "
                    ".git/config ../x/deep/er/.git/config"),
            "");
  for (const char* name : {"/sub", "/x/deep/er"}) {
    const std::string config = w_ + name + "/.git/config";
    const std::string before = Read(config);
    AwaitTick();
    const std::string in = "git -C ." + std::string(name) + " config ";
    EXPECT_TRUE(Bash(in + "branch.a.remote o").outcome.violations.empty());
    const std::string after = Read(config);
    EXPECT_TRUE(after.starts_with(before)) << after;
    EXPECT_NE(after.find("branch"), std::string::npos);
    AwaitTick();
    EXPECT_FALSE(Bash(in + "core.pager evil").outcome.violations.empty());
    EXPECT_EQ(Read(config), after);
    AwaitTick();
    Bash(in + "core.hooksPath evil");
    EXPECT_EQ(Read(config), after);
  }
}

TEST_P(ProtectedPathsGit, ASubmoduleKeepsItsFiles) {
  ASSERT_EQ(Outside("mkdir ../other && cd ../other && git init -q . && echo "
                    "'{}' > .mcp.json && git add -A && git commit -qm 1"),
            "");
  ExpectQuiet(
      Bash("git -c protocol.file.allow=always submodule --quiet add "
           "\"$W/../other\" sub && git commit -qm sub"));
  EXPECT_TRUE(Exists(w_ + "/sub/.mcp.json"));
}

TEST_P(ProtectedPathsGit, ARepositoryMadeAroundFilesDoesNotFreeTheirNames) {
  Bash("git init -q p; echo '{}' > p/.mcp.json");
  EXPECT_FALSE(Exists(w_ + "/p/.mcp.json"));
}

TEST_P(ProtectedPathsGit, WhatAPersonTrustedStays) {
  OnTopic(std::string("printf '") + "{}" + "' > .mcp.json");
  profile_.trusted[w_ + "/.mcp.json"] = Hex(Sha256("{}"));
  ExpectQuiet(Bash("git switch -q topic"));
  EXPECT_EQ(Read(w_ + "/.mcp.json"), "{}");
  Bash("git switch -q main; git switch -q topic; echo ' ' >> .mcp.json");
  EXPECT_NE(Read(w_ + "/.mcp.json"), "{} \n");
}

TEST_P(ProtectedPathsGit, WhatTheHomeDirectoryLinksToIsNotChanged) {
  MakeDirectory(w_ + "/dots");
  Write(w_ + "/dots/rc", "mine\n");
  ASSERT_EQ(Outside("ln -s \"$W/dots/rc\" \"$H/.bashrc\"; ln -s "
                    "\"$W/dots/none\" \"$H/.zshrc\"; ln -s \"$W/dots/fish\" "
                    "\"$H/.fish\"; mkdir dots/fish; echo a > "
                    "dots/fish/config"),
            "");
  profile_.alias_checked_paths = {h_ + "/.bashrc", h_ + "/.zshrc",
                                  h_ + "/.fish/config"};
  for (const bool git_only : {false, true}) {
    profile_.git_only = git_only;
    Bash(
        "echo x > dots/rc; echo x > dots/none; mv dots d2; mkdir dots; echo x "
        "> dots/rc; echo x > dots/fish/config");
    EXPECT_EQ(Read(h_ + "/.bashrc"), "mine\n");
    EXPECT_EQ(Read(h_ + "/.fish/config"), "a\n");
    EXPECT_FALSE(std::filesystem::exists(h_ + "/.zshrc"));
  }
}

TEST_P(ProtectedPathsGit,
       WhatIsNotThereYetBelowALinkOfTheHomeDirectoryIsNotMade) {
  // A directory that is a link, through another link, and a link to nothing.
  ASSERT_EQ(
      Outside("mkdir -p dot/claude dot/c real/d && ln -s \"$W/dot/claude\" "
              "\"$H/.claude\" && ln -s \"$W/via\" \"$H/.config\" && ln -s "
              "dot/c via && ln -s \"$W/later\" \"$H/.vim\" && echo old > "
              "dot/claude/old.json"),
      "");
  profile_.alias_checked_paths = {
      h_ + "/.claude/settings.json",    h_ + "/.claude/old.json",
      h_ + "/.claude/agents",           h_ + "/.config/git/config",
      h_ + "/.config/fish/config.fish", h_ + "/.vim/vimrc"};
  for (const bool git_only : {false, true}) {
    profile_.git_only = git_only;
    for (const char* line :
         {"echo evil > dot/claude/settings.json",
          "echo evil > dot/claude/old.json",
          "mkdir -p dot/claude/agents; echo evil > dot/claude/agents/a.md",
          "mv dot d; mkdir -p dot/claude; echo evil > dot/claude/settings.json",
          "mkdir -p dot/c/git dot/c/fish; echo '[core]' > dot/c/git/config; "
          "echo "
          "evil > dot/c/fish/config.fish",
          "mkdir -p real/d/git; echo '[core]' > real/d/git/config; ln -sfn "
          "real/d via",
          "mkdir later; echo evil > later/vimrc",
          "mkdir real/e; echo evil > real/e/vimrc; ln -s real/e later"}) {
      SCOPED_TRACE(line);
      Bash(line);
      EXPECT_EQ(
          Outside("cd \"$H\" && cat .claude/settings.json .claude/agents/* "
                  ".config/git/config .config/fish/config.fish "
                  ".vim/vimrc 2>/dev/null; cat .claude/old.json"),
          "old\n");
      Outside("[ -d d ] && rm -rf dot && mv d dot; rm -rf later real/e");
    }
  }
  // Ordinary work beside them goes on.
  Bash(
      "echo mine > dot/claude/notes; mkdir dot/c/app; echo mine > dot/c/app/x");
  EXPECT_EQ(Outside("cat dot/claude/notes dot/c/app/x"), "mine\nmine\n");
}

TEST_P(ProtectedPathsGit, HooksThatThePersonKeepsInRepositoriesArePutBack) {
  Write(h_ + "/.gitconfig", "[core]\n\thooksPath = .githooks\n");
  profile_.alias_checked_paths = {h_ + "/.gitconfig"};
  MakeDirectory(w_ + "/.githooks");
  Write(w_ + "/.githooks/pre-commit", "mine\n");
  Bash("echo x > .githooks/pre-commit; echo x > .githooks/post-merge");
  EXPECT_EQ(Read(w_ + "/.githooks/pre-commit"), "mine\n");
  EXPECT_FALSE(Exists(w_ + "/.githooks/post-merge"));
}

TEST(ProtectedContent, EveryUnknownEntryHasPower) {
  struct Row {
    const char *name, *content;
    int entries;  // -1: cannot be told
  };
  for (const Row& row : std::initializer_list<Row>{
           {".npmrc", "# c\n; c\n\nsave-exact=true\r\nfund = false\n", 0},
           {".npmrc", "save-exact", 0},
           {".NPMRC", "ignore-scripts=true\n", 1},
           {".npmrc", "registry=https://registry.npmjs.org/\n", 1},
           {".npmrc", "//r/:_authToken=${T}\nsave-prefix=${HOME}\n", 2},
           {".npmrc", "\"save-exact\"=true\n", 1},
           {".npmrc", "[save-exact]\n", 1},
           {".npmrc", "\xef\xbb\xbfsave-exact=true\n", 1},
           {".yarnrc", "# c\nsave-prefix \"~\"\n", 0},
           {".yarnrc", "yarn-path \"./x.js\"\n", 1},
           {".yarnrc", "; save-prefix\n", 1},
           {".vscode/settings.json", "{\"editor.tabSize\": 2, // c\n}", -1},
           {".vscode/settings.json", "{\"editor.tabSize\": 2 /* c */}", 0},
           {".vscode/settings.json", "{\"editor.tabSize\":1,\"a\":2}", 1},
           {".vscode/settings.json", "{\"editor\":{\"tabSize\":1}}", 1},
           {".vscode/settings.json", "{\"[c]\":{\"clangd.path\":\"x\"}}", 1},
           {".vscode/settings.json", "{\"chat.tools.autoApprove\":true}", 1},
           {".vscode/settings.json", "[]", -1},
           {".vscode/settings.json", "", -1},
           {".vscode/extensions.json", "{\"recommendations\":[]}", 0},
           {".vscode/extensions.json", "{\"x\":[]}", 1},
           {".vscode/tasks.json", "{}", -1},
           {".mcp.json", "{}", -1}}) {
    const auto entries = EntriesWithPower(row.name, row.content);
    EXPECT_EQ(entries ? static_cast<int>(entries->size()) : -1, row.entries)
        << row.name << ": " << row.content;
  }
}

TEST(ProtectedContent, PowerIsNeitherAddedNorTakenAway) {
  const std::string plain = "save-exact=true\n", more = plain + "fund=false\n",
                    guarded = "ignore-scripts=true\n" + plain, broken("\0", 1);
  EXPECT_TRUE(SamePower(".npmrc", nullptr, &plain));
  EXPECT_TRUE(SamePower(".npmrc", &plain, nullptr));
  EXPECT_TRUE(SamePower(".npmrc", &plain, &more));
  EXPECT_FALSE(SamePower(".npmrc", &guarded, &plain));
  EXPECT_FALSE(SamePower(".npmrc", &guarded, nullptr));
  EXPECT_FALSE(SamePower(".npmrc", &plain, &guarded));
  EXPECT_FALSE(SamePower(".npmrc", &plain, &broken));
  EXPECT_FALSE(SamePower(".mcp.json", &plain, &plain));
}

}  // namespace
}  // namespace gate::backends
