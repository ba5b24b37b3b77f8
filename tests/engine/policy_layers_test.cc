// Who may loosen what.
#include <gtest/gtest.h>

#include "engine/evaluate.h"
#include "engine/examples.h"
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

// A trusted rule may use macros, lists and classes of another file, which the
// agent may have changed since.
TEST(Layers, ATrustedRuleLoosensNothingByWhatAnUntrustedFileDefines) {
  const auto named = [](const char* name, const std::string& members,
                        bool trusted) {
    RuleFile file = File(Layer::kProject, members, trusted);
    file.name = name;
    return file;
  };
  struct Row {
    const char *rule, *definition;
  };
  for (const Row& row : {
           Row{R"({"macro": "m"})", R"("macros": {"m": {"program": "tool"}})"},
           Row{R"({"program": "@l"})", R"("lists": {"l": ["tool"]})"},
           Row{R"({"program": "tool", "unless": {"effect": {"kind": "write",
                   "path": "c"}}})",
               R"("classes": {"c": ["/x"]})"},
           Row{R"({"program": "@above"})",
               R"("lists": {"below": ["tool"], "above": ["@below"]})"},
       }) {
    const std::string rule = std::string(R"("rules": [{"id": "a",
        "action": "allow", "reason": "r", "match": )") +
                             row.rule + "}]";
    EXPECT_EQ(Of({named("a.json", rule, true),
                  named("b.json", row.definition, true)}),
              Action::kAllow)
        << row.rule;
    EXPECT_EQ(Of({named("a.json", rule, true),
                  named("b.json", row.definition, false)}),
              Action::kSandbox)
        << row.rule;
  }
}

constexpr char kSandboxExcept[] = R"("rules": [{"id": "e",
  "action": "sandbox", "except": ["ask"], "reason": "r",
  "match": {"prefix": ["tool", "status"]}}])";

// What tightens takes a word behind an option for the sub-command; what
// loosens must not, whatever its action.
TEST(Layers, AnExceptionOfAnyActionCountsOnlyForWhatSurelyMatches) {
  const std::vector<RuleFile> files = {File(Layer::kBuiltin, kAsk),
                                       File(Layer::kUser, kSandboxExcept)};
  EXPECT_EQ(Of(files), Action::kSandbox);
  EXPECT_EQ(Of(files, {"tool", "--to", "status", "destroy"}), Action::kAsk);
  EXPECT_EQ(Of(files, {"./tool", "status"}), Action::kAsk);
}

TEST(Layers, ARuleThatIsItselfTakenBackTakesNothingBack) {
  const std::string back = R"("rules": [{"id": "b", "action": "sandbox",
    "except": ["e"], "reason": "r", "match": {"program": "tool"}}])";
  EXPECT_EQ(Of({File(Layer::kBuiltin, kAsk), File(Layer::kUser, kExcept),
                File(Layer::kSystem, back)}),
            Action::kAsk);
}

TEST(Layers, OptionsWithoutEndHideNoSubcommand) {
  std::vector<std::string> words = {"tool"};
  for (int i = 0; i < 60; ++i) words.push_back("-x");
  words.push_back("destroy");
  for (const char* match :
       {R"({"prefix": ["tool", "destroy"]})",
        R"({"program": "tool", "subcommand": "destroy"})"}) {
    const RuleFile file =
        File(Layer::kUser, std::string(R"("rules": [{"id": "d",
          "action": "deny", "reason": "r", "match": )") +
                               match + "}]");
    EXPECT_EQ(Of({file}, words), Action::kDeny) << match;
  }
}

TEST(Layers, ADashDashThatMayBeAValueHidesNoOption) {
  const RuleFile file = File(Layer::kUser, R"("rules": [{"id": "d",
    "action": "deny", "reason": "r",
    "match": {"program": "tool", "options": {"any_of": ["--force"]}}}])");
  EXPECT_EQ(Of({file}, {"tool", "-m", "--", "--force"}), Action::kAsk);
  EXPECT_EQ(Of({file}, {"tool", "--", "--force"}), Action::kSandbox);
  const RuleFile none = File(Layer::kUser, R"("rules": [{"id": "d",
    "action": "deny", "reason": "r",
    "match": {"program": "tool", "options": {"none_of": ["--dry-run"]}}}])");
  EXPECT_EQ(Of({none}, {"tool", "-m", "--", "--dry-run"}), Action::kDeny);
}

