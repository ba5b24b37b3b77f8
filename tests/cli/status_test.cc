// gate status, on one screen.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "approvals/approvals.h"
#include "facts/process_facts.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Done;
using test::Machine;

TEST(StatusTest, ShowsWhatHoldsWhatWaitsAndWhatHappened) {
  const Machine machine;
  machine.Write(machine.project() + "/package.json", "{}");
  machine.Gate({"check", "rm -rf /"});
  machine.Gate({"run", "-c", "cat ~/.ssh/id_rsa"});
  const auto waiting = ListQuestions(machine.state(), NowMs());
  ASSERT_TRUE(waiting && waiting->size() == 1);
  const std::string id = waiting->front().id;
  const std::string shown = machine.Gate({"status"}).out;
  for (const std::string& part :
       {"workspace  " + machine.project() + "\n",
        std::string("policy     standard; revision "),
        std::string("\nsandbox    "), std::string("\nhooks      "),
        "\nwaiting    gate approve " + id + "   cat ~/.ssh/id_rsa\n",
        std::string("1 deny"), std::string("rm -rf /  [files.delete-system]"),
        std::string("cat ~/.ssh/id_rsa  [secrets.read]")})
    EXPECT_NE(shown.find(part), std::string::npos) << part << shown;
  const auto json =
      nlohmann::json::parse(machine.Gate({"status", "--json"}).out);
  EXPECT_EQ(json["schema"], "gate.status/1");
  EXPECT_EQ(json["workspace"], machine.project());
  EXPECT_EQ(json["questions"][0]["id"], id);
  EXPECT_EQ(json["day"]["deny"], 1);
  EXPECT_EQ(json["last"][0]["command"], "cat ~/.ssh/id_rsa");
}

TEST(StatusTest, SaysWhatIsWrong) {
  const Machine machine;
  machine.Write(machine.home() + "/.config/gate/rules.d/a.json", "{", 0600);
  const Done done = machine.Gate({"status"});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_NE(done.out.find("a rule file does not load"), std::string::npos)
      << done.out;
  EXPECT_EQ(nlohmann::json::parse(machine.Gate({"status", "--json"}).out)["ok"],
            false);
}

TEST(StatusTest, ShowsTextOfAgentsAsText) {
  const Machine machine;
  machine.Gate({"check", "-c", "echo '\x1b[2Jx'"});
  EXPECT_EQ(machine.Gate({"status"}).out.find('\x1b'), std::string::npos);
  EXPECT_EQ(machine.Gate({"audit", "show", "1"}).out.find('\x1b'),
            std::string::npos);
}

}  // namespace
}  // namespace gate::app
