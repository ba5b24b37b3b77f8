// Clients that run a command as it was, where gate had put another in its
// place.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "gateway/client_record.h"
#include "tests/support/machine.h"

namespace gate {
namespace {

using test::Done;
using test::Machine;

constexpr const char kLine[] = "bash step.sh";

class HookRewriteTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox works here";
    machine_.Write(machine_.project() + "/package.json", "{}");
    machine_.Write(machine_.project() + "/step.sh", "echo ran\n");
    Version("2-1-215");
  }

  // The client's version for what follows.
  void Version(const std::string& version) {
    machine_.environment = {"AI_AGENT=claude-code_" + version + "_agent",
                            "SHELL=/bin/bash"};
  }

  std::string Event(const char* name, const std::string& command,
                    const std::string& call, const std::string& more = "",
                    const char* mode = "default") {
    return R"({"session_id":"s","transcript_path":"/h/.claude/t.jsonl",)"
           R"("cwd":")" +
           machine_.project() + R"(","permission_mode":")" + mode +
           R"(","hook_event_name":")" + name + R"(","tool_name":"Bash",)" +
           R"("tool_input":{"command":)" + Dump(command) + more +
           R"(},"tool_use_id":")" + call + "\"}";
  }

  Done Hook(const std::string& event) {
    return machine_.Gate({"hook", "claude"}, event);
  }

  // What the client is told to run; empty when it is told nothing.
  std::string Rewritten(const std::string& call,
                        const std::string& command = kLine) {
    const Done done = Hook(Event("PreToolUse", command, call));
    const auto json = ParseJson(done.out);
    return json ? (*json)["hookSpecificOutput"]["updatedInput"].value("command",
                                                                      "")
                : "";
  }

  // A call that the client runs as it was; the message for its person.
  std::string Drop(const std::string& call) {
    EXPECT_NE(Rewritten(call), "") << call;
    const Done done = Hook(Event("PostToolUse", kLine, call));
    EXPECT_EQ(done.exit_code, 0) << done.err;
    const auto json = ParseJson(done.out);
    return json ? json->value("systemMessage", "") : "";
  }

  std::string LineToldIn(const Done& done) {
    const std::string mark = "instead, once: ";
    const size_t at = done.err.find(mark);
    if (done.exit_code != 2 || at == std::string::npos) return "";
    std::string line = done.err.substr(at + mark.size());
    while (line.ends_with('\n')) line.pop_back();
    return line;
  }

  Machine machine_;
};

TEST_F(HookRewriteTest, OnlyTheEndOfTheSameCallWithAnUnusedTicketIsAProof) {
  const struct {
    const char* what;
    const char* event;
    const char* command;  // null: as it was rewritten
    const char* more;     // in the tool's input
    const char* call;     // null: the same
    bool redeemed;
    bool proof;
  } kRows[] = {
      {"it ran as it was", "PostToolUse", kLine, "", nullptr, false, true},
      {"it failed as it was", "PostToolUseFailure", kLine, "", nullptr, false,
       true},
      {"another field", "PostToolUse", kLine, R"(,"timeout":5)", nullptr, false,
       true},
      {"not in the background", "PostToolUse", kLine,
       R"(,"run_in_background":false)", nullptr, false, true},
      {"another hook's rewrite", "PostToolUse", "rtk bash step.sh", "", nullptr,
       false, true},
      {"it ran as rewritten", "PostToolUse", nullptr, "", nullptr, true, false},
      {"it failed as rewritten", "PostToolUseFailure", nullptr, "", nullptr,
       true, false},
      {"rewritten, and it did not start", "PostToolUseFailure", nullptr, "",
       nullptr, false, false},
      {"the ticket was used", "PostToolUse", kLine, "", nullptr, true, false},
      {"in the background", "PostToolUse", kLine,
       R"(,"run_in_background":true)", nullptr, false, false},
      {"another call", "PostToolUse", kLine, "", "other", false, false},
      {"a call without a name", "PostToolUse", kLine, "", "", false, false},
      {"only the next call", "PreToolUse", kLine, "", "next", false, false},
      {"the end of a turn", "Stop", kLine, "", nullptr, false, false},
      {"an event of another kind", "PostToolBatch", kLine, "", nullptr, false,
       false},
      {"a person's No", "PermissionDenied", kLine, "", nullptr, false, false},
  };
  int n = 0;
  for (const auto& row : kRows) {
    const std::string call = "toolu_" + std::to_string(n++);
    Version("3-0-" + std::to_string(n));
    const std::string line = Rewritten(call);
    ASSERT_NE(line, "") << row.what;
    if (row.redeemed) {
      EXPECT_EQ(machine_.Run({"/bin/bash", "-c", line}).exit_code, 0)
          << row.what;
    }
    const Done done =
        Hook(Event(row.event, row.command == nullptr ? line : row.command,
                   row.call == nullptr ? call : row.call, row.more));
    EXPECT_EQ(done.exit_code, 0) << row.what << done.err;
    EXPECT_EQ(done.out.find("systemMessage") != std::string::npos, row.proof)
        << row.what << done.out;
    const std::string listed = machine_.Gate({"audit", "list"}).out;
    EXPECT_EQ(listed.find("unobserved") != std::string::npos, row.proof)
        << row.what << listed;
    EXPECT_EQ(app::ListClients(machine_.state()).size(), row.proof ? 1u : 0u)
        << row.what;
    // Counted once.
    if (row.proof) {
      EXPECT_EQ(Hook(Event(row.event, kLine, call)).out, "") << row.what;
    }
    machine_.Run({"rm", "-rf", machine_.state()});
  }
}

