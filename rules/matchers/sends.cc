// `sends`: a later command of the same pipeline talks to another machine.
#include <algorithm>

#include "rules/compile/compiler.h"
#include "rules/match/context.h"
#include "rules/matchers/matcher.h"
#include "rules/matchers/proofs.h"

namespace gate::rules {
namespace sends_matcher {
namespace {

struct SendsNode {};

CompiledMatch Read(Compiler& compiler, CompilingFile& file,
                   const TreeNode& node) {
  if (!compiler.Flag(file, node))
    compiler.Problem(file, node.begin, "rule-bad-value",
                     "`sends` can only be true");
  CompiledMatch match;
  match.scope = kPerInvocation;
  match.node = compiler.AddNode(NodeKind::kSends, SendsNode{});
  return match;
}

Prefilter MakePrefilter(const Compiler&, const Node&) {
  using parser::EffectKind;
  constexpr uint64_t kSending =
      (1u << static_cast<unsigned>(EffectKind::kNetwork)) |
      (1u << static_cast<unsigned>(EffectKind::kRemoteState));
  Prefilter prefilter;
  prefilter.programs = kCommandMarks;
  prefilter.facts = kSending << kAnyEffectFacts;
  return prefilter;
}

Tri Match(MatchContext& context, const Node&) {
  if (context.invocation == nullptr ||
      context.invocation->pipeline == UINT32_MAX)
    return Tri::kNo;
  if (!context.senders) {
    context.senders.emplace();
    for (const parser::Effect& effect : context.analysis.effects) {
      if ((effect.kind != parser::EffectKind::kNetwork &&
           effect.kind != parser::EffectKind::kRemoteState) ||
          effect.invocation >= context.analysis.invocations.size())
        continue;
      uint32_t& last =
          (*context.senders)[context.analysis.invocations[effect.invocation]
                                 .pipeline];
      last = std::max(last, effect.invocation);
    }
  }
  const auto last = context.senders->find(context.invocation->pipeline);
  return last != context.senders->end() &&
                 last->second > context.subject->number
             ? Tri::kYes
             : Tri::kNo;
}

}  // namespace
}  // namespace sends_matcher

constinit const MatcherType kSendsMatcher = {
    .key = "sends",
    .read = &sends_matcher::Read,
    .prefilter = &sends_matcher::MakePrefilter,
    .match = &sends_matcher::Match,
    .within = &SameKind};

}  // namespace gate::rules
