// What matchers say, followed through combinations: the programs they are
// about, why they never match, and commands that they may match. What single
// matchers say of these stands in rules/matchers.
#include "rules/matchers/samples.h"

#include <algorithm>

#include "rules/matchers/command_nodes.h"
#include "rules/matchers/proofs.h"
#include "rules/relations.h"

namespace gate::rules {
namespace {

constexpr int kMaxDepth = 32;

// The members of nested `all`, one by one.
void Flatten(NodeRef ref, std::vector<uint32_t>* out, int depth = 0) {
  if (ref.node >= ref.view->nodes.size() || depth > kMaxDepth) return;
  const Node& node = ref.view->nodes[ref.node];
  if (node.kind != NodeKind::kAll) return out->push_back(ref.node);
  for (const uint32_t link : LinksOf(*ref.view, node))
    Flatten({ref.view, link}, out, depth + 1);
}

std::optional<Texts> Programs(NodeRef ref, int depth) {
  const RuleView& view = *ref.view;
  if (depth > kMaxDepth || ref.node >= view.nodes.size()) return std::nullopt;
  const Node& node = view.nodes[ref.node];
  if (node.kind == NodeKind::kAll) {
    std::optional<Texts> least;
    for (const uint32_t link : LinksOf(view, node)) {
      auto of = Programs({&view, link}, depth + 1);
      if (of && (!least || of->size() < least->size())) least = std::move(of);
    }
    return least;
  }
  Texts names;
  if (node.kind == NodeKind::kAny) {
    for (const uint32_t link : LinksOf(view, node)) {
      const auto of = Programs({&view, link}, depth + 1);
      if (!of) return std::nullopt;
      names.insert(names.end(), of->begin(), of->end());
    }
    return names;
  }
  const MatcherType* matcher = MatcherOf(node.kind);
  if (matcher == nullptr || matcher->programs == nullptr ||
      !matcher->programs(view, node, &names))
    return std::nullopt;
  return names;
}

std::optional<std::string> Never(NodeRef ref, int depth) {
  const RuleView& view = *ref.view;
  if (ref.node >= view.nodes.size() || depth > kMaxDepth) return std::nullopt;
  const Node& node = view.nodes[ref.node];
  if (node.kind == NodeKind::kAny) {
    for (const uint32_t link : LinksOf(view, node))
      if (auto why = Never({&view, link}, depth + 1))
        return "in one of the matches of `any`: " + *why;
    return std::nullopt;
  }
  if (node.kind == NodeKind::kUnless) return std::nullopt;
  if (node.kind != NodeKind::kAll) {
    const MatcherType* matcher = MatcherOf(node.kind);
    if (matcher == nullptr || matcher->why_never == nullptr)
      return std::nullopt;
    return matcher->why_never(view, node);
  }
  std::vector<uint32_t> parts;
  Flatten(ref, &parts);
  for (const uint32_t part : parts)
    if (auto why = Never({&view, part}, depth + 1)) return why;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Node& one = view.nodes[parts[i]];
    for (size_t j = 0; j < i; ++j)
      if (Disjoint({&view, parts[i]}, {&view, parts[j]}))
        return "one condition is about other programs than another";
    if (one.kind != NodeKind::kUnless) continue;
    for (const uint32_t link : LinksOf(view, one))
      for (size_t j = 0; j < parts.size(); ++j)
        if (j != i && view.nodes[parts[j]].kind != NodeKind::kUnless &&
            Within({&view, parts[j]}, {&view, link}))
          return "`unless` takes back all that another condition asks for";
  }
  return std::nullopt;
}

class Sampler {
 public:
  Sampler(const RuleView& view, size_t most) : view_(view), most_(most) {}

  std::vector<std::string> Run(uint32_t node) {
    Walk({node}, Draft{}, 0);
    return std::move(found_);
  }

 private:
  // `todo`: nodes that must all hold.
  void Walk(std::vector<uint32_t> todo, const Draft& draft, int depth) {
    if (found_.size() >= most_ || depth > kMaxDepth) return;
    if (todo.empty()) return Finish(draft);
    const uint32_t index = todo.back();
    todo.pop_back();
    if (index >= view_.nodes.size()) return;
    const Node& node = view_.nodes[index];
    if (node.kind == NodeKind::kAll) {
      for (const uint32_t link : LinksOf(view_, node)) todo.push_back(link);
      return Walk(std::move(todo), draft, depth + 1);
    }
    if (node.kind == NodeKind::kAny) {
      for (const uint32_t link : LinksOf(view_, node)) {
        std::vector<uint32_t> with = todo;
        with.push_back(link);
        Walk(std::move(with), draft, depth + 1);
      }
      return;
    }
    const MatcherType* matcher = MatcherOf(node.kind);
    if (matcher == nullptr || matcher->sample == nullptr)
      return Walk(std::move(todo), draft, depth + 1);
    matcher->sample(view_, node, draft,
                    [&](const Draft& with) { Walk(todo, with, depth + 1); });
  }

  void Finish(const Draft& draft) {
    std::string line = draft.whole;
    if (!draft.program.empty() &&
        (line.empty() || !line.starts_with(draft.program)))
      line = draft.program;
    if (line.empty()) return;
    line += draft.subcommand + draft.options + draft.operands;
    if (std::find(found_.begin(), found_.end(), line) == found_.end())
      found_.push_back(std::move(line));
  }

  const RuleView& view_;
  size_t most_;
  std::vector<std::string> found_;
};

}  // namespace

std::optional<std::vector<std::string_view>> ProgramsOf(NodeRef ref) {
  return Programs(ref, 0);
}

bool Disjoint(NodeRef a, NodeRef b) {
  const auto of_a = Programs(a, 0), of_b = Programs(b, 0);
  if (!of_a || !of_b || of_a->empty() || of_b->empty()) return false;
  return std::none_of(of_a->begin(), of_a->end(), [&](std::string_view name) {
    return std::find(of_b->begin(), of_b->end(), name) != of_b->end();
  });
}

std::optional<std::string> WhyNever(NodeRef ref) { return Never(ref, 0); }

bool MatchesText(NodeRef ref) {
  return HasKind(ref, NodeKind::kRegex) || HasKind(ref, NodeKind::kGlob);
}

bool HasKind(NodeRef ref, NodeKind kind) {
  std::vector<uint32_t> todo = {ref.node};
  for (size_t steps = 0; !todo.empty() && steps < 10000; ++steps) {
    const uint32_t index = todo.back();
    todo.pop_back();
    if (index >= ref.view->nodes.size()) continue;
    const Node& node = ref.view->nodes[index];
    if (node.kind == kind) return true;
    if (node.kind == NodeKind::kAll || node.kind == NodeKind::kAny)
      for (const uint32_t link : LinksOf(*ref.view, node)) todo.push_back(link);
  }
  return false;
}

std::vector<std::string> Samples(NodeRef ref, size_t most) {
  return Sampler(*ref.view, most).Run(ref.node);
}

}  // namespace gate::rules
