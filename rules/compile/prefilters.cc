// The prefilters of an image (rules/match/prefilter.h), from its nodes. What
// rules/match/match.cc says no to whatever else is so, a prefilter may rule
// out; where it says more, the prefilter here says less.
#include "rules/compile/compiler.h"
#include "rules/match/prefilter.h"

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

Prefilter Compiler::GuardOf(const Node& node,
                            const std::vector<Prefilter>& before) const {
  const auto texts = [&](Range range) {
    std::vector<std::string_view> all;
    for (uint32_t i = 0; i < range.count; ++i)
      all.push_back(writer_.View(strings_[range.begin + i]));
    return all;
  };
  Prefilter prefilter;
  switch (node.kind) {
    case NodeKind::kNever:
      return kNothing;
    case NodeKind::kAll:
    case NodeKind::kAny: {
      const bool all = node.kind == NodeKind::kAll;
      prefilter = all ? Prefilter{} : kNothing;
      for (uint32_t i = 0; i < node.a.count; ++i) {
        const uint32_t link = links_[node.a.begin + i];
        // Parts are made before what they are parts of.
        const Prefilter part =
            link < before.size() ? before[link] : Prefilter{};
        prefilter = all ? Both(prefilter, part) : Either(prefilter, part);
      }
      return prefilter;
    }
    case NodeKind::kProgram:
      prefilter.programs = kCommandMarks & ~kNamelessMark;
      if (node.flags == kHasPattern) {
        bool odd = true;
        for (const std::string_view name : texts(node.a))
          odd = odd && NeedsOddName(name);
        if (odd) prefilter.facts = Facts(1, kOddNameFact);
        return prefilter;
      }
      prefilter.programs = 0;
      for (const std::string_view name : texts(node.a))
        prefilter.programs |= ProgramMark(name);
      return prefilter;
    case NodeKind::kPrefix: {
      prefilter.programs = 0;
      for (const std::string_view first : texts(positions_[node.a.begin]))
        prefilter.programs |=
            first.empty() || first.find('/') != std::string_view::npos
                ? kCommandMarks
                : ProgramMark(first);
      if (node.a.count < 2) return prefilter;
      prefilter.words = 0;
      for (const std::string_view word : texts(positions_[node.a.begin + 1]))
        prefilter.words |= WordMark(word);
      return prefilter;
    }
    case NodeKind::kSubcommand:
      prefilter.programs = kCommandMarks;
      prefilter.words = 0;
      for (const std::string_view words : texts(node.a))
        prefilter.words |= WordMark(words.substr(0, words.find(' ')));
      return prefilter;
    case NodeKind::kOptions: {
      prefilter.programs = kCommandMarks;
      if (node.a.count > 0) prefilter.letters = 0;
      for (const std::string_view option : texts(node.a))
        prefilter.letters |= LetterOf(option);
      Prefilter needed;
      for (const std::string_view option : texts(node.b)) {
        needed.letters = LetterOf(option);
        prefilter = Both(prefilter, needed);
      }
      return prefilter;
    }
    case NodeKind::kGlob:
    case NodeKind::kRegex:
    case NodeKind::kOperands:
    case NodeKind::kOnlyDoes:
    case NodeKind::kAct:
    case NodeKind::kRedirects:
      prefilter.programs = kCommandMarks;
      return prefilter;
    case NodeKind::kSends: {
      using parser::EffectKind;
      prefilter.programs = kCommandMarks;
      prefilter.facts =
          Facts((1u << static_cast<unsigned>(EffectKind::kNetwork)) |
                    (1u << static_cast<unsigned>(EffectKind::kRemoteState)),
                kAnyEffectFacts);
      return prefilter;
    }
    case NodeKind::kEffect:
      prefilter.facts = Facts(
          node.mask, node.y == kAnyEffect ? kAnyEffectFacts : kEffectFacts);
      return prefilter;
    case NodeKind::kFlow:
      prefilter.facts = Facts(node.mask, kFlowFacts);
      return prefilter;
    case NodeKind::kUnknown:
      prefilter.facts = Facts(node.mask, kUnknownFacts);
      return prefilter;
    case NodeKind::kEnv:
      prefilter.programs = kCommandMarks;
      prefilter.facts = Facts(1, kEnvFact);
      return prefilter;
    case NodeKind::kVia:
      prefilter.programs = kCommandMarks;
      prefilter.facts = Facts(1, kViaFact);
      return prefilter;
    case NodeKind::kUnless:
    case NodeKind::kCwd:
    case NodeKind::kProject:
    case NodeKind::kAgent:
    case NodeKind::kBranch:
    case NodeKind::kInteractive:
    case NodeKind::kInspected:
    case NodeKind::kLine:
      return prefilter;
  }
  return prefilter;
}

void Compiler::WriteGuards() {
  std::vector<Prefilter> of_nodes;
  of_nodes.reserve(nodes_.size());
  for (const Node& node : nodes_) of_nodes.push_back(GuardOf(node, of_nodes));
  std::vector<Prefilter> of_links, of_rules;
  of_links.reserve(links_.size());
  for (const uint32_t link : links_)
    of_links.push_back(link < of_nodes.size() ? of_nodes[link] : Prefilter{});
  of_rules.reserve(rules_.size());
  for (const RuleRecord& rule : rules_) {
    Prefilter prefilter =
        rule.match < of_nodes.size() ? of_nodes[rule.match] : Prefilter{};
    if ((rule.scope & kPerLine) == 0) prefilter.programs &= kCommandMarks;
    if ((rule.scope & kPerInvocation) == 0) prefilter.programs &= kLineMark;
    of_rules.push_back(prefilter);
  }
  writer_.Section(of_links);
  writer_.Section(of_rules);
}

}  // namespace gate::rules
