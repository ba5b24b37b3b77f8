// `subcommand`: the words that say what a program is to do.
#include <algorithm>

#include "rules/compile/compiler.h"
#include "rules/match/context.h"
#include "rules/matchers/command_nodes.h"
#include "rules/matchers/options.h"
#include "rules/matchers/proofs.h"
#include "rules/matchers/samples.h"

namespace gate::rules {
namespace subcommand_matcher {
namespace {

CompiledMatch Read(Compiler& compiler, CompilingFile& file,
                   const TreeNode& node) {
  SubcommandNode made;
  made.names = compiler.AddStrings(compiler.StringList(file, node, "a name"));
  made.options = compiler.accept_list();
  CompiledMatch match;
  match.scope = kPerInvocation;
  match.subcommand = true;
  match.node = compiler.AddNode(NodeKind::kSubcommand, made);
  return match;
}

Prefilter MakePrefilter(const Compiler& compiler, const Node& node) {
  Prefilter prefilter;
  prefilter.programs = kCommandMarks;
  prefilter.words = 0;
  for (const std::string_view words :
       compiler.Texts(node.As<SubcommandNode>().names))
    prefilter.words |= WordMark(words.substr(0, words.find(' ')));
  return prefilter;
}

Tri Match(MatchContext& context, const Node& node) {
  if (context.invocation == nullptr) return Tri::kNo;
  const auto words_match = [](std::string_view wanted, auto&& word_at) {
    for (size_t i = 0;; ++i) {
      const size_t end = std::min(wanted.find(' '), wanted.size());
      if (!word_at(i, wanted.substr(0, end))) return false;
      if (end == wanted.size()) return true;
      wanted.remove_prefix(end + 1);
    }
  };
  const auto& argv = context.invocation->argv;
  const auto& canonical = context.invocation->subcommand;
  // Behind an accept-list of options the sub-command is the first operands.
  const auto& own = node.As<SubcommandNode>();
  if (context.strict && own.options < context.view->nodes.size()) {
    std::vector<const parser::Argument*> operands;
    const Tri only = HasOnly(context, own.options, &operands);
    Tri best = Tri::kNo;
    for (const FlatText& text : context.Strings(own.names))
      best = Or(best, Of(words_match(context.view->Text(text),
                                     [&](size_t i, std::string_view word) {
                                       return i < operands.size() &&
                                              operands[i]->known &&
                                              operands[i]->text == word;
                                     })));
    return And(best, only);
  }
  Tri best = Tri::kNo;
  for (const FlatText& text : context.Strings(own.names)) {
    const std::string_view wanted = context.view->Text(text);
    // Descriptions put sub-commands that do alike under one name, so what must
    // surely hold has to stand among the words as well.
    if (words_match(wanted, [&](size_t i, std::string_view word) {
          return i < canonical.size() && canonical[i] == word &&
                 (!context.strict || std::any_of(
                                         argv.begin(), argv.end(),
                                         [&](const parser::Argument& have) {
                                           return have.known &&
                                                  have.text == word;
                                         }));
        }))
      return Tri::kYes;
    const uint32_t starts = SubcommandStarts(*context.invocation);
    const size_t end = StartsGoOn(starts) && !context.strict
                           ? std::max<size_t>(argv.size(), 30)
                           : 30;
    for (size_t start = 1; start < end && best != Tri::kYes; ++start) {
      const bool beyond =
          start >= kFollowedWords && !context.strict && StartsGoOn(starts);
      if (!beyond && (starts & (1u << start)) == 0) continue;
      if (context.OutOfSteps()) return Tri::kPossible;
      // A word behind an option may be the option's value.
      if (context.strict && start > 1 &&
          (argv.size() < start || !argv[start - 1].text.starts_with('-') ||
           argv[start - 1].text.find('=') == std::string::npos))
        continue;
      bool unknown = false;
      if (words_match(wanted, [&](size_t i, std::string_view word) {
            if (start + i >= argv.size()) return false;
            const parser::Argument& have = argv[start + i];
            if (have.known) return have.text == word;
            unknown = true;
            return word.starts_with(have.text) && word.ends_with(have.suffix);
          }))
        best = Or(best, unknown ? Tri::kPossible : Tri::kYes);
    }
  }
  return best;
}

bool IsWithin(NodeRef inner, NodeRef outer) {
  const RuleView& view = *inner.view;
  const Node& in = At(inner);
  const auto& out = At(outer).As<SubcommandNode>();
  if (out.options != UINT32_MAX) return false;
  const Texts names = TextsOf(*outer.view, out.names);
  if (in.kind == NodeKind::kSubcommand) {
    const auto& own = in.As<SubcommandNode>();
    return own.options == UINT32_MAX && Subset(TextsOf(view, own.names), names);
  }
  if (in.kind != NodeKind::kPrefix) return false;
  const auto positions = view.In(view.positions, in.As<PrefixNode>().positions);
  return positions.size() > 1 && Subset(TextsOf(view, positions[1]), names);
}

void Sample(const RuleView& view, const Node& node, const Draft& draft,
            const DraftSink& add) {
  const Texts names = TextsOf(view, node.As<SubcommandNode>().names);
  Draft with = draft;
  AddWord(&with.subcommand, names.empty() ? std::string_view() : names[0]);
  add(with);
}

}  // namespace
}  // namespace subcommand_matcher

constinit const MatcherType kSubcommandMatcher = {
    .key = "subcommand",
    .read = &subcommand_matcher::Read,
    .prefilter = &subcommand_matcher::MakePrefilter,
    .match = &subcommand_matcher::Match,
    .within = &subcommand_matcher::IsWithin,
    .sample = &subcommand_matcher::Sample};

}  // namespace gate::rules
