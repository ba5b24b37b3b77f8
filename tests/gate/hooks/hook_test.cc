// The hook as clients call it: real-shaped JSON in, exit code and text out.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/json.h"
#include "facts/process_facts.h"
#include "hooks/ticket.h"
#include "tests/support/hook_event.h"
#include "tests/support/machine.h"

namespace gate {
namespace {

using test::Done;
using test::Machine;
using test::RefusalIn;

std::string Claude(const Machine& machine, const std::string& command,
                   const std::string& mode = "default") {
  return Dump(
      {{"session_id", "s-1"},
       {"transcript_path", machine.home() + "/t.jsonl"},
       {"cwd", machine.project()},
       {"permission_mode", mode},
       {"hook_event_name", "PreToolUse"},
       {"tool_name", "Bash"},
       {"tool_input",
        {{"command", command}, {"description", "do it"}, {"timeout", 1000}}},
       {"tool_use_id", "toolu_1"}});
}

std::string Codex(const Machine& machine, const std::string& command) {
  return Dump({{"session_id", "s-1"},
               {"turn_id", "1"},
               {"transcript_path", nullptr},
               {"cwd", machine.project()},
               {"hook_event_name", "PreToolUse"},
               {"model", "m"},
               {"permission_mode", "bypassPermissions"},
               {"tool_name", "Bash"},
               {"tool_input", {{"command", command}}},
               {"tool_use_id", "call_0"}});
}

std::string Generic(const Machine& machine, const std::string& command) {
  return Dump({{"command", command}, {"cwd", machine.project()}});
}

// What the client that was asked takes as a refusal.
void ExpectRefused(const Done& done) {
  EXPECT_NE(RefusalIn(done), "") << done.exit_code << done.out << done.err;
}

TEST(HookTest, AllowIsSilence) {
  const Machine machine;
  const Done done = machine.Gate({"hook", "claude"}, Claude(machine, "ls"));
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "");
}

TEST(HookTest, DenyHasAReasonAsTheClientTakesIt) {
  const Machine machine;
  ExpectRefused(machine.Gate({"hook", "claude"}, Claude(machine, "rm -rf /")));
  ExpectRefused(machine.Gate({"hook", "codex"}, Codex(machine, "rm -rf /")));
  const Done done =
      machine.Gate({"hook", "generic"}, Generic(machine, "rm -rf /"));
  EXPECT_EQ(done.exit_code, 0);
  const auto json = ParseJson(done.out);
  ASSERT_TRUE(json) << done.out;
  EXPECT_EQ(json->value("decision", ""), "deny");
  EXPECT_FALSE(json->value("reason", "").empty());
}

TEST(HookTest, AnAnswerThatCannotBeWrittenIsARefusal) {
  const Machine machine;
  const std::vector<std::pair<std::string, std::string>> events = {
      {"generic", Generic(machine, "ls")},
      {"generic", Generic(machine, "rm -rf /")},
      {"claude", Claude(machine, "git push --force origin x")},
      {"claude", Claude(machine, "bash step.sh")},
      {"codex", Codex(machine, "bash step.sh")}};
  const struct {
    const char* before;
    const char* stream;
  } kStreams[] = {
      {"", ">/dev/full"},
      {"", ">&-"},
      {"", "1</dev/null"},
      // A pipe that nobody reads any more.
      {"mkfifo p; exec 4<>p 5>p; exec 4<&-; rm p; ", ">&5"},
  };
  for (const auto& [client, event] : events)
    for (const auto& row : kStreams) {
      const Done done = machine.Run(
          {"/bin/sh", "-c",
           std::string(row.before) + "exec \"$0\" hook \"$1\" " + row.stream,
           test::GateBinary(), client},
          event);
      ExpectRefused(done);
      EXPECT_NE(done.err.find("could not be written"), std::string::npos)
          << client << " " << event << " " << row.stream << done.err;
    }
  // Silence needs no stream.
  EXPECT_EQ(machine
                .Run({"/bin/sh", "-c", "exec \"$0\" hook claude >&-",
                      test::GateBinary()},
                     Claude(machine, "ls"))
                .exit_code,
            0);
}

TEST(HookTest, SandboxRewritesToATicketThatRunsOnce) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  machine.Write(machine.project() + "/package.json", "{}");
  machine.Write(machine.project() + "/step.sh",
                "touch made\ntouch ../escaped\nexit 7\n");
  const Done done =
      machine.Gate({"hook", "codex"}, Codex(machine, "bash step.sh"));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const auto json = ParseJson(done.out);
  ASSERT_TRUE(json) << done.out;
  const Json& answer = (*json)["hookSpecificOutput"];
  EXPECT_EQ(answer.value("permissionDecision", ""), "allow");
  const std::string line = answer["updatedInput"].value("command", "");
  EXPECT_NE(line.find(" run --ticket "), std::string::npos) << line;

