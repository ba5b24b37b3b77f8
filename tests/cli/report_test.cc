// What gate says of a run on stderr, that the command itself cannot say.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "tests/support/machine.h"

namespace gate::test {
namespace {

TEST(ReportTest, SaysWhyAProgramWasNotExecuted) {
  Machine machine;
  if (!HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  machine.Write(machine.project() + "/plain", "x");
  machine.Write(machine.project() + "/lost", "#!/nowhere/x\n", 0755);
  machine.Write(machine.project() + "/unknown", "abc\n", 0755);
  const struct {
    const char* program;
    int code;
    const char* said;
  } cases[] = {
      {"no-such-program", 127, "gate: no-such-program: not found\n"},
      {"./none", 127, "gate: ./none: not found\n"},
      {"./plain", 126, "gate: ./plain: Permission denied\n"},
      {".", 126, "gate: .: Permission denied\n"},
      {"./lost", 127,
       "gate: ./lost: the interpreter that it names was not found\n"},
      {"./unknown", 126, "gate: ./unknown: Exec format error\n"},
  };
  for (const auto& c : cases)
    for (const char* way : {"run", "sandbox"}) {
      const Done done = machine.Gate({way, "--", c.program, "arg"});
      EXPECT_EQ(done.exit_code, c.code) << way << " " << c.program;
      EXPECT_NE(done.err.find(c.said), std::string::npos)
          << way << " " << c.program << ": " << done.err;
    }
  // What a program says by its own exit code is its own.
  EXPECT_EQ(machine.Gate({"sandbox", "--", "bash", "-c", "exit 127"}).err, "");
}

TEST(ReportTest, ADirectoryThatIsNoneIsSaidBeforeAnythingIsDecided) {
  Machine machine;
  machine.Write(machine.project() + "/file", "x");
  for (const char* way : {"run", "sandbox"}) {
    const Done file = machine.Gate({way, "--cwd", "file", "-c", "true"});
    EXPECT_EQ(file.exit_code, 64) << way;
    EXPECT_EQ(file.err, "gate: did not start: file is not a directory\n");
    const Done gone = machine.Gate({way, "--cwd=gone", "-c", "true"});
    EXPECT_EQ(gone.exit_code, 64) << way;
    EXPECT_EQ(gone.err,
              "gate: did not start: gone: No such file or directory\n");
  }
  EXPECT_FALSE(machine.Exists(machine.state() + "/audit.db"));
}

TEST(ReportTest, NamesWhatThereIsWhereSomethingElseWasAskedFor) {
  Machine machine;
  const Done profile =
      machine.Gate({"sandbox", "--profile", "nope", "-c", "true"});
  EXPECT_EQ(profile.exit_code, 64);
  for (const char* name : {"`nope`", "read-only", "workspace-write"})
    EXPECT_NE(profile.err.find(name), std::string::npos) << profile.err;
  const Done dash = machine.Gate({"run", "-"}, "true\n");
  EXPECT_EQ(dash.exit_code, 64);
  EXPECT_NE(dash.err.find("no line is read from stdin"), std::string::npos)
      << dash.err;
}

TEST(ReportTest, ManyViolationsAreToldInFewLinesAndKeptInTheRecord) {
  Machine machine;
  if (!HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  const Done made =
      machine.Run({"bash", "-c", "git init -q . && rm -rf .git/hooks"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  constexpr size_t kHooks = 700;
  const Done done = machine.Gate(
      {"sandbox", "-c",
       "mkdir .git/hooks; touch .git/hooks/a-rather-long-name-{1..700}"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(Count(done.err, "gate: blocked "), 20u) << done.err;
  EXPECT_EQ(Count(done.err, "gate: and 680 more: gate audit show "), 1u)
      << done.err;
  const Done shown = machine.Gate({"audit", "list", "-n", "1", "--json"});
  const auto record = ParseJson(shown.out.substr(0, shown.out.find('\n')));
  ASSERT_TRUE(record) << shown.out;
  const Json& detail = (*record)["detail"];
  EXPECT_EQ(detail["cut"]["violations"], kHooks);
  EXPECT_GT(detail["violations"].size(), 100u);
  EXPECT_EQ(detail["violations"][0]["kind"], "git-hook");
}

TEST(ReportTest, JsonSaysHowTheRunEnded) {
  Machine machine;
  if (!HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  const Done done = machine.Gate({"run", "--json", "-c", "touch made; exit 3"});
  ASSERT_EQ(done.exit_code, 3) << done.err;
  const size_t at = done.err.find("{\"schema\":\"gate.outcome/1\"");
  ASSERT_NE(at, std::string::npos) << done.err;
  const auto outcome =
      ParseJson(done.err.substr(at, done.err.find('\n', at) - at));
  ASSERT_TRUE(outcome) << done.err;
  EXPECT_EQ((*outcome)["status"], "exited");
  EXPECT_EQ((*outcome)["exit"], 3);
  EXPECT_EQ((*outcome)["violations"], 0);
  EXPECT_EQ((*outcome)["sweep_complete"], true);
  EXPECT_EQ((*outcome)["left_running"], 0);
  // It leads to the record.
  EXPECT_EQ(machine.Gate({"audit", "show", (*outcome)["id"].get<std::string>()})
                .exit_code,
            0);
}

TEST(ReportTest, ASearchThatEndedEarlyIsSaidEverywhere) {
  Machine machine;
  if (!HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  // The git directories of submodules have a limit of their own.
  const Done made = machine.Run(
      {"bash", "-c",
       "git init -q . && cd .git && mkdir modules && cd modules && mkdir "
       "{1..16400}"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Done done = machine.Gate({"sandbox", "-c", "true"});
  EXPECT_EQ(done.exit_code, 125) << "not a good end";
  EXPECT_EQ(
      Count(done.err,
            "gate: the search for what agents and tools execute or follow "
            "ended after 16384 git directories; "),
      1u)
      << done.err;
  EXPECT_EQ(Count(done.err, "gate: blocked "), 1u) << done.err;
  const Done shown = machine.Gate({"audit", "list", "-n", "1", "--json"});
  EXPECT_NE(shown.out.find("\"sweep_complete\":false"), std::string::npos)
      << shown.out;
  EXPECT_NE(shown.out.find("\"sweep_end\":\"after "), std::string::npos)
      << shown.out;
  EXPECT_NE(shown.out.find("\"violation\""), std::string::npos) << shown.out;
}

// Of a server that was left in the background for a later line, which would not
// find it. Only where that is certain: not of one that ends by itself, and not
// of what made itself independent, as the daemons of build tools do.
TEST(ReportTest, AServerThatIsEndedWithTheRunIsSaid) {
  Machine machine;
  if (!HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  machine.Write(machine.project() + "/serve.py", R"(
import os, signal, socket, sys
server = socket.socket(socket.AF_INET6 if "six" in sys.argv else socket.AF_INET)
server.bind(("::1" if "six" in sys.argv else "127.0.0.1", 8000))
if "bound" not in sys.argv: server.listen()
child = os.fork()
if child == 0:
  if "own" in sys.argv: os.setsid()
  print("ready", flush=True)
  while True: signal.pause()
if "killed" in sys.argv:
  os.kill(child, signal.SIGTERM)
)");
  const std::string said =
      "gate: ended with the command: what was still listening on port 8000; a "
      "server and what asks it run in one line\n";
  const struct {
    const char* line;
    bool listens;
  } cases[] = {
      {"python3 serve.py | head -1", true},
      {"python3 serve.py six | head -1", true},
      {"python3 serve.py own | head -1", false},
      {"python3 serve.py killed | head -1", false},
      {"python3 serve.py bound | head -1", false},
      {"python3 serve.py | head -1; exit 3", false},
  };
  for (const auto& c : cases) {
    const Done done =
        machine.Gate({"sandbox", "--backend", "native", "-c", c.line});
    if (done.exit_code == 125 && !MustWork("native"))
      GTEST_SKIP() << "native does not work here: " << done.err;
    EXPECT_EQ(done.err, c.listens ? said : "") << c.line;
  }
}

// On the terminal only what the line itself sent to the background: helpers
// that are about to end (a tracker of python's, a coprocess) are as common as
// servers.
TEST(ReportTest, ProcessesThatAreEndedWithTheRunAreOnRecord) {
  Machine machine;
  if (!HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  const struct {
    const char* line;
    const char* recorded;
  } cases[] = {
      {"sleep 50 & true", "\"left_running\":1"},
      {"sleep 50 & sleep 50 & true", "\"left_running\":2"},
      {"python3 -c 'import os\nfor i in range(3):\n  p = os.fork()\n  if p == "
       "0: os.kill(os.getpid(), 9)\n  os.waitid(os.P_PID, p, os.WEXITED | "
       "os.WNOWAIT)'",
       ""},
      {"yes | head -1", ""},
      {"true & wait; (true); seq 9 | cat; cat <(echo x)", ""},
  };
  for (const auto& c : cases) {
    const Done done =
        machine.Gate({"sandbox", "--backend", "native", "-c", c.line});
    if (done.exit_code == 125 && !MustWork("native"))
      GTEST_SKIP() << "native does not work here: " << done.err;
    EXPECT_EQ(done.exit_code, 0) << c.line << done.err;
    const bool told = done.err.starts_with("gate: withheld running on in the ");
    EXPECT_EQ(told, *c.recorded != 0) << c.line << done.err;
    if (!told) {
      EXPECT_EQ(done.err, "") << c.line;
    }
    const std::string record =
        machine.Gate({"audit", "list", "-n", "1", "--json"}).out;
    const bool any = record.find("left_running") != std::string::npos;
    EXPECT_EQ(any, *c.recorded != 0) << c.line << record;
    EXPECT_NE(record.find(c.recorded), std::string::npos) << record;
  }
}

}  // namespace
}  // namespace gate::test
