// Lines that the policy allows, where silence would not do: what the client is
// told to run instead, and what that then runs.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/json.h"
#include "hooks/plain_line.h"
#include "tests/support/hook_event.h"
#include "tests/support/machine.h"

namespace gate {
namespace {

using test::BashEvent;
using test::Done;
using test::Machine;

// What the client runs after the hook: the line itself after silence; nothing
// where it is refused.
std::string Line(const Machine& machine, const std::string& client,
                 const std::string& command, const std::string& cwd = "") {
  const Done done = machine.Gate(
      {"hook", client},
      BashEvent(cwd.empty() ? machine.project() : cwd, command), cwd);
  if (done.exit_code != 0) return "";
  if (done.out.empty()) return command;
  const auto json = ParseJson(done.out);
  if (!json || !test::RefusalIn(done).empty()) return "";
  return (*json)["hookSpecificOutput"]["updatedInput"].value("command", "");
}

bool HasTicket(const std::string& line) {
  return line.find(" run --ticket ") != std::string::npos;
}

std::string TicketIn(const std::string& line) {
  return line.substr(line.find(" --ticket ") + 10, 32);
}

// The client's shell would read another line than gate: what is allowed runs in
// a shell of gate's, in a locale that both read alike.
TEST(ClaudeTest, AnAllowedLineIsRewrittenWhereTheLocaleWouldChangeIt) {
  Machine machine;
  machine.Write(machine.project() + "/a", "1\n");
  EXPECT_EQ(Line(machine, "claude", "cat a"), "cat a");
  for (const char* variable :
       {"LC_ALL=zh_CN.GBK", "LANG=zh_TW.BIG5", "LC_CTYPE=ja_JP.SJIS",
        "LANG=zh_TW", "LANG=xx", "LOCPATH=/tmp", "LC_ALL=zh_CN.gb18030"}) {
    machine.environment = {variable};
    const std::string line = Line(machine, "claude", "cat a");
    EXPECT_TRUE(HasTicket(line)) << variable << ": " << line;
    EXPECT_EQ(machine.Run({"bash", "-c", line}).out, "1\n") << variable;
  }
  for (const char* variable :
       {"LC_ALL=C", "LANG=de_DE.UTF-8", "LC_CTYPE=fr_FR.ISO-8859-1",
        "LANG=", "LC_TIME=zh_CN.GBK", "LANG=en_US"}) {
    machine.environment = {variable};
    EXPECT_EQ(Line(machine, "claude", "cat a"), "cat a") << variable;
  }
}

TEST(CodexTest, AnAllowedLineIsRewrittenAndRunsAsItWouldHave) {
  const Machine machine;
  machine.Write(machine.project() + "/a", "1\n2\n");
  const struct {
    const char* command;
    int exit_code;
    const char* out;
    const char* err;
  } kRows[] = {
      {"cat a", 0, "1\n2\n", ""},
      {"cat", 0, "typed", ""},
      {"pwd; echo two >&2; (exit 7)", 7, "PROJECT\n", "two\n"},
      {"echo $BASH_VERSION | grep -c '^5'", 0, "1\n", ""},
      {"echo \"$0\"", 0, "/bin/bash\n", ""},
  };
  for (const auto& row : kRows) {
    const std::string line = Line(machine, "codex", row.command);
    ASSERT_TRUE(HasTicket(line)) << row.command << "\n" << line;
    const Done done = machine.Run({"/bin/bash", "-c", line}, "typed");
    EXPECT_EQ(done.exit_code, row.exit_code) << row.command << done.err;
    std::string out = row.out;
    if (out == "PROJECT\n") out = machine.project() + "\n";
    EXPECT_EQ(done.out, out) << row.command;
    EXPECT_EQ(done.err, row.err) << row.command;
  }
}

TEST(CodexTest, TheShellStandsInTheProcessThatTheClientStarted) {
  const Machine machine;
  const std::string line = Line(machine, "codex", "echo $$");
  ASSERT_TRUE(HasTicket(line)) << line;
  const Done done = machine.Run({"/bin/bash", "-c", "echo $$; exec " + line});
  const size_t end = done.out.find('\n');
  ASSERT_NE(end, std::string::npos) << done.out << done.err;
  EXPECT_EQ(done.out.substr(0, end + 1) + done.out.substr(0, end + 1),
            done.out);
}

TEST(CodexTest, ALineThatEndsBySignalDoesSoForTheClient) {
  const Machine machine;
  const std::string line = Line(machine, "codex", "kill -TERM $$");
  if (!HasTicket(line)) GTEST_SKIP() << "not allowed raw";
  EXPECT_EQ(machine.Run({"/bin/bash", "-c", "exec " + line}).exit_code,
            128 + 15);
}

// Codex's event does not say where its tool was told to run a line.
TEST(CodexTest, InAnotherDirectoryTheLineIsJudgedThere) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  const std::string fixture = machine.project() + "/tests/fixture";
  machine.Write(fixture + "/HEAD", "ref: refs/heads/master\n");
  machine.Write(fixture + "/objects/.keep", "");
  machine.Write(fixture + "/refs/.keep", "");
  machine.Write(fixture + "/config",
                "[core]\n\trepositoryformatversion = 0\n\tworktree = .\n"
                "\tfsmonitor = \"touch " +
                    machine.home() + "/ran; false\"\n");
  machine.Write(machine.home() + "/.aws/notes", "SECRET\n");
  machine.Write(machine.project() + "/src/notes", "plain\n");
  const auto run = [&](const std::string& command, const std::string& cwd) {
    const std::string line = Line(machine, "codex", command);
    EXPECT_TRUE(HasTicket(line)) << line;
    return machine.Run({"/bin/bash", "-c", line}, "", cwd);
  };
  const auto again = [](const std::string& cwd) {
    return "gate: judged again in " + cwd + "\n";
  };
  const Done status = run("git status", fixture);
  EXPECT_TRUE(status.err.starts_with(again(fixture))) << status.err;
  EXPECT_FALSE(machine.Exists(machine.home() + "/ran"));
  const Done secret = run("cat notes", machine.home() + "/.aws");
  EXPECT_EQ(secret.exit_code, 126) << secret.err;
  EXPECT_EQ(secret.out, "");
  EXPECT_NE(secret.err.find("gate approve "), std::string::npos);
  const Done plain = run("cat notes", machine.project() + "/src");
  EXPECT_EQ(plain.exit_code, 0);
  EXPECT_EQ(plain.out, "plain\n");
  EXPECT_EQ(plain.err, again(machine.project() + "/src"));
}

TEST(CodexTest, ALinkToTheSessionsDirectoryIsNoOtherDirectory) {
  const Machine machine;
  machine.Write(machine.project() + "/a", "1\n");
  const std::string link = machine.home() + "/link";
  std::filesystem::create_directory_symlink(machine.project(), link);
  const std::string line = Line(machine, "codex", "cat a", link);
  ASSERT_TRUE(HasTicket(line)) << line;
  const Done done = machine.Run({"/bin/bash", "-c", line}, "", link);
  EXPECT_EQ(done.out, "1\n");
  EXPECT_EQ(done.err, "");
}

TEST(CodexTest, ATicketOfAnAllowedLineOpensNothingElse) {
  const Machine machine;
  machine.Write(machine.project() + "/a", "1\n");
  machine.Write(machine.home() + "/.ssh/id_ed25519", "KEY\n");
  const std::string kSecret = "cat " + machine.home() + "/.ssh/id_ed25519";
  const auto ticket = [&] { return TicketIn(Line(machine, "codex", "cat a")); };
  const struct {
    const char* what;
    std::vector<std::string> flags;
    std::string command;
    std::string says;
  } kRows[] = {
      {"another command", {}, kSecret, "for something else"},
      {"another agent", {"--agent", "x"}, "cat a", "for something else"},
      {"another session", {"--session", "x"}, "cat a", "for something else"},
      {"another directory", {"--cwd", "/"}, "cat a", "judged again in /"},
  };
  for (const auto& row : kRows) {
    const std::string name = ticket();
    std::vector<std::string> words = {"run", "--ticket", name};
    words.insert(words.end(), row.flags.begin(), row.flags.end());
    words.insert(words.end(), {"-c", row.command});
    const Done done = machine.Gate(words);
    EXPECT_NE(done.err.find(row.says), std::string::npos)
        << row.what << done.err;
    EXPECT_EQ(done.out.find("KEY"), std::string::npos) << row.what;
    // It is used up all the same.
    const Done again = machine.Gate({"run", "--ticket", name, "-c", "cat a"});
    EXPECT_NE(again.err.find("ticket is not valid"), std::string::npos)
        << row.what << again.err;
  }
  const std::string before = ticket();
  machine.Write(machine.home() + "/.config/gate/rules.d/mine.json",
                R"({"schema": 1, "pack": "mine", "rules": [{"id": "mine.a",
          "action": "deny", "reason": "no", "match": {"prefix": ["cat", "a"]},
          "examples": {"match": ["cat a"], "no_match": ["cat b"]}}]})");
  const Done done = machine.Gate({"run", "--ticket", before, "-c", "cat a"});
  EXPECT_EQ(done.exit_code, 126);
  EXPECT_EQ(done.out, "");
  EXPECT_NE(done.err.find("the policy has changed"), std::string::npos)
      << done.err;
}

