#include "hooks/adapter.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "hooks/client_rules.h"

namespace gate::hooks {
namespace {

// Events of the shape that the clients send, with values of our own.
constexpr const char kClaudeBash[] = R"({
  "session_id": "0b7e", "prompt_id": "p1", "transcript_path": "/h/t.jsonl",
  "cwd": "/home/u/project", "permission_mode": "default",
  "effort": {"level": "medium"}, "hook_event_name": "PreToolUse",
  "tool_name": "Bash",
  "tool_input": {"command": "npm test", "description": "Run the tests",
                 "timeout": 120000, "run_in_background": false},
  "tool_use_id": "toolu_01"})";

constexpr const char kCodexBash[] =
    R"({"session_id":"s","turn_id":"t","transcript_path":null,)"
    R"("cwd":"/home/u/project","hook_event_name":"PreToolUse","model":"m",)"
    R"("permission_mode":"bypassPermissions","tool_name":"Bash",)"
    R"("tool_input":{"command":"npm test"},"tool_use_id":"call_0"})";

constexpr const char kGeneric[] =
    R"({"command":"npm test","cwd":"/home/u/project","session":"s",)"
    R"("agent":"bot"})";

Event Parsed(const char* client, const std::string& json) {
  const Adapter* adapter = FindAdapter(client);
  EXPECT_NE(adapter, nullptr);
  auto event = adapter->Parse(json);
  EXPECT_TRUE(event) << json << ": " << (event ? "" : event.error().message);
  return event ? *event : Event{};
}

std::string Replaced(std::string text, const std::string& from,
                     const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

// A claude event of one tool.
std::string Tool(const std::string& tool, const std::string& input) {
  return R"({"session_id":"s","cwd":"/w","permission_mode":"default",)"
         R"("hook_event_name":"PreToolUse","tool_name":")" +
         tool + R"(","tool_input":)" + input + "}";
}

void ExpectRefusal(const Output& output) {
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_EQ(output.out, "");
  EXPECT_GT(output.err.size(), 6u);
  EXPECT_EQ(output.err.back(), '\n');
}

TEST(FindAdapter, KnowsItsClients) {
  for (const std::string& name : AdapterNames()) {
    ASSERT_NE(FindAdapter(name), nullptr);
    EXPECT_EQ(FindAdapter(name)->Name(), name);
  }
  for (const char* name : {"", "Claude", "claude ", "cursor"}) {
    EXPECT_EQ(FindAdapter(name), nullptr);
  }
}

TEST(Refuse, AlwaysHasAReason) {
  ExpectRefusal(Refuse(""));
  ExpectRefusal(Refuse(" \n"));
  ExpectRefusal(Refuse("because"));
  EXPECT_EQ(Refuse("because").err, "gate: because\n");
  EXPECT_EQ(Refuse("a\x1b[2J\xff").err.find('\x1b'), std::string::npos);
}

TEST(Claude, ReadsTheShellTool) {
  const Event event = Parsed("claude", kClaudeBash);
  EXPECT_EQ(event.kind, EventKind::kCommand);
  EXPECT_EQ(event.command, "npm test");
  EXPECT_EQ(event.cwd, "/home/u/project");
  EXPECT_EQ(event.session, "0b7e");
  EXPECT_EQ(event.agent, "claude");
  EXPECT_EQ(event.tool, "Bash");
  EXPECT_EQ(event.description, "Run the tests");
  EXPECT_TRUE(event.can_ask);
  EXPECT_TRUE(event.cwd_is_sure);
  // Its tool can be told a directory that the event leaves out.
  EXPECT_FALSE(Parsed("codex", kCodexBash).cwd_is_sure);
}

TEST(Claude, ReadsTheMonitorAsAShellTool) {
  const Event event = Parsed(
      "claude",
      Tool(
          "Monitor",
          R"({"command":"tail -f log","description":"watch","timeout_ms":9})"));
  EXPECT_EQ(event.kind, EventKind::kCommand);
  EXPECT_EQ(event.command, "tail -f log");
  Answer rewrite;
  rewrite.kind = AnswerKind::kRewrite;
  rewrite.command = "x";
  rewrite.reason = "y";
  const auto json =
      ParseJson(FindAdapter("claude")->Format(event, rewrite).out);
  ASSERT_TRUE(json);
  EXPECT_EQ(Dump((*json)["hookSpecificOutput"]["updatedInput"]),
            R"({"command":"x","description":"watch","timeout_ms":9})");
  for (const char* input :
       {R"({"ws":{"url":"wss://x.example"},"description":"d"})", "{}",
        R"({"command":""})", R"({"command":7})", "7"}) {
    EXPECT_FALSE(FindAdapter("claude")->Parse(Tool("Monitor", input))) << input;
  }
}

