#include "rules/compile/compile.h"

#include <gtest/gtest.h>

#include "parser/analysis.h"
#include "rules/lint.h"
#include "rules/list.h"
#include "rules/policy.h"

namespace gate::rules {
namespace {

Policy One(const std::string& text, Layer layer = Layer::kUser) {
  return MakePolicy({{"f.json", layer, text, true}}, false);
}

std::string Wrap(const std::string& rules) {
  return R"({"schema": 1, "pack": "p", "rules": [)" + rules + "]}";
}

TEST(Compile, ProblemsAreDiagnosticsWithAPlace) {
  struct Case {
    const char* text;
    const char* code;
    size_t line, column;
  };
  const Case cases[] = {
      {"{\n \"schema\": 1,\n \"pak\": 2}", "rule-unknown-key", 3, 2},
      {"[]", "rule-bad-type", 1, 1},
      {"{\"schema\": 2, \"pack\": \"p\"}", "rule-bad-schema", 1, 12},
      {"{\"schema\": 1}", "rule-missing-key", 1, 1},
      {"{\"schema\": 1,", "rule-json", 1, 1},
      {"{\"schema\": 1, \"pack\": \"p\",\n\"rules\": [\n{\"id\": \"a\"}]}",
       "rule-missing-key", 3, 1},
  };
  for (const Case& c : cases) {
    const Policy policy = One(c.text);
    EXPECT_EQ(policy.floor(), Action::kDeny) << c.text;
    bool found = false;
    for (const Diagnostic& d : policy.diagnostics())
      found = found || (d.code == c.code && d.line == c.line &&
                        d.column == c.column && d.file == "f.json");
    EXPECT_TRUE(found) << c.text << "\n" << Render(policy.diagnostics().at(0));
  }
}

TEST(Compile, BadRulesAreRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"id": "a", "action": "alow", "reason": "r", "match": {"program": "x"}})",
       "rule-bad-value"},
      {R"({"id": "a", "action": "deny", "reason": "r", "match": {}})",
       "rule-empty-pattern"},
      {R"({"id": "a", "action": "deny", "reason": "r", "match": {"prefix": []}})",
       "rule-empty-pattern"},
      {R"({"id": "a", "action": "deny", "reason": "r", "match": {"glob": "*"}})",
       "rule-empty-pattern"},
      {R"({"id": "a", "action": "deny", "reason": "r", "match": {"regex": ".*"}})",
       "rule-empty-pattern"},
      {R"~({"id": "a", "action": "deny", "reason": "r", "match": {"regex": "(?=x)y"}})~",
       "rule-bad-regex"},
      {R"({"id": "a", "action": "deny", "reason": "r", "match": {"regex": "("}})",
       "rule-bad-regex"},
      {R"({"id": "a", "action": "deny", "reason": "r", "match": {"programm": "x"}})",
       "rule-unknown-key"},
      {R"({"id": "a", "action": "deny", "match": {"program": "x"}})",
       "rule-missing-key"},
      {R"({"id": "a", "action": "deny", "reason": "r", "match": {"program": "@none"}})",
       "rule-unknown-list"},
      {R"({"id": "a", "action": "deny", "reason": "r", "match": {"effect": {"kind": "delete", "path": "secrets"}}})",
       "rule-bad-path"},
      {R"({"id": "a", "action": "deny", "reason": "r", "match": {"effect": {"kind": "erase"}}})",
       "rule-bad-value"},
      {R"({"id": "a", "action": "allow", "reason": "r", "match": {"program": "x", "branch": "main"}})",
       "rule-loosen-condition"},
      {R"({"id": "a", "action": "allow", "reason": "r", "match": {"program": "x", "unless": {"branch": "main"}}})",
       "rule-loosen-condition"},
      {R"({"id": "a", "action": "allow", "reason": "r", "match": {"program": "x", "unless": [{"program": "y"}, {"all": [{"agent": "codex"}]}]}})",
       "rule-loosen-condition"},
      {R"({"id": "a", "action": "sandbox", "except": "b", "reason": "r", "match": {"program": "x", "unless": {"cwd": "/x/**"}}})",
       "rule-loosen-condition"},
      {R"({"id": "a", "action": "allow", "reason": "r", "match": {"program": "x", "unless": {"unless": {"interactive": true}}}})",
       "rule-loosen-condition"},
      {R"({"id": "a", "action": "ask", "except": ["b"], "reason": "r", "match": {"program": "x", "cwd": "/x/**"}})",
       "rule-loosen-condition"},
      {R"({"id": "a", "action": "allow", "reason": "r", "match": {"program": "x", "line": "y"}})",
       "rule-loosen-condition"},
      {R"({"id": "a", "action": "deny", "reason": "r", "match": {"program": "x", "unless": {"line": "y"}}})",
       "rule-loosen-condition"},
      {R"({"id": "a", "action": "deny", "reason": "r", "match": {"program": "x", "line": "("}})",
       "rule-bad-regex"},
      {R"({"id": "a", "action": "deny", "reason": "r", "match": {"program": "x", "operands": {"written": "("}}})",
       "rule-bad-regex"},
      {R"({"id": "a", "action": "deny", "reason": "r", "match": {"program": "x"}},
          {"id": "a", "action": "deny", "reason": "r", "match": {"program": "y"}})",
       "rule-duplicate-id"},
      {R"({"id": "a", "action": "deny", "reason": "r", "expires": "soon", "match": {"program": "x"}})",
       "rule-bad-value"},
  };
  for (const auto& [rules, code] : cases) {
    const Policy policy = One(Wrap(rules));
    EXPECT_EQ(policy.floor(), Action::kDeny) << rules;
    bool found = false;
    for (const Diagnostic& d : policy.diagnostics())
      found = found || d.code == code;
    EXPECT_TRUE(found) << rules << " wants " << code;
  }
}

TEST(Compile, ACyclicMacroIsAProblem) {
  const Policy policy = One(
      R"({"schema": 1, "pack": "p", "macros": {"m": {"all": [{"macro": "m"}]}},
          "rules": [{"id": "a", "action": "deny", "reason": "r",
                     "match": {"macro": "m"}}]})");
  EXPECT_EQ(policy.floor(), Action::kDeny);
}

TEST(Compile, ASettingOfTheLineMayTakeAnAllowBack) {
  const Policy policy = One(Wrap(
      R"({"id": "a", "action": "allow", "reason": "r",
          "match": {"program": "x", "unless": {"env": "LD_PRELOAD"}}})"));
  EXPECT_EQ(policy.floor(), Action::kAllow);
}

TEST(Compile, EveryCutOffFileRaisesTheFloor) {
  const std::string text = Wrap(R"({"id": "a", "action": "deny", "reason": "r",
               "match": {"prefix": ["a", ["b", "c"]]}})");
  EXPECT_EQ(One(text).floor(), Action::kAllow);
  for (size_t i = 0; i < text.size(); ++i) {
    EXPECT_EQ(One(text.substr(0, i)).floor(), Action::kDeny) << i;
    EXPECT_EQ(One(text.substr(0, i), Layer::kProject).floor(), Action::kAsk);
  }
}

TEST(Compile, ListsAreUsedByName) {
  const Policy policy = One(
      R"({"schema": 1, "pack": "p", "lists": {"l": ["x", "y"]},
          "rules": [{"id": "a", "action": "deny", "reason": "r",
                     "match": {"program": ["@l", "z"]}}]})");
  EXPECT_EQ(policy.floor(), Action::kAllow);
}

TEST(Compile, WhatGateKnowsOfTheWorldIsNamedByItsList) {
  struct Row {
    const char* path;
    bool known;
  };
  constexpr Row kRows[] = {
      {"$HOME/@known/home/secret", true},
      {"**/@known/files/secret", true},
      {"@known/system/secret", true},
      {"$CODEX_HOME/@known/home/secret/.codex", true},
      {"/a@known/home", true},  // a path like any other
      {"$HOME/@known/home/secrets", false},
      {"$HOME/@known/home", false},
      {"$HOME/@known/", false},
      {"$HOME/@known/home/secret/.nothing", false},
      {"@known/git/denied", false},  // no paths
  };
  for (const Row& row : kRows) {
    const std::string path = "[\"" + std::string(row.path) + "\"]";
    const Policy policy =
        One(R"({"schema": 1, "pack": "p", "lists": {"l": )" + path +
            R"(}, "classes": {"mine": ["@l"], "same": )" + path +
            R"(}, "rules": [{"id": "a", "action": "deny", "reason": "r",
                "match": {"effect": {"kind": "read",
                                     "path": ["mine", "same"]}}}]})");
    EXPECT_EQ(policy.floor(), row.known ? Action::kAllow : Action::kDeny)
        << row.path;
  }
}

