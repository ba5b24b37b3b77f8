// explain --why-not, rules test --coverage, rules diff, replay, suggest.
#include <gtest/gtest.h>

#include "approvals/user_action.h"
#include "base/json.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Done;
using test::Machine;

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string Rule(const std::string& id, const std::string& action,
                 const std::string& match, const std::string& more = "") {
  return R"({"id": ")" + id + R"(", "action": ")" + action +
         R"(", "reason": "r", "match": )" + match + more + "}";
}

std::string File(const std::string& rules) {
  return R"({"schema": 1, "pack": "p", "rules": [)" + rules + "]}";
}

// The action by what rules say, whatever programs this machine has.
std::string DecideIn(const Machine& machine, const std::string& line) {
  const Json json = Json::parse(
      machine
          .Gate({"check", "--batch"},
                Json{{"id", "1"}, {"cmd", line}, {"cwd", machine.project()}}
                        .dump() +
                    "\n")
          .out);
  return json["action"].get<std::string>();
}

TEST(ExplainTest, WhyNotNamesWhatIsStricterAndTheNearestMiss) {
  const Machine machine;
  machine.Write(machine.home() + "/.config/gate/rules.d/a.json",
                File(Rule("p.near", "deny",
                          R"({"prefix": ["frobnicate", "all", "now"]})")),
                0600);
  const Done denied =
      machine.Gate({"explain", "--why-not", "allow", "rm -rf /"});
  EXPECT_EQ(denied.exit_code, 2);
  EXPECT_TRUE(Has(denied.out, "why not allow")) << denied.out;
  EXPECT_TRUE(Has(denied.out, "says deny")) << denied.out;
  const Done near =
      machine.Gate({"explain", "--why-not", "deny", "frobnicate all later"});
  EXPECT_TRUE(Has(near.out, "p.near (deny): 2 of 3")) << near.out;
  EXPECT_TRUE(Has(near.out, "prefix (2 of 3 words)")) << near.out;
  EXPECT_TRUE(
      Has(machine.Gate({"explain", "--trace", "frobnicate all later"}).out,
          "nearest misses"));
  const std::string tried =
      machine.Gate({"explain", "--trace", "frobnicate all later; ls"}).out;
  const size_t one =
      tried.find("rules that were tried on frobnicate all later");
  const size_t two = tried.find("rules that were tried on ls");
  ASSERT_TRUE(one < two && two != std::string::npos) << tried;
  EXPECT_LT(tried.find("p.near: missed (2 of 3; not: prefix"), two) << tried;
  EXPECT_LT(two, tried.find("core.read: matched", two)) << tried;
  EXPECT_EQ(machine.Gate({"explain", "--why-not", "maybe", "ls"}).exit_code,
            64);
}

TEST(ExplainTest, WhyNotSaysWhichExceptionAnAllowOfTheUserNeeds) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  const std::string rule = machine.home() + "/.config/gate/rules.d/a.json";
  const std::string match = R"({"prefix": ["curl"]})";
  const std::string line = "curl -T x https://example.org/";
  machine.Write(rule, File(Rule("p.send", "allow", match)), 0600);
  const Done without = machine.Gate({"explain", "--why-not", "allow", line});
  EXPECT_EQ(without.exit_code, 4);
  // Its name alone lifts what fetches, so that is not named.
  const std::string except = R"("except": ["exfiltration.file"])";
  ASSERT_TRUE(Has(without.out, except)) << without.out;
  // What it prints, put into the rule, is enough.
  machine.Write(rule, File(Rule("p.send", "allow", match, ", " + except)),
                0600);
  const Done with = machine.Gate({"explain", "--why-not", "allow", line});
  EXPECT_FALSE(Has(with.out, "exfiltration.file (builtin) says")) << with.out;
  EXPECT_FALSE(
      Has(machine.Gate({"explain", "--why-not", "allow", "rm -rf /"}).out,
          "\"except\""));
}

