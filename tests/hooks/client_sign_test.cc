#include "hooks/clients/claude_sign.h"

#include <gtest/gtest.h>

namespace gate::hooks {
namespace {

ProcessView Process(const char* executable,
                    std::vector<std::string> words = {}) {
  ProcessView process;
  process.executable = executable;
  const std::string path = executable;
  process.name = path.substr(path.rfind('/') + 1, 15);
  process.words = std::move(words);
  return process;
}

// As Claude Code 2.1.330 sends it, with more members put in.
std::string Bash(const std::string& more = "") {
  return R"({"session_id":"s","transcript_path":"/h/.claude/projects/-h-p/s.jsonl",)"
         R"("cwd":"/h/p","prompt_id":"p","permission_mode":"default",)"
         R"("effort":{"level":"medium"},"hook_event_name":"PreToolUse",)"
         R"("tool_name":"Bash","tool_input":{"command":"make"},)" +
         more + R"("tool_use_id":"toolu_1"})";
}

TEST(TellClaude, KnowsClaudeCodeAndNoOther) {
  const ProcessView sh = Process("/usr/bin/dash", {"/bin/sh", "-c", "x"});
  const ProcessView guard = Process("/usr/bin/timeout", {"timeout", "10"});
  const ProcessView native =
      Process("/h/.local/share/claude/versions/2.1.330", {"claude"});
  const ProcessView packaged = Process(
      "/n/node_modules/@anthropic-ai/claude-code-linux-x64/claude", {"claude"});
  const ProcessView script =
      Process("/usr/bin/node", {"node", "--max-old-space-size=1",
                                "/n/@anthropic-ai/claude-code/cli.js"});
  const ProcessView sdk = Process(
      "/usr/bin/node",
      {"node", "/p/node_modules/@anthropic-ai/claude-agent-sdk/cli.js"});
  const ProcessView extension = Process(
      "/h/.vscode-server/node",
      {"node",
       "/h/.vscode-server/extensions/anthropic.claude-code-2.1.9/cli.js"});
  const ProcessView qwen = Process(
      "/usr/bin/node", {"node", "/n/node_modules/@qwen-code/qwen-code/cli.js"});
  const ProcessView hidden_qwen = Process(
      "/usr/bin/node",
      {"node",
       "/h/claude-code-tests/node_modules/@qwen-code/qwen-code/cli.js"});
  const ProcessView app =
      Process("/usr/bin/node", {"node", "/h/app/server.js"});
  const struct {
    const char* what;
    std::string event;
    std::vector<std::string> environment;
    std::vector<ProcessView> ancestors;
    bool claude;
    const char* version;
  } cases[] = {
      {"2.1.330 by its own words",
       Bash(),
       {"AI_AGENT=claude-code_2-1-330_harness"},
       {guard, sh, packaged},
       true,
       "2.1.330"},
      {"interactive",
       Bash(),
       {"AI_AGENT=claude-code_2-1-215_agent"},
       {sh, packaged},
       true,
       "2.1.215"},
      {"installed natively", Bash(), {}, {guard, sh, native}, true, "2.1.330"},
      {"as a script", Bash(), {}, {sh, script}, true, nullptr},
      {"of the SDK", Bash(), {}, {sh, sdk}, true, nullptr},
      {"in an editor", Bash(), {}, {sh, extension}, true, nullptr},
      {"before 2.0.43",
       R"({"session_id":"s","cwd":"/p","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}})",
       {},
       {},
       true,
       "unknown"},
      {"ancestors out of sight", Bash(), {}, {}, true, "unknown"},
      {"behind a wrapper",
       Bash(),
       {},
       {guard, sh, Process("/usr/bin/bwrap")},
       true,
       "unknown"},
      {"beside a key of Gemini's",
       Bash(),
       {"GEMINI_API_KEY=x", "QWEN_API_KEY=y"},
       {},
       true,
       "unknown"},
      {"an empty variable", Bash(), {"QWEN_PROJECT_DIR="}, {}, true, "unknown"},
      {"in Qwen's shell",
       Bash(),
       {"QWEN_PROJECT_DIR=/p"},
       {sh, native},
       true,
       "2.1.330"},
      {"one that sends more some day",
       Bash(R"("timestamp":"t",)"),
       {},
       {sh, native},
       true,
       "2.1.330"},
      {"its project is called so",
       Bash(R"("x":"/.qwen/",)"),
       {},
       {},
       true,
       "unknown"},
      {"version of another agent",
       Bash(),
       {"AI_AGENT=other_1-2-3_x"},
       {},
       true,
       "unknown"},
      {"odd version",
       Bash(),
       {"AI_AGENT=claude-code_x/../y_z"},
       {},
       true,
       "unknown"},

