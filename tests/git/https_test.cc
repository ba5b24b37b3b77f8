// The host that a command of git asks over https.
#include "git/https.h"

#include <gtest/gtest.h>

#include <string>

#include "parser/analysis.h"
#include "tests/support/agent_home.h"
#include "tests/support/files.h"

namespace gate::app {
namespace {

using test::AgentHome;

TEST(GitHttpsTest, TheMachineIsTheOneThatTheCommandAsks) {
  AgentHome agent;
  test::MakeRepository(
      agent.project() + "/.git",
      "[remote \"origin\"]\nurl = https://me:hunter2@one.example/x\n"
      "[remote \"two\"]\nurl = http://two.example:8080/x?a=b\n"
      "[remote \"ssh\"]\nurl = git@three.example:x\n"
      "[remote \"path\"]\nurl = /srv/x\n");
  const struct {
    const char* line;
    const char* host;
  } kRows[] = {
      {"git push", "https://one.example"},
      {"git push origin main", "https://one.example"},
      {"git fetch two", "http://two.example:8080"},
      {"git fetch ssh", ""},
      {"git pull path", ""},
      {"git clone https://a.example/b.git", "https://a.example"},
      {"git clone https://me:hunter2@a.example/b.git", "https://a.example"},
      {"git clone https://a.example", "https://a.example"},
      {"git ls-remote http://a.example:3000/b?c", "http://a.example:3000"},
      {"git -C . push", "https://one.example"},
      {"git clone https:///x", "https://one.example"},
  };
  parser::Context context;
  context.cwd = agent.project();
  for (const auto& row : kRows) {
    const parser::Analysis analysis = parser::Analyze(row.line, context);
    ASSERT_FALSE(analysis.invocations.empty()) << row.line;
    const std::string host = HttpHostOf(analysis.invocations.front());
    EXPECT_EQ(host, row.host) << row.line;
  }
}

}  // namespace
}  // namespace gate::app
