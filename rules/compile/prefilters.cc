// The prefilters of an image (rules/match/prefilter.h), from its nodes.
#include "rules/compile/compiler.h"
#include "rules/match/prefilter.h"
#include "rules/matchers/matcher.h"

namespace gate::rules {

Prefilter AnyCommand(const Compiler&, const Node&) {
  Prefilter prefilter;
  prefilter.programs = kCommandMarks;
  return prefilter;
}

std::vector<std::string_view> Compiler::Texts(Range strings) const {
  std::vector<std::string_view> all;
  for (uint32_t i = 0; i < strings.count; ++i)
    all.push_back(writer_.View(strings_[strings.begin + i]));
  return all;
}

std::vector<std::string_view> Compiler::Position(Range positions,
                                                 uint32_t at) const {
  return Texts(positions_[positions.begin + at]);
}

std::vector<Prefilter> Compiler::LinkPrefilters(Range links) const {
  std::vector<Prefilter> all;
  for (uint32_t i = 0; i < links.count; ++i) {
    const uint32_t link = links_[links.begin + i];
    // Parts are made before what they are parts of.
    all.push_back(link < node_prefilters_.size() ? node_prefilters_[link]
                                                 : Prefilter{});
  }
  return all;
}

void Compiler::WritePrefilters() {
  node_prefilters_.clear();
  node_prefilters_.reserve(nodes_.size());
  for (const Node& node : nodes_) {
    const MatcherType* matcher = MatcherOf(node.kind);
    node_prefilters_.push_back(matcher != nullptr &&
                                       matcher->prefilter != nullptr
                                   ? matcher->prefilter(*this, node)
                                   : Prefilter{});
  }
  std::vector<Prefilter> of_links, of_rules;
  of_links.reserve(links_.size());
  for (const uint32_t link : links_)
    of_links.push_back(link < node_prefilters_.size() ? node_prefilters_[link]
                                                      : Prefilter{});
  of_rules.reserve(rules_.size());
  for (const RuleRecord& rule : rules_) {
    Prefilter prefilter = rule.match < node_prefilters_.size()
                              ? node_prefilters_[rule.match]
                              : Prefilter{};
    if ((rule.scope & kPerLine) == 0) prefilter.programs &= kCommandMarks;
    if ((rule.scope & kPerInvocation) == 0) prefilter.programs &= kLineMark;
    of_rules.push_back(prefilter);
  }
  writer_.Section(of_links);
  writer_.Section(of_rules);
}

}  // namespace gate::rules
