// A yes to places: the sandbox, and what was named beside the workspace.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "approvals/approvals.h"
#include "approvals/standing_approvals.h"
#include "facts/process_facts.h"
#include "tests/gate/approvals/answers.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using engine::GrantKind;
using test::Done;
using test::Machine;

// A home in which `touch` is asked as a rule says it.
class Home : public Machine {
 public:
  explicit Home(const std::string& opens) {
    Write(home() + "/.config/gate/rules.d/a.json",
          R"({"schema": 1, "pack": "p", "rules": [{"id": "p.a",
      "action": "ask", "yes": "places", "reason": "r", "opens": )" +
              opens + R"(, "match": {"program": ["touch", "cp", "mkdir"]}}]})",
          0600);
  }
};

nlohmann::json Grants(const Machine& machine, const std::string& line) {
  return nlohmann::json::parse(
      machine.Gate({"check", "--json", "-c", line}).out)["grants"];
}

// Asks `line`, says yes as far as `in_sandbox` goes, and runs it again.
Done RunTheYes(const Machine& machine, const std::string& line,
               bool in_sandbox = false) {
  const Done asked = machine.Gate({"run", "-c", line});
  EXPECT_EQ(asked.exit_code, 126) << asked.err;
  const PendingQuestion question = WaitingQuestion(machine);
  EXPECT_EQ(question.grant, GrantKind::kPlaces) << line << asked.err;
  EXPECT_TRUE(Approve(machine.state(), question.id, NowMs(), in_sandbox));
  return machine.Gate({"run", "-c", line});
}

TEST(OpenedPlacesTest, AYesOpensThePlacesThatItNamesAndNoOthers) {
  const Home machine(R"(["$HOME/tools/bin/", "$HOME/tools/list.txt"])");
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  const std::string tools = machine.home() + "/tools";
  const std::string line = "touch ~/tools/bin/x ~/tools/list.txt";
  const auto grants = Grants(machine, line);
  EXPECT_EQ(grants["kind"], "places");
  EXPECT_EQ(grants["places"].size(), 2u) << grants;
  EXPECT_FALSE(machine.Exists(tools)) << "made before the yes";
  Done done = RunTheYes(machine, line);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_TRUE(machine.Exists(tools + "/bin/x"));
  // The rest of the home stays as it is, and so does the next line.
  for (const char* other : {"touch ~/tools/other", "touch ~/x"}) {
    done = RunTheYes(machine, other);
    EXPECT_NE(done.exit_code, 0) << other;
  }
  EXPECT_FALSE(machine.Exists(tools + "/other"));
  EXPECT_EQ(machine.Gate({"run", "-c", line}).exit_code, 126) << "used once";
}

TEST(OpenedPlacesTest, TheQuestionAndTheRecordNameThem) {
  const Home machine(R"("$HOME/tools/bin/")");
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  const std::string line = "touch ~/tools/bin/x";
  machine.Gate({"run", "-c", line});
  const PendingQuestion question = WaitingQuestion(machine);
  EXPECT_NE(question.runs.find("caches but ~/tools/bin; what it puts there"),
            std::string::npos)
      << question.runs;
  EXPECT_NE(question.runs.find("runs, or is loaded, later"), std::string::npos)
      << question.runs;
  ASSERT_TRUE(Approve(machine.state(), question.id, NowMs()));
  const Done done = machine.Gate({"run", "--json", "-c", line});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const size_t at = done.err.find("{\"schema\":\"gate.outcome/1\"");
  ASSERT_NE(at, std::string::npos) << done.err;
  const auto outcome =
      nlohmann::json::parse(done.err.substr(at, done.err.find('\n', at) - at));
  const Done log = machine.Gate(
      {"audit", "show", outcome["id"].get<std::string>(), "--json"});
  EXPECT_NE(log.out.find("/tools/bin/"), std::string::npos) << log.out;
}

TEST(OpenedPlacesTest, ThePersonMayChooseTheSandboxInstead) {
  const Home machine(R"("$HOME/tools/")");
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  const Done done = RunTheYes(machine, "touch ~/tools/x", /*in_sandbox=*/true);
  EXPECT_NE(done.exit_code, 0);
  EXPECT_FALSE(machine.Exists(machine.home() + "/tools"));
}

TEST(OpenedPlacesTest, WhatWasMadeForNothingGoesAgain) {
  const Home machine(R"(["$HOME/tools/deep/bin/", "$HOME/tools/list.txt"])");
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  const Done done = RunTheYes(machine, "touch --no-such-option ~/tools/x");
  EXPECT_NE(done.exit_code, 0);
  EXPECT_FALSE(machine.Exists(machine.home() + "/tools"));
}

