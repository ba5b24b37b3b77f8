// gate rules lint: what it prints and how it exits.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>

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

std::string UserFile(const Machine& machine) {
  return machine.home() + "/.config/gate/rules.d/a.json";
}

TEST(RulesLint, ExitCodesSayWhatWasFound) {
  const Machine machine;
  const Done clean = machine.Gate({"rules", "lint"});
  EXPECT_EQ(clean.exit_code, 0) << clean.out;
  EXPECT_TRUE(Has(clean.out, "0 errors, 0 warnings, 0 notes")) << clean.out;
  machine.Write(
      UserFile(machine),
      RuleFile(Rule("p.a", "deny", R"({"prefix": ["grault"]})") + "," +
               Rule("p.b", "ask", R"({"prefix": ["grault", "x"]})")),
      0600);
  const Done warned = machine.Gate({"rules", "lint"});
  EXPECT_EQ(warned.exit_code, 0) << "warnings and notes are no errors";
  EXPECT_TRUE(Has(warned.out, "[lint-shadowed]")) << warned.out;
  EXPECT_TRUE(Has(warned.out, "    witness: grault x")) << warned.out;
  EXPECT_EQ(machine.Gate({"rules", "lint", "--strict"}).exit_code, 1);
  machine.Write(UserFile(machine),
                RuleFile(Rule("p.a", "allow", R"({"prefix": ["bash"]})")),
                0600);
  EXPECT_EQ(machine.Gate({"rules", "lint"}).exit_code, 1);
  machine.Write(UserFile(machine), "{", 0600);
  EXPECT_EQ(machine.Gate({"rules", "lint"}).exit_code, 78);
  EXPECT_EQ(machine.Gate({"rules", "lint", "--json", "--sarif"}).exit_code, 64);
}

TEST(RulesLint, LintsAFileOnTopOfTheShippedRules) {
  const Machine machine;
  const std::string file = machine.root() + "/mine.json";
  machine.Write(file, RuleFile(Rule("p.a", "deny", R"({"prefix": ["a b"]})")));
  const Done done = machine.Gate({"rules", "lint", "--json", file});
  EXPECT_EQ(done.exit_code, 1);
  bool found = false;
  for (size_t at = 0; at < done.out.size();) {
    const size_t end = done.out.find('\n', at);
    const Json line = Json::parse(done.out.substr(at, end - at));
    EXPECT_EQ(line["schema"], "gate.finding/1");
    found = found || (line["code"] == "lint-never-matches" &&
                      line["file"] == file && line["line"] == 1 &&
                      line["rule"] == "p.a" && line["level"] == "error");
    at = end + 1;
  }
  EXPECT_TRUE(found) << done.out;
  EXPECT_EQ(machine.Gate({"rules", "lint", "/nowhere"}).exit_code, 64);
}

TEST(RulesLint, SarifHasRulesPlacesLevelsAndFingerprintsThatStay) {
  const Machine machine;
  const std::string file = machine.root() + "/a b.json";
  const auto run = [&](const std::string& text) {
    machine.Write(file, text);
    return Json::parse(machine.Gate({"rules", "lint", "--sarif", file}).out);
  };
  const std::string rule = Rule("p.a", "allow", R"({"prefix": ["sort"]})",
                                R"(, "lint": {"lint-open-tail": "meant"})");
  const Json log = run(RuleFile(rule));
  EXPECT_EQ(log["version"], "2.1.0");
  const Json& only = log["runs"][0];
  EXPECT_EQ(only["tool"]["driver"]["name"], "gate");
  std::set<std::string> ids;
  for (const Json& kind : only["tool"]["driver"]["rules"]) {
    EXPECT_TRUE(ids.insert(kind["id"]).second);
    EXPECT_FALSE(kind["shortDescription"]["text"].get<std::string>().empty());
  }
  EXPECT_GE(ids.size(), 18u);
  std::string print;
  bool suppressed = false;
  for (const Json& result : only["results"]) {
    EXPECT_EQ(only["tool"]["driver"]["rules"][result["ruleIndex"].get<size_t>()]
                  ["id"],
              result["ruleId"]);
    EXPECT_TRUE(std::set<std::string>({"error", "warning", "note"})
                    .contains(result["level"]));
    const Json& place = result["locations"][0]["physicalLocation"];
    if (place["artifactLocation"]["uri"] !=
        "file://" + machine.root() + "/a%20b.json")
      continue;
    EXPECT_EQ(place["region"]["startLine"], 1);
    if (result["ruleId"] == "lint-no-examples")
      print = result["partialFingerprints"]["gateFinding/v1"];
    if (result["ruleId"] == "lint-open-tail") {
      suppressed = result["suppressions"][0]["justification"] == "meant";
      EXPECT_FALSE(result["properties"]["witness"].get<std::string>().empty());
    }
  }
  EXPECT_TRUE(suppressed);
  ASSERT_FALSE(print.empty());
  bool same = false;
  const Json moved = run("\n\n// moved\n" + RuleFile(rule));
  for (const Json& result : moved["runs"][0]["results"])
    same = same || (result["partialFingerprints"]["gateFinding/v1"] == print);
  EXPECT_TRUE(same) << "moving a rule must not make its finding a new one";
}

