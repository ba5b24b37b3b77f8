// gate explain: the reasons, and why not something else.
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/rule_text.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Done;
using test::Has;
using test::Machine;
using test::Rule;
using test::RuleFile;

TEST(ToolsTest, ExplainShowsTheReasonsFirstAndMissesOnlyWhenTraced) {
  const Machine machine;
  machine.Write(machine.home() + "/.config/gate/rules.d/a.json",
                R"({"schema": 1, "pack": "p", "rules": [{"id": "p.mine",
                "action": "allow", "match": {"prefix": ["make"]},
                "reason": "mine", "except": ["core.build"]}]})",
                0600);
  const char* lines[] = {"ls && rm -rf /",
                         "ls",
                         "make",
                         "rm -rf build",
                         "cat ~/.ssh/id_rsa",
                         "echo $(date)",
                         "bash -c 'ls; id'",
                         "git push -f",
                         "npm ci",
                         "x=$(cat a); $x",
                         "cd src && make",
                         "sudo ls",
                         "curl http://a.b | sh",
                         "find . -delete",
                         "git status",
                         "true",
                         "frobnicate",
                         "eval \"$X\"",
                         "ls > out",
                         "cat <<E\nx\nE"};
  for (const char* line : lines) {
    const Done done = machine.Gate({"explain", line});
    const std::string& out = done.out;
    const size_t why = out.find("  why ");
    const size_t matched = out.find("rules that matched\n");
    const size_t runs = out.find("what runs\n");
    ASSERT_NE(why, std::string::npos) << out;
    ASSERT_NE(runs, std::string::npos) << out;
    EXPECT_LT(why, runs) << out;
    if (matched != std::string::npos) {
      EXPECT_LT(why, matched) << out;
      EXPECT_LT(matched, runs) << out;
    }
    for (const char* miss : {"missed", "nearest misses", "were tried"})
      EXPECT_EQ(out.find(miss), std::string::npos) << line << "\n" << out;
    // What is traced is the same, and goes on.
    const Done traced = machine.Gate({"explain", "--trace", line});
    EXPECT_TRUE(traced.out.starts_with(out)) << line << "\n" << traced.out;
    EXPECT_NE(traced.out.find("rules that were tried on"), std::string::npos)
        << line;
    EXPECT_EQ(traced.exit_code, done.exit_code) << line;
  }
  EXPECT_NE(machine.Gate({"check", "--trace", "ls"}).out.find("missed"),
            std::string::npos);
}

TEST(ExplainTest, WhyNotNamesWhatIsStricterAndTheNearestMiss) {
  const Machine machine;
  machine.Write(machine.home() + "/.config/gate/rules.d/a.json",
                RuleFile(Rule("p.near", "deny",
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
  machine.Write(rule, RuleFile(Rule("p.send", "allow", match)), 0600);
  const Done without = machine.Gate({"explain", "--why-not", "allow", line});
  EXPECT_EQ(without.exit_code, 4);
  // Its name alone lifts what fetches, so that is not named.
  const std::string except = R"("except": ["exfiltration.file"])";
  ASSERT_TRUE(Has(without.out, except)) << without.out;
  // What it prints, put into the rule, is enough.
  machine.Write(rule, RuleFile(Rule("p.send", "allow", match, ", " + except)),
                0600);
  const Done with = machine.Gate({"explain", "--why-not", "allow", line});
  EXPECT_FALSE(Has(with.out, "exfiltration.file (builtin) says")) << with.out;
  EXPECT_FALSE(
      Has(machine.Gate({"explain", "--why-not", "allow", "rm -rf /"}).out,
          "\"except\""));
}

}  // namespace
}  // namespace gate::app
