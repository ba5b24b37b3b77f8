// gate help and --help.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/machine.h"

namespace gate {
namespace {

using test::Done;
using test::Machine;

TEST(ToolsTest, EveryCommandHasAHelpOfItsOwn) {
  const Machine machine;
  const std::string general = machine.Gate({"--help"}).out;
  EXPECT_EQ(machine.Gate({"help"}).out, general);
  for (const char* command :
       {"check",   "run",     "sandbox",   "parse",  "explain",
        "hook",    "install", "uninstall", "doctor", "backends",
        "rules",   "replay",  "audit",     "trust",  "untrust",
        "approve", "pending", "approvals", "pause",  "resume"}) {
    const Done own = machine.Gate({command, "--help"});
    EXPECT_EQ(own.exit_code, 0) << command << own.err;
    EXPECT_NE(own.out.find(std::string("gate ") + command), std::string::npos)
        << command << own.out;
    EXPECT_NE(own.out, general) << command;
    const Done help = machine.Gate({"help", command});
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_EQ(help.out, own.out) << command;
  }
  EXPECT_EQ(machine.Gate({"help", "audit", "list"}).out,
            machine.Gate({"audit", "list", "--help"}).out);
  EXPECT_EQ(machine.Gate({"help", "nonsense"}).exit_code, 64);
}

TEST(ToolsTest, HelpAndVersion) {
  const Machine machine;
  EXPECT_EQ(machine.Gate({"--version"}).exit_code, 0);
  const Done help = machine.Gate({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* command :
       {"check", "run", "sandbox", "parse", "explain", "hook", "install",
        "doctor", "backends", "rules", "audit"}) {
    EXPECT_NE(help.out.find(command), std::string::npos) << command;
    EXPECT_EQ(machine.Gate({command, "--help"}).exit_code, 0) << command;
  }
}

}  // namespace
}  // namespace gate