  const Done first = machine.Run({"/bin/bash", "-c", line});
  EXPECT_EQ(first.exit_code, 7) << first.err;
  EXPECT_TRUE(machine.Exists(machine.project() + "/made"));
  EXPECT_FALSE(machine.Exists(machine.home() + "/escaped"));
  const Done again = machine.Run({"/bin/bash", "-c", line});
  EXPECT_NE(again.err.find("ticket is not valid"), std::string::npos)
      << again.err;
}

// Claude Code starts the next command where this one's shell ended.
TEST(HookTest, TheClientsShellGoesWhereTheLineEnds) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  const std::string project = machine.project();
  machine.Write(project + "/package.json", "{}");
  machine.Write(project + "/sub/deep/Makefile", "all:\n\tpwd > made\n");
  machine.Write(project + "/sub/Makefile", "all:\n\tpwd > made\n");
  machine.Write(project + "/Makefile", "all:\n\tpwd > made\n");
  for (const auto& [line, after] :
       std::vector<std::pair<std::string, std::string>>{
           {"cd sub && make", "/sub"},
           {"cd sub; make", "/sub"},
           {"cd sub && cd deep && make", "/sub/deep"},
           {"make; cd sub/deep", "/sub/deep"},
           {"(cd sub && make)", ""},
           {"cd sub && make && cd ..", ""},
           {"cd sub && make && cd - > /dev/null", ""},
           {"cd absent && make", ""},
           {"test -e x && cd sub; make", ""},
           {"make", ""}}) {
    const Done done = machine.Gate({"hook", "claude"}, Claude(machine, line));
    const auto json = ParseJson(done.out);
    ASSERT_TRUE(json) << line << done.out << done.err;
    const std::string command =
        (*json)["hookSpecificOutput"]["updatedInput"].value("command", "");
    const Done ran = machine.Run({"/bin/bash", "-c",
                                  "cd \"$0\"; eval \"$1\" > /dev/null; pwd -P",
                                  project, command});
    EXPECT_EQ(ran.out, project + after + "\n") << line << "\n" << command;
  }
  EXPECT_TRUE(machine.Exists(project + "/sub/made"));
  EXPECT_TRUE(machine.Exists(project + "/sub/deep/made"));
}

TEST(HookTest, WhatTheCallerAsksForIsJoinedWithATicketsPlan) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  machine.Write(machine.project() + "/package.json", "{}");
  machine.Write(machine.project() + "/step.sh",
                "cat /dev/null > made\n"
                "if [ -n \"$1\" ]; then read x < <(tail -f /dev/null); fi\n"
                "cat /proc/net/dev | grep -c :\n");
  const auto run = [&](const std::vector<std::string>& flags,
                       const std::string& command) {
    std::filesystem::remove(machine.project() + "/made");
    const Done hook =
        machine.Gate({"hook", "generic"}, Generic(machine, command));
    const auto json = ParseJson(hook.out);
    const std::string line = json ? json->value("command", "") : "";
    const size_t at = line.find("--ticket ");
    if (at == std::string::npos) return Done{-1, "", hook.out + hook.err};
    std::vector<std::string> words = {"run"};
    words.insert(words.end(), flags.begin(), flags.end());
    for (const std::string& word :
         {std::string("--ticket"), line.substr(at + 9, 32), std::string("-c"),
          command})
      words.push_back(word);
    return machine.Gate(words);
  };
  const struct {
    std::vector<std::string> flags;
    int exit_code;
    bool made;
    const char* says;
  } kRows[] = {
      {{}, 0, true, ""},
      {{"--timeout", "60"}, 0, true, ""},
      {{"--network", "open"}, 0, true, ""},
      {{"--profile", "workspace-write"}, 0, true, ""},
      {{"--profile", "read-only"}, 1, false, "Read-only file system"},
      {{"--profile", "full-access"}, 126, false, "not as strict"},
      {{"--backend", "native"}, 0, true, ""},
      {{"--backend", "nosuch"}, 64, false, "no backend is called `nosuch`"},
      {{"--backend", "none"}, 126, false, "`none`"},
      {{"--agent", "somebody"}, 0, true, "deciding afresh"},
  };
  for (const auto& row : kRows) {
    const Done done = run(row.flags, "bash step.sh && [ -e made ]");
    const std::string shown =
        (row.flags.empty() ? "" : row.flags[0] + " " + row.flags[1]) + "\n" +
        done.err;
    EXPECT_EQ(done.exit_code, row.exit_code) << shown;
    EXPECT_EQ(machine.Exists(machine.project() + "/made"), row.made) << shown;
    EXPECT_NE(done.err.find(row.says), std::string::npos) << shown;
  }
  EXPECT_EQ(run({"--timeout", "0.2"}, "bash step.sh wait").exit_code, 124);
}

