// `redirects`: options that lead a program to another endpoint, account or
// file.
#include "parser/acts.h"
#include "rules/compile/compiler.h"
#include "rules/match/context.h"
#include "rules/matchers/matcher.h"
#include "rules/matchers/proofs.h"
#include "rules/names.h"

namespace gate::rules {
namespace redirects_matcher {
namespace {

constexpr uint32_t kHidden = 1u << 15;

struct RedirectsNode {
  uint32_t mask = 0;  // parser::RedirectTo, and kHidden
};

CompiledMatch Read(Compiler& compiler, CompilingFile& file,
                   const TreeNode& node) {
  RedirectsNode made;
  if (node.type == Compiler::Type::kBool) {
    if (!node.truth)
      compiler.Problem(file, node.begin, "rule-bad-value",
                       "`redirects` is true or a list",
                       "say `unless` for what has none of them");
    made.mask = (1u << parser::kRedirectKinds) - 1;
  } else {
    for (const std::string_view name :
         compiler.StringList(file, node, "redirects")) {
      const auto redirect = FindName(RedirectNames(), name);
      if (!redirect && name != "hidden") {
        compiler.Problem(file, node.begin, "rule-bad-value",
                         "`" + std::string(name) +
                             "` is nothing that a program may be "
                             "redirected to",
                         "endpoint, account, context, configuration, plugin, "
                         "certificates, file, hidden");
        continue;
      }
      made.mask |= redirect ? 1u << *redirect : kHidden;
    }
  }
  CompiledMatch match;
  match.scope = kPerInvocation;
  match.node = compiler.AddNode(NodeKind::kRedirects, made);
  return match;
}

Tri Match(MatchContext& context, const Node& node) {
  const auto& own = node.As<RedirectsNode>();
  if (context.invocation == nullptr) return Tri::kNo;
  const parser::ActsRead& acts = context.ReadOptions().acts;
  if (!acts.described) return Tri::kNo;
  if ((own.mask & kHidden) != 0 && acts.hides_options) return Tri::kPossible;
  return Of((acts.redirects & own.mask) != 0);
}

bool IsWithin(NodeRef inner, NodeRef outer) {
  return SameKind(inner, outer) && (At(inner).As<RedirectsNode>().mask &
                                    ~At(outer).As<RedirectsNode>().mask) == 0;
}

}  // namespace
}  // namespace redirects_matcher

constinit const MatcherType kRedirectsMatcher = {
    .key = "redirects",
    .read = &redirects_matcher::Read,
    .prefilter = &AnyCommand,
    .match = &redirects_matcher::Match,
    .within = &redirects_matcher::IsWithin};

}  // namespace gate::rules
