// One matcher within another: combinations are followed here, single matchers
// prove it themselves (rules/matchers).
#include "rules/relations.h"

#include <algorithm>

#include "rules/matchers/command_nodes.h"
#include "rules/matchers/proofs.h"

namespace gate::rules {
namespace {

class Prover {
 public:
  bool Within(NodeRef inner, NodeRef outer);

 private:
  static auto Links(NodeRef ref) { return LinksOf(*ref.view, At(ref)); }

  int steps_ = 0;
};

bool Prover::Within(NodeRef inner, NodeRef outer) {
  if (++steps_ > kMaxProofSteps) return false;
  if (inner.node >= inner.view->nodes.size() ||
      outer.node >= outer.view->nodes.size())
    return false;
  const Node& in = At(inner);
  const Node& out = At(outer);
  const auto any_link = [&](NodeRef of, auto&& holds) {
    const auto links = Links(of);
    return std::any_of(links.begin(), links.end(), [&](uint32_t link) {
      return holds(NodeRef{of.view, link});
    });
  };
  const auto every_link = [&](NodeRef of, auto&& holds) {
    const auto links = Links(of);
    return std::all_of(links.begin(), links.end(), [&](uint32_t link) {
      return holds(NodeRef{of.view, link});
    });
  };
  if (out.kind == NodeKind::kAll)
    return every_link(outer, [&](NodeRef o) { return Within(inner, o); });
  if (in.kind == NodeKind::kAny)
    return every_link(inner, [&](NodeRef i) { return Within(i, outer); });
  if (out.kind == NodeKind::kAny &&
      any_link(outer, [&](NodeRef o) { return Within(inner, o); }))
    return true;
  if (in.kind == NodeKind::kAll)
    return any_link(inner, [&](NodeRef i) { return Within(i, outer); });
  if (in.kind == NodeKind::kUnless && out.kind == NodeKind::kUnless)
    // What the outer one takes back must be taken back by the inner one.
    return every_link(outer, [&](NodeRef o) {
      return any_link(inner, [&](NodeRef i) { return Within(o, i); });
    });
  if (in.kind == NodeKind::kNever) return true;
  const MatcherType* matcher = MatcherOf(out.kind);
  return matcher != nullptr && matcher->within != nullptr &&
         matcher->within(inner, outer);
}

}  // namespace

bool Within(NodeRef inner, NodeRef outer) {
  return Prover().Within(inner, outer);
}

}  // namespace gate::rules
