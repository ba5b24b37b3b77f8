// `env`: variables that are set for a command, or by it.
#include <algorithm>

#include "rules/compile/compiler.h"
#include "rules/match/context.h"
#include "rules/matchers/matcher.h"
#include "rules/matchers/proofs.h"

namespace gate::rules {
namespace env_matcher {
namespace {

struct EnvNode {
  Range names, values, not_values;  // strings
};

CompiledMatch Read(Compiler& compiler, CompilingFile& file,
                   const TreeNode& node) {
  if (compiler.loosens() && !compiler.inverted())
    compiler.Problem(
        file, node.key_begin, "rule-loosen-condition",
        "a rule that loosens may not stand on what the agent controls",
        "take `env` out, or make the rule an ask, sandbox or deny rule "
        "without exceptions");
  EnvNode made;
  if (node.type == Compiler::Type::kObject) {
    for (const TreeNode& member : file.tree.children(node)) {
      if (member.key == "name")
        made.names =
            compiler.AddStrings(compiler.StringList(file, member, "name"));
      else if (member.key == "value")
        made.values =
            compiler.AddStrings(compiler.StringList(file, member, "value"));
      else if (member.key == "not_value")
        made.not_values =
            compiler.AddStrings(compiler.StringList(file, member, "not_value"));
      else
        compiler.UnknownKey(file, member, "env", "name value not_value");
    }
    if (made.names.count == 0)
      compiler.Problem(file, node.begin, "rule-missing-key",
                       "`env` has no `name`");
  } else {
    made.names = compiler.AddStrings(compiler.StringList(file, node, "env"));
  }
  CompiledMatch match;
  match.scope = kPerInvocation;
  match.keys.always = false;
  match.keys.buckets.push_back(kEnvBucket);
  match.node = compiler.AddNode(NodeKind::kEnv, made);
  return match;
}

Prefilter MakePrefilter(const Compiler&, const Node&) {
  Prefilter prefilter;
  prefilter.programs = kCommandMarks;
  prefilter.facts = uint64_t{1} << kEnvFact;
  return prefilter;
}

bool SetsVariables(std::string_view program) {
  constexpr std::string_view kNames[] = {"export",   "declare", "typeset",
                                         "readonly", "local",   "env"};
  return std::find(std::begin(kNames), std::end(kNames), program) !=
         std::end(kNames);
}

Tri Match(MatchContext& context, const Node& node) {
  const auto& own = node.As<EnvNode>();
  if (context.invocation == nullptr) return Tri::kNo;
  const auto fits = [&](Range patterns, std::string_view value) {
    Tri best = Tri::kNo;
    for (const FlatText& text : context.Strings(patterns)) {
      std::string_view pattern = context.view->Text(text), rest = value;
      if (constexpr std::string_view kBase = "$WORKSPACE";
          pattern.starts_with(kBase)) {
        const std::string_view place =
            context.facts.bases[static_cast<size_t>(PathBase::kWorkspace)];
        if (place.empty() || !rest.starts_with(place)) continue;
        pattern.remove_prefix(kBase.size());
        rest.remove_prefix(place.size());
      }
      best = Or(best, context.Fits(pattern, rest));
    }
    return best;
  };
  const auto judge = [&](std::string_view name, std::string_view value,
                         bool known) {
    const Tri named = context.Names(own.names, name, true);
    if (named == Tri::kNo ||
        (own.values.count == 0 && own.not_values.count == 0))
      return named;
    if (!known) return Tri::kPossible;
    Tri result = named;
    if (own.values.count > 0) result = And(result, fits(own.values, value));
    return And(result, Not(fits(own.not_values, value)));
  };
  Tri best = Tri::kNo;
  for (const parser::EnvironmentSetting& setting :
       context.invocation->environment)
    best =
        Or(best, judge(setting.name, setting.value.text, setting.value.known));
  if (SetsVariables(context.invocation->program)) {
    for (size_t i = 1; i < context.invocation->argv.size(); ++i) {
      const parser::Argument& word = context.invocation->argv[i];
      const size_t equals = word.text.find('=');
      if (equals == std::string::npos || equals == 0) continue;
      std::string_view name = std::string_view(word.text).substr(0, equals);
      if (name.ends_with('+')) name.remove_suffix(1);
      best =
          Or(best, judge(name, std::string_view(word.text).substr(equals + 1),
                         word.known && equals + 1 < word.text.size()));
    }
  }
  return best;
}

bool IsWithin(NodeRef inner, NodeRef outer) {
  if (!SameKind(inner, outer)) return false;
  const auto& in = At(inner).As<EnvNode>();
  const auto& out = At(outer).As<EnvNode>();
  const auto i = [&](Range range) { return TextsOf(*inner.view, range); };
  const auto o = [&](Range range) { return TextsOf(*outer.view, range); };
  return Subset(i(in.names), o(out.names)) &&
         (out.values.count == 0 ||
          (in.values.count > 0 && Subset(i(in.values), o(out.values)))) &&
         Subset(o(out.not_values), i(in.not_values));
}

}  // namespace
}  // namespace env_matcher

constinit const MatcherType kEnvMatcher = {
    .key = "env",
    .read = &env_matcher::Read,
    .prefilter = &env_matcher::MakePrefilter,
    .match = &env_matcher::Match,
    .within = &env_matcher::IsWithin};

}  // namespace gate::rules