TEST(RulesLint, SaysWhereOthersCouldPutTrustedRules) {
  const Machine machine;
  const std::string above = machine.home() + "/.config";
  ASSERT_EQ(::mkdir(above.c_str(), 0755), 0);
  EXPECT_FALSE(Has(machine.Gate({"rules", "lint"}).out, "lint-file-writable"));
  ASSERT_EQ(::chmod(above.c_str(), 0777), 0);
  Done done = machine.Gate({"rules", "lint"});
  EXPECT_TRUE(Has(done.out, "[lint-file-writable]")) << done.out;
  EXPECT_EQ(done.exit_code, 1);
  // With rules in it, nothing runs: others could exchange them.
  ASSERT_EQ(::chmod(above.c_str(), 0755), 0);
  machine.Write(UserFile(machine), RuleFile(""), 0600);
  EXPECT_EQ(machine.Gate({"check", "-c", "ls"}).exit_code, 0);
  EXPECT_EQ(machine.Gate({"check", "-c", "ls"}).exit_code, 0);
  for (const std::string& place : {above, machine.home(), above + "/gate"}) {
    ASSERT_EQ(::chmod(place.c_str(), 0777), 0);
    done = machine.Gate({"check", "-c", "ls"});
    EXPECT_EQ(done.exit_code, 78) << place << done.out;
    EXPECT_TRUE(Has(done.out + done.err, place)) << done.out << done.err;
    EXPECT_TRUE(Has(done.out + done.err, "chmod go-w"));
    ASSERT_EQ(::chmod(place.c_str(), 0755), 0);
    EXPECT_EQ(machine.Gate({"check", "-c", "ls"}).exit_code, 0) << place;
  }
  // The settings beside them are trusted by the same rule.
  ASSERT_EQ(::unlink(UserFile(machine).c_str()), 0);
  ASSERT_EQ(::rmdir((above + "/gate/rules.d").c_str()), 0);
  machine.Write(above + "/gate/config.json", "{}", 0600);
  EXPECT_EQ(machine.Gate({"check", "-c", "ls"}).exit_code, 0);
  ASSERT_EQ(::chmod(above.c_str(), 0777), 0);
  EXPECT_EQ(machine.Gate({"check", "-c", "ls"}).exit_code, 78);
  ASSERT_EQ(::chmod(above.c_str(), 0755), 0);
}

TEST(RulesLint, SaysThatNoBackendGivesWhatARuleAsksFor) {
  const Machine machine;
  machine.Write(UserFile(machine),
                RuleFile(Rule("p.a", "sandbox", R"({"prefix": ["grault"]})",
                              R"(, "profile": "read-only")")),
                0600);
  machine.Write(machine.home() + "/.config/gate/config.json",
                R"({"backend": "microvm"})", 0600);
  const Done done = machine.Gate({"rules", "lint"});
  EXPECT_TRUE(Has(done.out, "lint-no-backend")) << done.out << done.err;
}

}  // namespace
}  // namespace gate::app