TEST_F(HookRewriteTest, CallsAtTheSameTimeProveNothingOfEachOther) {
  const std::string first = Rewritten("a");
  const std::string second = Rewritten("b");
  EXPECT_EQ(machine_.Run({"/bin/bash", "-c", second}).exit_code, 0);
  EXPECT_EQ(Hook(Event("PostToolUse", second, "b")).out, "");
  EXPECT_EQ(machine_.Run({"/bin/bash", "-c", first}).exit_code, 0);
  EXPECT_EQ(Hook(Event("PostToolUse", first, "a")).out, "");
  // Two hooks of one call that say the same: either line may be run.
  const std::string one = Rewritten("c");
  EXPECT_EQ(Rewritten("c"), one);
  EXPECT_EQ(machine_.Run({"/bin/bash", "-c", one}).exit_code, 0);
  EXPECT_EQ(Hook(Event("PostToolUse", one, "c")).out, "");
  EXPECT_TRUE(app::ListClients(machine_.state()).empty());
}

TEST_F(HookRewriteTest, AfterThreeTheVersionIsToldWhichLineToRun) {
  EXPECT_NE(Drop("1").find("claude 2.1.215 has run a command as it was"),
            std::string::npos);
  EXPECT_NE(Drop("2").find("number 2"), std::string::npos);
  EXPECT_NE(Drop("3").find("gate doctor --prove"), std::string::npos);
  EXPECT_NE(machine_.Gate({"doctor"}).out.find("BAD client    claude 2.1.215"),
            std::string::npos);

  const Done refused = Hook(Event("PreToolUse", kLine, "4"));
  const std::string line = LineToldIn(refused);
  ASSERT_NE(line, "") << refused.out << refused.err;
  EXPECT_EQ(refused.out, "");
  EXPECT_TRUE(line.ends_with("-c 'bash step.sh'")) << line;
  // The line itself is let through, by whatever the client makes of it.
  EXPECT_EQ(Rewritten("5", line), line);
  const Done ran = machine_.Run({"/bin/bash", "-c", line});
  EXPECT_EQ(ran.out, "ran\n") << ran.err;
  EXPECT_EQ(Hook(Event("PostToolUse", line, "5")).out, "");

  // Once, and nothing like it.
  for (const std::string& other :
       {line, line + " ", line + "; id", "X=1 " + line,
        line.substr(0, line.find(" -c ")) + " -c 'bash other.sh'",
        "cd / && " + line}) {
    const Done done = Hook(Event("PreToolUse", other, "6"));
    EXPECT_EQ(done.exit_code, 2) << other << done.out;
  }
  // Of another session it is not.
  const std::string again = LineToldIn(Hook(Event("PreToolUse", kLine, "7")));
  ASSERT_NE(again, "");
  std::string event = Event("PreToolUse", again, "8");
  event.replace(event.find("\"s\""), 3, "\"x\"");
  EXPECT_EQ(Hook(event).exit_code, 2);

  // What needs no rewrite is as it was.
  EXPECT_EQ(Hook(Event("PreToolUse", "ls", "9")).exit_code, 0);
  EXPECT_EQ(Hook(Event("PreToolUse", "rm -rf /", "10")).exit_code, 2);
  // Another version is another client.
  Version("2-1-216");
  EXPECT_NE(Rewritten("11"), "");
}

// A yes in the client would let a marked version run the line as it is.
TEST_F(HookRewriteTest, AMarkedVersionIsNotAskedAboutWhatWouldBeRewritten) {
  const char* asked = "git push --force origin x";
  EXPECT_NE(Hook(Event("PreToolUse", asked, "0")).out.find("\"ask\""),
            std::string::npos);
  for (const char* call : {"1", "2", "3"}) Drop(call);
  const Done done = Hook(Event("PreToolUse", asked, "4"));
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_EQ(LineToldIn(done), "") << done.err;
  EXPECT_NE(done.err.find("gate approve "), std::string::npos) << done.err;
  // In plan mode the person confirms the line that is told.
  const std::string line =
      LineToldIn(Hook(Event("PreToolUse", kLine, "5", "", "plan")));
  ASSERT_NE(line, "");
  EXPECT_NE(Hook(Event("PreToolUse", line, "6", "", "plan"))
                .out.find("\"permissionDecision\":\"ask\""),
            std::string::npos);
}

