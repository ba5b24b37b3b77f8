// Tools of an agent that read, search or list, as the hook judges them.
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/json.h"
#include "tests/support/machine.h"

namespace gate {
namespace {

using test::Done;
using test::Machine;

class HookReadsTest : public ::testing::Test {
 protected:
  HookReadsTest() {
    machine_.Write(machine_.project() + "/package.json", "{}");
    machine_.Write(machine_.project() + "/src/a.c", "int a;");
    machine_.Write(machine_.project() + "/.env", "A=1");
    machine_.Write(machine_.home() + "/.ssh/id_rsa", "k");
    machine_.Write(machine_.home() + "/.ssh/id_rsa.pub", "k");
    machine_.Write(machine_.home() + "/notes.txt", "n");
    Link(machine_.home() + "/.ssh/id_rsa", "key.txt");
    Link(machine_.home() + "/.ssh", "keys");
    Link(machine_.state(), "kept");
    Link("src", "code");
  }

  void Link(const std::string& to, const char* name) {
    ASSERT_EQ(::symlink(to.c_str(), (machine_.project() + "/" + name).c_str()),
              0);
  }

  Done Ask(const std::string& tool, const std::string& input,
           const std::string& mode = "default",
           const std::string& client = "claude") {
    std::string text = input;
    for (const auto& [name, path] :
         {std::pair<std::string, std::string>{"HOME", machine_.home()},
          {"STATE", machine_.state()},
          {"CONFIG", machine_.home() + "/.config/gate"},
          {"CACHE", machine_.home() + "/.cache/gate"},
          {"PROJECT", machine_.project()}})
      for (size_t at; (at = text.find("$" + name)) != std::string::npos;)
        text.replace(at, name.size() + 1, path);
    return machine_.Gate(
        {"hook", client},
        R"({"session_id":"s","cwd":")" + machine_.project() +
            R"(","permission_mode":")" + mode +
            R"(","hook_event_name":"PreToolUse","tool_name":")" + tool +
            R"(","tool_input":)" + text + R"(,"tool_use_id":"t"})");
  }

  // allow: silence; ask: the client's person is asked; deny: RefusalIn.
  static std::string Answer(const Done& done) {
    if (done.exit_code == 2) return done.err.empty() ? "broken" : "deny";
    if (done.exit_code != 0) return "broken";
    if (done.out.empty()) return "allow";
    const auto json = ParseJson(done.out);
    if (!json || (*json)["hookSpecificOutput"].contains("updatedInput"))
      return "broken";
    return (*json)["hookSpecificOutput"].value("permissionDecision", "broken");
  }

  Machine machine_;
};