// A network of its own has the loopback device alone.
TEST(HookTest, ATicketsNetworkIsOnlyEverLess) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  machine.Write(machine.home() + "/.config/gate/rules.d/mine.json",
                R"({"schema": 1, "pack": "mine", "rules": [{"id": "mine.net",
          "action": "sandbox", "reason": "fetches", "network": "open",
          "match": {"prefix": ["bash", "network.sh"]}}]})");
  machine.Write(machine.project() + "/network.sh",
                "readlink /proc/self/ns/net\n");
  const std::string outside =
      std::filesystem::read_symlink("/proc/self/ns/net").string() + "\n";
  for (const auto& [network, shared] :
       std::vector<std::pair<std::string, bool>>{
           {"loopback", false}, {"open", true}, {"none", false}}) {
    const Done hook =
        machine.Gate({"hook", "generic"}, Generic(machine, "bash network.sh"));
    const size_t at = hook.out.find("--ticket ");
    ASSERT_NE(at, std::string::npos) << hook.out << hook.err;
    const Done done =
        machine.Gate({"run", "--network", network, "--ticket",
                      hook.out.substr(at + 9, 32), "-c", "bash network.sh"});
    EXPECT_EQ(done.out == outside, shared) << network << done.out << done.err;
    EXPECT_EQ(done.exit_code, 0) << done.err;
  }
}

TEST(HookTest, AskWithoutAPersonIsRefusedWithTheWayOn) {
  const Machine machine;
  const Done done = machine.Gate({"hook", "codex"},
                                 Codex(machine, "git push --force origin x"));
  ExpectRefused(done);
  EXPECT_NE(done.err.find("gate approve "), std::string::npos) << done.err;
  EXPECT_NE(machine.Gate({"pending"}).out.find("git push --force origin x"),
            std::string::npos);
}

TEST(HookTest, AskUsesTheClientsOwnQuestionWhereItHasOne) {
  const Machine machine;
  const Done done = machine.Gate({"hook", "claude"},
                                 Claude(machine, "git push --force origin x"));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const auto json = ParseJson(done.out);
  ASSERT_TRUE(json) << done.out;
  EXPECT_EQ((*json)["hookSpecificOutput"].value("permissionDecision", ""),
            "ask");
  EXPECT_NE((*json)["hookSpecificOutput"]
                .value("permissionDecisionReason", "")
                .find("After a yes it runs as the person would run it"),
            std::string::npos)
      << done.out;
}

TEST(HookTest, InsideASandboxThatHoldsItsStateNothingRunsAndItSaysWhy) {
  const Machine machine;
  if (machine.Run({"bwrap", "--ro-bind", "/", "/", "true"}).exit_code != 0) {
    EXPECT_FALSE(test::MustWork("bwrap"));
    GTEST_SKIP() << "no bwrap works here";
  }
  for (const char* command : {"ls", "touch made"}) {
    const Done hook = machine.Gate({"hook", "codex"}, Codex(machine, command));
    const size_t at = hook.out.find("--ticket ");
    ASSERT_NE(at, std::string::npos) << hook.out << hook.err;
    const Done done = machine.Run({"bwrap", "--ro-bind", "/", "/", "--bind",
                                   machine.project(), machine.project(), "--",
                                   test::GateBinary(), "run", "--ticket",
                                   hook.out.substr(at + 9, 32), "-c", command});
    EXPECT_EQ(done.exit_code, 125) << done.out;
    EXPECT_EQ(done.out, "");
    EXPECT_NE(done.err.find("inside another sandbox"), std::string::npos)
        << done.err;
    EXPECT_EQ(test::Count(done.err, "\n"), 1u) << done.err;
    EXPECT_FALSE(machine.Exists(machine.project() + "/made"));
  }
}

