// gate doctor and gate backends.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/machine.h"

namespace gate {
namespace {

using test::Done;
using test::Machine;

TEST(ToolsTest, BackendsAndDoctorAnswer) {
  const Machine machine;
  const Done backends = machine.Gate({"backends", "--json"});
  EXPECT_EQ(backends.exit_code, 0);
  EXPECT_NE(backends.out.find("\"name\":\"native\""), std::string::npos);
  EXPECT_EQ(machine.Gate({"backends", "probe"}).exit_code, 0);
  const Done doctor = machine.Gate({"doctor"});
  EXPECT_NE(doctor.out.find("policy"), std::string::npos);
  EXPECT_NE(doctor.out.find("not seen"), std::string::npos);
}

TEST(ToolsTest, DoctorAndHookSayWhyNothingCanBeRecorded) {
  const Machine machine;
  const std::string file = machine.home() + "/file";
  machine.Write(file, "");
  const std::string closed = machine.home() + "/closed";
  ASSERT_EQ(machine.Run({"mkdir", "-m", "555", closed}).exit_code, 0);
  std::vector<std::pair<std::string, std::string>> cases = {
      {file + "/state", "Not a directory"},
      {"/proc/nowhere/gate", "No such file or directory"}};
  // Modes do not bind root.
  if (geteuid() != 0) cases.push_back({closed + "/state", "Permission denied"});
  for (const auto& [state, why] : cases) {
    const Done doctor = machine.Gate({"--state-dir", state, "doctor"});
    EXPECT_EQ(doctor.exit_code, 1) << doctor.out;
    EXPECT_NE(doctor.out.find("BAD state     nothing can be recorded in " +
                              state + ", so every command is refused: "),
              std::string::npos)
        << doctor.out;
    EXPECT_NE(doctor.out.find(why), std::string::npos) << doctor.out;
    for (const char* command : {"ls", "make"}) {
      const Done hook =
          machine.Gate({"--state-dir", state, "hook", "generic"},
                       std::string("{\"command\":\"") + command +
                           "\",\"cwd\":\"" + machine.project() + "\"}");
      EXPECT_EQ(hook.exit_code, 2) << hook.out;
      // What is missing is the directory, not what would be in it.
      EXPECT_EQ(hook.err.find(".key"), std::string::npos)
          << command << ": " << hook.err;
      EXPECT_NE(hook.err.find(why), std::string::npos) << hook.err;
    }
  }
  // Nothing is left of the trial.
  const std::string state = machine.home() + "/new";
  EXPECT_EQ(
      machine.Gate({"--state-dir", state, "doctor"}).out.find("BAD state"),
      std::string::npos);
  EXPECT_EQ(machine.Run({"ls", "-A", machine.home()}).out.find("gate-doctor"),
            std::string::npos);
  EXPECT_EQ(machine.Run({"find", state, "-name", "*doctor*"}).out, "");
}

}  // namespace
}  // namespace gate