TEST(CodexTest, WhatTheCallerAsksForMakesAnAllowedLineStricter) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  machine.Write(machine.project() + "/a", "1\n");
  const struct {
    const char* option;
    const char* value;
    bool contained;
  } kRows[] = {{"--timeout", "60", false}, {"--profile", "read-only", true}};
  const auto contained = [&] {
    return test::Count(machine.Gate({"audit", "list", "--json"}).out,
                       "\"native\"");
  };
  for (const auto& row : kRows) {
    const std::string name = TicketIn(Line(machine, "codex", "cat a"));
    const size_t before = contained();
    const Done done = machine.Gate(
        {"run", "--ticket", name, row.option, row.value, "-c", "cat a"});
    EXPECT_EQ(done.out, "1\n") << row.option << done.err;
    EXPECT_EQ(contained() > before, row.contained) << row.option;
  }
}

// A venv, node_modules/.bin, direnv, a shell's start-up file: the shell of the
// client has variables that the hook did not see.
TEST(TicketTest, AnAllowedLineIsContainedWhereItsEnvironmentWouldContainIt) {
  Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  const std::string ran = machine.home() + "/ran";
  machine.Write(machine.project() + "/bin/ls",
                "#!/bin/sh\ntouch " + ran + "\nexit 0\n", 0755);
  machine.Write(machine.project() + "/cfg/git/config",
                "[core]\n\tfsmonitor = touch " + ran + ";false\n");
  machine.Write(machine.project() + "/cfg/.gitconfig",
                "[core]\n\tfsmonitor = touch " + ran + ";false\n");
  ASSERT_EQ(machine.Run({"git", "init", "-q", "."}).exit_code, 0);
  const struct {
    const char* client;
    const char* line;
    std::string variable;
    bool judged_again;
  } kRows[] = {
      {"claude", "ls *", "PATH=" + machine.project() + "/bin:/usr/bin:/bin",
       true},
      {"codex", "ls", "PATH=" + machine.project() + "/bin:/usr/bin:/bin", true},
      {"codex", "git status", "XDG_CONFIG_HOME=" + machine.project() + "/cfg",
       true},
      {"codex", "git status", "HOME=" + machine.project() + "/cfg", true},
      {"codex", "ls", "PATH=/bin:/usr/bin", false},
      {"codex", "ls", "OTHER=x", false},
  };
  for (const auto& row : kRows) {
    machine.environment = {"SHELL=/bin/zsh"};
    std::string line = Line(machine, row.client, row.line);
    ASSERT_TRUE(HasTicket(line)) << row.line << "\n" << line;
    // HOME is where gate's state is by itself; the hook line of `gate install`
    // names it.
    line.insert(line.find(" run --ticket"), " --state-dir " + machine.state());
    const Done done =
        machine.Run({"/usr/bin/env", row.variable, "/bin/bash", "-c", line});
    EXPECT_EQ(done.exit_code, 0) << row.variable << done.err;
    EXPECT_EQ(
        done.err.find("judged again in this environment") != std::string::npos,
        row.judged_again)
        << row.variable << done.err;
    EXPECT_FALSE(machine.Exists(ran)) << row.line << " " << row.variable;
    std::filesystem::remove(ran);
  }
}

