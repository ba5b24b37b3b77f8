// `flow`: data that goes from or to a command. `any_flow`: of any command of
// the line.
#include "rules/compile/compiler.h"
#include "rules/match/context.h"
#include "rules/matchers/matcher.h"
#include "rules/matchers/proofs.h"
#include "rules/names.h"

namespace gate::rules {
namespace flow_matcher {
namespace {

struct FlowNode {
  Range sources, not_sources;  // paths
  Range not_to;                // strings
  uint32_t mask = 0;           // parser::FlowKind
};

CompiledMatch Read(Compiler& compiler, CompilingFile& file,
                   const TreeNode& node) {
  if (!compiler.Is(file, node, Compiler::Type::kObject, "flow"))
    return compiler.Never();
  FlowNode made;
  CompiledMatch match;
  match.scope = kPerLine;
  match.keys.always = false;
  for (const TreeNode& member : file.tree.children(node)) {
    if (member.key == "kind") {
      for (const std::string_view kind :
           compiler.StringList(file, member, "kind")) {
        const auto found = FindName(FlowNames(), kind);
        if (!found) {
          compiler.Problem(file, member.begin, "rule-bad-value",
                           "`" + std::string(kind) + "` is no kind of flow",
                           "network_to_code, decoded_to_code, file_to_network, "
                           "file_to_code, unseen_to_code");
          continue;
        }
        made.mask |= 1u << *found;
        match.keys.buckets.push_back(kFlowBuckets +
                                     static_cast<uint32_t>(*found));
      }
    } else if (member.key == "source") {
      made.sources = compiler.AddPaths(file, member, "source");
    } else if (member.key == "not_source") {
      made.not_sources = compiler.AddPaths(file, member, "not_source");
    } else if (member.key == "not_to") {
      made.not_to =
          compiler.AddStrings(compiler.StringList(file, member, "not_to"));
    } else {
      compiler.UnknownKey(file, member, "flow",
                          "kind source not_source not_to");
    }
  }
  if (made.mask == 0)
    compiler.Problem(file, node.begin, "rule-missing-key",
                     "the flow has no `kind`");
  match.node = compiler.AddNode(
      node.key == "any_flow" ? NodeKind::kAnyFlow : NodeKind::kFlow, made);
  return match;
}

Prefilter MakePrefilter(const Compiler&, const Node& node) {
  Prefilter prefilter;
  prefilter.facts = uint64_t{node.As<FlowNode>().mask} << kFlowFacts;
  return prefilter;
}

Tri Match(MatchContext& context, const Node& node) {
  const auto& own = node.As<FlowNode>();
  if ((context.subject->flow_kinds & own.mask) == 0) return Tri::kNo;
  Tri best = Tri::kNo;
  for (const parser::Flow& flow : context.analysis.flows) {
    ++context.steps;
    if ((own.mask & (1u << static_cast<unsigned>(flow.kind))) == 0) continue;
    if (node.kind != NodeKind::kAnyFlow &&
        context.subject->number != UINT32_MAX &&
        flow.source_invocation != context.subject->number &&
        flow.sink_invocation != context.subject->number)
      continue;
    if (own.not_to.count > 0 &&
        flow.sink_invocation < context.analysis.invocations.size() &&
        context.Names(
            own.not_to,
            context.analysis.invocations[flow.sink_invocation].program,
            false) == Tri::kYes)
      continue;
    Tri result = Tri::kYes;
    const PathValue value{&flow.source, false, UINT32_MAX};
    const bool none = flow.source.known && flow.source.text.empty();
    if (own.sources.count > 0)
      result = none ? Tri::kPossible
                    : context.paths.MatchAny(*context.view, own.sources, value);
    if (own.not_sources.count > 0)
      result = And(result, none ? Tri::kPossible
                                : Not(context.paths.MatchAny(
                                      *context.view, own.not_sources, value)));
    best = Or(best, result);
  }
  return best;
}

bool IsWithin(NodeRef inner, NodeRef outer) {
  if (!SameKind(inner, outer)) return false;
  const auto& in = At(inner).As<FlowNode>();
  const auto& out = At(outer).As<FlowNode>();
  return (in.mask & ~out.mask) == 0 &&
         (out.sources.count == 0 ||
          (in.sources.count > 0 &&
           PathsWithin(*inner.view, in.sources, *outer.view, out.sources))) &&
         PathsWithin(*outer.view, out.not_sources, *inner.view,
                     in.not_sources) &&
         Subset(TextsOf(*outer.view, out.not_to),
                TextsOf(*inner.view, in.not_to));
}

}  // namespace
}  // namespace flow_matcher

constinit const MatcherType kFlowMatcher = {
    .key = "flow",
    .read = &flow_matcher::Read,
    .prefilter = &flow_matcher::MakePrefilter,
    .match = &flow_matcher::Match,
    .within = &flow_matcher::IsWithin};

constinit const MatcherType kAnyFlowMatcher = {
    .key = "any_flow",
    .read = &flow_matcher::Read,
    .prefilter = &flow_matcher::MakePrefilter,
    .match = &flow_matcher::Match,
    .within = &flow_matcher::IsWithin};

}  // namespace gate::rules