TEST(Adapters, TakeAnUnknownToolWithACommandForAShell) {
  const struct {
    const char* tool;
    const char* input;
    EventKind kind;
  } cases[] = {
      {"Watch", R"({"command":"rm -rf x"})", EventKind::kCommand},
      {"bash", R"({"command":"rm -rf x","n":1})", EventKind::kCommand},
      {"mcp__db__run", R"({"command":"select 1"})", EventKind::kNothing},
      {"Watch", R"({"command":["a"]})", EventKind::kNothing},
      {"Watch", R"({"text":"rm -rf x"})", EventKind::kNothing},
      {"Watch", R"("rm -rf x")", EventKind::kNothing},
  };
  for (const char* client : {"claude", "codex"}) {
    for (const auto& c : cases) {
      const Event event = Parsed(client, Tool(c.tool, c.input));
      EXPECT_EQ(event.kind, c.kind) << client << c.tool << c.input;
      if (c.kind != EventKind::kCommand) continue;
      EXPECT_EQ(event.command, "rm -rf x") << client << c.tool;
    }
    EXPECT_FALSE(FindAdapter(client)->Parse(Tool("Watch", R"({"command":""})")))
        << client;
  }
  EXPECT_EQ(
      Parsed("claude", Tool("SlashCommand", R"({"command":"/review"})")).kind,
      EventKind::kNothing);
}

TEST(Claude, AsksOnlyInModesThatShowAQuestion) {
  for (const auto& [mode, can_ask] :
       {std::pair{"default", true}, std::pair{"acceptEdits", true},
        std::pair{"plan", true}, std::pair{"dontAsk", false},
        std::pair{"bypassPermissions", false}, std::pair{"auto", false},
        std::pair{"new", false}}) {
    EXPECT_EQ(Parsed("claude", Replaced(kClaudeBash, "\"default\"",
                                        "\"" + std::string(mode) + "\""))
                  .can_ask,
              can_ask)
        << mode;
  }
  EXPECT_FALSE(
      Parsed("claude",
             Replaced(kClaudeBash, "\"permission_mode\": \"default\",", ""))
          .can_ask);
}

TEST(Claude, ReadsTheFileTools) {
  const struct {
    const char* tool;
    const char* input;
  } cases[] = {
      {"Write", R"({"file_path":"/w/a","content":"x"})"},
      {"Edit", R"({"file_path":"/w/a","old_string":"x","new_string":"y"})"},
      {"MultiEdit", R"({"file_path":"/w/a","edits":[]})"},
      {"NotebookEdit", R"({"notebook_path":"/w/a","new_source":"x"})"},
  };
  for (const auto& c : cases) {
    const Event event = Parsed("claude", Tool(c.tool, c.input));
    EXPECT_EQ(event.kind, EventKind::kFileWrite) << c.tool;
    EXPECT_EQ(event.paths, std::vector<std::string>{"/w/a"}) << c.tool;
    EXPECT_FALSE(FindAdapter("claude")->Parse(Tool(c.tool, "{}"))) << c.tool;
    EXPECT_FALSE(FindAdapter("claude")->Parse(
        Tool(c.tool, R"({"file_path":"","notebook_path":""})")))
        << c.tool;
  }
}

TEST(Claude, OtherToolsAndEventsAreNothing) {
  for (const char* tool : {"WebFetch", "mcp__x__y", "Task", "TodoWrite"}) {
    EXPECT_EQ(Parsed("claude", Tool(tool, "{}")).kind, EventKind::kNothing);
  }
  EXPECT_EQ(Parsed("claude", Tool("mcp__files__read", R"({"path":"/a"})")).kind,
            EventKind::kFileRead);
  EXPECT_EQ(Parsed("codex", Tool("mcp__files__write", R"({"path":"/a"})")).kind,
            EventKind::kFileWrite);
  for (const char* name : {"SessionStart", "Stop", "PostToolBatch"}) {
    EXPECT_EQ(Parsed("claude", Replaced(kClaudeBash, "PreToolUse", name)).kind,
              EventKind::kNothing);
  }
}

