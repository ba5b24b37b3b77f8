// gate rules test and gate rules list.
#include <gtest/gtest.h>

#include <string>

#include "base/json.h"
#include "tests/cli/rule_text.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Done;
using test::Has;
using test::Machine;
using test::Rule;
using test::RuleFile;

TEST(ToolsTest, RulesListShowLintTest) {
  const Machine machine;
  const Done list = machine.Gate({"rules", "list"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_GT(list.out.size(), 1000u);
  EXPECT_EQ(machine.Gate({"rules", "test"}).exit_code, 0);
  EXPECT_EQ(machine.Gate({"rules", "lint"}).exit_code, 0);
  machine.Write(machine.home() + "/.config/gate/rules.d/mine.json",
                "{\"schema\": 1, \"pack\": \"mine\", \"rules\": ["
                "{\"id\": \"mine.a\", \"action\": \"ask\", \"reason\": \"r\", "
                "\"match\": {\"prefix\": [\"make\"]}, \"examples\": "
                "{\"match\": [\"make x\", \"ls\"], \"no_match\": []}}]}");
  EXPECT_NE(machine.Gate({"rules", "test"}).exit_code, 0);
  EXPECT_EQ(machine.Gate({"rules", "show", "mine.a"}).exit_code, 0);
  EXPECT_NE(machine.Gate({"rules", "show", "no.such"}).exit_code, 0);
}

TEST(RulesTestTest, CoverageNamesWhatNoExampleReaches) {
  const Machine machine;
  EXPECT_EQ(machine.Gate({"rules", "test", "--coverage"}).exit_code, 0);
  machine.Write(
      machine.home() + "/.config/gate/rules.d/a.json",
      RuleFile(Rule("p.never", "deny", R"({"prefix": ["grault"]})") + "," +
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

}  // namespace
}  // namespace gate::app