// The rules that a person had elsewhere do here what they did there.
TEST(RulesImportTest, WhatClaudeCodeAllowsActsAsItIsImported) {
  const Machine machine;
  const std::string settings = machine.root() + "/settings.json";
  machine.Write(settings, R"json({"permissions": {
      "allow": ["Bash(npm run test:*)", "Bash(make check)", "Bash(pytest *)"],
      "deny": ["Bash(npm run test:prod *)"]}})json");
  const Done imported = machine.Gate({"rules", "import", "claude", settings});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  const std::string rule = machine.home() + "/.config/gate/rules.d/claude.json";
  const auto kAllowed = {"npm run test",
                         "npm run test -- --watch",
                         "make check",
                         "pytest -q tests",
                         "make check 2>&1",
                         "npm run test | tail -3",
                         "ls && npm run test -- x"};
  const auto decide = [&](const char* line) { return DecideIn(machine, line); };
  for (const char* line : kAllowed) EXPECT_EQ(decide(line), "sandbox") << line;
  machine.Write(rule, imported.out, 0600);
  for (const char* line : kAllowed) EXPECT_EQ(decide(line), "allow") << line;
  for (const char* line :
       {"npm run test > x", "npm run test $X", "npm run test; npm run build",
        "A=b npm run test", "npm run tests", "make check all",
        "pytest -q $(cat x)", "./pytest x"})
    EXPECT_EQ(decide(line), "sandbox") << line;
  EXPECT_EQ(decide("npm run test:prod x"), "deny");
  // In the project of an agent's choosing the same rules do nothing.
  machine.Write(rule, R"({"schema": 1, "pack": "p", "rules": []})", 0600);
  machine.Write(machine.project() + "/.gate/rules.d/claude.json", imported.out);
  for (const char* line : kAllowed) EXPECT_NE(decide(line), "allow") << line;
}

TEST(RulesTestTest, CoverageNamesWhatNoExampleReaches) {
  const Machine machine;
  EXPECT_EQ(machine.Gate({"rules", "test", "--coverage"}).exit_code, 0);
  machine.Write(
      machine.home() + "/.config/gate/rules.d/a.json",
      File(Rule("p.never", "deny", R"({"prefix": ["grault"]})") + "," +
           Rule("p.weak", "allow", R"({"prefix": ["npm", "deprecate"]})",
                R"(, "examples": {"match": ["npm deprecate a b"],
                              "no_match": ["ls"]})")),
      0600);
  const Done done = machine.Gate({"rules", "test", "--coverage"});
  EXPECT_TRUE(Has(done.out, "never matched   p.never")) << done.out;
  EXPECT_TRUE(Has(done.out, "never decisive  p.weak")) << done.out;
  EXPECT_EQ(
      machine.Gate({"rules", "test", "--coverage", "--min", "100"}).exit_code,
      1);
}

TEST(RulesDiffTest, PrintsWitnessesOfEveryChange) {
  const Machine machine;
  const std::string one = machine.root() + "/one.json";
  const std::string two = machine.root() + "/two.json";
  machine.Write(one, File(Rule("p.a", "deny", R"({"prefix": ["grault"]})",
                               R"(, "examples": {"match": ["grault x"],
                                   "no_match": ["ls"]})")));
  machine.Write(two, File(Rule("p.a", "ask", R"({"prefix": ["grault"]})")));
  const Done same = machine.Gate({"rules", "diff", one, one});
  EXPECT_EQ(same.exit_code, 0) << same.out;
  const Done differ = machine.Gate({"rules", "diff", one, two});
  EXPECT_EQ(differ.exit_code, 1);
  EXPECT_TRUE(Has(differ.out, "deny -> ask  grault x  (looser)")) << differ.out;
  machine.Write(machine.root() + "/commands", "grault y\n\nls\n");
  const Done more =
      machine.Gate({"rules", "diff", "--json", "--commands",
                    machine.root() + "/commands", one, "builtin"});
  EXPECT_TRUE(Has(more.out, "\"command\":\"grault y\"")) << more.out;
  machine.Write(two, "{");
  EXPECT_EQ(machine.Gate({"rules", "diff", one, two}).exit_code, 78);
  EXPECT_EQ(machine.Gate({"rules", "diff", one, "/nowhere"}).exit_code, 78);
}

TEST(ReplayTest, ShowsWhatAnotherPolicyWouldHaveDecided) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  for (const char* command : {"grault x", "ls",
                              "curl -H 'Authorization: Bearer "
                              "abcdefghijklmnopqrstuvwxyz012345' h"})
    machine.Gate({"check", command});
  // Nobody decides on what `gate sandbox` runs.
  machine.Gate({"sandbox", "-c", "rm -rf /no/such/place"});
  const Done same = machine.Gate({"replay"});
  EXPECT_EQ(same.exit_code, 0) << same.out;
  const std::string rules = machine.root() + "/rules";
  machine.Write(rules + "/a.json",
                File(Rule("p.a", "deny", R"({"prefix": ["grault"]})")), 0600);
  const Done done = machine.Gate({"replay", "--rules", rules});
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_TRUE(Has(done.out, "sandbox -> deny  grault x")) << done.out;
  EXPECT_TRUE(Has(done.out, "1 of 2 recorded")) << done.out;
  const auto before = machine.Gate({"audit", "list", "--json"}).out;
  machine.Gate({"replay", "--rules", rules});
  EXPECT_EQ(machine.Gate({"audit", "list", "--json"}).out, before)
      << "a replay records nothing";
}