TEST_F(HookRewriteTest, APersonLetsItTryAgainAndOneRunDecides) {
  for (const char* call : {"1", "2", "3"}) Drop(call);
  EXPECT_NE(machine_.Gate({"doctor", "--prove"}).exit_code, 0);
  EXPECT_EQ(app::ListClients(machine_.state())[0].standing,
            app::Standing::kMarked);

  // As `gate doctor --prove` does at a person's terminal.
  const auto tried = app::TryAgain(machine_.state(), 1);
  ASSERT_TRUE(tried);
  EXPECT_EQ(*tried, std::vector<std::string>{"claude 2.1.215"});
  EXPECT_NE(machine_.Gate({"doctor"}).out.find("on trial"), std::string::npos);
  // One more that is dropped marks it at once.
  EXPECT_NE(Drop("4").find("gate doctor --prove"), std::string::npos);
  EXPECT_EQ(Rewritten("5"), "");

  // One that runs as rewritten proves it.
  ASSERT_TRUE(app::TryAgain(machine_.state(), 1));
  const std::string line = Rewritten("6");
  ASSERT_NE(line, "");
  EXPECT_EQ(app::ListClients(machine_.state()).size(), 1u);
  EXPECT_EQ(machine_.Run({"/bin/bash", "-c", line}).exit_code, 0);
  EXPECT_TRUE(app::ListClients(machine_.state()).empty());
  EXPECT_EQ(Hook(Event("PostToolUse", line, "6")).out, "");
  EXPECT_EQ(machine_.Gate({"doctor"}).out.find("client    "),
            std::string::npos);
}

TEST_F(HookRewriteTest, DoctorPutsItOnTrialAtAPersonsTerminal) {
  for (const char* call : {"1", "2", "3"}) Drop(call);
  const auto [code, shown] = machine_.OnTerminal({"doctor", "--prove"}, "");
  if (Machine::NoPerson(shown)) GTEST_SKIP() << shown;
  EXPECT_EQ(code, 0) << shown;
  EXPECT_NE(shown.find("claude 2.1.215: on trial"), std::string::npos) << shown;
  EXPECT_NE(Rewritten("4"), "");
}

TEST_F(HookRewriteTest, ARecordThatCannotBeReadIsAMark) {
  Drop("1");
  EXPECT_NE(Rewritten("2"), "");
  machine_.Run({"/bin/bash", "-c",
                "for f in \"$0\"/clients/*; do case $f in */lock) ;; *) echo "
                "x >\"$f\";; esac; done",
                machine_.state()});
  EXPECT_EQ(Rewritten("3"), "");
  EXPECT_NE(machine_.Gate({"doctor"}).out.find("BAD client"),
            std::string::npos);
}

TEST_F(HookRewriteTest, AnotherClientIsToldWhatToDo) {
  const struct {
    const char* from;
    const char* to;
  } kRows[] = {
      {"\"tool_use_id\"", R"("timestamp":"t","tool_use_id")"},
      {"\"default\"", "\"yolo\""},
      {"/h/.claude/", "/h/.qwen/"},
      {"\"permission_mode\":\"default\",", ""},
      {"\"session_id\":\"s\",", ""},
  };
  for (const auto& row : kRows) {
    std::string event = Event("PreToolUse", kLine, "1");
    ASSERT_NE(event.find(row.from), std::string::npos);
    event.replace(event.find(row.from), std::string(row.from).size(), row.to);
    const Done done = Hook(event);
    EXPECT_NE(LineToldIn(done), "") << row.to << done.out << done.err;
    EXPECT_NE(done.err.find("is for Claude Code"), std::string::npos);
  }
  machine_.environment.push_back("QWEN_PROJECT_DIR=/p");
  EXPECT_NE(LineToldIn(Hook(Event("PreToolUse", kLine, "2"))), "");
}

// A line with characters that are not seen is left to its ticket.
TEST_F(HookRewriteTest, TheToldLineIsReadAsItIsWritten) {
  for (const char* call : {"1", "2", "3"}) Drop(call);
  for (const char* command : {"bash step.sh\necho two", "bash step.sh '\t'",
                              "bash step.sh 'it'\\''s'"}) {
    const std::string line =
        LineToldIn(Hook(Event("PreToolUse", command, "4")));
    ASSERT_NE(line, "") << command;
    EXPECT_EQ(Rewritten("5", line), line) << command;
    EXPECT_NE(machine_.Run({"/bin/bash", "-c", line}).out.find("ran\n"),
              std::string::npos)
        << line;
  }
}

}  // namespace
}  // namespace gate
