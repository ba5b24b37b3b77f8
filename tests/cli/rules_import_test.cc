// gate rules import: what it makes acts as it is imported.
#include <gtest/gtest.h>

#include <string>

#include "base/json.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Done;
using test::Machine;

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

}  // namespace
}  // namespace gate::app