TEST(CodexTest, AnAllowedLineRunsWithoutWhatMakesItMeanSomethingElse) {
  Machine machine;
  machine.Write(machine.project() + "/a", "1\n");
  machine.Write(machine.project() + "/start", "echo started\n");
  machine.environment = {"BASH_ENV=" + machine.project() + "/start",
                         "BASH_FUNC_cat%%=() { echo instead; }"};
  const std::string ticket = TicketIn(Line(machine, "codex", "cat a"));
  const Done done = machine.Gate({"run", "--ticket", ticket, "-c", "cat a"});
  EXPECT_EQ(done.out, "1\n") << done.err;
}

TEST(CodexTest, ThatAnAllowedLineRunsIsOnRecord) {
  const Machine machine;
  machine.Write(machine.project() + "/a", "1\n");
  const std::string line = Line(machine, "codex", "cat a");
  const auto unobserved = [&] {
    return test::Count(machine.Gate({"audit", "list", "--json"}).out,
                       "\"unobserved\"");
  };
  EXPECT_EQ(unobserved(), 0u);
  EXPECT_EQ(machine.Run({"/bin/bash", "-c", line}).exit_code, 0);
  EXPECT_EQ(unobserved(), 1u) << machine.Gate({"audit", "list", "--json"}).out;
}

