// Each finding: a rule that has it, and a near miss that has not.
#include "engine/lint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/examples.h"
#include "rules/policy_impl.h"
#include "rules/relations.h"

namespace gate::engine {
namespace {

using rules::Finding;

constexpr uint64_t kNow = 1'790'000'000'000;  // September 2026

rules::RuleFile File(const std::string& rules, rules::Layer layer,
                     const std::string& more = "") {
  rules::RuleFile file;
  file.name = "f.json";
  file.layer = layer;
  file.text = "{\"schema\": 1, \"pack\": \"p\"" + more + ", \"rules\": [" +
              rules + "]}";
  return file;
}

rules::Policy Load(const std::string& rules,
                   rules::Layer layer = rules::Layer::kUser,
                   const std::string& more = "") {
  rules::Policy policy = rules::MakePolicy({File(rules, layer, more)}, true);
  for (const Diagnostic& diagnostic : policy.diagnostics())
    if (diagnostic.severity == Severity::kError)
      ADD_FAILURE() << Render(diagnostic) << rules;
  return policy;
}

std::vector<Finding> Lint(const rules::Policy& policy) {
  LintOptions options;
  options.now_ms = kNow;
  options.shipped = false;
  return LintPolicy(policy, options);
}

// The finding with this code in the file under test, or null.
const Finding* Find(const std::vector<Finding>& findings,
                    std::string_view code) {
  for (const Finding& finding : findings)
    if (finding.diagnostic.code == code && finding.diagnostic.file == "f.json")
      return &finding;
  return nullptr;
}

std::string Rule(const std::string& id, const std::string& action,
                 const std::string& match, const std::string& more = "") {
  return R"({"id": ")" + id + R"(", "action": ")" + action +
         R"(", "reason": "r", "match": )" + match + more + "}";
}

struct Row {
  const char* code;
  std::string has, has_not;
  bool witness = false;  // the finding must come with one
};