// Whatever is not a whole event of the client is refused by the caller.
TEST(Adapters, RefuseWhatTheyDoNotUnderstand) {
  for (const char* client : {"claude", "codex", "generic"}) {
    const Adapter* adapter = FindAdapter(client);
    for (const std::string& text : std::vector<std::string>{
             "",
             " ",
             "null",
             "[]",
             "1",
             "\"x\"",
             "{",
             "{}",
             "{}{}",
             "{} x",
             std::string("{}\0", 3),
             "\xff",
             "log line\n{}",
             R"({"hook_event_name":1})",
             R"({"hook_event_name":"PreToolUse"})",
             R"({"command":1,"cwd":"/"})",
             R"({"command":"x"})",
             R"({"command":"","cwd":"/"})",
             R"({"command":"x","cwd":"rel"})",
             R"({"command":"x","cwd":""})",
             R"({"cwd":"/"})",
             R"({"command":"x","command":"y","cwd":"/"})",
             "{\"command\":\"\xc3\x28\",\"cwd\":\"/\"}",
             R"({"command":"a\u0000b","cwd":"/"})",
             R"({"command":"x","cwd":"/","session":1})",
             std::string(200, '['),
             std::string(100000, '{'),
             "{\"command\":\"" + std::string(kMaxInputBytes, 'x') +
                 "\",\"cwd\":\"/\"}"}) {
      EXPECT_FALSE(adapter->Parse(text))
          << client << ": " << text.substr(0, 60);
    }
  }
  for (const char* client : {"claude", "codex"}) {
    const Adapter* adapter = FindAdapter(client);
    for (const char* input :
         {"null", "[]", "\"ls\"", "{}", R"({"command":null})",
          R"({"command":1})", R"({"command":""})", R"({"command":[]})",
          R"({"command":[1]})", R"({"command":{"a":"b"}})",
          R"({"command":"a","command":"b"})", R"({"command":"a\u0000"})",
          R"({"Command":"ls"})"}) {
      EXPECT_FALSE(adapter->Parse(Tool("Bash", input))) << client << input;
    }
    EXPECT_FALSE(adapter->Parse(
        R"({"hook_event_name":"PreToolUse","tool_name":"Bash"})"));
    EXPECT_FALSE(adapter->Parse(
        R"({"hook_event_name":"PreToolUse","tool_input":{"command":"x"}})"));
    EXPECT_FALSE(adapter->Parse(
        R"({"hook_event_name":"PreToolUse","tool_name":"Bash","cwd":"x",)"
        R"("tool_input":{"command":"x"}})"));
  }
  EXPECT_FALSE(
      FindAdapter("claude")->Parse(Tool("PowerShell", R"({"command":"ls"})")));
  EXPECT_FALSE(FindAdapter("codex")->Parse(
      Tool("Bash", R"({"command":"ls","cmd":"rm x"})")));
}

TEST(Adapters, CwdMayBeMissingWhereTheClientSaysSo) {
  for (const char* client : {"claude", "codex"}) {
    EXPECT_EQ(Parsed(client, R"({"hook_event_name":"PreToolUse","cwd":"",)"
                             R"("tool_name":"Bash",)"
                             R"("tool_input":{"command":"ls"}})")
                  .cwd,
              "");
  }
}

TEST(Codex, ReadsTheShellToolInItsForms) {
  EXPECT_EQ(Parsed("codex", kCodexBash).command, "npm test");
  EXPECT_FALSE(Parsed("codex", kCodexBash).can_ask);
  EXPECT_EQ(Parsed("codex", Tool("exec_command", R"({"cmd":"ls -l"})")).command,
            "ls -l");
  EXPECT_EQ(Parsed("codex", Tool("shell", R"x({"command":["bash","-lc",)x"
                                          R"x("echo 'a b'; $(x)"]})x"))
                .command,
            R"x(bash -lc 'echo '\''a b'\''; $(x)')x");
  EXPECT_EQ(Parsed("codex", Tool("mcp__x", "{}")).kind, EventKind::kNothing);
  EXPECT_EQ(
      Parsed("codex", Replaced(kCodexBash, "PreToolUse", "PermissionRequest"))
          .kind,
      EventKind::kNothing);
}