TEST(InstallTest, SaysWhichOfTheClientsRulesWillNotMatch) {
  const Machine machine;
  const std::string settings = machine.home() + "/.claude/settings.json";
  const auto shown = [&](const char* rules) {
    machine.Write(settings, rules);
    return machine.Gate({"install", "--dry-run", "claude"}).out;
  };
  EXPECT_NE(shown(R"j({"permissions": {"deny": ["Bash(touch:*)"]}})j")
                .find("gate rules import claude " + settings),
            std::string::npos);
  EXPECT_EQ(shown(R"j({"permissions": {"deny": ["Read(x)"]}})j")
                .find("gate rules import"),
            std::string::npos);
}

std::string HereDocument(size_t lines) {
  std::string command = "cat > f.txt <<'X'\n";
  for (size_t i = 0; i < lines; ++i) command += "k: 'v'\n";
  return command + "X\n";
}

TEST(LengthTest, ALineThatQuotingMakesTooLongIsInItsTicketAlone) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  machine.Write(machine.project() + "/package.json", "{}");
  const struct {
    size_t lines;
    bool with_command;
  } kRows[] = {
      {10, true}, {2000, true}, {4000, false}, {8000, false}, {18000, false}};
  for (const char* client : {"codex", "claude"})
    for (const auto& row : kRows) {
      const std::string command = HereDocument(row.lines);
      const std::string line = Line(machine, client, command);
      ASSERT_TRUE(HasTicket(line)) << client << row.lines;
      EXPECT_EQ(line.find(" -c ") != std::string::npos, row.with_command)
          << client << row.lines;
      // As Claude Code hands it to a shell.
      std::string quoted = "eval '";
      for (const char c : line)
        quoted += c == '\'' ? "'\"'\"'" : std::string(1, c);
      const Done done = machine.Run({"/bin/bash", "-c", quoted + "'"});
      EXPECT_EQ(done.exit_code, 0) << client << row.lines << done.err;
      EXPECT_EQ(machine.Read(machine.project() + "/f.txt").size(),
                row.lines * 7);
      std::filesystem::remove(machine.project() + "/f.txt");
    }
}