TEST(LintTable, EachFindingHasItsRuleAndItsNearMiss) {
  const std::string one = Rule("p.a", "deny", R"({"prefix": ["grault", "x"]})");
  const Row rows[] = {
      {"lint-duplicate-id",
       Rule("core.read", "deny", R"({"prefix": ["grault"]})"),
       Rule("p.read", "deny", R"({"prefix": ["grault"]})")},
      {"lint-conflict",
       one + "," + Rule("p.b", "ask", R"({"prefix": ["grault", "x"]})"),
       one + "," + Rule("p.b", "ask", R"({"prefix": ["grault", "y"]})"), true},
      {"lint-conflict",
       Rule("p.a", "deny",
            R"({"program": "grault", "options": {"any_of": ["-f"]}})") +
           "," +
           Rule("p.b", "ask",
                R"({"options": {"any_of": ["-f"]}, "program": ["grault"]})"),
       Rule("p.a", "deny",
            R"({"program": "grault", "options": {"any_of": ["-f"]}})") +
           "," +
           Rule("p.b", "ask",
                R"({"options": {"any_of": ["-g"]}, "program": ["grault"]})"),
       true},
      {"lint-shadowed",
       one + "," +
           Rule("p.b", "ask", R"({"prefix": ["grault", "x", ["y", "z"]]})"),
       one + "," + Rule("p.b", "ask", R"({"prefix": ["grault", ["x", "y"]]})"),
       true},
      {"lint-shadowed",
       Rule("p.a", "deny", R"({"program": "grault"})") + "," +
           Rule("p.b", "ask", R"({"glob": "grault * --force"})"),
       Rule("p.a", "deny", R"({"program": "grault"})") + "," +
           Rule("p.b", "ask", R"({"glob": "grault* --force"})"),
       true},
      {"lint-shadowed",
       Rule("p.a", "deny", R"({"glob": "grault * x *"})") + "," +
           Rule("p.b", "ask", R"({"glob": "grault a x b*"})"),
       Rule("p.a", "deny", R"({"glob": "grault * x ?"})") + "," +
           Rule("p.b", "ask", R"({"glob": "grault a x b*"})"),
       true},
      {"lint-shadowed",
       Rule(
           "p.a", "deny",
           R"({"effect": {"kind": ["delete", "move"], "path": ["/srv/**"]}})") +
           "," +
           Rule(
               "p.b", "ask",
               R"({"program": "rm", "effect": {"kind": "delete", "path": "/srv/data/**"}})"),
       Rule("p.a", "deny",
            R"({"effect": {"kind": "move", "path": ["/srv/**"]}})") +
           "," +
           Rule(
               "p.b", "ask",
               R"({"program": "rm", "effect": {"kind": "delete", "path": "/srv/data/**"}})"),
       true},
      {"lint-shadowed",  // by its examples alone
       Rule("p.a", "deny", R"({"regex": "^grault .*x"})") + "," +
           Rule(
               "p.b", "ask", R"({"regex": "^grault (a|b) x$"})",
               R"(, "examples": {"match": ["grault a x"], "no_match": ["ls"]})"),
       Rule("p.a", "deny", R"({"regex": "^grault .*x"})") + "," +
           Rule(
               "p.b", "ask", R"({"regex": "^grault (a|b) [xy]$"})",
               R"(, "examples": {"match": ["grault a x", "grault a y"], "no_match": ["ls"]})"),
       true},
      {"lint-dead-exception",
       one + "," +
           Rule("p.b", "ask", R"({"prefix": ["garply"]})",
                R"(, "except": ["p.a"])"),
       one + "," +
           Rule("p.b", "ask", R"({"prefix": ["grault"]})",
                R"(, "except": ["p.a"])")},
      {"lint-dead-exception",
       Rule("p.b", "ask", R"({"effect": {"kind": "delete"}})",
            R"(, "except": ["files.delete-system"])"),
       Rule("p.b", "ask", R"({"effect": {"kind": "delete"}})",
            R"(, "except": ["files.delete-outside"])")},
      {"lint-unknown-exception",
       Rule("p.b", "ask", R"({"program": "grault"})",
            R"(, "except": ["p.nope"])"),
       one + "," +
           Rule("p.b", "ask", R"({"program": "grault"})",
                R"(, "except": ["p.a"])")},
      {"lint-never-matches", Rule("p.a", "deny", R"({"prefix": ["grault x"]})"),
       Rule("p.a", "deny", R"({"prefix": ["grault", "-m", "x y"]})")},
      {"lint-never-matches",
       Rule("p.a", "deny", R"({"program": "grault", "glob": "garply *"})"),
       Rule("p.a", "deny",
            R"({"program": ["grault", "garply"], "glob": "garply *"})")},
      {"lint-never-matches",
       Rule(
           "p.a", "deny",
           R"({"program": "x", "options": {"all_of": ["-f"], "none_of": ["-f", "-g"]}})"),
       Rule(
           "p.a", "deny",
           R"({"program": "x", "options": {"any_of": ["-f", "-h"], "none_of": ["-f", "-g"]}})")},
      {"lint-never-matches",
       Rule("p.a", "deny",
            R"({"program": "x", "operands": {"min": 3, "max": 2}})"),
       Rule("p.a", "deny",
            R"({"program": "x", "operands": {"min": 2, "max": 2}})")},
      {"lint-never-matches", Rule("p.a", "deny", R"({"regex": "^grault$ x"})"),
       Rule("p.a", "deny", R"({"regex": "^grault \\$x(a|^grault)$"})")},
      {"lint-never-matches", Rule("p.a", "deny", R"({"glob": "grault  *"})"),
       Rule("p.a", "deny", R"({"glob": "grault 'a  b'*"})")},
      {"lint-never-matches",
       Rule(
           "p.a", "deny",
           R"({"regex": "^grault", "options": {"any_of": ["-f"]}, "unless": {"options": {"any_of": ["-f", "-g"]}}})"),
       Rule(
           "p.a", "deny",
           R"({"regex": "^grault", "options": {"any_of": ["-f", "-g"]}, "unless": {"options": {"any_of": ["-f"]}}})")},
      {"lint-never-matches",
       Rule("p.a", "deny", R"({"program": "x"})",
            R"(, "since": "2027-01-02", "expires": "2027-01-01")"),
       Rule("p.a", "deny", R"({"program": "x"})",
            R"(, "since": "2027-01-01", "expires": "2027-01-02")")},
      {"lint-allow-interpreter",
       Rule("p.a", "allow", R"({"prefix": ["python3"]})"),
       Rule("p.a", "allow", R"({"prefix": ["python3", "tools/check.py"]})")},
      {"lint-allow-interpreter",
       Rule("p.a", "allow", R"({"prefix": ["perl"]})"),
       Rule("p.a", "sandbox", R"({"prefix": ["perl"]})"), true},
      {"lint-broad-allow", Rule("p.a", "allow", R"({"glob": "* status"})"),
       Rule("p.a", "allow", R"({"glob": "grault * status"})")},
      {"lint-broad-allow",
       Rule("p.a", "allow", R"({"options": {"any_of": ["--help"]}})"),
       Rule("p.a", "allow",
            R"({"program": "grault", "options": {"any_of": ["--help"]}})")},
      {"lint-open-tail", Rule("p.a", "allow", R"({"prefix": ["sort"]})"),
       Rule("p.a", "allow",
            R"({"program": "sort", "options": {"only": ["-u", "-n"]}})"),
       true},
      {"lint-open-tail", Rule("p.a", "allow", R"({"prefix": ["git", "log"]})"),
       Rule(
           "p.a", "allow",
           R"({"program": "git", "subcommand": "log", "options": {"only": ["--oneline"]}})"),
       true},
      {"lint-unanchored", Rule("p.a", "allow", R"({"regex": "grault status"})"),
       Rule("p.a", "allow", R"({"regex": "^grault status"})"), true},
      {"lint-unanchored", Rule("p.a", "deny", R"({"regex": "grault status"})"),
       Rule("p.a", "deny",
            R"({"program": "grault", "regex": "grault status"})"),
       true},
      {"lint-catch-all", Rule("p.a", "ask", R"({"regex": "[a-z]"})"),
       Rule("p.a", "ask", R"({"regex": "^[a-z]+ [a-z]+$"})"), true},
      {"lint-raw-text", Rule("p.a", "deny", R"({"glob": "grault ~/x"})"),
       Rule("p.a", "deny", R"({"glob": "grault x~"})")},
      {"lint-raw-text", Rule("p.a", "deny", R"({"regex": "^rm .* \\$HOME"})"),
       Rule("p.a", "deny", R"({"regex": "^rm .*HOME$"})")},
      {"lint-never-matches",
       Rule("p.a", "deny",
            R"({"program": "x", "options": {"any_of": ["-g", "f"]}})"),
       Rule("p.a", "deny",
            R"({"program": "x", "options": {"any_of": ["-g", "+f"]}})")},
      {"lint-never-matches",
       Rule(
           "p.a", "deny",
           R"({"effect": {"kind": "network", "host": ["https://bad.example"]}})"),
       Rule("p.a", "deny",
            R"({"effect": {"kind": "network", "host": ["bad.example"]}})")},
      {"lint-unknown-option",
       Rule("p.a", "deny",
            R"({"program": "rm", "options": {"any_of": ["-rf"]}})"),
       Rule("p.a", "deny",
            R"({"program": "rm", "options": {"all_of": ["-r", "-f"]}})")},
      {"lint-unknown-option",
       Rule("p.a", "ask",
            R"({"program": "rm", "options": {"any_of": ["--recurse"]}})"),
       Rule(
           "p.a", "ask",
           R"({"program": ["rm", "grault"], "options": {"any_of": ["--recurse"]}})")},
      {"lint-unknown-option",
       Rule("p.a", "deny",
            R"({"program": "find", "options": {"any_of": ["-remove"]}})"),
       Rule("p.a", "deny",
            R"({"program": "find", "options": {"any_of": ["-delete"]}})")},
      {"lint-never-matches", Rule("p.a", "deny", R"({"prefix": ["A=1", "x"]})"),
       Rule("p.a", "deny", R"({"prefix": ["x", "A=1"]})")},
      {"lint-never-matches", Rule("p.a", "deny", R"({"glob": "A=1 x *"})"),
       Rule("p.a", "deny", R"({"glob": "x A=1 *"})")},
      {"lint-raw-text", Rule("p.a", "deny", R"({"glob": "curl * | sh"})"),
       Rule("p.a", "deny", R"({"glob": "grault a|b"})")},
      {"lint-raw-text",
       Rule("p.a", "deny", R"({"prefix": ["grault", "&&", "x"]})"),
       Rule("p.a", "deny", R"({"prefix": ["grault", "x&&y"]})")},
      {"lint-raw-text", Rule("p.a", "deny", R"({"prefix": ["grault", "'x'"]})"),
       Rule("p.a", "deny", R"({"prefix": ["grault", "it's"]})")},
      {"lint-no-examples", one,
       Rule(
           "p.a", "deny", R"({"prefix": ["grault", "x"]})",
           R"(, "examples": {"match": ["grault x"], "no_match": ["grault"]})")},
      {"lint-no-examples",
       Rule("p.a", "deny", R"({"prefix": ["grault", "x"]})",
            R"(, "examples": {"match": ["grault x"]})"),
       Rule(
           "p.a", "deny", R"({"prefix": ["grault", "x"]})",
           R"(, "examples": {"match": ["grault x"], "no_match": ["grault"]})")},
      {"lint-example",
       Rule("p.a", "deny", R"({"prefix": ["grault", "x"]})",
            R"(, "examples": {"match": ["grault y"], "no_match": ["grault"]})"),
       Rule(
           "p.a", "deny", R"({"prefix": ["grault", "x"]})",
           R"(, "examples": {"match": ["grault x"], "no_match": ["grault"]})")},
      {"lint-no-suggestion", one,
       Rule("p.a", "deny", R"({"prefix": ["grault", "x"]})",
            R"(, "tags": ["no_alternative"])")},
      {"lint-hidden-text",
       Rule("p.a", "deny",
            "{\"program\": \"gr\xE2\x80\xAE"
            "ault\"}"),
       Rule("p.a", "deny", "{\"program\": \"gr\xC3\xA4ult\"}")},
      {"lint-not-indexed",
       Rule("p.a", "deny", R"({"options": {"any_of": ["--evil"]}})"),
       Rule("p.a", "deny",
            R"({"program": "grault", "options": {"any_of": ["--evil"]}})")},
      {"lint-not-indexed", Rule("p.a", "deny", R"({"regex": "[0-9]{7}"})"),
       Rule("p.a", "deny", R"({"regex": "evil[0-9]{7}"})")},
      {"lint-expired",
       Rule("p.a", "deny", R"({"program": "x"})",
            R"(, "expires": "2026-01-01")"),
       Rule("p.a", "deny", R"({"program": "x"})",
            R"(, "expires": "2036-01-01")")},
  };
  for (const Row& row : rows) {
    const auto with = Lint(Load(row.has));
    const Finding* finding = Find(with, row.code);
    ASSERT_NE(finding, nullptr) << row.code << "\n" << row.has;
    EXPECT_GT(finding->diagnostic.line, 0u) << row.code;
    EXPECT_FALSE(finding->diagnostic.help.empty()) << row.code;
    if (row.witness) {
      EXPECT_NE(finding->witness, "") << row.has;
    }
    const auto without = Lint(Load(row.has_not));
    const Finding* wrong = Find(without, row.code);
    EXPECT_EQ(wrong, nullptr) << row.has_not << "\n"
                              << Render(wrong->diagnostic) << wrong->witness;
  }
}

TEST(LintTable, UnusedListsMacrosAndClasses) {
  const std::string rule = Rule("p.a", "deny", R"({"program": "x"})");
  const std::string used = Rule(
      "p.a", "deny",
      R"({"macro": "m", "program": "@l", "effect": {"kind": "write", "path": "c"}})");
  for (const char* more :
       {R"(, "lists": {"l": ["x"]})", R"(, "macros": {"m": {"sends": true}})",
        R"(, "classes": {"c": ["/srv/**"]})"})
    EXPECT_NE(Find(Lint(Load(rule, rules::Layer::kUser, more)), "lint-unused"),
              nullptr)
        << more;
  EXPECT_EQ(
      Find(
          Lint(Load(
              used, rules::Layer::kUser,
              R"(, "lists": {"k": ["x"], "l": ["@k"]}, "macros": {"m": {"sends": true}},
                            "classes": {"c": ["/srv/**"]})")),
          "lint-unused"),
      nullptr);
}

TEST(LintTable, ALessTrustedRuleIsToldThatItIsIgnored) {
  const std::string weak =
      Rule("p.a", "sandbox", R"({"prefix": ["grault", "x"]})");
  const auto lint = [&](const std::string& user) {
    rules::RuleFile above = File(user, rules::Layer::kUser);
    above.name = "user.json";
    const rules::Policy policy =
        rules::MakePolicy({File(weak, rules::Layer::kProject), above}, true);
    return Lint(policy);
  };
  const auto has = lint(Rule("p.b", "ask", R"({"program": "grault"})"));
  const Finding* finding = Find(has, "lint-weaker");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->witness, "grault x");
  EXPECT_EQ(
      Find(lint(Rule("p.b", "ask", R"({"program": "garply"})")), "lint-weaker"),
      nullptr);
}

TEST(LintTable, AProjectIsToldThatItGivesNoNetwork) {
  const std::string rule =
      Rule("p.a", "sandbox", R"({"program": "x"})", R"(, "network": "open")");
  EXPECT_NE(
      Find(Lint(Load(rule, rules::Layer::kProject)), "lint-project-network"),
      nullptr);
  EXPECT_EQ(Find(Lint(Load(rule)), "lint-project-network"), nullptr);
}

TEST(LintWitness, IsDecidedAsTheFindingSays) {
  const rules::Policy policy =
      Load(Rule("p.a", "allow", R"({"prefix": ["sort"]})") + "," +
           Rule("p.b", "deny", R"({"prefix": ["grault"]})") + "," +
           Rule("p.c", "ask", R"({"prefix": ["grault", "x"]})"));
  const auto findings = Lint(policy);
  const Finding* open = Find(findings, "lint-open-tail");
  ASSERT_NE(open, nullptr);
  EXPECT_EQ(DecideExample(policy, open->witness).action, Action::kAllow);
  const Finding* shadowed = Find(findings, "lint-shadowed");
  ASSERT_NE(shadowed, nullptr);
  const Decision decision = DecideExample(policy, shadowed->witness);
  EXPECT_EQ(decision.action, Action::kDeny);
  std::set<std::string> matched;
  for (const Match& match : decision.matches) matched.insert(match.rule.id);
  EXPECT_TRUE(matched.contains("p.b") && matched.contains("p.c"));
}

TEST(LintAccepted, AFindingMayBeAcceptedOnlyWithAReason) {
  const auto findings =
      Lint(Load(Rule("p.a", "allow", R"({"prefix": ["sort"]})",
                     R"(, "lint": {"lint-open-tail": "we sort into files"})")));
  const Finding* finding = Find(findings, "lint-open-tail");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->accepted, "we sort into files");
  EXPECT_EQ(finding->diagnostic.severity, Severity::kNote);
  for (const char* bad : {R"({"lint-open-tail": ""})", R"({"open-tail": "x"})",
                          R"({"lint-open-tail": 1})", "[]"}) {
    const rules::Policy policy =
        rules::MakePolicy({File(Rule("p.a", "ask", R"({"prefix": ["sort"]})",
                                     std::string(R"(, "lint": )") + bad),
                                rules::Layer::kUser)},
                          true);
    EXPECT_EQ(policy.floor(), Action::kDeny) << bad;
  }
}

TEST(LintPairs, NoPairIsProvenThatACommandContradicts) {
  // Every proof of containment among the shipped rules is held against the
  // examples of both rules.
  const rules::Policy policy = rules::MakePolicy({}, true);
  const auto& view = policy.impl().layers[0]->view;
  size_t proven = 0;
  for (uint32_t i = 0; i < view.rules.size(); ++i)
    for (uint32_t j = 0; j < view.rules.size(); ++j) {
      if (i == j || view.rules[j].action == 0) continue;
      if (!rules::Within({&view, view.rules[i].match},
                         {&view, view.rules[j].match}))
        continue;
      ++proven;
      for (const auto& example :
           view.In(view.examples, view.rules[i].examples)) {
        if (!example.matches) continue;
        const Decision decision =
            DecideExample(policy, view.Text(example.command));
        bool both = false;
        for (const Match& match : decision.matches)
          both = both || match.rule.id == view.Text(view.rules[j].id);
        EXPECT_TRUE(both) << view.Text(example.command) << " is matched by "
                          << view.Text(view.rules[i].id) << " and not by "
                          << view.Text(view.rules[j].id);
      }
    }
  RecordProperty("proven", static_cast<int>(proven));
}

TEST(GlobWithin, IsInclusionOfLanguages) {
  const struct {
    const char* inner;
    const char* outer;
    bool within;
  } rows[] = {
      {"a", "a", true},      {"a", "*", true},         {"*", "a", false},
      {"a*", "a*", true},    {"ab*", "a*", true},      {"a*", "ab*", false},
      {"a?c", "a*", true},   {"a?c", "a?c", true},     {"a*c", "a?c", false},
      {"a?c", "abc", false}, {"*a*b*", "*a*", true},   {"*a*", "*a*b*", false},
      {"a\\*", "a*", true},  {"a*", "a\\*", false},    {"a\\*", "a\\*", true},
      {"", "*", true},       {"x * y", "x * *", true}, {"**", "*", true},
      {"*", "**", true},     {"*?", "?*", false},      {"a", "?", true},
      {"?", "a", false}};
  for (const auto& row : rows)
    EXPECT_EQ(rules::GlobWithin(row.inner, row.outer), row.within)
        << row.inner << " in " << row.outer;
}

}  // namespace
}  // namespace gate::engine