TEST(Codex, FindsEveryFileOfAPatch) {
  const std::string patch =
      "*** Begin Patch\\n*** Add File: a b.txt\\n+*** Add File: no\\n"
      "*** Update File: src/x.c\\n*** Move to: src/y.c\\n@@\\n-a\\n+b\\n"
      "  *** Delete File: /etc/passwd \\r\\n*** End Patch\\n";
  const std::vector<std::string> paths = {"a b.txt", "src/x.c", "src/y.c",
                                          "/etc/passwd"};
  for (const char* key : {"command", "input", "patch"}) {
    EXPECT_EQ(Parsed("codex", Tool("apply_patch", "{\"" + std::string(key) +
                                                      "\":\"" + patch + "\"}"))
                  .paths,
              paths);
  }
  EXPECT_EQ(Parsed("codex", Tool("apply_patch", "\"" + patch + "\"")).paths,
            paths);
  EXPECT_EQ(
      Parsed("codex", Tool("apply_patch",
                           R"({"command":["apply_patch",")" + patch + "\"]}"))
          .paths,
      paths);
  for (const char* input :
       {"{}", "1", R"({"command":""})", R"({"command":"*** Begin Patch"})",
        R"({"command":"*** Add File: "})", R"({"command":"a","patch":"b"})",
        R"({"command":[1]})"}) {
    EXPECT_FALSE(FindAdapter("codex")->Parse(Tool("apply_patch", input)))
        << input;
  }
}

TEST(Generic, ReadsItsOwnProtocol) {
  const Event event = Parsed("generic", kGeneric);
  EXPECT_EQ(event.kind, EventKind::kCommand);
  EXPECT_EQ(event.command, "npm test");
  EXPECT_EQ(event.agent, "bot");
  EXPECT_EQ(event.session, "s");
  EXPECT_EQ(Parsed("generic", R"({"command":"ls","cwd":"/"})").agent,
            "generic");
}

Answer Say(AnswerKind kind, std::string command = "",
           std::string reason = "it pushes") {
  Answer answer;
  answer.kind = kind;
  answer.reason = std::move(reason);
  answer.command = std::move(command);
  answer.id = "01-id";
  return answer;
}

