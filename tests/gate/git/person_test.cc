// An allowed line of git runs raw. The person's own configuration may make it
// run or quote what lies in the workspace: then the line is contained.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/machine.h"

namespace gate {
namespace {

using test::Machine;
using test::MakeRepository;

constexpr int kAllow = 0;

bool Allows(const Machine& machine, const std::string& line) {
  return machine.Gate({"check", "-c", line}).exit_code == kAllow;
}

TEST(GitPersonTest, ProgramsOfTheWorkspaceAreContained) {
  const Machine machine;
  MakeRepository(machine.project() + "/.git");
  for (const std::string& setting : std::vector<std::string>{
           // As `nbstripout --install --global` writes them.
           R"([filter "nb"] clean = "\"/usr/bin/python3\" -m nbstripout")",
           R"([diff "nb"] textconv = "\"/usr/bin/python3\" -m nbstripout -t")",
           R"([diff] external = tools/gitdiff)",
           R"([diff] external = ./gitdiff)",
           R"([diff "x"] command = bash tools/x.sh)",
           R"([diff "x"] textconv = "sh -c '. ./env; cat'")",
           R"([diff "x"] textconv = "f() { ./x \"$@\"; }; f")",
           R"([diff "x"] textconv = "`cat name`")",
           R"([diff "x"] textconv = "/usr/bin/env python3 -m x")",
           R"([diff "x"] textconv = "python3.11 -c 'import x'")",
           R"([diff "x"] textconv = "node -e 'require(\"x\")'")",
           R"([diff "x"] textconv = "perl -Ilib -MX -e 1")",
           R"([diff "x"] textconv = "cat \"$1\" | tools/x")",
           R"([diff "x"] textconv = npx prettier)",
           R"([diff "x"] textconv = "uv run x")",
           R"([diff "x"] textconv = bundle exec x)",
           R"([diff "x"] textconv = )" + machine.project() + "/x",
           R"([diff "x"] textconv = /tmp/x)",
           R"([filter "x"] smudge = .git_filters/rcs)",
           R"([filter "x"] process = python3 .git_filters/x.py)",
           R"([core] fsmonitor = .git/hooks/query-watchman)",
           R"([core] fsmonitor = ./fsm)",
           R"([core] pager = ./less)",
           R"([pager] log = "tools/x | less")",
           R"([gpg] program = tools/gpg)",
           R"([interactive] diffFilter = tools/x)",
           R"([hook "x"] command = tools/x)"}) {
    machine.Write(machine.home() + "/.gitconfig", setting + "\n");
    EXPECT_FALSE(Allows(machine, "git status")) << setting;
    EXPECT_FALSE(Allows(machine, "cd src; git -C .. log -p")) << setting;
  }
}

TEST(GitPersonTest, OrdinaryConfigurationsStayAllowed) {
  const Machine machine;
  MakeRepository(machine.project() + "/.git");
  machine.Write(machine.home() + "/bin/mine", "#!/bin/sh\n", 0755);
  for (const std::string setting :
       {R"([user] name = a
[core] editor = code --wait
  pager = delta
  excludesFile = ~/.gitignore
  attributesFile = ~/.gitattributes
  fsmonitor = true
[interactive] diffFilter = delta --color-only
[commit] gpgSign = true
[gpg] program = /usr/local/bin/gpg
[gpg "ssh"] allowedSignersFile = ~/.ssh/allowed_signers)",
        R"([filter "lfs"] clean = git-lfs clean -- %f
  smudge = git-lfs smudge -- %f
  process = git-lfs filter-process
  required = true)",
        R"([diff "jupyternotebook"] command = git-nbdiffdriver diff
[merge "jupyternotebook"] driver = git-nbmergedriver merge %O %A %B %L %P
[difftool "nbdime"] cmd = git-nbdifftool diff "$LOCAL" "$REMOTE")",
        R"([pager] log = diff-so-fancy | less --tabs=4 -RFX
  show = false)",
        R"([diff "x"] textconv = "sh -c 'unzip -c -a \"$0\"'")",
        R"([diff "x"] textconv = ~/bin/mine)",
        R"([diff "x"] textconv = python3 /usr/local/share/x.py)",
        R"([filter "x"] clean = "perl -pe 's/a/b/'"
  smudge = cat)",
        R"([merge "npm"] driver = npx npm-merge-driver merge %A %O %B %P)",
        R"([alias] x = !./x
[credential] helper = store
[mergetool "x"] cmd = ./x)",
        R"([url "git@h:"] insteadOf = https://h/)", ""}) {
    machine.Write(machine.home() + "/.gitconfig", setting + "\n");
    EXPECT_TRUE(Allows(machine, "git status")) << setting;
  }
}