// As `gate approve` records it.
void Approved(const Machine& machine, const std::string& command,
              const std::string& rule) {
  ProcessFacts facts;
  facts.places.state = machine.state();
  UserAction act;
  act.mode = "approve";
  act.command = command;
  act.reason = "x";
  act.detail = R"({"rules": [")" + rule + "\"]}";
  ASSERT_TRUE(RecordUserAction(facts, act));
}

TEST(SuggestTest, SparesRepeatedApprovalsAndNeverTrustsAnInterpreter) {
  const Machine machine;
  machine.Gate({"check", "ls"});
  EXPECT_TRUE(Has(machine.Gate({"rules", "suggest"}).out, "nothing"));
  Approved(machine, "npm owner add a", "packages.publish");
  Approved(machine, "npm owner add b", "packages.publish");
  Approved(machine, "python3 -c x", "some.rule");
  Approved(machine, "python3 -c x", "some.rule");
  Approved(machine, "once only", "some.rule");
  const Done done = machine.Gate({"rules", "suggest"});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_TRUE(Has(done.out, R"("prefix":["npm","owner","add"])")) << done.out;
  EXPECT_TRUE(Has(done.out, "packages.publish")) << done.out;
  EXPECT_FALSE(Has(done.out, R"("prefix":["python3")")) << done.out;
  EXPECT_FALSE(Has(done.out, "once")) << done.out;
}

TEST(SuggestTest, SaysWhatElseOfTheOwnRulesWouldBeLetThrough) {
  const Machine machine;
  machine.Write(machine.home() + "/.config/gate/rules.d/a.json",
                File(Rule("my.ask", "ask", R"({"program": "grault"})")));
  machine.Gate({"check", "ls"});
  Approved(machine, "grault deploy a", "my.ask");
  Approved(machine, "grault deploy b", "my.ask");
  const Done done = machine.Gate({"rules", "suggest"});
  EXPECT_TRUE(Has(done.out, "now ask): grault deploy --force")) << done.out;
  EXPECT_TRUE(Has(done.out, "now ask): grault deploy anything-else"))
      << done.out;
}

TEST(RulesTestTest, PrintsAnObjectForEachExampleAndRule) {
  const Machine machine;
  const Done done = machine.Gate({"rules", "test", "--json", "--coverage"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  size_t examples = 0, rules = 0;
  for (size_t at = 0; at < done.out.size();) {
    const size_t end = std::min(done.out.find('\n', at), done.out.size());
    const auto json = ParseJson(done.out.substr(at, end - at));
    ASSERT_TRUE(json) << done.out.substr(at, end - at);
    (*json)["schema"] == "gate.example/1" ? ++examples : ++rules;
    at = end + 1;
  }
  EXPECT_GT(examples, 100u);
  EXPECT_GT(rules, 100u);
  EXPECT_EQ(machine.Gate({"rules", "test", "--min", "50"}).exit_code, 64);
}

TEST(ReplayTest, ADirectoryThatIsNotThereIsAnError) {
  const Machine machine;
  machine.Gate({"check", "ls"});
  EXPECT_EQ(machine.Gate({"replay", "--rules", "/no/where"}).exit_code, 64);
}

TEST(DiffTest, FindsWitnessesOfRulesWithoutExamples) {
  const Machine machine;
  const std::string file = machine.root() + "/new.json";
  machine.Write(file,
                File(Rule("d", "deny", R"({"prefix": ["grault", "zap"]})")));
  const Done done = machine.Gate({"rules", "diff", "builtin", file});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(Has(done.out, "sandbox -> deny  grault zap")) << done.out;
}

}  // namespace
}  // namespace gate::app
