// What the clients' tools that read, search and list are told to look at.
#include <gtest/gtest.h>

#include "base/json.h"
#include "hooks/adapter.h"

namespace gate::hooks {
namespace {

using How = ToolRead::How;

std::string EventOf(const std::string& tool, const std::string& input) {
  return R"({"session_id":"s","cwd":"/w","permission_mode":"default",)"
         R"("hook_event_name":"PreToolUse","tool_name":")" +
         tool + R"(","tool_input":)" + input + "}";
}

TEST(ReadTools, SayWhatTheyLookAt) {
  const struct {
    const char* client;
    const char* tool;
    const char* input;
    How how;
    const char* path;
    const char* pattern;
    const char* glob;
    bool names_only;
  } cases[] = {
      {"claude", "Read", R"({"file_path":"/a"})", How::kFile, "/a", "", "",
       false},
      {"claude", "Read", R"({"file_path":"/a","offset":1,"limit":9})",
       How::kFile, "/a", "", "", false},
      {"claude", "Read", R"({"file_path":"a b.pdf","pages":"1-5"})", How::kFile,
       "a b.pdf", "", "", false},
      {"claude", "View", R"({"file_path":"~/x"})", How::kFile, "~/x", "", "",
       false},
      {"claude", "NotebookRead", R"({"notebook_path":"/n"})", How::kFile, "/n",
       "", "", false},
      {"claude", "ReadNotebook", R"({"notebook_path":"/n"})", How::kFile, "/n",
       "", "", false},
      {"claude", "LS", R"({"path":"/d"})", How::kList, "/d", "", "", false},
      {"claude", "LS", R"({"path":"/d","ignore":["x"]})", How::kList, "/d", "",
       "", false},
      {"claude", "LS", R"({})", How::kList, "", "", "", false},
      {"claude", "Glob", R"({"pattern":"**/*.c"})", How::kList, "", "**/*.c",
       "", false},
      {"claude", "Glob", R"({"pattern":"*","path":"/d"})", How::kList, "/d",
       "*", "", false},
      {"claude", "Glob", R"({"pattern":"*","path":null})", How::kList, "", "*",
       "", false},
      {"claude", "GlobTool", R"({"pattern":"*"})", How::kList, "", "*", "",
       false},
      {"claude", "Grep", R"({"pattern":"x"})", How::kSearch, "", "", "", true},
      {"claude", "Grep", R"({"pattern":"x","path":"/d"})", How::kSearch, "/d",
       "", "", true},
      {"claude", "Grep", R"({"pattern":"x","output_mode":"count"})",
       How::kSearch, "", "", "", true},
      {"claude", "Grep",
       R"({"pattern":"x","output_mode":"files_with_matches"})", How::kSearch,
       "", "", "", true},
      {"claude", "Grep", R"({"pattern":"x","output_mode":"content","-n":true})",
       How::kSearch, "", "", "", false},
      {"claude", "Grep", R"({"pattern":"x","output_mode":"new"})", How::kSearch,
       "", "", "", false},
      {"claude", "Grep", R"({"pattern":"x","glob":"*.env"})", How::kSearch, "",
       "", "*.env", true},
      {"claude", "GrepTool", R"({"pattern":"x","path":"/d"})", How::kSearch,
       "/d", "", "", true},
      // Tools that gate does not know, by what they name.
      {"claude", "LSP", R"({"operation":"hover","filePath":"/a"})",
       How::kSearch, "/a", "", "", false},
      {"claude", "Peek", R"({"file_path":"/a"})", How::kSearch, "/a", "", "",
       false},
      {"claude", "Tree", R"({"directory":"/d"})", How::kList, "/d", "", "",
       false},
      {"codex", "view_image", R"({"path":"/a.png"})", How::kFile, "/a.png", "",
       "", false},
      {"codex", "read_file", R"({"file_path":"/a"})", How::kFile, "/a", "", "",
       false},
      {"codex", "list_dir", R"({"dir_path":"/d"})", How::kList, "/d", "", "",
       false},
      {"codex", "grep_files", R"({"pattern":"x","path":"/d"})", How::kSearch,
       "/d", "", "", false},
  };
  for (const auto& c : cases) {
    const auto event = FindAdapter(c.client)->Parse(EventOf(c.tool, c.input));
    ASSERT_TRUE(event) << c.tool << c.input << event.error().message;
    ASSERT_EQ(event->kind, EventKind::kFileRead) << c.tool << c.input;
    ASSERT_EQ(event->reads.size(), 1u) << c.tool << c.input;
    const ToolRead& read = event->reads[0];
    EXPECT_EQ(read.how, c.how) << c.tool << c.input;
    EXPECT_EQ(read.path, c.path) << c.tool << c.input;
    EXPECT_EQ(read.pattern, c.pattern) << c.tool << c.input;
    EXPECT_EQ(read.glob, c.glob) << c.tool << c.input;
    EXPECT_EQ(read.names_only, c.names_only) << c.tool << c.input;
  }
}

