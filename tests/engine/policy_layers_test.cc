// Who may loosen what.
#include <gtest/gtest.h>

#include "engine/evaluate.h"
#include "tests/engine/make_analysis.h"

namespace gate::engine {
namespace {

using rules::Layer;
using rules::MakePolicy;
using rules::Policy;
using rules::RuleFile;
using test::Decide;
using test::Line;

RuleFile File(Layer layer, const std::string& members, bool trusted = true) {
  RuleFile file;
  file.name = std::string(rules::Name(layer)) + ".json";
  file.layer = layer;
  file.trusted = trusted;
  file.text = R"({"schema": 1, "pack": "p", )" + members + "}";
  return file;
}

constexpr char kAsk[] = R"("rules": [{"id": "ask", "action": "ask",
  "reason": "r", "match": {"program": "tool"}}])";
constexpr char kLocked[] = R"("rules": [{"id": "ask", "action": "ask",
  "locked": true, "reason": "r", "match": {"program": "tool"}}])";
constexpr char kExcept[] = R"("rules": [{"id": "e", "action": "allow",
  "except": ["ask"], "reason": "r", "match": {"prefix": ["tool", "status"]}}])";

Action Of(const std::vector<RuleFile>& files,
          const std::vector<std::string>& words = {"tool", "status"}) {
  return Decide(MakePolicy(files, false), Line().Run(words)).action;
}

TEST(Layers, AnAllowAloneNeverWeakensARule) {
  EXPECT_EQ(Of({File(Layer::kUser, kAsk),
                File(Layer::kSystem,
                     R"("rules": [{"id": "a", "action": "allow",
                       "reason": "r", "match": {"program": "tool"}}])")}),
            Action::kAsk);
}

TEST(Layers, AnExceptionOfAnEquallyOrMoreTrustedLayerCounts) {
  EXPECT_EQ(Of({File(Layer::kUser, kAsk), File(Layer::kSystem, kExcept)}),
            Action::kAllow);
  EXPECT_EQ(Of({File(Layer::kBuiltin, kAsk), File(Layer::kUser, kExcept)}),
            Action::kAllow);
  EXPECT_EQ(Of({File(Layer::kUser, kAsk), File(Layer::kProject, kExcept)}),
            Action::kAsk);
  EXPECT_EQ(Of({File(Layer::kBuiltin, kAsk), File(Layer::kUser, kExcept)},
               {"tool", "other"}),
            Action::kAsk);
}

TEST(Layers, LockedRulesHaveNoExceptionsAndCannotBeDisabled) {
  EXPECT_EQ(Of({File(Layer::kBuiltin, kLocked), File(Layer::kUser, kExcept)}),
            Action::kAsk);
  EXPECT_EQ(Of({File(Layer::kBuiltin, kLocked),
                File(Layer::kUser, R"("disable": ["ask"])")}),
            Action::kAsk);
  EXPECT_EQ(
      Of({File(Layer::kBuiltin, kLocked),
          File(Layer::kSystem, R"("unlock": ["ask"], "disable": ["ask"])")}),
      Action::kSandbox);
}

TEST(Layers, OnlyTheSystemUnlocks) {
  const Policy policy = MakePolicy({File(Layer::kBuiltin, kLocked),
                                    File(Layer::kUser, R"("unlock": ["ask"])")},
                                   false);
  EXPECT_EQ(policy.floor(), Action::kDeny);  // an error of a user's file
}

TEST(Layers, DisableWorksDownwardsOnly) {
  EXPECT_EQ(Of({File(Layer::kBuiltin, kAsk),
                File(Layer::kUser, R"("disable": ["ask"])")}),
            Action::kSandbox);
  EXPECT_EQ(Of({File(Layer::kSystem, kAsk),
                File(Layer::kUser, R"("disable": ["ask"])")}),
            Action::kAsk);
  EXPECT_EQ(Of({File(Layer::kProject, kAsk),
                File(Layer::kProject, R"("disable": ["ask"])", false)}),
            Action::kAsk);
}

TEST(Layers, AProjectFileTightensAndAllowsOnlyWhenTrusted) {
  const std::string allow = R"("rules": [{"id": "a", "action": "allow",
    "reason": "r", "match": {"program": "tool"}}])";
  EXPECT_EQ(Of({File(Layer::kProject, allow, false)}), Action::kSandbox);
  EXPECT_EQ(Of({File(Layer::kProject, allow, true)}), Action::kAllow);
  EXPECT_EQ(Of({File(Layer::kProject, kAsk, false)}), Action::kAsk);
}

TEST(Layers, AProjectGrantsNoNetwork) {
  const std::string open = R"("rules": [{"id": "n", "action": "sandbox",
    "network": "open", "reason": "r", "match": {"program": "tool"}}])";
  const Policy project = MakePolicy({File(Layer::kProject, open)}, false);
  EXPECT_EQ(Decide(project, Line().Run({"tool"})).network, "none");
  const Policy user = MakePolicy({File(Layer::kUser, open)}, false);
  EXPECT_EQ(Decide(user, Line().Run({"tool"})).network, "open");
}

TEST(Layers, DefaultActionIsLoweredOnlyFromAbove) {
  const auto with = [](Layer layer, const char* action) {
    return File(layer, std::string(R"("default_action": ")") + action + "\"");
  };
  EXPECT_EQ(Of({with(Layer::kUser, "allow")}), Action::kAllow);
  EXPECT_EQ(Of({with(Layer::kProject, "allow")}), Action::kSandbox);
  EXPECT_EQ(Of({with(Layer::kProject, "deny")}), Action::kDeny);
  EXPECT_EQ(Of({with(Layer::kUser, "allow"), with(Layer::kSystem, "ask")}),
            Action::kAsk);
}

TEST(Layers, AFileThatDoesNotLoadRaisesTheFloor) {
  const RuleFile broken_user = File(Layer::kUser, R"("rulez": [])");
  const RuleFile broken_project = File(Layer::kProject, R"("rulez": [])");
  EXPECT_EQ(Of({broken_user}), Action::kDeny);
  EXPECT_EQ(Of({broken_project}), Action::kAsk);
  // What can be read of it still tightens.
  EXPECT_EQ(Of({File(Layer::kProject,
                     R"("x": 1, "rules": [{"id": "d", "action": "deny",
                       "reason": "r", "match": {"program": "tool"}}])")}),
            Action::kDeny);
}

}  // namespace
}  // namespace gate::engine
