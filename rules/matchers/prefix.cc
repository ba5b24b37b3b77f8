// `prefix`: the words that a command begins with.
#include <algorithm>

#include "base/ascii.h"
#include "base/text.h"
#include "rules/compile/compiler.h"
#include "rules/glob.h"
#include "rules/match.h"
#include "rules/matchers/command_nodes.h"
#include "rules/matchers/proofs.h"
#include "rules/matchers/samples.h"

namespace gate::rules {
namespace prefix_matcher {
namespace {

constexpr size_t kMaxPrefixKeys = 64;

std::span<const Range> PositionsOf(const RuleView& view, const Node& node) {
  return view.In(view.positions, node.As<PrefixNode>().positions);
}

CompiledMatch Read(Compiler& compiler, CompilingFile& file,
                   const TreeNode& node) {
  if (!compiler.Is(file, node, Compiler::Type::kArray, "prefix"))
    return compiler.Never();
  if (node.count == 0) {
    compiler.Problem(file, node.begin, "rule-empty-pattern",
                     "`prefix` is empty",
                     "name at least the program: [\"git\", \"push\"]");
    return compiler.Never();
  }
  std::vector<Texts> words;
  for (const TreeNode& item : file.tree.children(node))
    words.push_back(compiler.StringList(file, item, "a word of `prefix`"));
  CompiledMatch match;
  match.command = true;
  match.scope = kPerInvocation;
  match.keys.always = false;
  const bool two =
      words.size() > 1 && words[0].size() * words[1].size() <= kMaxPrefixKeys;
  // `bash -c` says no more than `bash`.
  const bool fixed = words.size() > 1 &&
                     std::ranges::none_of(words[1], [](std::string_view word) {
                       return word.starts_with('-');
                     });
  match.names = CommandNames::kCommands;
  for (const std::string_view first : words[0]) {
    const std::string_view program = ProgramOf(first);
    match.names = std::min(match.names, NamesOf(program, fixed));
    if (!two) {
      match.keys.programs.emplace_back(program);
      continue;
    }
    for (const std::string_view second : words[1])
      match.keys.programs.push_back(std::string(program) + " " +
                                    std::string(second));
  }
  match.node = compiler.AddNode(NodeKind::kPrefix,
                                PrefixNode{compiler.AddPositions(words)});
  return match;
}

Prefilter MakePrefilter(const Compiler& compiler, const Node& node) {
  const Range positions = node.As<PrefixNode>().positions;
  Prefilter prefilter;
  prefilter.programs = 0;
  for (const std::string_view first : compiler.Position(positions, 0))
    prefilter.programs |=
        first.empty() || first.find('/') != std::string_view::npos
            ? kCommandMarks
            : ProgramMark(first);
  if (positions.count < 2) return prefilter;
  prefilter.words = 0;
  for (const std::string_view word : compiler.Position(positions, 1))
    prefilter.words |= WordMark(word);
  return prefilter;
}

bool FirstWordIs(MatchContext& context, std::string_view word) {
  if (word.find('/') != std::string_view::npos)
    return !context.invocation->argv.empty() &&
           context.invocation->argv[0].known &&
           context.invocation->argv[0].text == word;
  if (context.strict && !context.FirstWordIsPlain()) return false;
  return context.invocation->program == word;
}

// The words from argv[start] on against the positions after the first.
Tri PrefixAt(MatchContext& context, std::span<const Range> positions,
             size_t start) {
  const auto& argv = context.invocation->argv;
  Tri result = Tri::kYes;
  for (size_t i = 1; i < positions.size(); ++i) {
    const size_t at = start + i - 1;
    if (at >= argv.size()) return Tri::kNo;
    const parser::Argument& word = argv[at];
    Tri here = Tri::kNo;
    for (const FlatText& text : context.Strings(positions[i])) {
      const std::string_view wanted = context.view->Text(text);
      if (word.known && !word.glob) {
        here = Or(here, Of(word.text == wanted));
      } else if (!word.known && wanted.starts_with(word.text) &&
                 wanted.ends_with(word.suffix) &&
                 // An unknown operand is not taken for an option.
                 !(word.text.empty() && !word.splits && wanted[0] == '-')) {
        here = Or(here, Tri::kPossible);
      }
    }
    result = And(result, here);
    if (result == Tri::kNo) return result;
    if (!word.known && word.splits) return Tri::kPossible;
  }
  return result;
}

Tri Match(MatchContext& context, const Node& node) {
  if (context.invocation == nullptr || context.invocation->argv.empty())
    return Tri::kNo;
  const auto positions = PositionsOf(*context.view, node);
  if (positions.empty()) return Tri::kNo;
  bool first = false;
  for (const FlatText& text : context.Strings(positions[0]))
    first = first || FirstWordIs(context, context.view->Text(text));
  if (!first) return Tri::kNo;
  if (positions.size() == 1) return Tri::kYes;
  Tri best = PrefixAt(context, positions, 1);
  if (context.strict || best == Tri::kYes) return best;
  // A rule that tightens also holds behind options: git -C x push.
  const uint32_t starts = SubcommandStarts(*context.invocation);
  for (size_t i = 2; i < 30 && best != Tri::kYes; ++i)
    if (starts & (1u << i)) best = Or(best, PrefixAt(context, positions, i));
  if (StartsGoOn(starts))
    for (size_t i = kFollowedWords;
         i < context.invocation->argv.size() && best != Tri::kYes; ++i) {
      if (context.OutOfSteps()) return Tri::kPossible;
      best = Or(best, PrefixAt(context, positions, i));
    }
  if (best == Tri::kYes || context.invocation->subcommand.empty()) return best;
  // And by the sub-command as the program's description reads it, when the
  // rule says no more than that.
  Tri canonical = Tri::kYes;
  for (size_t i = 1; i < positions.size(); ++i) {
    bool same = false;
    if (i - 1 < context.invocation->subcommand.size())
      for (const FlatText& text : context.Strings(positions[i]))
        same = same || context.view->Text(text) ==
                           context.invocation->subcommand[i - 1];
    if (!same) canonical = Tri::kNo;
  }
  return Or(best, canonical);
}

void CountWords(MatchContext& context, const Node& node, NearMiss* out) {
  const auto positions = PositionsOf(*context.view, node);
  uint32_t held = 0;
  for (size_t i = 0;
       i < positions.size() && i < context.invocation->argv.size(); ++i) {
    bool same = false;
    for (const FlatText& text : context.Strings(positions[i]))
      same = same || (i == 0 ? context.invocation->program
                             : context.invocation->argv[i].text) ==
                         context.view->Text(text);
    if (!same) break;
    ++held;
  }
  out->held += held;
  out->parts += static_cast<uint32_t>(positions.size());
  if (held < positions.size())
    out->Fails("prefix (" + std::to_string(held) + " of " +
               std::to_string(positions.size()) + " words)");
}

// The words that a glob surely begins with.
Texts LeadingWords(std::string_view glob) {
  Texts words;
  while (!glob.empty()) {
    const size_t end = std::min(glob.find(' '), glob.size());
    if (!IsPlain(glob.substr(0, end))) break;
    words.push_back(glob.substr(0, end));
    glob.remove_prefix(std::min(end + 1, glob.size()));
  }
  return words;
}

bool IsWithin(NodeRef inner, NodeRef outer) {
  const Node& in = At(inner);
  const auto positions = PositionsOf(*outer.view, At(outer));
  const auto at = [&](size_t i) { return TextsOf(*outer.view, positions[i]); };
  if (in.kind == NodeKind::kPrefix) {
    const auto others = PositionsOf(*inner.view, in);
    if (positions.size() > others.size()) return false;
    for (size_t i = 0; i < positions.size(); ++i)
      if (!Subset(TextsOf(*inner.view, others[i]), at(i))) return false;
    return true;
  }
  if (in.kind == NodeKind::kProgram) {
    const auto& program = in.As<ProgramNode>();
    return positions.size() == 1 && program.has_pattern == 0 &&
           Subset(TextsOf(*inner.view, program.names), at(0));
  }
  if (in.kind != NodeKind::kGlob) return false;
  for (const std::string_view glob :
       TextsOf(*inner.view, in.As<GlobNode>().globs))
    for (const std::string& form : GlobForms(glob)) {
      const Texts words = LeadingWords(form);
      if (words.size() < positions.size()) return false;
      for (size_t i = 0; i < positions.size(); ++i)
        if (!Contains(at(i), words[i])) return false;
    }
  return true;
}

bool Programs(const RuleView& view, const Node& node, Texts* names) {
  const auto positions = PositionsOf(view, node);
  if (positions.empty()) return false;
  for (const std::string_view word : TextsOf(view, positions[0]))
    names->push_back(word.substr(word.rfind('/') + 1));
  return true;
}

std::optional<std::string> ExplainNever(const RuleView& view,
                                        const Node& node) {
  const auto positions = PositionsOf(view, node);
  if (positions.empty()) return std::nullopt;
  for (const std::string_view word : TextsOf(view, positions[0]))
    if (word.find(' ') != std::string_view::npos)
      return "no program is called " + Quoted(word) +
             "; each word of a prefix is a string of its own";
    else if (IsAssignment(word))
      return Quoted(word) + " is an assignment, which `env` matches";
  return std::nullopt;
}

void Sample(const RuleView& view, const Node& node, const Draft& draft,
            const DraftSink& add) {
  const auto positions = PositionsOf(view, node);
  const auto first = [&](size_t i) {
    const Texts texts = TextsOf(view, positions[i]);
    return texts.empty() ? std::string() : std::string(texts[0]);
  };
  // The first alternatives, then each of the others in its place.
  for (size_t vary = 0; vary < positions.size(); ++vary) {
    const Texts others = TextsOf(view, positions[vary]);
    for (size_t k = vary == 0 ? 0 : 1; k < others.size(); ++k) {
      Draft with = draft;
      with.program = vary == 0 ? std::string(others[k]) : first(0);
      for (size_t i = 1; i < positions.size(); ++i)
        AddWord(&with.subcommand,
                ShellQuote(i == vary ? std::string(others[k]) : first(i)));
      add(with);
    }
  }
}

}  // namespace
}  // namespace prefix_matcher

constinit const MatcherType kPrefixMatcher = {
    .key = "prefix",
    .read = &prefix_matcher::Read,
    .prefilter = &prefix_matcher::MakePrefilter,
    .match = &prefix_matcher::Match,
    .near_miss = &prefix_matcher::CountWords,
    .within = &prefix_matcher::IsWithin,
    .programs = &prefix_matcher::Programs,
    .why_never = &prefix_matcher::ExplainNever,
    .sample = &prefix_matcher::Sample};

}  // namespace gate::rules