TEST(ReadTools, AreRefusedWhereTheirArgumentsAreNotUnderstood) {
  const struct {
    const char* client;
    const char* tool;
    const char* input;
  } cases[] = {
      {"claude", "Read", "{}"},
      {"claude", "Read", R"({"file_path":""})"},
      {"claude", "Read", R"({"file_path":null})"},
      {"claude", "Read", R"({"file_path":7})"},
      {"claude", "Read", R"({"file_path":["/a"]})"},
      {"claude", "Read", R"({"file_path":{"a":"b"}})"},
      {"claude", "Read", R"({"file_path":"/a\u0000b"})"},
      {"claude", "Read", R"({"path":"/a"})"},
      {"claude", "Read", "null"},
      {"claude", "Read", "\"/a\""},
      {"claude", "Read", "[]"},
      {"claude", "NotebookRead", R"({"file_path":"/a"})"},
      {"claude", "Glob", "{}"},
      {"claude", "Glob", R"({"path":"/d"})"},
      {"claude", "Glob", R"({"pattern":["*"]})"},
      {"claude", "Glob", R"({"pattern":"*","path":1})"},
      {"claude", "Grep", R"({"path":"/d"})"},
      {"claude", "Grep", R"({"pattern":"x","path":[]})"},
      {"claude", "Grep", R"({"pattern":"x","glob":["a"]})"},
      {"claude", "Grep", R"({"pattern":"x","output_mode":1})"},
      {"claude", "LS", R"({"path":false})"},
      {"claude", "LS", "0"},
      {"claude", "Peek", R"({"file_path":7})"},
      {"codex", "view_image", R"({"path":[1]})"},
  };
  for (const auto& c : cases)
    EXPECT_FALSE(FindAdapter(c.client)->Parse(EventOf(c.tool, c.input)))
        << c.client << c.tool << c.input;
}

// Fields of every event, and those of the ends of a call.
TEST(CommandDone, SaysOfWhichCallAndWhetherItMayGoOn) {
  const std::string head =
      R"({"session_id":"s","cwd":"/w","permission_mode":"default",)";
  const std::string bash =
      R"("tool_name":"Bash","tool_use_id":"toolu_1","tool_input":)";
  const struct {
    const char* event;
    std::string rest;
    EventKind kind;
    bool background;
    bool failed;
  } cases[] = {
      {"PostToolUse", bash + R"({"command":"ls"})", EventKind::kCommandDone,
       false, false},
      {"PostToolUse",
       bash +
           R"({"command":"ls"},"tool_response":{"stdout":"","interrupted":false})",
       EventKind::kCommandDone, false, false},
      {"PostToolUse", bash + R"({"command":"ls","run_in_background":false})",
       EventKind::kCommandDone, false, false},
      {"PostToolUse", bash + R"({"command":"ls","run_in_background":true})",
       EventKind::kCommandDone, true, false},
      {"PostToolUse",
       bash + R"({"command":"ls"},"tool_response":{"backgroundTaskId":"b1"})",
       EventKind::kCommandDone, true, false},
      {"PostToolUse",
       bash + R"({"command":"ls"},"tool_response":{"interrupted":true})",
       EventKind::kCommandDone, true, false},
      {"PostToolUse", bash + R"({"command":"ls"},"tool_response":"text")",
       EventKind::kCommandDone, false, false},
      {"PostToolUseFailure",
       bash + R"({"command":"ls"},"error":"Exit code 1","is_interrupt":false)",
       EventKind::kCommandDone, false, true},
      {"PostToolUseFailure", bash + R"({"command":"ls"},"is_interrupt":true)",
       EventKind::kCommandDone, true, true},
      {"PostToolUse", bash + R"({})", EventKind::kNothing, false, false},
      {"PostToolUse", bash + R"({"command":7})", EventKind::kNothing, false,
       false},
      {"PostToolUse", R"("tool_name":"Bash","tool_input":{"command":"ls"})",
       EventKind::kNothing, false, false},
      {"PostToolUse",
       R"("tool_name":"Read","tool_use_id":"t","tool_input":{"file_path":"/a"})",
       EventKind::kNothing, false, false},
  };
  for (const auto& c : cases) {
    const auto event = FindAdapter("claude")->Parse(
        head + R"("hook_event_name":")" + c.event + "\"," + c.rest + "}");
    ASSERT_TRUE(event) << c.rest << event.error().message;
    EXPECT_EQ(event->kind, c.kind) << c.rest;
    EXPECT_EQ(event->background, c.background) << c.rest;
    EXPECT_EQ(event->failed, c.failed) << c.rest;
    if (c.kind == EventKind::kCommandDone) EXPECT_EQ(event->call, "toolu_1");
  }
}

TEST(Framed, HasItsMarksWhateverTheAnswer) {
  EXPECT_EQ(Framed({"", "", 0}), "gate::gate\n");
  EXPECT_EQ(Framed({"{}\n", "", 0}), "gate:{}:gate\n");
  const std::string big = "{\"a\":\"" + std::string(5000, 'x') + "\"}";
  EXPECT_EQ(Framed({big + "\n", "", 0}), "gate:" + big + ":gate\n");
  EXPECT_EQ(Framed(Refuse("no")), "gate::gate\n");
  EXPECT_EQ(Framed({"{}", "no", 2}), "gate::gate\n");
  const Output told = FindAdapter("claude")->Tell("a \"b\"");
  EXPECT_EQ(told.exit_code, 0);
  EXPECT_EQ(told.out, "{\"systemMessage\":\"gate: a \\\"b\\\"\"}\n");
}

}  // namespace
}  // namespace gate::hooks