TEST(OpenedPlacesTest, AYesHoldsForThePlaceThatWasThere) {
  for (const bool changed : {false, true}) {
    const Home machine(R"("$HOME/tools/")");
    if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
    const std::string line = "touch ~/tools/x";
    machine.Gate({"run", "-c", line});
    ASSERT_TRUE(Approve(machine.state(), WaitingQuestion(machine).id, NowMs()));
    std::filesystem::create_directories(machine.home() + "/elsewhere");
    if (changed) {
      ASSERT_EQ(::symlink("elsewhere", (machine.home() + "/tools").c_str()), 0);
    }
    EXPECT_EQ(machine.Gate({"run", "-c", line}).exit_code == 0, !changed);
    EXPECT_FALSE(machine.Exists(machine.home() + "/elsewhere/x"));
  }
}

TEST(OpenedPlacesTest, OnlyPlacesOfThePersonsHomeAreOpened) {
  const struct {
    const char* opens;
    const char* why;
  } kRows[] = {
      {R"("$HOME/../x/")", "not below the home"},
      {R"("$HOME/project/..")", "not below the home"},
      {R"("$HOME/link/x/")", "not below the home"},
      {R"("$HOME/.")", "not below the home"},
      {R"("$HOME/file/")", "not what it usually is"},
      {R"("$HOME/fifo")", "not what it usually is"},
      {R"("$HOME/twice")", "not what it usually is"},
      {R"("$HOME/project")", "holds the workspace"},
      {R"("$NODE_PREFIX/bin/")", "not below the home"},
      {R"("$WRITES")", "only known when it runs"},
  };
  for (const auto& row : kRows) {
    const Home machine(row.opens);
    const std::string home = machine.home() + "/";
    ASSERT_EQ(::symlink("/opt", (home + "link").c_str()), 0);
    machine.Write(home + "file", "x");
    machine.Write(home + "twice", "x");
    ASSERT_EQ(::link((home + "twice").c_str(), (home + "again").c_str()), 0);
    ASSERT_EQ(::mkfifo((home + "fifo").c_str(), 0600), 0);
    const auto grants = Grants(machine, "touch x");
    EXPECT_EQ(grants["kind"], "by-hand") << row.opens << grants;
    EXPECT_NE(grants["why"].get<std::string>().find(row.why), std::string::npos)
        << row.opens << grants;
  }
}

TEST(OpenedPlacesTest, NothingElseOfTheLineGetsAPlaceThatProgramsRunFrom) {
  const Home machine(R"("$HOME/tools/")");
  const struct {
    const char* line;
    const char* kind;
  } kRows[] = {
      {"touch ~/tools/x", "places"},
      {"cd sub; touch ~/tools/x", "places"},
      {"echo done && touch ~/tools/x", "places"},
      {"touch ~/tools/x | cat", "places"},
      {"touch ~/tools/x ~/tools/y && touch ~/tools/z", "places"},
      {"npm test && touch ~/tools/x", "by-hand"},
      {"touch ~/tools/x; ./install.sh", "by-hand"},
      {"make; touch ~/tools/x", "by-hand"},
      {"git reset --hard && touch ~/tools/x", "by-hand"},
      {"pip install git+https://example.org/x; touch ~/tools/x", "by-hand"},
      {"python3 -c 'print(1)' && touch ~/tools/x", "by-hand"},
      {"eval \"$X\"; touch ~/tools/x", "by-hand"},
      {"FOO=bar touch ~/tools/x", "by-hand"},
      {"PATH=.:$PATH touch ~/tools/x", "by-hand"},
      {"./touch ~/tools/x", "by-hand"},
      {"touch ~/tools/x &>/dev/null", "places"},
  };
  std::filesystem::create_directories(machine.project() + "/sub");
  for (const auto& row : kRows)
    EXPECT_EQ(Grants(machine, row.line)["kind"], row.kind)
        << row.line << Grants(machine, row.line);
}

