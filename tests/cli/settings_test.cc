// config.json as a whole program reads it.
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/cli/process.h"

namespace gate::cli {
namespace {

using test::Machine;

std::string Action(const Machine& machine, const std::string& command) {
  const auto json = ParseJson(machine.Gate({"check", "--json", command}).out);
  return json ? (*json)["action"].get<std::string>() : "?";
}

TEST(SettingsTest, ThePresetIsTheUsersAndNotTheProjects) {
  const Machine machine;
  EXPECT_EQ(Action(machine, "frobnicate"), "sandbox");
  machine.Write(machine.project() + "/.gate/config.json",
                R"({"preset": "careful"})", 0600);
  EXPECT_EQ(Action(machine, "frobnicate"), "sandbox");
  const std::string own = machine.home() + "/.config/gate/config.json";
  machine.Write(own, R"({"preset": "careful"})", 0600);
  EXPECT_EQ(Action(machine, "frobnicate"), "ask");
  machine.Write(own, R"({"preset": "autonomous"})", 0600);
  EXPECT_EQ(Action(machine, "npm publish"), "deny");
  machine.Write(own, R"({"preset": "bold"})", 0600);
  EXPECT_EQ(machine.Gate({"check", "ls"}).exit_code, 78);
}

TEST(SettingsTest, AnImageIsNamedByItsDigestAndByNobodyElse) {
  const Machine machine;
  const std::string own = machine.home() + "/.config/gate/config.json";
  const std::string digest = "sha256:" + std::string(64, 'a');
  machine.Write(own, R"({"image": "debian@)" + digest + R"("})", 0600);
  EXPECT_EQ(machine.Gate({"check", "ls"}).exit_code, 0);
  for (const std::string& wrong :
       {std::string(R"({"image": "debian:12"})"),
        std::string(R"({"image": 1})"),
        R"({"image": "--privileged@)" + digest + R"("})",
        R"({"agents": {"claude": {"image": "debian@)" + digest + R"("}}})"}) {
    machine.Write(own, wrong, 0600);
    const auto ran = machine.Gate({"check", "ls"});
    EXPECT_EQ(ran.exit_code, 78) << wrong;
  }
}

}  // namespace
}  // namespace gate::cli
