// Hosts that rules name, as people and callers see them.
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/cli/rule_text.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Done;
using test::Has;
using test::Machine;

constexpr char kRules[] = R"({"schema": 1, "pack": "p", "rules": [
  {"id": "p.named", "action": "sandbox", "reason": "r", "network": "domains",
   "hosts": ["b.example:8443", "*.A.example"], "hosts_deny": ["x.a.example"],
   "match": {"program": "grault"}},
  {"id": "p.open", "action": "sandbox", "reason": "r", "network": "open",
   "hosts_deny": ["x.a.example"], "match": {"program": "garply"}},
  {"id": "p.asked", "action": "ask", "reason": "r", "network": "domains",
   "hosts": ["asked.example"], "match": {"program": "waldo"}}]})";

class HostsTest : public testing::Test {
 protected:
  void SetUp() override {
    machine_.Write(machine_.home() + "/.config/gate/rules.d/a.json", kRules,
                   0600);
  }
  Json Check(const std::string& line) const {
    auto json = ParseJson(machine_.Gate({"check", "--json", line}).out);
    EXPECT_TRUE(json) << line;
    return json ? *json : Json::object();
  }
  const Machine machine_;
};

TEST_F(HostsTest, APlanNamesThemOrIsRefusedAndSaysWhatIsMissing) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox works here";
  const Json named = Check("grault");
  const Json& plan = named["plan"];
  if (plan["mode"] == "refused") {
    EXPECT_EQ(named["action"], "deny");
    EXPECT_TRUE(Has(plan["why"].get<std::string>(), "network-domains"))
        << plan.dump();
  } else {
    EXPECT_EQ(plan["network"], "domains");
    EXPECT_EQ(plan["hosts"], Json::array({"*.a.example", "b.example:8443"}));
    EXPECT_EQ(plan["hosts_deny"], Json::array({"x.a.example"}));
  }
  const Json open = Check("garply");
  EXPECT_EQ(open["plan"]["network"], "open");
  EXPECT_EQ(open["plan"]["hosts_deny"], Json::array({"x.a.example"}));
  EXPECT_FALSE(open["plan"].contains("hosts"));
  const Done text = machine_.Gate({"check", "garply"});
  EXPECT_TRUE(Has(text.out, "denied    x.a.example")) << text.out;
  // A line of other rules says nothing of hosts.
  const Json other = Check("make");
  EXPECT_FALSE(other["plan"].contains("hosts"));
  EXPECT_FALSE(other["plan"].contains("hosts_deny"));
}

TEST_F(HostsTest, AQuestionNamesWhatAYesReaches) {
  const Json asked = Check("waldo");
  EXPECT_EQ(asked["action"], "ask");
  EXPECT_EQ(asked["grants"]["hosts"], Json::array({"asked.example"}));
  const Done text = machine_.Gate({"check", "waldo"});
  EXPECT_TRUE(Has(text.out, "of the network it reaches asked.example"))
      << text.out;
}

TEST_F(HostsTest, AnExplanationNamesTheRuleOfEach) {
  const Done done = machine_.Gate({"explain", "grault && waldo"});
  for (const char* part :
       {"hosts that the rules name\n", "  *.a.example  p.named\n",
        "  asked.example  p.asked\n", "  b.example:8443  p.named\n",
        "hosts that the rules deny\n", "  x.a.example  p.named\n"})
    EXPECT_TRUE(Has(done.out, part)) << part << done.out;
  EXPECT_FALSE(Has(machine_.Gate({"explain", "make"}).out, "hosts that"));
}

TEST_F(HostsTest, ARuleIsShownWithThem) {
  const Done done = machine_.Gate({"rules", "show", "p.named"});
  EXPECT_TRUE(Has(done.out, "hosts     *.a.example, b.example:8443\n"))
      << done.out;
  EXPECT_TRUE(Has(done.out, "denied    x.a.example\n")) << done.out;
}

TEST_F(HostsTest, TheCallerOnlyEverTakesSomeAway) {
  const auto code = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "run");
    words.insert(words.end(), {"-c", "waldo"});
    return machine_.Gate(words).exit_code;
  };
  EXPECT_EQ(code({"--network", "domains", "--host", "b.example"}), 126);
  EXPECT_EQ(code({"--host", "b.example"}), 64);
  EXPECT_EQ(code({"--network", "domains", "--host", "http://b.example"}), 64);
}

TEST_F(HostsTest, NobodyAcceptsToLackTheFilter) {
  machine_.Write(machine_.home() + "/.config/gate/config.json",
                 R"({"accept_loss": ["network-domains"]})", 0600);
  const Done done = machine_.Gate({"check", "ls"});
  EXPECT_EQ(done.exit_code, 78) << done.out;
  EXPECT_TRUE(Has(done.out + done.err, "config.json:1"))
      << done.out << done.err;
}

}  // namespace
}  // namespace gate::app