// rustup's cargo and its like run what a file of the project says.
TEST(OpenedPlacesTest, AProgramThatNoFileOfTheProjectChoosesIsWhatItSays) {
  Machine machine;
  const std::string bin = machine.home() + "/.cargo/bin/";
  std::filesystem::create_directories(bin);
  std::filesystem::copy_file("/bin/true", bin + "rustup");
  ASSERT_EQ(::symlink("rustup", (bin + "cargo").c_str()), 0);
  machine.environment = {"PATH=" + bin + ":/usr/bin:/bin"};
  std::filesystem::create_directories(machine.project() + "/sub");
  const char* kLine = "cargo install ripgrep";
  const char* kBelow = "cd sub && cargo install ripgrep";
  EXPECT_EQ(Grants(machine, kLine)["kind"], "places") << Grants(machine, kLine);
  EXPECT_EQ(Grants(machine, kBelow)["kind"], "places");
  machine.Write(machine.project() + "/sub/rust-toolchain.toml", "");
  EXPECT_EQ(Grants(machine, kLine)["kind"], "places");
  EXPECT_EQ(Grants(machine, kBelow)["kind"], "by-hand");
  for (const char* name : {"rust-toolchain", ".tool-versions", "mise.toml",
                           "package.json", ".python-version"}) {
    machine.Write(machine.project() + "/" + name, "");
    EXPECT_EQ(Grants(machine, kLine)["kind"], "by-hand") << name;
    std::filesystem::remove(machine.project() + "/" + name);
  }
  // Without a sandbox it stays in doubt.
  ASSERT_EQ(::symlink("rustup", (bin + "twine").c_str()), 0);
  EXPECT_EQ(Grants(machine, "twine upload a.whl")["kind"], "by-hand");
}

TEST(OpenedPlacesTest, WhatALineMakesIsNewAndNoPlaceWhereProgramsLook) {
  const struct {
    const char* line;
    const char* kind;
  } kRows[] = {
      {"git clone https://example.org/a/b ../b", "places"},
      {"git clone https://example.org/a/b ~/b", "places"},
      {"cd .. && git clone https://example.org/a/b b", "places"},
      {"git clone https://example.org/a/b ~/empty", "places"},
      {"git clone https://example.org/a/b ../b && cd ../b && make", "places"},
      {"git worktree add ../b -b b", "places"},
      {"git worktree add -b b ~/trees/b", "by-hand"},  // nothing there yet
      {"git clone https://example.org/a/b ~/full", "by-hand"},
      {"git clone https://example.org/a/b ~/file", "by-hand"},
      {"git clone https://example.org/a/b ~/link", "by-hand"},
      // Of these another rule says more: a run without a sandbox, or none.
      {"git clone https://example.org/a/b ~/bin/x", "as-is"},
      {"git worktree add ~/.local/bin/x", "as-is"},
      {"git clone https://example.org/a/b ~/.ssh/x", "as-is"},
      {"git clone https://example.org/a/b ~/.oh-my-zsh", ""},
      {"git clone https://example.org/a/b ~/.config/nvim", ""},
      {"git clone https://example.org/a/b ~/.tmux/plugins/tpm", "by-hand"},
      {"git clone https://example.org/a/b ~/.vim", "by-hand"},
      {"git clone https://example.org/a/b ~/onpath/x", "by-hand"},
      {"git worktree add ~/onpath", "by-hand"},
      {"git worktree add \"$X\"", ""},
  };
  Machine machine;
  const std::string home = machine.home() + "/";
  machine.environment = {"PATH=" + home + "onpath:/usr/bin:/bin"};
  for (const char* name : {"empty", "full", "bin", "onpath", ".ssh", ".config",
                           ".local/bin", ".tmux/plugins"})
    std::filesystem::create_directories(home + name);
  machine.Write(home + "full/x", "");
  machine.Write(home + "file", "");
  ASSERT_EQ(::symlink("empty", (home + "link").c_str()), 0);
  for (const auto& row : kRows) {
    const auto grants = Grants(machine, row.line);
    EXPECT_EQ(grants.is_null() ? "" : grants["kind"], row.kind)
        << row.line << grants;
  }
}

TEST(OpenedPlacesTest, AWorktreeAndACloneBesideTheWorkspaceAreMade) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  const auto git = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"/usr/bin/git", "-c", "user.name=a", "-c",
                                 "user.email=a@example.org"});
    return machine.Run(words).exit_code;
  };
  ASSERT_EQ(git({"init", "-q", "."}), 0);
  ASSERT_EQ(git({"commit", "-q", "--allow-empty", "-m", "x"}), 0);
  Done done = RunTheYes(machine, "git worktree add ../tree -b topic");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_TRUE(machine.Exists(machine.home() + "/tree/.git"));
  done = RunTheYes(machine, "git clone . ../copy && touch ../copy/x");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_TRUE(machine.Exists(machine.home() + "/copy/.git/HEAD"));
  EXPECT_TRUE(machine.Exists(machine.home() + "/copy/x"));
  // Inside as ever.
  EXPECT_EQ(machine.Gate({"run", "-c", "git worktree add .trees/x"}).exit_code,
            0);
}

