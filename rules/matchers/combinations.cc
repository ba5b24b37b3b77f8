// `all`, `any` and `unless`, and what matches nothing.
#include <algorithm>

#include "rules/compile/compiler.h"
#include "rules/match/context.h"
#include "rules/matchers/command_nodes.h"

namespace gate::rules {
namespace combinations {
namespace {

// What all parts say of where the rule is found, except for its keys.
CompiledMatch Join(Compiler& compiler, NodeKind kind,
                   const std::vector<CompiledMatch>& parts) {
  CompiledMatch match;
  for (const CompiledMatch& part : parts) match.scope |= part.scope;
  match.node = compiler.AddNode(kind, LinksNode{compiler.AddLinks(parts)});
  return match;
}

CompiledMatch ReadAll(Compiler& compiler, CompilingFile& file,
                      const TreeNode& node) {
  std::vector<CompiledMatch> parts = compiler.MatchObjects(file, node, "all");
  if (parts.empty()) return compiler.Never();
  CompiledMatch match = Join(compiler, NodeKind::kAll, parts);
  for (CompiledMatch& part : parts) {
    match.effects |= part.effects;
    match.command |= part.command;
    match.names = std::max(match.names, part.names);
    if (part.keys.Rank() > match.keys.Rank()) match.keys = std::move(part.keys);
  }
  return match;
}

CompiledMatch ReadAny(Compiler& compiler, CompilingFile& file,
                      const TreeNode& node) {
  std::vector<CompiledMatch> parts = compiler.MatchObjects(file, node, "any");
  if (parts.empty()) return compiler.Never();
  CompiledMatch match = Join(compiler, NodeKind::kAny, parts);
  match.keys.always = false;
  match.command = true;  // when every branch does
  match.names = CommandNames::kCommands;
  for (CompiledMatch& part : parts) {
    match.effects |= part.effects;
    match.command &= part.command;
    match.names = std::min(match.names, part.names);
    if (part.keys.always) {
      match.keys.always = true;
      continue;
    }
    for (const uint32_t bucket : part.keys.buckets)
      match.keys.buckets.push_back(bucket);
    for (std::string& program : part.keys.programs)
      match.keys.programs.push_back(std::move(program));
  }
  if (match.keys.always) match.keys = {};
  return match;
}

// Its keys are none: the absence of something finds no rule.
CompiledMatch ReadUnless(Compiler& compiler, CompilingFile& file,
                         const TreeNode& node) {
  return Join(compiler, NodeKind::kUnless,
              compiler.InvertedMatches(file, node));
}

Prefilter NeverPrefilter(const Compiler&, const Node&) { return kNothing; }

Prefilter AllPrefilter(const Compiler& compiler, const Node& node) {
  Prefilter prefilter;
  for (const Prefilter& part :
       compiler.LinkPrefilters(node.As<LinksNode>().links))
    prefilter = Both(prefilter, part);
  return prefilter;
}

Prefilter AnyPrefilter(const Compiler& compiler, const Node& node) {
  Prefilter prefilter = kNothing;
  for (const Prefilter& part :
       compiler.LinkPrefilters(node.As<LinksNode>().links))
    prefilter = Either(prefilter, part);
  return prefilter;
}

Tri MatchNever(MatchContext&, const Node&) { return Tri::kNo; }

// While it lives, a combination is followed.
class Deeper {
 public:
  explicit Deeper(MatchContext* context) : context_(context) {
    ++context_->depth;
    if (is_too_deep()) context_->error = true;
  }
  ~Deeper() { --context_->depth; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  bool is_too_deep() const { return context_->depth > MatchContext::kMaxDepth; }

 private:
  MatchContext* context_;
};

Tri MatchAll(MatchContext& context, const Node& node) {
  const RuleView& view = *context.view;
  const Range links = node.As<LinksNode>().links;
  if (context.facts.first_looks)
    for (const Prefilter& prefilter : view.In(view.link_prefilters, links))
      if (prefilter.Excludes(context.subject->bits)) return Tri::kNo;
  const Deeper deeper(&context);
  if (deeper.is_too_deep()) return Tri::kPossible;
  Tri result = Tri::kYes;
  for (const uint32_t link : view.In(view.links, links)) {
    result = And(result, context.Eval(link));
    if (result == Tri::kNo) break;
  }
  return result;
}

Tri MatchAny(MatchContext& context, const Node& node) {
  const RuleView& view = *context.view;
  const Range range = node.As<LinksNode>().links;
  const auto links = view.In(view.links, range);
  const auto prefilters = view.In(view.link_prefilters, range);
  const Deeper deeper(&context);
  if (deeper.is_too_deep()) return Tri::kPossible;
  Tri result = Tri::kNo;
  for (size_t i = 0; i < links.size(); ++i) {
    if (context.facts.first_looks &&
        prefilters[i].Excludes(context.subject->bits))
      continue;
    result = Or(result, context.Eval(links[i]));
    if (result == Tri::kYes) break;
  }
  return result;
}

// What takes a rule back must surely hold; what keeps an allow from holding
// need only be possible.
Tri MatchUnless(MatchContext& context, const Node& node) {
  context.strict = !context.strict;
  const Tri inner = MatchAny(context, node);
  context.strict = !context.strict;
  return Not(inner);
}

}  // namespace
}  // namespace combinations

// Proofs and samples of combinations stand in rules/lint, which follows their
// parts.
constinit const MatcherType kNeverMatcher = {
    .key = "",
    .title = "never",
    .prefilter = &combinations::NeverPrefilter,
    .match = &combinations::MatchNever};

constinit const MatcherType kAllMatcher = {
    .key = "all",
    .read = &combinations::ReadAll,
    .prefilter = &combinations::AllPrefilter,
    .match = &combinations::MatchAll};

constinit const MatcherType kAnyMatcher = {
    .key = "any",
    .title = "any alternative",
    .read = &combinations::ReadAny,
    .prefilter = &combinations::AnyPrefilter,
    .match = &combinations::MatchAny};

constinit const MatcherType kUnlessMatcher = {
    .key = "unless",
    .title = "its `unless`",
    .read = &combinations::ReadUnless,
    .match = &combinations::MatchUnless};

}  // namespace gate::rules