TEST(Output, IsExactlyWhatTheClientTakes) {
  const std::string wrapped = "/opt/gate run --ticket 0a -c 'npm test'";
  const struct {
    const char* client;
    const char* event;
    Answer answer;
    const char* out;
    const char* err;
    int exit_code;
  } cases[] = {
      {"claude", kClaudeBash, Say(AnswerKind::kAllow), "", "", 0},
      {"claude", kClaudeBash, Say(AnswerKind::kDeny), "", "gate: it pushes\n",
       2},
      {"claude", kClaudeBash, Say(AnswerKind::kRewrite, wrapped),
       R"({"hookSpecificOutput":{"hookEventName":"PreToolUse",)"
       R"("permissionDecision":"allow",)"
       R"("permissionDecisionReason":"gate: it pushes",)"
       R"("updatedInput":{"command":"/opt/gate run --ticket 0a -c 'npm test'",)"
       R"("description":"Run the tests","run_in_background":false,)"
       R"("timeout":120000}}})"
       "\n",
       "", 0},
      // A reason that says already who speaks is not said so twice.
      {"claude", kClaudeBash, Say(AnswerKind::kAsk, "", "gate: needs a person"),
       R"({"hookSpecificOutput":{"hookEventName":"PreToolUse",)"
       R"("permissionDecision":"ask",)"
       R"("permissionDecisionReason":"gate: needs a person"}})"
       "\n",
       "", 0},
      {"claude", kClaudeBash, Say(AnswerKind::kAsk),
       R"({"hookSpecificOutput":{"hookEventName":"PreToolUse",)"
       R"("permissionDecision":"ask",)"
       R"("permissionDecisionReason":"gate: it pushes"}})"
       "\n",
       "", 0},
      {"codex", kCodexBash, Say(AnswerKind::kAllow), "", "", 0},
      {"codex", kCodexBash, Say(AnswerKind::kDeny), "", "gate: it pushes\n", 2},
      {"codex", kCodexBash, Say(AnswerKind::kAsk), "",
       "gate: it pushes\na person must approve this: gate approve 01-id\n", 2},
      {"codex", kCodexBash, Say(AnswerKind::kRewrite, wrapped),
       R"({"hookSpecificOutput":{"hookEventName":"PreToolUse",)"
       R"("permissionDecision":"allow","updatedInput":{"command":)"
       R"("/opt/gate run --ticket 0a -c 'npm test'"}}})"
       "\n",
       "", 0},
      {"generic", kGeneric, Say(AnswerKind::kAllow),
       R"({"decision":"allow","reason":"it pushes","id":"01-id"})"
       "\n",
       "", 0},
      {"generic", kGeneric, Say(AnswerKind::kDeny),
       R"({"decision":"deny","reason":"it pushes","id":"01-id"})"
       "\n",
       "", 0},
      {"generic", kGeneric, Say(AnswerKind::kAsk, "x"),
       R"({"decision":"ask","reason":"it pushes","command":"x","id":"01-id"})"
       "\n",
       "", 0},
      {"generic", kGeneric, Say(AnswerKind::kRewrite, "x"),
       R"({"decision":"allow","reason":"it pushes","command":"x",)"
       R"("id":"01-id"})"
       "\n",
       "", 0},
  };
  for (const auto& c : cases) {
    const Event event = Parsed(c.client, c.event);
    const Output output = FindAdapter(c.client)->Format(event, c.answer);
    EXPECT_EQ(output.out, c.out) << c.client;
    EXPECT_EQ(output.err, c.err) << c.client;
    EXPECT_EQ(output.exit_code, c.exit_code) << c.client;
  }
}

TEST(Output, ClaudeIsToldADenialInItsObjectOnlyWhereItIsKnownToReadIt) {
  const Adapter* claude = FindAdapter("claude");
  const Event event = Parsed("claude", kClaudeBash);
  Answer deny = Say(AnswerKind::kDeny);
  ExpectRefusal(claude->Format(event, deny));
  deny.by_object = true;
  const std::string object =
      R"({"hookSpecificOutput":{"hookEventName":"PreToolUse",)"
      R"("permissionDecision":"deny",)"
      R"("permissionDecisionReason":"gate: it pushes"}})";
  const Output output = claude->Format(event, deny);
  EXPECT_EQ(output.out, object + "\n");
  EXPECT_EQ(output.err, "");
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_EQ(Framed(output), "gate:" + object + ":gate\n");
  // Whatever the reason holds, the answer is one line with a reason.
  for (const char* reason :
       {"", " ", "a\nb", "\xff\xfe", "\"}}", "}:gate", ":gate\ngate:{}:gate",
        "\x1b[2J", "a\\", "'$(id)`id`",
        "\xe2\x80\xae"
        "abc"}) {
    deny.reason = reason;
    const Output said = claude->Format(event, deny);
    const auto json = ParseJson(said.out);
    ASSERT_TRUE(json) << said.out;
    EXPECT_EQ((*json)["hookSpecificOutput"].value("permissionDecision", ""),
              "deny");
    EXPECT_GT((*json)["hookSpecificOutput"]
                  .value("permissionDecisionReason", "")
                  .size(),
              6u);
    EXPECT_EQ(std::ranges::count(said.out, '\n'), 1) << said.out;
  }
  // Longer than the client shows, or with a command: by the exit code.
  deny.reason = std::string(9000, 'x');
  ExpectRefusal(claude->Format(event, deny));
  deny = Say(AnswerKind::kDeny, "ls");
  deny.by_object = true;
  ExpectRefusal(claude->Format(event, deny));
  // Codex shows both ways alike, and its object's schema is closed.
  deny.command = "";
  ExpectRefusal(
      FindAdapter("codex")->Format(Parsed("codex", kCodexBash), deny));
}