// As in the workspace: git there would run it without a sandbox.
TEST(OpenedPlacesTest, WhatALineMakesIsLookedThroughAfterIt) {
  const struct {
    const char* made;     // by git, at ../new
    const char* planted;  // by a script of the line
    const char* left;     // says nothing when that is gone
  } kRows[] = {
      {"clone", "printf '[core]\nfsmonitor=./x\n' >>.git/config",
       "grep fsmonitor .git/config"},
      {"clone", "printf '[alias]\nst=!./x\n' >>.git/config",
       "grep st= .git/config"},
      {"clone", "touch .git/hooks/pre-commit", "ls .git/hooks/pre-commit"},
      {"clone", "touch .git/lazygit.yml", "ls .git/lazygit.yml"},
      {"clone", "touch .envrc", "ls .envrc"},
      {"clone", "mkdir .vscode; touch .vscode/tasks.json", "ls .vscode"},
      {"clone", "mkdir -p a/b/.vscode; touch a/b/.vscode/tasks.json",
       "ls a/b/.vscode"},
      {"clone", "touch a.txt; mkdir a; touch a/.mcp.json", "ls a/.mcp.json"},
      {"clone",
       "git init -q sub; printf '[core]\npager=./x\n' >>sub/.git/config",
       "grep pager sub/.git/config"},
      {"clone", "git init -q sub; touch sub/.git/hooks/post-checkout",
       "ls sub/.git/hooks/post-checkout"},
      {"clone",
       "git init -q --bare b; printf '[core]\nfsmonitor=./x\n' >>b/config",
       "grep fsmonitor b/config"},
      {"clone", "ln -s b .git/modules; git init -q --bare b; touch b/hooks/p",
       "ls b/hooks/p"},
      {"clone", "mv .git g; echo gitdir: g >.git; touch g/hooks/update",
       "ls g/hooks/update"},
      {"worktree", "rm .git; git init -q; touch .git/hooks/update",
       "ls .git/hooks/update"},
      {"worktree",
       "rm .git; git init -q --bare e; echo gitdir: e >.git; "
       "printf '[core]\nfsmonitor=./x\n' >>e/config",
       "grep fsmonitor e/config"},
      {"worktree",
       "mkdir e; cp -r .git ../project/.git/refs ../project/.git/objects e; "
       "echo 'ref: refs/heads/main' >e/HEAD; "
       "printf '[core]\nfsmonitor=./x\n' >e/config; echo gitdir: e >.git",
       "grep fsmonitor e/config"},
      {"worktree", "touch .envrc", "ls .envrc"},
      {"worktree", "mkdir a; touch a/.envrc", "ls a/.envrc"},
      {"worktree", "ln -s /tmp/x .vscode", "readlink .vscode"},
      {"worktree", "rm .git; ln -s /tmp/x .git", "readlink .git"},
  };
  for (const auto& row : kRows) {
    const Machine machine;
    if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
    const auto outside = [&](const std::string& line) {
      return machine.Run({"/bin/sh", "-c", line});
    };
    ASSERT_EQ(outside("git init -q . && git -c user.name=a -c user.email=a "
                      "commit -q --allow-empty -m x")
                  .exit_code,
              0);
    machine.Write(machine.project() + "/plant.sh",
                  "cd ../new\n" + std::string(row.planted) + "\n");
    const std::string line = row.made == std::string("clone")
                                 ? "git clone -q . ../new"
                                 : "git worktree add ../new -b topic";
    const Done done = RunTheYes(machine, line + " && sh plant.sh");
    EXPECT_EQ(outside("cd ../new && " + std::string(row.left)).out, "")
        << row.planted << done.err;
    EXPECT_NE(done.err.find("gate: blocked "), std::string::npos)
        << row.planted << done.err;
  }
}

