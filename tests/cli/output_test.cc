// Output that does not get out.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/machine.h"

namespace gate {
namespace {

using test::Done;
using test::Machine;

TEST(ToolsTest, OutputThatIsCutIsAFailureWithAReason) {
  const Machine machine;
  machine.Gate({"check", "ls"});
  for (const char* command :
       {"--help", "--version", "check --help", "check ls", "explain ls",
        "parse ls", "audit list", "audit list --json", "audit show",
        "audit stats", "audit verify", "rules list --json", "rules lint",
        "rules test", "doctor", "backends --json", "pending", "trust --show",
        "replay"})
    for (const char* stream : {">/dev/full", ">&-"}) {
      const Done done = machine.Run(
          {"/bin/sh", "-c",
           "\"" + test::GateBinary() + "\" " + command + " " + stream});
      EXPECT_EQ(done.exit_code, 1) << command << stream;
      EXPECT_NE(done.err.find("could not be written"), std::string::npos)
          << command << stream << done.err;
    }
  // The command's own code stays: it is not gate's output.
  if (!test::HasSandbox(machine)) return;
  EXPECT_EQ(machine
                .Run({"/bin/sh", "-c",
                      test::GateBinary() + " sandbox -- true >/dev/full"})
                .exit_code,
            0);
  EXPECT_EQ(machine
                .Run({"/bin/sh", "-c",
                      test::GateBinary() + " sandbox --help >/dev/full"})
                .exit_code,
            125);
}

}  // namespace
}  // namespace gate