TEST(Compile, TheFirstInstantOfTimeIsOverAndNotNever) {
  const Policy policy = One(Wrap(
      R"({"id": "a", "action": "allow", "reason": "r", "expires": "1970-01-01",
          "match": {"prefix": ["x"]}})"));
  EXPECT_EQ(policy.floor(), Action::kAllow);
  bool expired = false;
  for (const Finding& finding : Lint(policy, 1'790'000'000'000))
    expired = expired || finding.diagnostic.code == "lint-expired";
  EXPECT_TRUE(expired);
}

TEST(Compile, TenThousandRulesLoadQuickly) {
  std::string rules;
  for (int i = 0; i < 10000; ++i) {
    const std::string n = std::to_string(i);
    rules += (i ? "," : "") +
             (R"({"id": "r)" + n + R"(", "action": "ask", "reason": "why",
               "match": {"prefix": ["tool)" +
              n + R"(", ["a", "b"]]}})");
  }
  const Policy policy = One(Wrap(rules));
  EXPECT_EQ(policy.floor(), Action::kAllow);
  EXPECT_EQ(ListRules(policy).size(), 10000u);
}

TEST(Lint, FindsWhatLoadsAndIsStillAMistake) {
  const Policy policy = One(Wrap(
      R"({"id": "a", "action": "allow", "reason": "r", "match": {"prefix": ["bash"]}},
         {"id": "b", "action": "allow", "reason": "r", "match": {"glob": "* status"}},
         {"id": "c", "action": "ask", "reason": "r", "except": ["nope"],
          "expires": "2020-01-01", "match": {"program": "x"}})"));
  std::vector<std::string> codes;
  for (const Finding& finding : Lint(policy, 1'790'000'000'000))
    codes.push_back(finding.diagnostic.code);
  for (const char* code :
       {"lint-allow-interpreter", "lint-broad-allow", "lint-expired",
        "lint-unknown-exception", "lint-no-suggestion"})
    EXPECT_NE(std::find(codes.begin(), codes.end(), code), codes.end()) << code;
}

}  // namespace
}  // namespace gate::rules
