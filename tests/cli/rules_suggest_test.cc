// gate rules suggest: rules that would have spared questions.
#include <gtest/gtest.h>

#include <string>

#include "approvals/user_action.h"
#include "tests/cli/rule_text.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Done;
using test::Has;
using test::Machine;
using test::Rule;
using test::RuleFile;

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
                RuleFile(Rule("my.ask", "ask", R"({"program": "grault"})")));
  machine.Gate({"check", "ls"});
  Approved(machine, "grault deploy a", "my.ask");
  Approved(machine, "grault deploy b", "my.ask");
  const Done done = machine.Gate({"rules", "suggest"});
  EXPECT_TRUE(Has(done.out, "now ask): grault deploy --force")) << done.out;
  EXPECT_TRUE(Has(done.out, "now ask): grault deploy anything-else"))
      << done.out;
}

}  // namespace
}  // namespace gate::app
