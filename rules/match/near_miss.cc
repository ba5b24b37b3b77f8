// How much of a rule that missed would have held.
#include "rules/match.h"
#include "rules/matchers/command_nodes.h"

namespace gate::rules {

void NearMiss::Fails(std::string_view what) {
  if (!failed.empty()) failed += ", ";
  failed += what;
}

void Matcher::Count(uint32_t index, NearMiss* out, int depth) {
  if (context_.OutOfSteps()) return;
  const RuleView& view = *context_.view;
  if (index >= view.nodes.size() || depth > MatchContext::kMaxDepth) return;
  const Node& node = view.nodes[index];
  const MatcherType* matcher = MatcherOf(node.kind);
  if (matcher == nullptr) return;
  if (node.kind == NodeKind::kAll) {
    for (const uint32_t link : LinksOf(view, node)) Count(link, out, depth + 1);
    return;
  }
  if (matcher->near_miss != nullptr && context_.invocation != nullptr)
    return matcher->near_miss(context_, node, out);
  ++out->parts;
  if (context_.Eval(index) == Tri::kYes)
    ++out->held;
  else
    out->Fails(matcher->title.empty() ? matcher->key : matcher->title);
}

NearMiss Matcher::ExplainMiss(const LoadedLayer& layer, uint32_t rule,
                              const Subject& subject, bool strict) {
  // Sets the matcher to this rule and subject.
  (void)Match(layer, rule, subject, strict);
  NearMiss near;
  Count(layer.view.rules[rule].match, &near, 0);
  return near;
}

}  // namespace gate::rules
