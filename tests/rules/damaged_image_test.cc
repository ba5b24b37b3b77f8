// Images that lie: every word of every node and link, changed.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include <string>
#include <vector>

#include "base/json.h"
#include "rules/compile/compile.h"
#include "rules/lint.h"
#include "rules/match.h"
#include "rules/matchers/matcher.h"
#include "rules/policy_impl.h"

namespace gate::rules {
namespace {

// Every matcher once.
constexpr char kEveryMatcher[] = R"({"schema": 1, "pack": "p", "rules": [
  {"id": "a", "action": "deny", "reason": "r", "match": {
    "prefix": ["tool", ["a", "b"]], "glob": ["tool *"], "regex": "^tool",
    "line": "tool", "program": ["tool", "to*"], "subcommand": "a",
    "options": {"any_of": ["-a"], "all_of": ["-b"], "none_of": ["-c"],
                "only": ["-a", "-b"]},
    "operands": {"any": ["x"], "all": ["*"], "none": ["z"], "written": "x",
                 "any_path": ["/x/**"], "min": 1, "max": 3},
    "only_does": ["read"], "act": {"any": ["look"]}, "redirects": true,
    "effect": {"kind": "delete", "path": ["/x/**"], "not_path": ["/y"],
               "target": "/z", "host": "h", "not_host": "i", "name": "n"},
    "any_effect": {"kind": "delete", "path": ["/x/**"]},
    "flow": {"kind": "file_to_network", "source": "/x", "not_to": "p"},
    "any_flow": {"kind": "file_to_network"}, "sends": true,
    "env": {"name": ["A"], "value": ["b*"], "not_value": ["c"]},
    "via": ["sudo"], "unknown": ["limit"], "cwd": "/x/**", "project": "/p",
    "agent": "x", "branch": "main", "interactive": true, "inspected": true}},
  {"id": "b", "action": "deny", "reason": "r", "match": {
    "any": [{"all": [{"program": "tool"}, {"operands": {"any": ["x"]}}]},
            {"effect": {"kind": "delete"}}],
    "unless": [{"env": "A"}, {"options": {"any_of": ["-q"]}}]}}]})";

parser::Analysis Line() {
  parser::Analysis analysis;
  parser::Invocation invocation;
  invocation.program = "tool";
  for (const char* word : {"tool", "a", "-b", "x"}) {
    parser::Argument argument;
    argument.text = word;
    invocation.argv.push_back(argument);
  }
  invocation.subcommand = {"a"};
  invocation.via.emplace_back();
  invocation.environment.emplace_back();
  analysis.invocations.push_back(invocation);
  parser::Effect effect;
  effect.kind = parser::EffectKind::kDelete;
  effect.path.text = "/x/y";
  effect.invocation = 0;
  analysis.effects.push_back(effect);
  return analysis;
}

// Asks everything that is asked of a policy; the answers mean nothing. `prove`:
// also what lint asks, of rules that were compiled in the same process, whose
// combinations have an end.
void Use(const std::string& image, bool prove) {
  Policy policy;
  if (!AddLayer(Layer::kUser, image, {}, &policy.impl())) return;
  FinishPolicy(&policy.impl());
  const parser::Analysis analysis = Line();
  Facts facts;
  facts.line = "tool a -b x";
  facts.first_looks = false;
  Matcher matcher(policy.impl(), analysis, facts, nullptr);
  const LoadedLayer& layer = *policy.impl().layers[0];
  Subject subject;
  subject.invocation = analysis.invocations.data();
  subject.number = 0;
  subject.effect_kinds = subject.flow_kinds = subject.unknown_codes = 0xFFF;
  for (uint32_t rule = 0; rule < layer.view.rules.size(); ++rule) {
    matcher.Match(layer, rule, subject, false);
    matcher.Match(layer, rule, subject, true);
    matcher.ExplainMiss(layer, rule, subject, false);
    if (!prove) continue;
    for (uint32_t node = 0; node < layer.view.nodes.size(); ++node)
      Within({&layer.view, node}, {&layer.view, layer.view.rules[rule].match});
    WhyNever({&layer.view, layer.view.rules[rule].match});
    Samples({&layer.view, layer.view.rules[rule].match}, 10);
  }
  if (prove) Lint(policy, 1);
}

// Under a sanitizer this says where something is read that is not there.
TEST(DamagedImage, IsNeverReadBeyondItsEnd) {
  const CompiledRules compiled =
      CompileRules(std::vector<SourceFile>{{"f", kEveryMatcher, true}},
                   {.layer = Layer::kUser});
  ASSERT_FALSE(compiled.broken);
  const std::string& image = compiled.image;
  Use(image, true);
  const auto view = RuleView::Open(image);
  ASSERT_TRUE(view);
  const auto damage = [&](const void* begin, size_t size, bool prove) {
    const auto offset =
        static_cast<size_t>(static_cast<const char*>(begin) - image.data());
    for (size_t at = offset; at + 4 <= offset + size; at += 4)
      for (const uint32_t value : {0u, 1u, 7u, UINT32_MAX}) {
        std::string changed = image;
        std::memcpy(changed.data() + at, &value, sizeof(value));
        Use(changed, prove);
      }
  };
  for (const Node& node : view->nodes) {
    const MatcherType* matcher = MatcherOf(node.kind);
    ASSERT_NE(matcher, nullptr);
    damage(&node.kind, 4, false);
    damage(node.payload, Node::kPayloadBytes, matcher->within != nullptr);
  }
  damage(view->links.data(), view->links.size_bytes(), false);
  damage(view->positions.data(), view->positions.size_bytes(), true);
}

// What the schema offers to editors is what the table of matchers reads.
TEST(Matchers, HaveTheKeysOfTheSchema) {
  std::set<std::string> keys = {"macro"};
  for (const MatcherType* matcher : kMatchers) {
    ASSERT_NE(matcher->match, nullptr);
    EXPECT_EQ(matcher->read == nullptr, matcher->key.empty());
    if (matcher->read != nullptr) {
      EXPECT_TRUE(keys.emplace(matcher->key).second) << matcher->key;
    }
  }
  std::ostringstream text;
  text << std::ifstream(GATE_SOURCE_DIR "/rules/schema.json").rdbuf();
  const auto schema = ParseJson(text.str());
  ASSERT_TRUE(schema);
  std::set<std::string> known;
  for (const auto& [key, value] :
       (*schema)["$defs"]["match"]["properties"].items())
    known.insert(key);
  EXPECT_EQ(keys, known);
}

}  // namespace
}  // namespace gate::rules
