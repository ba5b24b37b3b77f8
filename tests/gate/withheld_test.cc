// What a contained line that failed says it was kept from.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Done;
using test::Machine;

// By the real program, with a sandbox around the line.
TEST(WithheldTest, IsToldAtTheEndOfARunAndKept) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  const std::string script =
      "import socket\n"
      "socket.socket(socket.AF_INET, socket.SOCK_STREAM)"
      ".connect((bytes.fromhex('3139322e302e322e31').decode(), 9))\n";
  machine.Write(machine.project() + "/t.py", script);
  for (const auto& [line, part] :
       {std::pair("touch ../outside", "withheld writing ~/outside"),
        std::pair("python3 t.py", "withheld the network, which something")}) {
    const Done done = machine.Gate({"run", "--json", "-c", line});
    EXPECT_NE(done.exit_code, 0) << line;
    EXPECT_NE(done.err.find(part), std::string::npos) << line << done.err;
    const size_t at = done.err.rfind("{\"schema\":\"gate.outcome/1\"");
    ASSERT_NE(at, std::string::npos) << done.err;
    const auto outcome = nlohmann::json::parse(
        done.err.substr(at, done.err.find('\n', at) - at));
    ASSERT_TRUE(outcome.contains("withheld")) << outcome;
    EXPECT_EQ(outcome["violations"], 0) << outcome;
    const Done shown = machine.Gate(
        {"audit", "show", outcome["id"].get<std::string>(), "--json"});
    EXPECT_NE(shown.out.find("withheld"), std::string::npos) << shown.out;
  }
  const Done quiet = machine.Gate({"run", "-c", "false"});
  EXPECT_EQ(quiet.err, "");
}

}  // namespace
}  // namespace gate::app