TEST(OpenedPlacesTest, WhatARepositoryBringsStaysInItsClone) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  const auto outside = [&](const std::string& line) {
    return machine.Run({"/bin/sh", "-c", line}).exit_code;
  };
  ASSERT_EQ(
      outside("git init -q . && mkdir -p .vscode a/.vscode src && "
              "echo {} >.vscode/settings.json && echo x >a/.vscode/tasks.json "
              "&& echo x >CLAUDE.md && echo x >.envrc && echo x >src/CLAUDE.md "
              "&& git add -f . && git -c user.name=a -c user.email=a commit "
              "-q -m x"),
      0);
  for (const char* line :
       {"git clone -q . ../one", "git clone -q . ../two && ls ../two",
        "git worktree add ../three -b three",
        "git worktree add ../four -b four && ls ../four"}) {
    const Done done = RunTheYes(machine, line);
    EXPECT_EQ(done.exit_code, 0) << line << done.err;
    EXPECT_EQ(done.err.find("gate: blocked"), std::string::npos)
        << line << done.err;
  }
  for (const char* name : {"one", "two", "three", "four"})
    EXPECT_EQ(outside("test -z \"$(git -C ../" + std::string(name) +
                      " status --porcelain)\""),
              0)
        << name;
}

TEST(OpenedPlacesTest, AVariableOfTheCallersMovesAPlace) {
  const struct {
    const char* variable;  // below the home, or absolute
    const char* line;
    const char* place;  // empty: no yes works
  } kRows[] = {
      {"", "go install ./...", "/go/bin/"},
      {"GOBIN=", "go install ./...", "/go/bin/"},
      {"GOBIN=~/tools", "go install ./...", "/tools/"},
      {"GOPATH=~/g", "go install ./...", "/g/bin/"},
      {"GOPATH=~/g:/opt/g", "go install ./...", "/g/bin/"},
      {"GOBIN=/usr/local/bin", "go install ./...", ""},
      {"GOBIN=tools", "go install ./...", ""},
      {"GOBIN=~", "go install ./...", ""},
      {"GOBIN=~/../x", "go install ./...", ""},
      {"GOBIN=~/link/x", "go install ./...", ""},
      {"GOBIN=~/project/..", "go install ./...", ""},
      {"CARGO_HOME=~/c", "cargo install x", "/c/bin/"},
      {"CARGO_INSTALL_ROOT=~/r", "cargo install x", "/r/bin/"},
      {"PYTHONUSERBASE=~/p", "pip install --user x", "/p/bin/"},
      {"PIPX_BIN_DIR=~/b", "pipx install x", "/b/"},
      {"PIPX_HOME=~/h", "pipx install x", "/h/"},
      {"PNPM_HOME=~/pn", "pnpm add -g x", "/pn/"},
      {"BUN_INSTALL=~/bu", "bun add -g x", "/bu/bin/"},
      {"RUSTUP_HOME=~/ru", "rustup component add clippy", "/ru/"},
      {"PYENV_ROOT=~/py", "pyenv install 3.12.4", "/py/"},
      {"NVM_DIR=~/nv", "nvm install 20", "/nv/"},
      {"COMPOSER_HOME=~/co", "composer global update", "/co/"},
  };
  Machine machine;
  const std::string bin = machine.root() + "/programs";
  std::filesystem::create_directories(bin);
  for (const char* name : {"go", "cargo", "pip", "pipx", "pnpm", "bun",
                           "rustup", "pyenv", "nvm", "composer"})
    std::filesystem::copy_file("/bin/true", bin + "/" + name);
  ASSERT_EQ(::symlink("/opt", (machine.home() + "/link").c_str()), 0);
  for (const auto& row : kRows) {
    machine.environment = {"PATH=" + bin + ":/usr/bin:/bin"};
    std::string variable = row.variable;
    for (size_t at; (at = variable.find('~')) != std::string::npos;)
      variable.replace(at, 1, machine.home());
    if (!variable.empty()) machine.environment.push_back(variable);
    const auto grants = Grants(machine, row.line);
    if (*row.place == '\0') {
      EXPECT_EQ(grants["kind"], "by-hand") << variable << grants;
      continue;
    }
    EXPECT_EQ(grants["kind"], "places") << variable << grants;
    EXPECT_NE(grants.dump().find(machine.home() + row.place + "\""),
              std::string::npos)
        << variable << grants;
  }
}

TEST(OpenedPlacesTest, OfSeveralPlacesTheOneThatIsThereIsOpened) {
  const Home machine(R"("$HOME/new/|$HOME/older/|$HOME/usual/")");
  const auto opened = [&] {
    return Grants(machine, "touch x")["places"][0].get<std::string>();
  };
  EXPECT_TRUE(opened().ends_with("/usual/")) << opened();
  std::filesystem::create_directories(machine.home() + "/older");
  EXPECT_TRUE(opened().ends_with("/older/")) << opened();
  const Home other(R"("$HOME/new/|/etc/")");
  EXPECT_EQ(Grants(other, "touch x")["kind"], "by-hand");
}

}  // namespace
}  // namespace gate::app
