// gate replay: what another policy would have decided.
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
                RuleFile(Rule("p.a", "deny", R"({"prefix": ["grault"]})")),
                0600);
  const Done done = machine.Gate({"replay", "--rules", rules});
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_TRUE(Has(done.out, "sandbox -> deny  grault x")) << done.out;
  EXPECT_TRUE(Has(done.out, "1 of 2 recorded")) << done.out;
  const auto before = machine.Gate({"audit", "list", "--json"}).out;
  machine.Gate({"replay", "--rules", rules});
  EXPECT_EQ(machine.Gate({"audit", "list", "--json"}).out, before)
      << "a replay records nothing";
}

TEST(ReplayTest, ADirectoryThatIsNotThereIsAnError) {
  const Machine machine;
  machine.Gate({"check", "ls"});
  EXPECT_EQ(machine.Gate({"replay", "--rules", "/no/where"}).exit_code, 64);
}

}  // namespace
}  // namespace gate::app
