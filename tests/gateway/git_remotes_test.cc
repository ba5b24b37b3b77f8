// Which remotes of a repository gate pins when it first sees it.
#include "gateway/git_transport.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "tests/support/agent_home.h"
#include "tests/support/files.h"

namespace gate::app {
namespace {

using test::AgentHome;

// Of two first runs at once in nested directories the inner one has what stood
// there before the outer one began, or nothing.
TEST(NoteRemotesTest, NothingThatARunBesideItWroteIsPinned) {
  for (int turn = 0; turn < 15; ++turn) {
    AgentHome agent;
    ProcessFacts facts;
    facts.places.state = agent.state();
    facts.uid = ::geteuid();
    const std::string outer = agent.project(), inner = outer + "/sub";
    test::MakeRepository(inner + "/.git");
    agent.Write(inner + "/.git/config",
                "[remote \"o\"]\nurl = git@host:good\n");
    std::thread beside([&] {
      EXPECT_TRUE(NoteRemotes(facts, outer, {}));
      agent.Write(inner + "/.git/config",
                  "[remote \"o\"]\nurl = git@host:evil\n");
    });
    EXPECT_TRUE(NoteRemotes(facts, inner, {}));
    beside.join();
    const auto pinned = PinnedRemotesOf(facts, inner);
    ASSERT_TRUE(pinned);
    for (const std::string& url : pinned->fetch)
      EXPECT_EQ(url, "git@host:good") << turn;
  }
}

}  // namespace
}  // namespace gate::app
