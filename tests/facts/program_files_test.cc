// Programs are found as the shell finds them.
#include "facts/program_files.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/agent_home.h"

namespace gate::app {
namespace {

using test::AgentHome;

TEST(NamesTest, ProgramsAreFoundAsTheShellFindsThem) {
  const AgentHome agent;
  agent.Write(agent.root() + "/bin/tool", "#!/bin/sh\n", 0755);
  agent.Write(agent.root() + "/none/tool", "not executable", 0644);
  const std::string path = agent.root() + "/none:" + agent.root() + "/bin";
  EXPECT_EQ(ResolveProgram("tool", path, "/").found,
            agent.root() + "/bin/tool");
  EXPECT_EQ(ResolveProgram("./tool", path, agent.root() + "/bin").real,
            agent.root() + "/bin/tool");
  EXPECT_EQ(ResolveProgram("absent", path, "/").real, "");
  // An empty entry is the current directory.
  EXPECT_EQ(ResolveProgram("tool", ":/x", agent.root() + "/bin").real,
            agent.root() + "/bin/tool");
}

}  // namespace
}  // namespace gate::app
