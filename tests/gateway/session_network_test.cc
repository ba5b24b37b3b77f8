// Which lines share the network of a session.
#include "gateway/session_network.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace gate::app {
namespace {

Authorization Line() {
  Authorization line;
  line.request.agent = "claude";
  line.request.session = "s-1";
  line.request.hooked = true;
  line.plan.mode = router::Mode::kSandbox;
  line.plan.profile.name = "workspace-write";
  line.plan.profile.workspace = "/work/x";
  return line;
}

TEST(SessionNetworkOfTest, OnlyLinesWithNothingMoreShareOne) {
  ProcessFacts facts;
  facts.uid = 1000;
  const std::string key = SessionNetworkOf(facts, Line()).key;
  ASSERT_EQ(key.size(), 24u);
  using backends::Network;
  const struct {
    const char* what;
    void (*change)(Authorization*);
    bool shares;
  } cases[] = {
      {"as it is", [](Authorization*) {}, true},
      {"loopback",
       [](Authorization* l) { l->plan.profile.network = Network::kLoopback; },
       true},
      {"read-only",
       [](Authorization* l) { l->plan.profile.name = "read-only"; }, true},
      {"another line", [](Authorization* l) { l->request.command = "make"; },
       true},
      {"another directory",
       [](Authorization* l) { l->request.cwd = "/work/x/y"; }, true},
      {"open network",
       [](Authorization* l) { l->plan.profile.network = Network::kOpen; },
       false},
      {"domains",
       [](Authorization* l) { l->plan.profile.network = Network::kDomains; },
       false},
      {"no session", [](Authorization* l) { l->request.session.clear(); },
       false},
      {"raw", [](Authorization* l) { l->plan.mode = router::Mode::kDirect; },
       false},
      {"refused",
       [](Authorization* l) { l->plan.mode = router::Mode::kRefused; }, false},
      {"the profile tool",
       [](Authorization* l) { l->plan.profile.name = "tool"; }, false},
      {"lending", [](Authorization* l) { l->lending.emplace(); }, false},
      {"a lent file",
       [](Authorization* l) { l->plan.profile.lend.push_back({}); }, false},
      {"a lent variable",
       [](Authorization* l) { l->plan.profile.environment_lend = {"TOKEN"}; },
       false},
      {"a forwarded port",
       [](Authorization* l) { l->plan.profile.services.push_back({}); }, false},
      {"a preview", [](Authorization* l) { l->request.preview = "ask"; },
       false},
  };
  for (const auto& c : cases) {
    Authorization line = Line();
    c.change(&line);
    EXPECT_EQ(SessionNetworkOf(facts, line).key, c.shares ? key : "") << c.what;
  }
}

TEST(SessionNetworkOfTest, NoSessionCanTakeTheNameOfAnother) {
  ProcessFacts facts;
  facts.uid = 1000;
  std::set<std::string> keys = {SessionNetworkOf(facts, Line()).key};
  void (*const changes[])(Authorization*) = {
      [](Authorization* l) { l->request.agent = "codex"; },
      [](Authorization* l) { l->request.agent = ""; },
      [](Authorization* l) { l->request.session = "s-2"; },
      [](Authorization* l) { l->plan.profile.workspace = "/work/y"; },
      [](Authorization* l) { l->plan.profile.workspace = ""; },
      // Named as an argument, by whoever calls.
      [](Authorization* l) { l->request.hooked = false; },
      // What one part ends with, moved into the next.
      [](Authorization* l) {
        l->request.agent = "claud";
        l->request.session = "es-1";
      },
      [](Authorization* l) {
        l->request.session = std::string("s-1\0007 /work/x", 13);
        l->plan.profile.workspace = "";
      },
  };
  for (const auto& change : changes) {
    Authorization line = Line();
    change(&line);
    EXPECT_TRUE(keys.insert(SessionNetworkOf(facts, line).key).second);
  }
  facts.uid = 1001;
  EXPECT_TRUE(keys.insert(SessionNetworkOf(facts, Line()).key).second);
}

}  // namespace
}  // namespace gate::app