TEST(GitPersonTest, HooksOfTheRepositoryAreContainedWhereGitRunsThem) {
  const Machine machine;
  MakeRepository(machine.project() + "/.git");
  machine.Write(machine.home() + "/.gitconfig",
                "[core]\nhooksPath = .githooks\n");
  machine.Write(machine.project() + "/src/a", "a");
  EXPECT_TRUE(Allows(machine, "git status"));
  // Not run by commands that only look.
  machine.Write(machine.project() + "/.githooks/pre-commit", "", 0755);
  EXPECT_TRUE(Allows(machine, "git status"));
  machine.Write(machine.project() + "/.githooks/post-index-change", "", 0755);
  EXPECT_FALSE(Allows(machine, "git status"));
  EXPECT_FALSE(Allows(machine, "cd src && git status"));
  machine.Write(machine.home() + "/.gitconfig", "[core]\nhooksPath = ~/h\n");
  EXPECT_TRUE(Allows(machine, "git status"));
  machine.Write(machine.home() + "/.gitconfig",
                "[core]\nhooksPath = ~/project/.githooks\n");
  EXPECT_FALSE(Allows(machine, "git status"));
}

TEST(GitPersonTest, AFileThatIsALinkIsNotQuoted) {
  const Machine machine;
  MakeRepository(machine.project() + "/.git");
  machine.Write(machine.home() + "/.netrc", "password x\n");
  for (const std::string setting :
       {"[blame]\nignoreRevsFile = .revs\n",
        "[blame]\nignoreRevsFile = :(optional).revs\n",
        "[blame]\nignoreRevsFile = ~/project/.revs\n",
        "[mailmap]\nfile = .revs\n", "[core]\nattributesFile = .revs\n"}) {
    const std::string file = machine.project() + "/.revs";
    machine.Write(machine.home() + "/.gitconfig", setting);
    EXPECT_TRUE(Allows(machine, "git blame f")) << setting;
    machine.Write(file, "# a list\n");
    EXPECT_TRUE(Allows(machine, "git blame f")) << setting;
    std::filesystem::remove(file);
    std::filesystem::create_symlink("../.netrc", file);
    EXPECT_FALSE(Allows(machine, "git blame f")) << setting;
    std::filesystem::remove(file);
  }
  machine.Write(machine.home() + "/.gitconfig",
                "[blame]\nignoreRevsFile = ../.netrc\n");
  EXPECT_FALSE(Allows(machine, "git blame f"));
}

TEST(GitPersonTest, GrepOutsideOfARepositoryIsContained) {
  const Machine machine;
  EXPECT_TRUE(Allows(machine, "git grep x"));
  machine.Write(machine.home() + "/.gitconfig", "[grep]\nfallbackToNoIndex\n");
  EXPECT_FALSE(Allows(machine, "git grep x"));
  MakeRepository(machine.project() + "/.git");
  EXPECT_TRUE(Allows(machine, "git grep x"));
}

TEST(GitPersonTest, EveryFileOfTheConfigurationCounts) {
  const std::string program = "[diff]\nexternal = ./x\n";
  Machine machine;
  MakeRepository(machine.project() + "/.git");
  const std::string home = machine.home();
  const std::string own = home + "/.gitconfig";
  const auto reset = [&] {
    for (const char* name : {"/.gitconfig", "/.config/git/config", "/more"})
      std::filesystem::remove(home + name);
    machine.environment.clear();
    EXPECT_TRUE(Allows(machine, "git status"));
  };
  reset();
  machine.Write(home + "/.config/git/config", program);
  EXPECT_FALSE(Allows(machine, "git status"));
  reset();
  machine.Write(home + "/more", program);
  machine.environment = {"GIT_CONFIG_GLOBAL=" + home + "/more"};
  EXPECT_FALSE(Allows(machine, "git status"));
  machine.environment = {"GIT_CONFIG_GLOBAL=/dev/null"};
  EXPECT_TRUE(Allows(machine, "git status"));
  for (const char* include :
       {"[include]\npath = more\n", "[include]\npath = ~/more\n",
        "[includeIf \"gitdir:~/project/\"]\npath = more\n"}) {
    reset();
    machine.Write(own, include);
    EXPECT_TRUE(Allows(machine, "git status")) << include;
    machine.Write(home + "/more", program);
    EXPECT_FALSE(Allows(machine, "git status")) << include;
  }
  // What sandboxed commands may write names anything, later.
  reset();
  machine.Write(own, "[include]\npath = ~/project/x\n");
  machine.Write(machine.project() + "/x", "[user]\nname = a\n");
  EXPECT_FALSE(Allows(machine, "git status"));
  // What git refuses, and what includes itself.
  machine.Write(own, "[core\n");
  EXPECT_FALSE(Allows(machine, "git status"));
  machine.Write(own, "[include]\npath = .gitconfig\n");
  EXPECT_FALSE(Allows(machine, "git status"));
  // A place that depends on how git was built, and one on its version.
  for (const char* include : {"[include]\npath = %(prefix)/etc/more\n",
                              "[include]\npath = mo\tre\n"}) {
    machine.Write(own, include);
    EXPECT_FALSE(Allows(machine, "git status")) << include;
  }
  // What stands beside the link counts, not what stands beside the file.
  reset();
  std::filesystem::create_directory(home + "/dots");
  machine.Write(home + "/dots/config", "[include]\npath = more\n");
  machine.Write(home + "/dots/more", program);
  std::filesystem::create_symlink("dots/config", own);
  EXPECT_TRUE(Allows(machine, "git status"));
  machine.Write(home + "/more", program);
  EXPECT_FALSE(Allows(machine, "git status"));
}