TEST(HookTest, AQuestionWaitsAnHourAndAnythingElseTenMinutes) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  machine.Write(machine.project() + "/package.json", "{}");
  constexpr uint64_t kMinute = 60 * 1000;
  for (const auto& [command, minutes] :
       {std::pair{"git push --force origin x", 60}, std::pair{"make", 10}}) {
    for (const bool late : {false, true}) {
      const Done done =
          machine.Gate({"hook", "claude"}, Claude(machine, command));
      const size_t at = done.out.find("--ticket ");
      ASSERT_NE(at, std::string::npos) << done.out << done.err;
      const uint64_t when = app::NowMs() +
                            kMinute * (static_cast<uint64_t>(minutes) - 1) +
                            (late ? kMinute : 0);
      const auto ticket = hooks::RedeemTicket(
          machine.state(), done.out.substr(at + 9, 32), when);
      EXPECT_EQ(ticket.has_value(), !late) << command;
    }
  }
}

TEST(HookTest, InPlanModeAPersonConfirmsWhatCouldChangeTheWorkspace) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  machine.Write(machine.project() + "/package.json", "{}");
  machine.Write(machine.home() + "/.config/gate/rules.d/mine.json",
                R"({"schema": 1, "pack": "mine", "rules": [{"id": "mine.look",
          "action": "sandbox", "reason": "looks", "profile": "read-only",
          "match": {"prefix": ["bash", "look.sh"]},
          "examples": {"match": ["bash look.sh"], "no_match": ["bash"]}}]})");
  const struct {
    const char* command;
    const char* mode;
    const char* decision;
  } kRows[] = {
      {"touch made", "plan", "ask"},
      {"make", "plan", "ask"},
      {"bash look.sh", "plan", "allow"},
      {"ls", "plan", ""},
      {"touch made", "default", "allow"},
      {"touch made", "acceptEdits", "allow"},
      {"touch made", "bypassPermissions", "allow"},
  };
  for (const auto& row : kRows) {
    const Done done = machine.Gate({"hook", "claude"},
                                   Claude(machine, row.command, row.mode));
    ASSERT_EQ(done.exit_code, 0) << row.command << done.err;
    std::string decision;
    if (const auto json = ParseJson(done.out))
      decision = (*json)["hookSpecificOutput"].value("permissionDecision", "");
    EXPECT_EQ(decision, row.decision) << row.command << " " << row.mode;
    EXPECT_EQ(decision.empty(),
              done.out.find("run --ticket") == std::string::npos)
        << done.out;
  }
}

TEST(HookTest, ApproveRefusesWithoutAPersonsTerminal) {
  const Machine machine;
  const Done asked = machine.Gate({"hook", "codex"},
                                  Codex(machine, "git push --force origin x"));
  const size_t at = asked.err.find("gate approve ");
  ASSERT_NE(at, std::string::npos);
  const std::string id = asked.err.substr(at + 13, 36);
  EXPECT_EQ(machine.Gate({"approve", id}).exit_code, 126);
  // Not even when the agent itself asks for it.
  ExpectRefused(
      machine.Gate({"hook", "claude"},
                   Claude(machine, test::GateBinary() + " approve " + id)));
}

TEST(HookTest, NothingIsDecidedInADirectoryThatIsNone) {
  const Machine machine;
  machine.Write(machine.project() + "/file", "x");
  const auto at = [](std::string event, const std::string& from,
                     const std::string& to) {
    const size_t begin = event.find(Dump(from));
    return event.replace(begin, Dump(from).size(), Dump(to));
  };
  for (const std::string& place :
       {machine.root() + "/not-there", machine.project() + "/file",
        machine.project() + "/../not-there"}) {
    const auto refused = [&](const char* client, const std::string& event) {
      const Done done =
          machine.Gate({"hook", client}, at(event, machine.project(), place));
      EXPECT_NE(RefusalIn(done).find("working directory is gone"),
                std::string::npos)
          << done.out << done.err;
    };
    refused("claude", Claude(machine, "ls"));
    refused("codex", Codex(machine, "ls"));
    const Done generic =
        machine.Gate({"hook", "generic"},
                     at(Generic(machine, "ls"), machine.project(), place));
    EXPECT_NE(generic.out.find("\"decision\":\"deny\""), std::string::npos)
        << generic.out << generic.err;
    for (const char* way : {"check", "explain"}) {
      const Done done = machine.Gate({way, "--cwd", place, "ls"});
      EXPECT_EQ(done.exit_code, 64) << way << done.out;
      EXPECT_EQ(done.out, "") << way;
      EXPECT_NE(done.err.find("nothing is decided: " + place),
                std::string::npos)
          << done.err;
    }
  }
}

