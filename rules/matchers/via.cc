// `via`: what runs a command: another program, a function, a substitution.
#include "rules/compile/compiler.h"
#include "rules/match/context.h"
#include "rules/matchers/matcher.h"
#include "rules/matchers/proofs.h"

namespace gate::rules {
namespace via_matcher {
namespace {

struct ViaNode {
  Range names;  // strings
};

CompiledMatch Read(Compiler& compiler, CompilingFile& file,
                   const TreeNode& node) {
  const ViaNode made{
      compiler.AddStrings(compiler.StringList(file, node, "a name"))};
  CompiledMatch match;
  match.scope = kPerInvocation;
  match.keys.always = false;
  match.keys.buckets.push_back(kViaBucket);
  match.node = compiler.AddNode(NodeKind::kVia, made);
  return match;
}

Prefilter MakePrefilter(const Compiler&, const Node&) {
  Prefilter prefilter;
  prefilter.programs = kCommandMarks;
  prefilter.facts = uint64_t{1} << kViaFact;
  return prefilter;
}

Tri Match(MatchContext& context, const Node& node) {
  const auto& own = node.As<ViaNode>();
  if (context.invocation == nullptr) return Tri::kNo;
  Tri best = Tri::kNo;
  for (const parser::Via& step : context.invocation->via) {
    best = Or(best, context.Names(own.names, Name(step), true));
    // "function $program": the function calls itself. A program of the same
    // name, as in `ls() { command ls -l "$@"; }`, is none.
    if (context.invocation->builtin &&
        step.kind == parser::ViaKind::kFunction &&
        step.name == context.invocation->program)
      best = Or(best, context.Names(own.names, "function $program", false));
  }
  return best;
}

bool IsWithin(NodeRef inner, NodeRef outer) {
  return SameKind(inner, outer) &&
         Subset(TextsOf(*inner.view, At(inner).As<ViaNode>().names),
                TextsOf(*outer.view, At(outer).As<ViaNode>().names));
}

}  // namespace
}  // namespace via_matcher

constinit const MatcherType kViaMatcher = {
    .key = "via",
    .read = &via_matcher::Read,
    .prefilter = &via_matcher::MakePrefilter,
    .match = &via_matcher::Match,
    .within = &via_matcher::IsWithin};

}  // namespace gate::rules