TEST(LengthTest, WhatNoProgramCanBeGivenIsRefusedWithAWayOn) {
  const Machine machine;
  machine.Write(machine.project() + "/package.json", "{}");
  const Done done = machine.Gate(
      {"hook", "codex"}, BashEvent(machine.project(), HereDocument(20000)));
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_NE(done.err.find("with the tool that writes files"), std::string::npos)
      << done.err;
}

TEST(TicketTest, OneWithoutACommandRunsItsOwnOrNothing) {
  const Machine machine;
  machine.Write(machine.project() + "/a", "1\n");
  const std::string ticket = TicketIn(Line(machine, "codex", "cat a"));
  const Done done = machine.Gate({"run", "--ticket", ticket});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.out, "1\n");
  EXPECT_EQ(done.err, "");
  const Done again = machine.Gate({"run", "--ticket", ticket});
  EXPECT_EQ(again.exit_code, 126);
  EXPECT_EQ(again.out, "");
  EXPECT_NE(again.err.find("nothing runs"), std::string::npos) << again.err;
  EXPECT_EQ(machine.Gate({"sandbox", "--ticket", ticket}).exit_code, 64);
  // An agent that sends such a line has nothing judged.
  for (const char* client : {"codex", "claude"}) {
    const std::string fresh = TicketIn(Line(machine, "codex", "cat a"));
    EXPECT_EQ(
        Line(machine, client, test::GateBinary() + " run --ticket " + fresh),
        "");
  }
}

TEST(TicketTest, HoldsForTheDirectoryThatWasJudged) {
  const Machine machine;
  const std::string a = machine.project() + "/a", b = machine.project() + "/b";
  machine.Write(a + "/f", "a\n");
  machine.Write(b + "/f", "b\n");
  std::string ticket = TicketIn(Line(machine, "codex", "cat f", a));
  std::filesystem::rename(a, a + "_");
  std::filesystem::rename(b, a);
  Done done = machine.Gate({"run", "--ticket", ticket}, "", a);
  EXPECT_NE(done.err.find("judged again in " + a), std::string::npos)
      << done.err;
  // Called from elsewhere it runs where it was judged, nowhere else.
  ticket = TicketIn(Line(machine, "codex", "cat f", a));
  done = machine.Gate({"run", "--ticket", ticket, "--cwd", a}, "", a + "_");
  EXPECT_EQ(done.out, "b\n") << done.err;
}

// What is judged is what bash does; the client's shell may be another.
TEST(ShellTest, ALineThatOtherShellsReadOtherwiseRunsInBash) {
  const char* const kLines[] = {"path=$PWD/bin; git status",
                                "for path in bin; do git log; done",
                                "READNULLCMD=./evil; < README",
                                "x=README; cat $x:r",
                                "export A=1",
                                "cd src && export A=1",
                                "echo 'a\\nb'",
                                "ls *"};
  const char* const kShells[] = {"SHELL=/usr/bin/zsh",
                                 "SHELL=/usr/bin/fish",
                                 "SHELL=/bin/sh",
                                 "SHELL=/bin/dash",
                                 "SHELL=",
                                 "OTHER=x"};
  Machine machine;
  machine.Write(machine.project() + "/src/a", "1\n");
  machine.Write(machine.project() + "/bin/a", "1\n");
  machine.Write(machine.project() + "/README", "1\n");
  for (const char* shell : kShells) {
    machine.environment = {shell};
    for (const char* line : kLines) {
      const std::string runs = Line(machine, "claude", line);
      EXPECT_TRUE(HasTicket(runs)) << shell << " " << line << "\n" << runs;
    }
    for (const char* line : {"ls -la", "git status", "cat README | wc -l",
                             "cd src", "cd src && ls", "cd src && pwd; ls"})
      EXPECT_EQ(Line(machine, "claude", line), line) << shell;
  }
  machine.environment = {"SHELL=/opt/bin/bash"};
  for (const char* line : kLines)
    EXPECT_EQ(Line(machine, "claude", line), line);
  machine.environment = {"SHELL=/bin/bash", "CLAUDE_CODE_SHELL=/bin/zsh"};
  EXPECT_TRUE(HasTicket(Line(machine, "claude", "ls *")));
  machine.environment = {"SHELL=/bin/zsh", "CLAUDE_CODE_SHELL=/bin/bash"};
  EXPECT_TRUE(HasTicket(Line(machine, "claude", "ls *")));
}