TEST(HookTest, BadInputIsRefused) {
  const Machine machine;
  const std::string good = Claude(machine, "ls");
  const std::string kInputs[] = {
      "",
      "{",
      "[]",
      "null",
      good.substr(0, good.size() / 2),
      good + good,
      "{\"tool_name\": \"Bash\", \"tool_input\": {}}",
      "{\"tool_name\": \"Bash\", \"tool_input\": {\"command\": 7}}",
      "{\"tool_name\": \"Bash\"}",
      std::string(2u << 20, ' ') + good,
      "{\"tool_name\": \"Bash\", \"tool_input\": {\"command\": \"ls\"}, "
      "\"tool_name\": \"Read\"}"};
  for (const char* client : {"claude", "codex", "generic"})
    for (const std::string& input : kInputs)
      ExpectRefused(machine.Gate({"hook", client}, input));
}

TEST(HookTest, AWrongLineOfAClientsIsARefusalWhereverItIsWrong) {
  const Machine machine;
  const std::string good = Claude(machine, "ls");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{
           {"hook"},
           {"hook", "nonsense"},
           {"hook", "claude", "more"},
           {"hook", "--quiet", "claude"},
           {"hook", "claude", "--quiet"},
           {"hook", "--config-dir", "/etc/gate", "claude"},
           {"--config-dir=/etc/gate", "hook", "claude"},
           {"--config_dir=/etc/gate", "hook", "claude"},
           {"--config_dir", "/etc/gate", "hook", "claude"},
           {"--quiet", "hook", "claude"},
           {"--", "hook", "claude"},
           {"--quiet", "check", "hook", "claude"},
           {"--config-dir", "hook", "claude"},
           {"--state-dir", "relative", "hook", "claude"},
           {"--state-dir", "run", "hook", "claude"},
           {"--config-dir", "relative", "hook", "claude"},
           {"--config-dir", "/not/there", "hook", "claude"},
           {"claude", "hook"},
           {"claude"},
           {"Hook", "claude"},
           {"hooks", "codex"},
           {"--quiet", "hooks", "generic"}}) {
    const Done done = machine.Gate(words, good);
    EXPECT_EQ(done.exit_code, 2) << words[0] << " " << words.back();
    EXPECT_EQ(done.out, "") << words[0] << " " << words.back();
    EXPECT_NE(done.err, "") << words[0] << " " << words.back();
  }
}

TEST(HookTest, OtherToolsAreNotGatesBusiness) {
  const Machine machine;
  const Done done = machine.Gate({"hook", "claude"},
                                 Dump({{"session_id", "s"},
                                       {"cwd", machine.project()},
                                       {"hook_event_name", "PreToolUse"},
                                       {"tool_name", "Read"},
                                       {"tool_input", {{"file_path", "/x"}}}}));
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.out + done.err, "");
}

// The client's own tool, asked to write `path`: why it may not, or nothing.
std::string WriteTool(const Machine& machine, const std::string& path) {
  const Done done =
      machine.Gate({"hook", "claude"},
                   test::ToolEvent(machine.project(), "Write",
                                   {{"file_path", path}, {"content", "x"}},
                                   "bypassPermissions"));
  EXPECT_EQ(RefusalIn(done).empty(), done.out + done.err == "") << done.out;
  return RefusalIn(done);
}

TEST(HookTest, FileToolsAreJudgedByWhatTheyWrite) {
  const Machine machine;
  machine.Write(machine.project() + "/package.json", "{}");
  const auto write = [&machine](const std::string& path) {
    return WriteTool(machine, path);
  };
  EXPECT_EQ(write(machine.project() + "/src/a.c"), "");
  for (const std::string& path :
       {machine.home() + "/.bashrc", machine.home() + "/.claude/settings.json",
        machine.project() + "/.git/hooks/pre-commit",
        machine.state() + "/audit.db",
        machine.home() + "/.config/gate/rules.d/x.json",
        machine.project() + "/../.bashrc"})
    EXPECT_NE(write(path), "") << path;
}