// Quotes are gate's own; a word that needs them must not be hidden from a rule
// that tightens, and must stay one word for a rule that allows.
TEST(Layers, QuotesHideNothingFromARuleThatTightens) {
  const auto rule = [](const char* action, const char* match) {
    return File(Layer::kUser, std::string(R"("rules": [{"id": "d",
        "reason": "r", "action": ")") +
                                  action + R"(", "match": )" + match + "}]");
  };
  for (const char* match :
       {R"({"glob": "tool of=/dev/*"})", R"({"regex": "^tool of=/dev/"})",
        R"({"glob": "tool of=/dev/x a*"})"}) {
    EXPECT_EQ(Of({rule("deny", match)}, {"tool", "of=/dev/x a b"}),
              Action::kDeny)
        << match;
    EXPECT_EQ(Of({rule("allow", match)}, {"tool", "of=/dev/x a b"}),
              Action::kSandbox)
        << match;
  }
}

TEST(Layers, ASubcommandIsAnOperandForARuleThatTightens) {
  Line line;
  line.Run({"docker", "system", "prune", "-"});
  line.analysis.invocations[0].subcommand = {"system", "prune"};
  for (const char* operand : {"prune", "-"}) {
    const Policy policy = MakePolicy({File(Layer::kUser,
                                           std::string(R"("rules": [{"id": "d",
          "action": "deny", "reason": "r", "match": {"program": "docker",
          "operands": {"any": [")") + operand + R"("]}}}])")},
                                     false);
    EXPECT_EQ(Decide(policy, line).action, Action::kDeny) << operand;
  }
}

TEST(Layers, AGlobThatRunsOutOfStepsCountsAsAMatch) {
  const std::string part(600, 'a');
  const RuleFile file =
      File(Layer::kUser, R"("rules": [{"id": "d", "action": "deny",
        "reason": "r", "match": {"glob": "tool *)" +
                             part + R"(b*"}}])");
  EXPECT_EQ(Of({file}, {"tool", std::string(100000, 'a')}), Action::kDeny);
}

TEST(Layers, AProjectGrantsNoNetwork) {
  const std::string open = R"("rules": [{"id": "n", "action": "sandbox",
    "network": "open", "reason": "r", "match": {"program": "tool"}}])";
  const Policy project = MakePolicy({File(Layer::kProject, open)}, false);
  EXPECT_EQ(Decide(project, Line().Run({"tool"})).network,
            NetworkAccess::kNone);
  const Policy user = MakePolicy({File(Layer::kUser, open)}, false);
  EXPECT_EQ(Decide(user, Line().Run({"tool"})).network, NetworkAccess::kOpen);
}

TEST(Layers, EveryLayerDeniesHostsAndAProjectNamesNone) {
  const std::string hosts = R"("rules": [{"id": "n", "action": "sandbox",
    "network": "domains", "hosts": ["named.example"],
    "hosts_deny": ["denied.example"], "reason": "r",
    "match": {"program": "tool"}}])";
  const std::string open = R"("rules": [{"id": "o", "action": "sandbox",
    "network": "open", "reason": "r", "match": {"program": "tool"}}])";
  for (const Layer layer : {Layer::kSession, Layer::kProject, Layer::kBuiltin,
                            Layer::kUser, Layer::kSystem})
    for (const bool trusted : {true, false}) {
      const bool gives = layer >= Layer::kBuiltin;
      const Decision alone =
          Decide(MakePolicy({File(layer, hosts, trusted)}, false),
                 Line().Run({"tool"}));
      EXPECT_EQ(alone.network,
                gives ? NetworkAccess::kDomains : NetworkAccess::kNone);
      EXPECT_EQ(alone.hosts.size(), gives ? 1u : 0u);
      RuleFile opening = File(Layer::kSystem, open);
      opening.name = "open.json";
      const Decision both =
          Decide(MakePolicy({File(layer, hosts, trusted), opening}, false),
                 Line().Run({"tool"}));
      EXPECT_EQ(both.network, NetworkAccess::kOpen);
      EXPECT_TRUE(both.hosts.empty());
      ASSERT_EQ(both.hosts_deny.size(), 1u) << rules::Name(layer);
      EXPECT_EQ(both.hosts_deny[0].host, "denied.example");
    }
}

// Raw, a command has no filter: what a trusted project may lift has no network
// that leads out, unless it is ordinary work.
TEST(Layers, ATrustedProjectLiftsNoRuleThatNamesHosts) {
  for (const char* network : {"loopback", "domains", "open"})
    for (const char* severity : {"low", "medium"}) {
      const std::string contained =
          R"("rules": [{"id": "c", "action": "sandbox", "reason": "r",
             "severity": ")" +
          std::string(severity) + R"(", "network": ")" + network +
          R"(", "match": {"program": "tool"}}])";
      const std::string allowed =
          R"("rules": [{"id": "a", "action": "allow", "reason": "r",
             "match": {"prefix": ["tool", "status"]}}])";
      const bool lifts = std::string_view(severity) == "low" ||
                         std::string_view(network) == "loopback";
      EXPECT_EQ(Of({File(Layer::kBuiltin, contained),
                    File(Layer::kProject, allowed)}),
                lifts ? Action::kAllow : Action::kSandbox)
          << network << severity;
    }
}

// What a person allows of a line never takes the network from the rest of it.
TEST(Layers, AnAllowedPartMakesNothingStricter) {
  const char* const kCommands[] = {"git push",
                                   "git fetch",
                                   "make",
                                   "npm test",
                                   "curl https://example.org/x",
                                   "ls",
                                   "unknown-tool",
                                   "git commit -m x"};
  const std::string rules =
      R"("rules": [{"id": "l", "action": "allow", "reason": "r",
      "except": ["git.push-branch", "git.network", "network.fetch",
                 "packages.build", "git.commit"],
      "match": {"any": [{"prefix": ["git", "push"]}, {"prefix": ["make"]},
                        {"prefix": ["curl"]}, {"prefix": ["git", "fetch"]}]}}])";
  const Policy plain = MakePolicy({}, true);
  const Policy loosened = MakePolicy({File(Layer::kUser, rules)}, true);
  size_t allowed = 0;
  for (const char* first : kCommands)
    for (const char* second : kCommands)
      for (const char* between : {" && ", " > out.txt; "}) {
        const std::string line = std::string(first) + between + second;
        const Decision before = DecideExample(plain, line);
        const Decision after = DecideExample(loosened, line);
        EXPECT_LE(after.action, before.action) << line;
        allowed += after.action < before.action ? 1 : 0;
        if (after.action != Action::kAllow) {
          EXPECT_GE(after.network, before.network) << line;
        }
      }
  EXPECT_GT(allowed, 0u);
  // One that contains instead takes away what it is meant to.
  const Policy contained = MakePolicy(
      {File(Layer::kUser, R"("rules": [{"id": "c", "action": "sandbox",
        "reason": "r", "except": ["network.fetch"],
        "match": {"prefix": ["curl"]}}])")},
      true);
  EXPECT_EQ(DecideExample(contained, "curl https://example.org/x").network,
            NetworkAccess::kNone);
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
