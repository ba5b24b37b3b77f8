// Rules that ask for the branch.
#include <gtest/gtest.h>

#include <string>

#include "base/json.h"
#include "tests/support/files.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Machine;

class BranchTest : public testing::Test {
 protected:
  void SetUp() override { test::MakeRepository(machine_.project() + "/.git"); }
  void Head(const std::string& text) {
    machine_.Write(machine_.project() + "/.git/HEAD", text);
  }
  Machine machine_;
};

TEST_F(BranchTest, ARuleDecidesByIt) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox works here";
  machine_.Write(machine_.home() + "/.config/gate/rules.d/a.json",
                 R"({"schema": 1, "pack": "p", "rules": [
      {"id": "p.main", "action": "deny", "reason": "r",
       "match": {"prefix": ["git", "commit"], "branch": ["main", "release/*"]}}]})",
                 0600);
  const auto action = [&](const std::string& command) {
    const auto json =
        ParseJson(machine_.Gate({"check", "--json", command}).out);
    return json ? (*json)["action"].get<std::string>() : "?";
  };
  EXPECT_EQ(action("git commit -m x"), "deny");
  EXPECT_EQ(action("git checkout main && git commit -m x"), "ask");
  Head("ref: refs/heads/release/1\n");
  EXPECT_EQ(action("git commit -m x"), "deny");
  Head("ref: refs/heads/topic\n");
  EXPECT_EQ(action("git commit -m x"), "sandbox");
}

}  // namespace
}  // namespace gate::app