TEST_F(HookReadsTest, AreAnsweredAsTheShellLineThatShowsTheSame) {
  const struct {
    const char* tool;
    const char* input;
    const char* answer;
  } kRows[] = {
      // Ordinary work is silence.
      {"Read", R"({"file_path":"$PROJECT/src/a.c"})", "allow"},
      {"Read", R"({"file_path":"src/a.c","limit":5})", "allow"},
      {"Read", R"({"file_path":"code/a.c"})", "allow"},
      {"Read", R"({"file_path":"$PROJECT/none"})", "allow"},
      {"Read", R"({"file_path":"$HOME/notes.txt"})", "allow"},
      {"Read", R"({"file_path":"/etc/hosts"})", "allow"},
      {"Read", R"({"file_path":"$HOME/.ssh/id_rsa.pub"})", "allow"},
      {"Read", R"({"file_path":".env.example"})", "allow"},
      {"Grep", R"({"pattern":"int","output_mode":"content"})", "allow"},
      {"Grep", R"({"pattern":"int","path":"$PROJECT"})", "allow"},
      {"Grep", R"({"pattern":"rm -rf /","path":"src"})", "allow"},
      {"Grep", R"({"pattern":"int","glob":"*.{c,h}","output_mode":"content"})",
       "allow"},
      {"Glob", R"({"pattern":"**/*.c"})", "allow"},
      {"Glob", R"({"pattern":"**/.env"})", "allow"},
      {"Glob", R"({"pattern":"*","path":"$HOME/.ssh"})", "allow"},
      {"LS", R"({"path":"$PROJECT"})", "allow"},
      {"LS", R"({"path":"$HOME/.ssh"})", "allow"},
      {"LS", R"({"path":"/"})", "allow"},
      // Secrets, by every way to say where they are.
      {"Read", R"({"file_path":"$HOME/.ssh/id_rsa"})", "ask"},
      {"Read", R"({"file_path":"~/.ssh/id_rsa"})", "ask"},
      {"Read", R"({"file_path":"../.ssh/id_rsa"})", "ask"},
      {"Read", R"({"file_path":"$PROJECT/../.ssh/./id_rsa"})", "ask"},
      {"Read", R"({"file_path":" $HOME/.ssh/id_rsa "})", "ask"},
      {"Read", R"({"file_path":"$HOME//.ssh//id_rsa"})", "ask"},
      {"Read", R"({"file_path":"key.txt"})", "ask"},
      {"Read", R"({"file_path":"$PROJECT/keys/id_rsa"})", "ask"},
      {"Read", R"({"file_path":".env"})", "ask"},
      {"Read", R"({"file_path":"$HOME/.aws/credentials"})", "ask"},
      {"Read", R"({"file_path":"$HOME/.netrc"})", "ask"},
      {"Read", R"({"file_path":"/proc/self/environ"})", "ask"},
      {"Read", R"({"file_path":"/etc/shadow"})", "ask"},
      {"Read", R"({"file_path":"deploy-key"})", "ask"},
      {"Read", R"({"file_path":"/proc/kcore"})", "deny"},
      {"View", R"({"file_path":"$HOME/.ssh/id_rsa"})", "ask"},
      {"NotebookRead", R"({"notebook_path":"$HOME/.ssh/id_rsa"})", "ask"},
      {"LSP", R"({"filePath":"$HOME/.ssh/id_rsa"})", "ask"},
      {"Grep", R"({"pattern":".","path":"$HOME/.ssh/id_rsa"})", "ask"},
      {"Grep", R"({"pattern":".","path":"~/.ssh"})", "ask"},
      {"Grep", R"({"pattern":".","path":"keys"})", "ask"},
      {"Grep", R"({"pattern":".","path":".env"})", "ask"},
      {"Grep", R"({"pattern":".","glob":".env","output_mode":"content"})",
       "ask"},
      {"Grep", R"({"pattern":".","glob":"**/.env","output_mode":"content"})",
       "ask"},
      {"Grep", R"({"pattern":".","glob":"*.{c,env}","output_mode":"content"})",
       "ask"},
      {"Grep",
       R"({"pattern":".","glob":"{a,{b,.env}}","output_mode":"content"})",
       "ask"},
      {"Grep", R"({"pattern":".","glob":"{.env","output_mode":"content"})",
       "ask"},
      // Nothing hides from a tool what a sandbox would hide from the line.
      {"Grep", R"({"pattern":".","path":"$HOME"})", "ask"},
      {"Grep", R"({"pattern":".","path":"~"})", "ask"},
      {"Grep", R"({"pattern":".","path":"/"})", "ask"},
      {"Grep", R"({"pattern":".","path":"$HOME","glob":"*.c"})", "ask"},
      // gate's own directories.
      {"Read", R"({"file_path":"$STATE/key"})", "deny"},
      {"Read", R"({"file_path":"$STATE/audit.db"})", "deny"},
      {"Read", R"({"file_path":"kept/key"})", "deny"},
      {"Read", R"({"file_path":"$STATE/../gate/key"})", "deny"},
      {"Read", R"({"file_path":"~/.local/state/gate/ticket.key"})", "deny"},
      {"Read", R"({"file_path":"$CONFIG/config.json"})", "deny"},
      {"Read", R"({"file_path":"$CACHE/x"})", "deny"},
      {"LS", R"({"path":"$STATE"})", "deny"},
      {"LS", R"({"path":"kept"})", "deny"},
      {"LS", R"({"path":"$STATE/tickets"})", "deny"},
      {"Grep", R"({"pattern":".","path":"$STATE"})", "deny"},
      {"Grep", R"({"pattern":".","path":"kept"})", "deny"},
      {"Glob", R"({"pattern":"$STATE/*"})", "deny"},
      {"Glob", R"({"pattern":"*","path":"$STATE"})", "deny"},
      {"Glob", R"({"pattern":"~/.local/state/gate/**"})", "deny"},
      {"Glob", R"({"pattern":"$HOME/.local/st*/gat?/*"})", "deny"},
      {"Glob", R"({"pattern":"$HOME/.local/{state,share}/gate/*"})", "deny"},
      {"Glob", R"({"pattern":"kept/*"})", "deny"},
      // Not understood.
      {"Read", R"({"file_path":["a"]})", "deny"},
      {"Read", "{}", "deny"},
      {"Glob", "{}", "deny"},
  };
  for (const auto& row : kRows) {
    const Done done = Ask(row.tool, row.input);
    EXPECT_EQ(Answer(done), row.answer) << row.tool << row.input << "\n"
                                        << done.out << done.err;
  }
}

// Servers' tools, and those of clients that speak Claude's protocol.
TEST_F(HookReadsTest, ToolsOfServersAreJudgedByTheFilesThatTheyName) {
  const struct {
    const char* tool;
    const char* input;
    const char* answer;
  } kRows[] = {
      {"mcp__fs__read_file", R"({"path":"$PROJECT/src/a.c"})", "allow"},
      {"mcp__fs__read_file", R"({"path":"src/a.c"})", "allow"},
      {"mcp__fs__read_multiple_files", R"({"paths":["src/a.c","x"]})", "allow"},
      {"mcp__fs__list_directory", R"({"path":"$HOME"})", "allow"},
      {"mcp__fs__search_files", R"({"path":"$PROJECT","pattern":"a"})",
       "allow"},
      {"mcp__fs__write_file", R"({"path":"src/b.c","content":"x"})", "allow"},
      {"mcp__fs__move_file", R"({"source":"src/a.c","destination":"src/b.c"})",
       "allow"},
      {"mcp__github__get_file_contents", R"({"repo":"r","path":"src/a.c"})",
       "allow"},
      {"mcp__web__get", R"({"url":"https://example.org/.env"})", "allow"},
      {"mcp__web__set_cookie", R"({"name":"a","path":"/"})", "allow"},
      {"mcp__db__query", R"({"sql":"select 1","path":7})", "allow"},
      {"mcp__api__call", R"({"path":"/v1/users"})", "allow"},
      {"list_directory", R"({"path":"~"})", "allow"},
      {"read_many_files", R"({"include":["src/**/*.c"]})", "allow"},
      {"glob", R"({"pattern":"**/*.c"})", "allow"},
      {"write_file", R"({"file_path":"src/b.c","content":"x"})", "allow"},
      {"mcp__fs__read_file", R"({"path":"$HOME/.ssh/id_rsa"})", "ask"},
      {"mcp__fs__read_file", R"({"path":"~/.ssh/id_rsa"})", "ask"},
      {"mcp__fs__read_file", R"({"path":"../.ssh/id_rsa"})", "ask"},
      {"mcp__fs__read_file", R"({"path":"key.txt"})", "ask"},
      {"mcp__fs__read_file", R"({"path":"keys/id_rsa"})", "ask"},
      {"mcp__fs__read_file", R"({"path":"$HOME/.ssh/"})", "ask"},
      {"mcp__fs__read_file", R"({"path":"/proc/self/environ"})", "ask"},
      {"mcp__fs__read_multiple_files", R"({"paths":["x","$PROJECT/.env"]})",
       "ask"},
      {"mcp__fs__get", R"({"items":[{"file":"$HOME/.netrc"}]})", "ask"},
      {"mcp__fs__open", R"({"uri":"file://$HOME/.aws/credentials"})", "ask"},
      {"mcp__fs__open", R"({"uri":"file://localhost$HOME/.aws/credentials"})",
       "ask"},
      {"mcp__fs__open", R"({"uri":"FILE:$HOME/.%61ws/credentials#x"})", "ask"},
      {"mcp__fs__grep", R"({"pattern":".","path":"~"})", "ask"},
      {"mcp__fs__grep", R"({"pattern":".","path":"/proc/self"})", "ask"},
      {"mcp__fs__grep", R"({"pattern":".","include":".env"})", "ask"},
      {"mcp__pack__all", R"({"directory":"$HOME"})", "ask"},
      {"mcp__chat__upload", R"({"file_path":"$HOME/.aws/credentials"})", "ask"},
      {"mcp__fs__copy_file", R"({"source":".env","destination":"x"})", "ask"},
      {"Read", R"({"file_path":"file://$HOME/.aws/credentials"})", "ask"},
      {"read_file", R"({"absolute_path":"$HOME/.ssh/id_rsa"})", "ask"},
      {"read_many_files", R"({"paths":["src/a.c","~/.ssh/id_rsa"]})", "ask"},
      {"read_many_files", R"({"include":["~/.ssh/*"]})", "ask"},
      {"grep_search", R"({"pattern":".","glob":".env"})", "ask"},
      {"search_file_content", R"({"pattern":".","dir_path":"~/.ssh"})", "ask"},
      {"mcp__fs__list_directory", R"({"path":"$STATE"})", "deny"},
      {"mcp__fs__read_file", R"({"path":"kept/key"})", "deny"},
      {"mcp__fs__glob", R"({"pattern":"$STATE/*"})", "deny"},
      {"mcp__fs__delete_file", R"({"path":"$STATE/audit.db"})", "deny"},
      {"list_directory", R"({"path":"$STATE"})", "deny"},
      {"glob", R"({"pattern":"*","path":"$CONFIG"})", "deny"},
      {"Peek", R"({"path":{"a":1}})", "deny"},
  };
  for (const auto& row : kRows) {
    const Done done = Ask(row.tool, row.input);
    EXPECT_EQ(Answer(done), row.answer) << row.tool << row.input << "\n"
                                        << done.out << done.err;
  }
  // What a tool would be stopped from writing, a server's is too.
  for (const char* path : {"~/.bashrc", ".git/hooks/pre-commit",
                           ".claude/settings.json", "$HOME/.profile"}) {
    const std::string file = std::string("\"") + path + "\"";
    EXPECT_EQ(
        Answer(Ask("mcp__fs__write_file",
                   R"({"content":"x","path":)" + file + "}")),
        Answer(Ask("Write", R"({"content":"x","file_path":)" + file + "}")))
        << path;
    EXPECT_NE(Answer(Ask("mcp__fs__write_file",
                         R"({"content":"x","path":)" + file + "}")),
              "allow")
        << path;
  }
}

TEST_F(HookReadsTest, AreRefusedWhereNobodyIsAskedUntilAPersonApproves) {
  const char* input = R"({"file_path":"$HOME/.ssh/id_rsa"})";
  for (const char* mode : {"dontAsk", "bypassPermissions"}) {
    const Done done = Ask("Read", input, mode);
    EXPECT_EQ(Answer(done), "deny") << mode;
    EXPECT_NE(test::RefusalIn(done).find("gate approve "), std::string::npos)
        << done.out << done.err;
  }
  const Done codex =
      Ask("view_image", R"({"path":"$HOME/.ssh/id_rsa"})", "default", "codex");
  EXPECT_EQ(codex.exit_code, 2) << codex.out;
  EXPECT_EQ(
      Answer(Ask("view_image", R"({"path":"src/a.png"})", "default", "codex")),
      "allow");
}

TEST_F(HookReadsTest, WhatIsStoppedIsRecordedWithTheLineThatItAmountsTo) {
  Ask("Read", R"({"file_path":"src/a.c"})");
  EXPECT_EQ(machine_.Gate({"audit", "list"}).out.find("a.c"),
            std::string::npos);
  Ask("Read", R"({"file_path":"$HOME/.ssh/id_rsa"})");
  const std::string listed = machine_.Gate({"audit", "list"}).out;
  EXPECT_NE(listed.find("cat -- " + machine_.home() + "/.ssh/id_rsa # Read"),
            std::string::npos)
      << listed;
}

// Their own rules count where they are about what is read.
TEST_F(HookReadsTest, APersonsRulesAboutProgramsAreNotAboutTools) {
  machine_.Write(machine_.home() + "/.config/gate/rules.d/own.json",
                 R"({"schema":1,"pack":"own","rules":[
    {"id":"own.cat","action":"deny","reason":"use the Read tool","match":{"prefix":["cat"]}},
    {"id":"own.grep","action":"deny","reason":"use the Grep tool","match":{"program":["grep","rg"]}},
    {"id":"own.private","action":"deny","reason":"private","match":{"effect":{"kind":"read","path":["**/private/**"]}}}]})");
  EXPECT_EQ(Answer(Ask("Read", R"({"file_path":"src/a.c"})")), "allow");
  EXPECT_EQ(Answer(Ask("Grep", R"({"pattern":"a"})")), "allow");
  EXPECT_EQ(Answer(Ask("Read", R"({"file_path":"private/a"})")), "deny");
  EXPECT_EQ(Answer(Ask("Grep", R"({"pattern":"a","path":"x/private/y"})")),
            "deny");
  EXPECT_EQ(Answer(Ask("Read", R"({"file_path":"~/.ssh/id_rsa"})")), "ask");
}

TEST_F(HookReadsTest, APolicyThatDoesNotLoadRefusesThemToo) {
  machine_.Write(machine_.home() + "/.config/gate/rules.d/own.json", "{");
  EXPECT_EQ(Answer(Ask("Read", R"({"file_path":"src/a.c"})")), "deny");
}

}  // namespace
}  // namespace gate
