// gate rules diff: witnesses of every change.
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

TEST(RulesDiffTest, PrintsWitnessesOfEveryChange) {
  const Machine machine;
  const std::string one = machine.root() + "/one.json";
  const std::string two = machine.root() + "/two.json";
  machine.Write(one, RuleFile(Rule("p.a", "deny", R"({"prefix": ["grault"]})",
                                   R"(, "examples": {"match": ["grault x"],
                                   "no_match": ["ls"]})")));
  machine.Write(two, RuleFile(Rule("p.a", "ask", R"({"prefix": ["grault"]})")));
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

TEST(DiffTest, FindsWitnessesOfRulesWithoutExamples) {
  const Machine machine;
  const std::string file = machine.root() + "/new.json";
  machine.Write(
      file, RuleFile(Rule("d", "deny", R"({"prefix": ["grault", "zap"]})")));
  const Done done = machine.Gate({"rules", "diff", "builtin", file});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(Has(done.out, "sandbox -> deny  grault zap")) << done.out;
}

}  // namespace
}  // namespace gate::app
