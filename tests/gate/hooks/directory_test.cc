// Where Claude Code's shell stands after a line that ran in a shell of gate's.
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Done;
using test::Machine;

class HookDirectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox works here";
    machine_.Write(machine_.project() + "/package.json", "{}");
    machine_.Write(machine_.project() + "/sub/step.sh", "true\n");
    machine_.environment = {"AI_AGENT=claude-code_2-1-215_agent",
                            "SHELL=/bin/bash"};
  }

  // What the client is told to run.
  std::string Rewritten(const std::string& command) {
    const Done done = machine_.Gate(
        {"hook", "claude"},
        R"({"session_id":"s","transcript_path":"/h/.claude/t.jsonl","cwd":")" +
            machine_.project() +
            R"(","permission_mode":"default","hook_event_name":"PreToolUse",)"
            R"("tool_name":"Bash","tool_input":{"command":)" +
            Dump(command) + R"(},"tool_use_id":")" + std::to_string(++calls_) +
            "\"}");
    const auto json = ParseJson(done.out);
    return json ? (*json)["hookSpecificOutput"]["updatedInput"].value("command",
                                                                      "")
                : "";
  }

  // Below the project, as the rewritten line says it; "-" where it goes
  // nowhere.
  std::string Before(const std::string& line) const {
    const std::string mark = "cd " + machine_.project() + "/";
    return line.starts_with(mark)
               ? line.substr(mark.size(),
                             line.find(' ', mark.size()) - mark.size())
               : "-";
  }
  std::string After(const std::string& line) const {
    const std::string mark = "' && cd " + machine_.project() + "/";
    const size_t at = line.rfind(mark);
    return at == std::string::npos ? "-" : line.substr(at + mark.size());
  }

  Machine machine_;
  int calls_ = 0;
};

TEST_F(HookDirectoryTest, TheShellGoesWhereALineThatSucceedsHasGone) {
  const struct {
    const char* line;
    const char* before;  // whatever becomes of the line
    const char* after;   // when it ends with 0
  } kRows[] = {
      // Known beforehand.
      {"cd sub && bash step.sh", "sub", "-"},
      {"cd sub; bash step.sh", "sub", "-"},
      // Made by the line itself.
      {"mkdir -p new && cd new && bash step.sh", "-", "new"},
      {"mkdir -p new && cd new && mkdir -p src tests && touch a", "-", "new"},
      {"mkdir new; cd new && touch a", "-", "new"},
      {"mkdir new\ncd new\ntouch a", "-", "-"},
      {"git init -q new && cd new && git add -A", "-", "new"},
      {"mkdir -p new/deep && cd new && cd deep && touch a", "-", "new/deep"},
      {"mkdir -p new && cd new && touch a && cd ../sub && touch b", "-", "sub"},
      {"mkdir -p new && cd new && bash step.sh | tee log", "-", "new"},
      {"bash sub/step.sh && cd sub && touch a", "-", "sub"},
      {"mkdir -p new && (cd new && bash step.sh) && touch a", "-", "-"},
      // A line that ends with 0 need not have gone there.
      {"bash sub/step.sh || cd sub", "-", "-"},
      {"mkdir -p new && cd new || bash step.sh", "-", "-"},
      {"mkdir -p new && cd new; bash step.sh", "-", "-"},
      {"mkdir -p new && cd new && touch a &", "-", "-"},
      {"mkdir -p new && ! cd new && touch a", "-", "-"},
      {"mkdir -p new && cd new | touch a", "-", "-"},
      {"if mkdir -p new; then cd new && touch a; fi", "-", "-"},
      {"for d in sub more; do cd $d && touch a; done", "-", "-"},
      {"mkdir -p new && cd \"$D\" && touch a", "-", "-"},
      {"mkdir -p new && cd - && touch a", "-", "-"},
      {"mkdir -p new && pushd new && touch a", "-", "-"},
      // Nothing is left of it.
      {"mkdir -p new && touch new/a", "-", "-"},
      {"mkdir -p new && cd new && touch a && cd ..", "-", "-"},
  };
  for (const auto& row : kRows) {
    const std::string line = Rewritten(row.line);
    EXPECT_NE(line.find(" run --ticket "), std::string::npos) << row.line;
    EXPECT_EQ(Before(line), row.before) << row.line << "\n" << line;
    EXPECT_EQ(After(line), row.after) << row.line << "\n" << line;
  }
}

TEST_F(HookDirectoryTest, TheRewrittenLineLeavesTheClientThereAndNowhereElse) {
  const struct {
    const char* line;
    const char* there;
  } kRows[] = {
      {"mkdir -p made && cd made && touch a", "/made"},
      {"mkdir -p other && cd other && test -e nothing", ""},
      {"mkdir -p third && cd third && touch a && cd ..", ""},
  };
  for (const auto& row : kRows) {
    const std::string line = Rewritten(row.line);
    const Done done = machine_.Run(
        {"/bin/bash", "-c",
         "cd " + ShellQuote(machine_.project()) + "\n" + line + "\npwd -P"});
    EXPECT_EQ(done.out, machine_.project() + row.there + "\n")
        << row.line << "\n"
        << line << done.err;
  }
}

}  // namespace
}  // namespace gate::app