      {"Qwen, the process", Bash(), {}, {qwen}, false, nullptr},
      {"Qwen in a directory called so",
       Bash(),
       {},
       {hidden_qwen},
       false,
       nullptr},
      {"Qwen, by its variables",
       Bash(),
       {"QWEN_CODE_SESSION_ID=1"},
       {app},
       false,
       nullptr},
      {"Gemini, by its variables",
       Bash(),
       {"GEMINI_PROJECT_DIR=/p"},
       {},
       false,
       nullptr},
      {"Gemini's process",
       Bash(),
       {},
       {sh, Process("/usr/bin/gemini")},
       false,
       nullptr},
      {"Crush's process",
       Bash(),
       {},
       {Process("/usr/bin/crush")},
       false,
       nullptr},
      {"Qwen's fields",
       Bash(R"("timestamp":"t","tool_call_id":"c",)"),
       {},
       {},
       false,
       nullptr},
      {"Copilot's timestamp",
       Bash(R"("timestamp":"2026-01-01T00:00:00Z",)"),
       {},
       {app},
       false,
       nullptr},
      {"Codex' turn", Bash(R"("turn_id":"t",)"), {}, {}, false, nullptr},
      {"Cursor's", Bash(R"("conversation_id":"c",)"), {}, {}, false, nullptr},
      {"goose's", Bash(R"("working_dir":"/p",)"), {}, {}, false, nullptr},
      {"Qwen's mode",
       R"({"session_id":"s","cwd":"/p","permission_mode":"yolo","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}})",
       {},
       {},
       false,
       nullptr},
      {"Qwen's transcript",
       R"({"session_id":"s","transcript_path":"/h/.qwen/projects/x/s.jsonl","cwd":"/p","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}})",
       {},
       {},
       false,
       nullptr},
      {"no mode",
       R"({"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}})",
       {},
       {},
       false,
       nullptr},
      {"no session",
       R"({"permission_mode":"default","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}})",
       {},
       {},
       false,
       nullptr},
      {"next to nothing",
       R"({"hook_event_name":"PreToolUse","tool_name":"bash","tool_input":{"command":"ls"}})",
       {},
       {},
       false,
       nullptr},
  };
  for (const auto& c : cases) {
    const auto event = FindAdapter("claude")->Parse(c.event);
    ASSERT_TRUE(event) << c.what << event.error().message;
    const ClientSign sign = TellClaude(*event, c.environment, c.ancestors);
    EXPECT_EQ(sign.applies_rewrites, c.claude) << c.what << ": " << sign.why;
    if (c.claude) {
      EXPECT_EQ(sign.name, "claude") << c.what;
      EXPECT_FALSE(sign.version.empty()) << c.what;
    } else {
      EXPECT_FALSE(sign.why.empty()) << c.what;
    }
    if (c.version != nullptr) EXPECT_EQ(sign.version, c.version) << c.what;
  }
}

TEST(NearestAncestors, EndAtTheFirstThatIsNoShell) {
  const std::vector<ProcessView> ancestors = NearestAncestors();
  ASSERT_FALSE(ancestors.empty());
  EXPECT_LE(ancestors.size(), 8u);
}

}  // namespace
}  // namespace gate::hooks