TEST(ShellTest, WhatRunsInBashLeavesTheClientsPermissionsAlone) {
  Machine machine;
  machine.environment = {"SHELL=/usr/bin/zsh"};
  const Done done =
      machine.Gate({"hook", "claude"}, BashEvent(machine.project(), "ls *"));
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out.find("permissionDecision"), std::string::npos) << done.out;
}

TEST(ShellTest, APersonsYesCountsForWhatBashDoes) {
  Machine machine;
  machine.environment = {"SHELL=/usr/bin/zsh"};
  machine.Write(machine.home() + "/.config/gate/rules.d/mine.json",
                R"({"schema": 1, "pack": "mine", "rules": [
        {"id": "mine.echo", "action": "ask", "reason": "speaks",
         "match": {"prefix": ["date"]},
         "examples": {"match": ["date"], "no_match": ["echo"]}}]})");
  const Done done = machine.Gate(
      {"hook", "claude"}, BashEvent(machine.project(), "path=bin; date"));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_NE(done.out.find("\"ask\""), std::string::npos) << done.out;
  EXPECT_NE(done.out.find("run --ticket"), std::string::npos) << done.out;
}

// What silence leaves to the client's shell is the same there.
TEST(ShellTest, PlainLinesDoTheSameInOtherShells) {
  Machine machine;
  machine.Write(machine.project() + "/src/a b", "2\n1\n");
  machine.Write(machine.home() + "/c", "3\n");
  const char* const kLines[] = {
      "sort 'src/a b' | head -n1 && echo found || echo none",
      "cat < ~/c; cat nosuch 2> err || cat \"src/a b\" ~/c >> all 2>&1; cat "
      "all",
      "cd src && pwd; cd ../src; cat 'a b' | wc -l",
      "seq --separator=, 3; date --date='@0' +%s; seq 3 | grep -v '^2$' | cat",
      "echo -n \"it's \"'`x` $y !' a; echo 'ä ö' >&2; false; true | false",
      "git --version | cut -c1-11; : a > empty; wc -c empty; ls nosuch"};
  for (const char* shell : {"zsh", "fish"}) {
    if (machine.Run({shell, "-c", "true"}).exit_code != 0)
      GATE_SKIP_WITHOUT(shell) << "no " << shell;
    for (const char* line : kLines) {
      EXPECT_TRUE(hooks::MeansTheSameInEveryShell(line)) << line;
      Done done[2];
      for (const bool bash : {false, true}) {
        done[bash] = machine.Run({bash ? "bash" : shell, "-c", line});
        std::filesystem::remove(machine.project() + "/all");
      }
      EXPECT_EQ(done[0].out, done[1].out) << shell << ": " << line;
      EXPECT_EQ(done[0].exit_code, done[1].exit_code) << shell << ": " << line;
    }
  }
}

TEST(ShellTest, ZshRunsTheRewrittenLineAsItWasJudged) {
  Machine machine;
  if (machine.Run({"zsh", "-c", "true"}).exit_code != 0)
    GATE_SKIP_WITHOUT("zsh") << "no zsh here";
  machine.environment = {"SHELL=/usr/bin/zsh"};
  machine.Write(machine.project() + "/bin/git", "#!/bin/sh\n: > ../ran\n",
                0755);
  machine.Write(machine.project() + "/evil", "#!/bin/sh\n: > ran\n", 0755);
  for (const char* line :
       {"path=$PWD/bin; git status", "for path in bin; do git log; done",
        "READNULLCMD=./evil; < README"}) {
    const std::string runs = Line(machine, "claude", line);
    ASSERT_TRUE(HasTicket(runs)) << line;
    (void)machine.Run({"zsh", "-c", runs});
  }
  EXPECT_FALSE(machine.Exists(machine.project() + "/ran"));
  EXPECT_FALSE(machine.Exists(machine.home() + "/ran"));
}

}  // namespace
}  // namespace gate
