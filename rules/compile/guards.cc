// The guards of an image (rules/match/guard.h), from its nodes. What
// rules/match/match.cc says no to whatever else is so, a guard may rule out;
// where it says more, the guard here says less.
#include "rules/compile/compiler.h"
#include "rules/match/guard.h"

namespace gate::rules {
namespace {

uint64_t Facts(uint32_t mask, uint32_t first) {
  return uint64_t{mask} << first;
}

// The first letter of an option, as Matcher::MayHaveOption looks for it.
uint32_t LetterOf(std::string_view option) {
  if (option.size() < 2 || option[0] != '-' || option == "--")
    return ~uint32_t{0};
  return LetterMark(option[1] == '-' ? option[2] : option[1]);
}

// Whether all that a pattern of names takes is an OddName.
bool NeedsOddName(std::string_view pattern) {
  for (const char c : pattern)
    if (c != '*' && c != '?' && c != '\\' && OddByte(c)) return true;
  return pattern.starts_with('-');
}

}  // namespace

Guard Compiler::GuardOf(const Node& node,
                        const std::vector<Guard>& before) const {
  const auto texts = [&](Range range) {
    std::vector<std::string_view> all;
    for (uint32_t i = 0; i < range.count; ++i)
      all.push_back(writer_.View(strings_[range.begin + i]));
    return all;
  };
  Guard guard;
  switch (node.kind) {
    case NodeKind::kNever:
      return kNothing;
    case NodeKind::kAll:
    case NodeKind::kAny: {
      const bool all = node.kind == NodeKind::kAll;
      guard = all ? Guard{} : kNothing;
      for (uint32_t i = 0; i < node.a.count; ++i) {
        const uint32_t link = links_[node.a.begin + i];
        // Parts are made before what they are parts of.
        const Guard part = link < before.size() ? before[link] : Guard{};
        guard = all ? Both(guard, part) : Either(guard, part);
      }
      return guard;
    }
    case NodeKind::kProgram:
      guard.programs = kCommandMarks & ~kNamelessMark;
      if (node.flags == kHasPattern) {
        bool odd = true;
        for (const std::string_view name : texts(node.a))
          odd = odd && NeedsOddName(name);
        if (odd) guard.facts = Facts(1, kOddNameFact);
        return guard;
      }
      guard.programs = 0;
      for (const std::string_view name : texts(node.a))
        guard.programs |= ProgramMark(name);
      return guard;
    case NodeKind::kPrefix: {
      guard.programs = 0;
      for (const std::string_view first : texts(positions_[node.a.begin]))
        guard.programs |=
            first.empty() || first.find('/') != std::string_view::npos
                ? kCommandMarks
                : ProgramMark(first);
      if (node.a.count < 2) return guard;
      guard.words = 0;
      for (const std::string_view word : texts(positions_[node.a.begin + 1]))
        guard.words |= WordMark(word);
      return guard;
    }
    case NodeKind::kSubcommand:
      guard.programs = kCommandMarks;
      guard.words = 0;
      for (const std::string_view words : texts(node.a))
        guard.words |= WordMark(words.substr(0, words.find(' ')));
      return guard;
    case NodeKind::kOptions: {
      guard.programs = kCommandMarks;
      if (node.a.count > 0) guard.letters = 0;
      for (const std::string_view option : texts(node.a))
        guard.letters |= LetterOf(option);
      Guard needed;
      for (const std::string_view option : texts(node.b)) {
        needed.letters = LetterOf(option);
        guard = Both(guard, needed);
      }
      return guard;
    }
    case NodeKind::kGlob:
    case NodeKind::kRegex:
    case NodeKind::kOperands:
    case NodeKind::kOnlyDoes:
    case NodeKind::kAct:
    case NodeKind::kRedirects:
      guard.programs = kCommandMarks;
      return guard;
    case NodeKind::kSends: {
      using parser::EffectKind;
      guard.programs = kCommandMarks;
      guard.facts =
          Facts((1u << static_cast<unsigned>(EffectKind::kNetwork)) |
                    (1u << static_cast<unsigned>(EffectKind::kRemoteState)),
                kAnyEffectFacts);
      return guard;
    }
    case NodeKind::kEffect:
      guard.facts = Facts(
          node.mask, node.y == kAnyEffect ? kAnyEffectFacts : kEffectFacts);
      return guard;
    case NodeKind::kFlow:
      guard.facts = Facts(node.mask, kFlowFacts);
      return guard;
    case NodeKind::kUnknown:
      guard.facts = Facts(node.mask, kUnknownFacts);
      return guard;
    case NodeKind::kEnv:
      guard.programs = kCommandMarks;
      guard.facts = Facts(1, kEnvFact);
      return guard;
    case NodeKind::kVia:
      guard.programs = kCommandMarks;
      guard.facts = Facts(1, kViaFact);
      return guard;
    case NodeKind::kUnless:
    case NodeKind::kCwd:
    case NodeKind::kProject:
    case NodeKind::kAgent:
    case NodeKind::kBranch:
    case NodeKind::kInteractive:
    case NodeKind::kInspected:
    case NodeKind::kLine:
      return guard;
  }
  return guard;
}

void Compiler::WriteGuards() {
  std::vector<Guard> of_nodes;
  of_nodes.reserve(nodes_.size());
  for (const Node& node : nodes_) of_nodes.push_back(GuardOf(node, of_nodes));
  std::vector<Guard> of_links, of_rules;
  of_links.reserve(links_.size());
  for (const uint32_t link : links_)
    of_links.push_back(link < of_nodes.size() ? of_nodes[link] : Guard{});
  of_rules.reserve(rules_.size());
  for (const RuleRecord& rule : rules_) {
    Guard guard = rule.match < of_nodes.size() ? of_nodes[rule.match] : Guard{};
    if ((rule.scope & kPerLine) == 0) guard.programs &= kCommandMarks;
    if ((rule.scope & kPerInvocation) == 0) guard.programs &= kLineMark;
    of_rules.push_back(guard);
  }
  writer_.Section(of_links);
  writer_.Section(of_rules);
}

}  // namespace gate::rules
