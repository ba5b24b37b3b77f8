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

std::string WithHosts(const std::string& members) {
  return Wrap(R"({"id": "a", "action": "sandbox", "reason": "r",
    "match": {"program": "x"}, )" +
              members + "}");
}

TEST(Compile, HostsAreKeptInOneForm) {
  const struct {
    const char* members;
    std::vector<std::string> hosts, denied;
  } rows[] = {
      {R"("network": "domains")", {}, {}},
      {R"("network": "domains", "hosts": "A.Example.")", {"a.example"}, {}},
      {R"("network": "domains", "hosts": ["b.example:443", "a.example",
          "*.Example.org:8443", "A.example", "192.0.2.7", "[2001:DB8::1]:80"])",
       {"*.example.org:8443", "192.0.2.7", "[2001:db8::1]:80", "a.example",
        "b.example:443"},
       {}},
      {R"("hosts_deny": ["*.b.example", "x.test:22"])",
       {},
       {"*.b.example", "x.test:22"}},
      {R"("network": "open", "hosts_deny": "x.test")", {}, {"x.test"}},
      {R"("network": "open", "hosts": ["@program", "a.example", "@named"])",
       {"@named", "@program", "a.example"},
       {}},
      {R"("network": "domains", "hosts": "@named")", {"@named"}, {}},
      {R"("network": "domains", "network_max": "domains", "hosts": "@known/hosts/npm")",
       {"registry.npmjs.org"},
       {}},
  };
  for (const auto& row : rows) {
    const Policy policy = One(WithHosts(row.members));
    ASSERT_FALSE(HasErrors(policy.diagnostics()))
        << Render(policy.diagnostics().at(0));
    const RuleInfo rule = ListRules(policy).at(0);
    EXPECT_EQ(rule.hosts, row.hosts) << row.members;
    EXPECT_EQ(rule.hosts_deny, row.denied) << row.members;
  }
}

TEST(Compile, WhatIsNoHostIsAProblemAtItsPlace) {
  std::string many = R"("network": "domains", "hosts": [)";
  for (int i = 0; i < 257; ++i)
    many += (i == 0 ? "\"h" : ", \"h") + std::to_string(i) + ".example\"";
  many += "]";
  const struct {
    std::string members;
    const char* code;
    size_t line;
  } rows[] = {
      {"\n\"network\": \"domains\", \"hosts\":\n[\"a.example\",\n"
       "\"https://b.example\"]",
       "rule-bad-host", 5},
      {R"("network": "domains", "hosts": ["a.example/x"])", "rule-bad-host", 2},
      {R"("network": "domains", "hosts": ["*.com"])", "rule-bad-host", 2},
      {R"("network": "domains", "hosts": ["a.*.example"])", "rule-bad-host", 2},
      {R"("network": "domains", "hosts": ["*"])", "rule-bad-host", 2},
      {R"("network": "domains", "hosts": ["a.example:0"])", "rule-bad-host", 2},
      {R"("network": "domains", "hosts": ["a@b.example"])", "rule-bad-host", 2},
      {R"("network": "domains", "hosts": ["0177.0.0.1"])", "rule-bad-host", 2},
      {R"("network": "domains", "hosts": ["bücher.example"])", "rule-bad-host",
       2},
      {R"("hosts_deny": ["a b"])", "rule-bad-host", 2},
      {R"("network": "domains", "hosts": [["a.example"]])", "rule-bad-type", 2},
      {R"("network": "domains", "hosts": [])", "rule-empty-pattern", 2},
      {R"("network": "domains", "hosts": {"a": 1})", "rule-bad-type", 2},
      {R"("network": "domains", "hosts": ["@nowhere"])", "rule-unknown-list",
       2},
      {R"("network": "domains", "hosts": ["@known/hosts/nothing"])",
       "rule-unknown-list", 2},
      {many, "rule-too-many", 2},
      {R"("hosts": ["a.example"])", "rule-bad-value", 2},
      {R"("network": "loopback", "hosts": ["a.example"])", "rule-bad-value", 2},
      {R"("network": "open", "hosts": ["@names"])", "rule-unknown-list", 2},
      {R"("network": "open", "hosts": ["@program:443"])", "rule-unknown-list",
       2},
      {R"("hosts_deny": ["@named"])", "rule-bad-host", 2},
      {R"("network_max": "domains", "hosts": ["a.example"])", "rule-bad-value",
       2},
      {R"("network": "domain")", "rule-bad-value", 2},
  };
  for (const auto& row : rows) {
    const Policy policy = One(WithHosts(row.members));
    EXPECT_EQ(policy.floor(), Action::kDeny) << row.members;
    bool found = false;
    for (const Diagnostic& d : policy.diagnostics())
      found = found || (d.code == row.code && d.line == row.line &&
                        d.column > 0 && !d.help.empty());
    EXPECT_TRUE(found) << row.members << "\n"
                       << Render(policy.diagnostics().at(0));
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