TEST(Output, ClaudeAsksOnlyWhereSomebodyIsAsked) {
  const Adapter* claude = FindAdapter("claude");
  Event event = Parsed("claude", kClaudeBash);
  Answer rewrite = Say(AnswerKind::kRewrite, "x");
  rewrite.confirm = true;
  const auto decision = [&](const Answer& answer) {
    const auto json = ParseJson(claude->Format(event, answer).out);
    return json ? (*json)["hookSpecificOutput"].value("permissionDecision", "")
                : "";
  };
  EXPECT_EQ(decision(rewrite), "ask");
  EXPECT_EQ(decision(Say(AnswerKind::kAsk, "x")), "ask");
  event.can_ask = false;
  EXPECT_EQ(decision(rewrite), "allow");
  ExpectRefusal(claude->Format(event, Say(AnswerKind::kAsk, "x")));
}

TEST(ClientRules, AreSeenWhereTheyForbidCommandsOrAskAboutThem) {
  for (const char* settings :
       {R"j({"permissions":{"deny":["Read(x)","Bash(make deploy:*)"]}})j",
        R"j({"permissions":{"deny":7,"ask":["Bash(touch *)"]}})j"})
    EXPECT_TRUE(HasCommandRules(settings)) << settings;
  for (const char* settings :
       {"", "x", "[]", "{}", R"j({"permissions":7})j",
        R"j({"permissions":{"allow":["Bash(ls:*)"],"deny":["Read(x)",7]}})j",
        R"j({"permissions":{"deny":["Bash"]}})j"})
    EXPECT_FALSE(HasCommandRules(settings)) << settings;
}

// What is not contained is no business of gate's to wave through.
TEST(Output, ARewriteThatRunsRawLeavesTheClientsOwnPermissions) {
  const Adapter* claude = FindAdapter("claude");
  for (const char* mode : {"default", "plan", "dontAsk", "bypassPermissions"}) {
    const Event event = Parsed(
        "claude",
        Replaced(kClaudeBash, "\"default\"", "\"" + std::string(mode) + "\""));
    Answer rewrite = Say(AnswerKind::kRewrite, "x");
    rewrite.direct = true;
    const auto json = ParseJson(claude->Format(event, rewrite).out);
    ASSERT_TRUE(json) << mode;
    const Json& output = (*json)["hookSpecificOutput"];
    EXPECT_EQ(output["updatedInput"].value("command", ""), "x") << mode;
    EXPECT_FALSE(output.contains("permissionDecision")) << mode;
  }
}

// A rewrite that cannot be written must not become an allow.
TEST(Output, BrokenRewriteIsARefusal) {
  for (const char* client : {"claude", "codex"}) {
    const Adapter* adapter = FindAdapter(client);
    Event event = Parsed(
        client, std::string(client) == "claude" ? kClaudeBash : kCodexBash);
    ExpectRefusal(adapter->Format(event, Say(AnswerKind::kRewrite)));
    ExpectRefusal(adapter->Format(event, Say(AnswerKind::kRewrite, "\xff")));
    event.tool_input = "not json";
    ExpectRefusal(adapter->Format(event, Say(AnswerKind::kRewrite, "x")));
    event.kind = EventKind::kFileWrite;
    ExpectRefusal(adapter->Format(event, Say(AnswerKind::kRewrite, "x")));
  }
  ExpectRefusal(
      FindAdapter("generic")->Format(Event{}, Say(AnswerKind::kRewrite)));
}

TEST(Output, ArrayCommandStaysAnArray) {
  const Event event =
      Parsed("codex", Tool("shell", R"({"command":["ls","-l"]})"));
  EXPECT_EQ(
      FindAdapter("codex")->Format(event, Say(AnswerKind::kRewrite, "x")).out,
      R"({"hookSpecificOutput":{"hookEventName":"PreToolUse",)"
      R"("permissionDecision":"allow","updatedInput":{"command":)"
      R"(["/bin/bash","-c","x"]}}})"
      "\n");
}

TEST(Output, DefaultAnswerRefuses) {
  for (const char* client : {"claude", "codex"}) {
    ExpectRefusal(FindAdapter(client)->Format(Event{}, Answer{}));
  }
  EXPECT_NE(FindAdapter("generic")->Format(Event{}, Answer{}).out.find("deny"),
            std::string::npos);
}

}  // namespace
}  // namespace gate::hooks