TEST(HookTest, ClientsDirectoriesAreGuardedWhereTheirVariablesPutThem) {
  Machine machine;
  const std::string claude = machine.home() + "/cc";
  const std::string codex = machine.home() + "/cx";
  const std::pair<std::string, bool> cases[] = {
      {claude + "/settings.json", true}, {claude + "/hooks/a.sh", true},
      {claude + "/.claude.json", true},  {codex + "/config.toml", true},
      {codex + "/hooks.json", true},     {machine.project() + "/a.c", false}};
  machine.environment = {"CLAUDE_CONFIG_DIR=" + claude, "CODEX_HOME=" + codex};
  for (const auto& [path, refused] : cases) {
    const std::string refusal = WriteTool(machine, path);
    EXPECT_EQ(refusal.empty(), !refused) << path;
    EXPECT_EQ(refusal.find("self.agent-settings") == std::string::npos,
              !refused)
        << path << refusal;
  }
  for (const std::string& secret :
       {claude + "/.credentials.json", codex + "/auth.json"})
    ExpectRefused(
        machine.Gate({"hook", "codex"}, Codex(machine, "cat " + secret)));
  // Nothing there is a workspace.
  ASSERT_EQ(machine.Run({"mkdir", "-p", claude + "/plugins/p"}).exit_code, 0);
  EXPECT_NE(machine.Gate({"doctor"}, "", claude + "/plugins/p")
                .out.find("this directory cannot be one"),
            std::string::npos);
}

TEST(HookTest, FileToolsAreJudgedByWhereLinksLead) {
  const Machine machine;
  machine.Write(machine.project() + "/package.json", "{}");
  const auto write = [&machine](const std::string& path) {
    return WriteTool(machine, path);
  };
  const auto link = [&machine](const std::string& to, const std::string& name) {
    EXPECT_EQ(machine.Run({"ln", "-s", to, name}).exit_code, 0);
  };
  link(machine.home(), "home");
  link(machine.home() + "/.bashrc", "notes.md");
  link("notes.md", "twice.md");
  link(".git/hooks", "scripts");
  link("loop", "loop");
  link("src", "sources");
  const std::string project = machine.project() + "/";
  for (const char* name :
       {"home/.bashrc", "home/.new", "notes.md", "twice.md",
        "scripts/pre-commit", "home/project/../.bashrc", "sources/../notes.md"})
    EXPECT_NE(write(project + name), "") << name;
  // What clients make of a path before they write.
  EXPECT_NE(write("~/.bashrc"), "");
  EXPECT_NE(write(" " + machine.home() + "/.bashrc "), "");
  for (const char* name : {"src/a.c", "sources/a.c", "home/project/a.c"})
    EXPECT_EQ(write(project + name), "") << name;
}

TEST(HookTest, StateBuiltinsRunRaw) {
  Machine machine;
  machine.environment = {"SHELL=/bin/bash"};
  for (const char* command : {"cd src", "export A=1", "unset A", "umask 022",
                              "cd /tmp && export B=2"}) {
    const Done done =
        machine.Gate({"hook", "claude"}, Claude(machine, command));
    EXPECT_EQ(done.exit_code, 0) << command << done.err;
    EXPECT_EQ(done.out, "") << command;
  }
}

TEST(HookTest, NoRecordMeansNoAnswer) {
  const Machine machine;
  // A file where the state directory should be.
  machine.Write(machine.state(), "");
  ExpectRefused(machine.Gate({"hook", "claude"}, Claude(machine, "ls")));
}

TEST(HookTest, GatesOwnWrapperIsJudgedByWhatItRuns) {
  const Machine machine;
  machine.Write(machine.project() + "/package.json", "{}");
  const std::string gate = test::GateBinary();
  ExpectRefused(
      machine.Gate({"hook", "codex"},
                   Codex(machine, gate + " run --backend none -c 'rm -rf /'")));
  const Done done = machine.Gate(
      {"hook", "codex"},
      Codex(machine, gate + " run --profile full-access -c 'make'"));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_NE(done.out.find("run --ticket"), std::string::npos) << done.out;
  EXPECT_EQ(done.out.find("full-access"), std::string::npos) << done.out;
  for (const char* command : {" pause 15m", " trust .", " uninstall claude",
                              " approve x", " audit prune"})
    ExpectRefused(
        machine.Gate({"hook", "codex"}, Codex(machine, gate + command)));
}

}  // namespace
}  // namespace gate
