// What tools that are not known by name say they work on.
#include "hooks/tool_files.h"

#include <gtest/gtest.h>

namespace gate::hooks {
namespace {

// One word a file: how it is looked at, `how:path`, `how:path|glob`,
// `list:path|pattern`; `write:path`.
std::string Said(const ToolFiles& files) {
  std::string said;
  const auto add = [&said](const std::string& word) {
    said += (said.empty() ? "" : " ") + word;
  };
  for (const ToolRead& read : files.reads) {
    const char* how = read.how == ToolRead::How::kFile     ? "file:"
                      : read.how == ToolRead::How::kSearch ? "search:"
                                                           : "list:";
    const std::string& names = read.glob.empty() ? read.pattern : read.glob;
    add(how + read.path + (names.empty() ? "" : "|" + names));
  }
  for (const std::string& path : files.writes) add("write:" + path);
  return said;
}

TEST(ToolFiles, AreThoseThatTheInputNames) {
  const struct {
    const char* tool;
    const char* input;
    const char* said;
  } cases[] = {
      // The servers of the protocol's own repository, and their kin.
      {"mcp__filesystem__read_file", R"({"path":"/a"})", "file:/a"},
      {"mcp__filesystem__read_text_file", R"({"path":"/a","head":9})",
       "file:/a"},
      {"mcp__filesystem__read_multiple_files", R"({"paths":["/a"]})",
       "file:/a"},
      {"mcp__filesystem__list_directory", R"({"path":"/d"})", "list:/d"},
      {"mcp__filesystem__directory_tree", R"({"path":"/d"})", "list:/d"},
      {"mcp__filesystem__get_file_info", R"({"path":"/d"})", "list:/d"},
      {"mcp__filesystem__search_files", R"({"path":"/d","pattern":"x"})",
       "search:/d"},
      {"mcp__filesystem__list_allowed_directories", "{}", ""},
      {"mcp__filesystem__write_file", R"({"path":"/a","content":"x"})",
       "write:/a"},
      {"mcp__filesystem__create_directory", R"({"path":"/d"})", "write:/d"},
      {"mcp__filesystem__edit_file", R"({"path":"/a","edits":[]})",
       "file:/a write:/a"},
      {"mcp__filesystem__copy_file", R"({"source":"/a"})", "file:/a write:/a"},
      {"mcp__serena__find_file", R"({"relative_path":"d"})", "search:d"},
      {"mcp__repomix__pack_codebase", R"({"directory":"/d"})", "search:/d"},
      {"mcp__x__open", R"({"uri":"file:///a"})", "file:file:///a"},
      {"mcp__x__open", R"({"url":"FILE:/a"})", "file:FILE:/a"},
      {"mcp__x__readFile", R"({"filePath":"/a"})", "file:/a"},
      {"mcp__x__open", R"({"File-Path":"/a"})", "file:/a"},
      {"mcp__x__open", R"({"a":[{"b":{"file_path":"/a"}}]})", "file:/a"},
      {"mcp__x__send", R"({"files":[{"path":"/a"}]})", "file:/a"},
      {"mcp__x__store", R"({"path":"/a","content":"x"})", "write:/a"},
      // What is no file.
      {"mcp__x__open", R"({"url":"https://example.org/a"})", ""},
      {"mcp__x__cookie", R"({"name":"a","path":"/"})", ""},
      {"mcp__x__y", R"({"path":7,"file":false,"directory":{"a":1}})", ""},
      {"mcp__x__y", R"({"path":null,"query":"select 1"})", ""},
      {"mcp__x__y", R"({"path":""})", ""},
      {"mcp__x__y", "[]", ""},
      {"Task", R"({"prompt":"read /a"})", ""},
      // Other clients' tools.
      {"read_file", R"({"absolute_path":"/a"})", "file:/a"},
      {"read_many_files", R"({"paths":["a"]})", "file:a"},
      {"read_many_files", R"({"include":["*.c"]})", "search:|*.c"},
      {"read_many_files", R"({"include":["~/d/*"]})", "search:~/d|*"},
      {"read_many_files", R"({"include":["/d/a"]})", "search:/d/a"},
      {"list_directory", R"({"path":"~"})", "list:~"},
      {"glob", R"({"pattern":"*.c"})", "list:|*.c"},
      {"glob", R"({"pattern":"*.c","dir_path":"d"})", "list:d|*.c"},
      {"grep_search", R"({"pattern":"x","path":"d"})", "search:d"},
      {"grep_search", R"({"pattern":"x","path":"d","glob":"*.c"})",
       "search:d|*.c"},
      {"search_file_content", R"({"pattern":"x","include":".env"})",
       "search:|.env"},
      {"write_file", R"({"file_path":"/a","content":"x"})", "write:/a"},
      {"replace", R"({"file_path":"/a"})", "file:/a write:/a"},
      {"read", R"({"filePath":"/a"})", "file:/a"},
      {"Peek", R"({"file_path":"/a"})", "search:/a"},
  };
  for (const auto& c : cases) {
    const auto input = ParseJson(c.input);
    ASSERT_TRUE(input) << c.input;
    const auto files = FilesOfTool(c.tool, *input);
    ASSERT_TRUE(files) << c.tool << c.input << files.error().message;
    EXPECT_EQ(Said(*files), c.said) << c.tool << c.input;
  }
}

TEST(ToolFiles, AreRefusedWhereTheyAreNotUnderstood) {
  const auto fails = [](const char* tool, const std::string& text) {
    const auto input = ParseJson(text);
    return input && !FilesOfTool(tool, *input);
  };
  EXPECT_TRUE(fails("Peek", R"({"path":7})"));
  EXPECT_TRUE(fails("Peek", R"({"file_path":[1]})"));
  EXPECT_TRUE(fails("Peek", R"({"directory":{"path":"/a"}})"));
  EXPECT_TRUE(fails("mcp__x__y", R"({"path":"/a\u0000b"})"));
  std::string many = R"({"paths":[)";
  for (size_t i = 0; i < kMaxToolFiles; ++i) many += "\"/a\",";
  EXPECT_FALSE(fails("mcp__x__read", many.substr(0, many.size() - 1) + "]}"));
  EXPECT_TRUE(fails("mcp__x__read", many + "\"/a\"]}"));
  std::string values = R"({"a":[)";
  for (size_t i = 0; i < kMaxToolValues; ++i) values += "0,";
  EXPECT_TRUE(fails("mcp__x__y", values + "0]}"));
}

}  // namespace
}  // namespace gate::hooks
