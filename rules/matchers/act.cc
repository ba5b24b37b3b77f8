// `act`: whether a program looks at or changes something elsewhere.
#include "parser/acts.h"
#include "rules/compile/compiler.h"
#include "rules/match/context.h"
#include "rules/matchers/matcher.h"
#include "rules/matchers/proofs.h"
#include "rules/names.h"

namespace gate::rules {
namespace act_matcher {
namespace {

enum How : uint32_t { kActOnly, kActAny, kActDescribed, kActNotDescribed };

struct ActNode {
  uint32_t how = kActOnly;  // How
  uint32_t mask = 0;        // parser::Act
};

CompiledMatch Read(Compiler& compiler, CompilingFile& file,
                   const TreeNode& node) {
  if (!compiler.Is(file, node, Compiler::Type::kObject, "act"))
    return compiler.Never();
  ActNode made;
  if (node.count != 1) {
    compiler.Problem(file, node.begin, "rule-bad-value",
                     "`act` has one of `only`, `any`, `described`");
    return compiler.Never();
  }
  for (const TreeNode& member : file.tree.children(node)) {
    if (member.key == "described") {
      if (compiler.Is(file, member, Compiler::Type::kBool, "described"))
        made.how = member.truth ? kActDescribed : kActNotDescribed;
      continue;
    }
    if (member.key != "only" && member.key != "any") {
      compiler.UnknownKey(file, member, "act", "only any described");
      continue;
    }
    made.how = member.key == "only" ? kActOnly : kActAny;
    for (const std::string_view name :
         compiler.StringList(file, member, "act")) {
      const auto act = FindName(ActNames(), name);
      if (!act || (made.how == kActOnly && ActNames()[*act] == "unknown")) {
        compiler.Problem(
            file, member.begin, "rule-bad-value",
            "`" + std::string(name) + "` is no act here",
            "look, local, change, secret, code, login; under `any` unknown, "
            "too");
        continue;
      }
      made.mask |= 1u << *act;
    }
  }
  CompiledMatch match;
  match.scope = kPerInvocation;
  match.node = compiler.AddNode(NodeKind::kAct, made);
  return match;
}

Tri Match(MatchContext& context, const Node& node) {
  const auto& own = node.As<ActNode>();
  if (context.invocation == nullptr) return Tri::kNo;
  const parser::ActsRead& acts = context.ReadOptions().acts;
  if (own.how == kActDescribed || own.how == kActNotDescribed)
    return Of(acts.described == (own.how == kActDescribed));
  if (!acts.described) return Tri::kNo;
  if (own.how == kActAny) {
    if ((acts.possible & own.mask) == 0) return Tri::kNo;
    return (acts.certain & own.mask) != 0 ? Tri::kYes : Tri::kPossible;
  }
  // A file of the workspace may be called like the program.
  if (context.strict && !context.FirstWordIsPlain()) return Tri::kNo;
  if ((acts.certain & ~own.mask) != 0) return Tri::kNo;
  return (acts.possible & ~own.mask) == 0 ? Tri::kYes : Tri::kPossible;
}

bool IsWithin(NodeRef inner, NodeRef outer) {
  if (!SameKind(inner, outer)) return false;
  const auto& in = At(inner).As<ActNode>();
  const auto& out = At(outer).As<ActNode>();
  return in.how == out.how && (in.mask & ~out.mask) == 0;
}

}  // namespace
}  // namespace act_matcher

constinit const MatcherType kActMatcher = {.key = "act",
                                           .read = &act_matcher::Read,
                                           .prefilter = &AnyCommand,
                                           .match = &act_matcher::Match,
                                           .within = &act_matcher::IsWithin};

}  // namespace gate::rules
