// Feeds bytes to the rule loader as a file of each layer. Besides not
// crashing, it must keep its promises:
//   - a file that has an error raises the floor of its layer;
//   - every diagnostic has a place inside the file;
//   - an untrusted project file never loosens a decision.
#include <cstdint>
#include <string>

#include "base/diagnostic.h"
#include "engine/evaluate.h"
#include "fuzz/require.h"
#include "rules/lint.h"
#include "rules/list.h"
#include "rules/policy.h"

namespace {

using namespace gate;  // NOLINT(google-build-using-namespace)

parser::Analysis Line() {
  parser::Analysis analysis;
  analysis.read_whole = true;
  for (const char* program : {"tool", "git", "rm"}) {
    parser::Invocation invocation;
    invocation.program = program;
    for (const char* word : {program, "push", "-rf", "/x"}) {
      parser::Argument argument;
      argument.text = word;
      invocation.argv.push_back(argument);
    }
    parser::Effect effect;
    effect.kind = parser::EffectKind::kDelete;
    effect.path.text = "/home/dev/x*";
    effect.path.glob = true;
    effect.recursive = true;
    effect.invocation = static_cast<uint32_t>(analysis.invocations.size());
    analysis.effects.push_back(effect);
    analysis.invocations.push_back(invocation);
  }
  return analysis;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > (1u << 16)) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  size_t lines = 1;
  for (const char c : text) lines += c == '\n';
  engine::Request request;
  request.workspace = request.cwd = "/home/dev/x";
  request.home = "/home/dev";
  static const parser::Analysis analysis = Line();
  const engine::Decision without =
      engine::Evaluate(rules::MakePolicy({}, false), analysis, request, {});
  for (const rules::Layer layer :
       {rules::Layer::kProject, rules::Layer::kUser, rules::Layer::kSystem}) {
    const rules::Policy policy =
        rules::MakePolicy({{"f.json", layer, text, false}}, false);
    if (HasErrors(policy.diagnostics()))
      Require(policy.floor() >= (layer == rules::Layer::kProject
                                     ? rules::Action::kAsk
                                     : rules::Action::kDeny));
    for (const Diagnostic& diagnostic : policy.diagnostics())
      Require(diagnostic.line <= lines);
    rules::Lint(policy, 1);
    rules::ListRules(policy);
    const engine::Decision decision =
        engine::Evaluate(policy, analysis, request, {});
    Require(decision.action >= policy.floor());
    if (layer == rules::Layer::kProject)
      Require(decision.action >= without.action);
  }
  return 0;
}
