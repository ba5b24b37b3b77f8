// `unknown`: why a part of the line cannot be told before it runs.
#include "rules/compile/compiler.h"
#include "rules/match/context.h"
#include "rules/matchers/matcher.h"
#include "rules/matchers/proofs.h"
#include "rules/names.h"

namespace gate::rules {
namespace unknown_matcher {
namespace {

struct UnknownNode {
  uint32_t mask = 0;  // parser::UnknownCode
};

CompiledMatch Read(Compiler& compiler, CompilingFile& file,
                   const TreeNode& node) {
  UnknownNode made;
  CompiledMatch match;
  match.scope = kPerLine;
  match.keys.always = false;
  for (const std::string_view code :
       compiler.StringList(file, node, "unknown")) {
    const auto found = FindName(UnknownNames(), code);
    if (!found) {
      std::string help = "one of";
      for (const std::string_view name : UnknownNames())
        help += " " + std::string(name);
      compiler.Problem(file, node.begin, "rule-bad-value",
                       "`" + std::string(code) + "` is no reason code", help);
      continue;
    }
    made.mask |= 1u << *found;
    match.keys.buckets.push_back(kUnknownBuckets +
                                 static_cast<uint32_t>(*found));
  }
  match.node = compiler.AddNode(NodeKind::kUnknown, made);
  return match;
}

Prefilter MakePrefilter(const Compiler&, const Node& node) {
  Prefilter prefilter;
  prefilter.facts = uint64_t{node.As<UnknownNode>().mask} << kUnknownFacts;
  return prefilter;
}

Tri Match(MatchContext& context, const Node& node) {
  return Of((context.subject->unknown_codes & node.As<UnknownNode>().mask) !=
            0);
}

bool IsWithin(NodeRef inner, NodeRef outer) {
  return SameKind(inner, outer) && (At(inner).As<UnknownNode>().mask &
                                    ~At(outer).As<UnknownNode>().mask) == 0;
}

}  // namespace
}  // namespace unknown_matcher

constinit const MatcherType kUnknownMatcher = {
    .key = "unknown",
    .read = &unknown_matcher::Read,
    .prefilter = &unknown_matcher::MakePrefilter,
    .match = &unknown_matcher::Match,
    .within = &unknown_matcher::IsWithin};

}  // namespace gate::rules