// The client's environment is that of the commands that it runs.
TEST(GitPersonTest, VariablesThatLeadGitElsewhereAreContained) {
  Machine machine;
  MakeRepository(machine.project() + "/.git");
  const auto allows = [&](const std::vector<std::string>& environment) {
    machine.environment = environment;
    return Allows(machine, "git status");
  };
  const std::string project = machine.project();
  for (const std::vector<std::string>& each :
       std::vector<std::vector<std::string>>{
           {"GIT_DIR=x"},
           {"GIT_DIR=.git"},
           {"GIT_DIR=/srv/x"},
           {"GIT_COMMON_DIR=x"},
           {"GIT_WORK_TREE=.."},
           {"GIT_INDEX_FILE=.git/index"},
           {"GIT_OBJECT_DIRECTORY=o"},
           {"GIT_ALTERNATE_OBJECT_DIRECTORIES=o"},
           {"GIT_SHALLOW_FILE=x"},
           {"GIT_GRAFT_FILE=x"},
           {"GIT_CONFIG_PARAMETERS='core.fsmonitor=./x'"},
           {"GIT_EXEC_PATH=bin"},
           {"GIT_EXEC_PATH=" + project + "/bin"},
           {"GIT_EXTERNAL_DIFF=./x"},
           {"GIT_EXTERNAL_DIFF=python3 -m x"},
           {"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor",
            "GIT_CONFIG_VALUE_0=./x"},
           {"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=CORE.FSMonitor",
            "GIT_CONFIG_VALUE_0=./x"},
           {"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=user.name",
            "GIT_CONFIG_VALUE_0=x", "GIT_CONFIG_KEY_1=diff.X.y.textConv",
            "GIT_CONFIG_VALUE_1=tools/x"},
           {"GIT_CONFIG_VALUE_0=.git/hooks", "GIT_CONFIG_KEY_0=diff.external",
            "GIT_CONFIG_COUNT=1"},
           {"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=Include.Path",
            "GIT_CONFIG_VALUE_0=" + project + "/x"},
           {"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=includeIf.gitdir:/.path",
            "GIT_CONFIG_VALUE_0=" + project + "/x"}})
    EXPECT_FALSE(allows(each)) << each[0];
  for (const std::vector<std::string>& each :
       std::vector<std::vector<std::string>>{
           {"GIT_EDITOR=true", "GIT_PAGER=cat"},
           {"GIT_TERMINAL_PROMPT=0"},
           {"GIT_OPTIONAL_LOCKS=0"},
           {"GIT_ASKPASS=/usr/bin/true", "GIT_SSH_COMMAND=ssh -oBatchMode=yes"},
           {"GIT_AUTHOR_NAME=a", "GIT_COMMITTER_EMAIL=b"},
           {"GIT_DIR=", "GIT_INDEX_FILE="},
           {"GIT_EXEC_PATH=/usr/lib/git-core"},
           {"GIT_EXTERNAL_DIFF=/usr/bin/diff"},
           {"GIT_CEILING_DIRECTORIES=/"},
           {"GIT_CONFIG_NOSYSTEM=1"},
           {"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory",
            "GIT_CONFIG_VALUE_0=*"},
           {"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor",
            "GIT_CONFIG_VALUE_0=true"},
           {"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=credential.helper",
            "GIT_CONFIG_VALUE_0=store"}})
    EXPECT_TRUE(allows(each)) << each[0];
}

}  // namespace
}  // namespace gate
