// `program`: the name of the program, wherever it lies.
#include <algorithm>

#include "rules/compile/compiler.h"
#include "rules/glob.h"
#include "rules/match/context.h"
#include "rules/matchers/command_nodes.h"
#include "rules/matchers/proofs.h"
#include "rules/matchers/samples.h"

namespace gate::rules {
namespace program_matcher {
namespace {

CompiledMatch Read(Compiler& compiler, CompilingFile& file,
                   const TreeNode& node) {
  const auto names = compiler.StringList(file, node, "program");
  ProgramNode made;
  made.names = compiler.AddStrings(names);
  CompiledMatch match;
  match.command = true;
  match.scope = kPerInvocation;
  match.names = CommandNames::kCommands;
  match.keys.always = false;
  for (const std::string_view name : names) {
    if (HasWildcard(name)) made.has_pattern = 1;
    match.keys.programs.emplace_back(name);
    match.names = std::min(
        match.names, NamesOf(HasWildcard(name) ? "" : name, /*fixed=*/false));
  }
  if (made.has_pattern != 0) match.keys = {};
  for (const std::string_view name : names)
    if (name.find('/') != std::string_view::npos)
      compiler.Problem(file, node.begin, "rule-bad-value",
                       "`program` is a name without directories",
                       "use `prefix` for a program at one place");
  match.node = compiler.AddNode(NodeKind::kProgram, made);
  return match;
}

// Whether all that a pattern of names takes is an OddName.
bool NeedsOddName(std::string_view pattern) {
  for (const char c : pattern)
    if (c != '*' && c != '?' && c != '\\' && OddByte(c)) return true;
  return pattern.starts_with('-');
}

Prefilter MakePrefilter(const Compiler& compiler, const Node& node) {
  const auto& program = node.As<ProgramNode>();
  const Texts names = compiler.Texts(program.names);
  Prefilter prefilter;
  prefilter.programs = kCommandMarks & ~kNamelessMark;
  if (program.has_pattern != 0) {
    if (std::all_of(names.begin(), names.end(), &NeedsOddName))
      prefilter.facts = uint64_t{1} << kOddNameFact;
    return prefilter;
  }
  prefilter.programs = 0;
  for (const std::string_view name : names)
    prefilter.programs |= ProgramMark(name);
  return prefilter;
}

Tri Match(MatchContext& context, const Node& node) {
  if (context.invocation == nullptr || context.invocation->program.empty())
    return Tri::kNo;
  if (context.strict && !context.FirstWordIsPlain()) return Tri::kNo;
  const auto& program = node.As<ProgramNode>();
  return context.Names(program.names, context.invocation->program,
                       program.has_pattern != 0);
}

bool IsWithin(NodeRef inner, NodeRef outer) {
  const RuleView& view = *inner.view;
  const Node& in = At(inner);
  const Texts names = TextsOf(*outer.view, At(outer).As<ProgramNode>().names);
  if (in.kind == NodeKind::kProgram)
    return NamesWithin(TextsOf(view, in.As<ProgramNode>().names), names);
  if (in.kind == NodeKind::kPrefix) {
    const auto positions =
        view.In(view.positions, in.As<PrefixNode>().positions);
    if (positions.empty()) return false;
    Texts programs = TextsOf(view, positions[0]);
    for (std::string_view& name : programs)
      name = name.substr(name.rfind('/') + 1);
    return NamesWithin(programs, names);
  }
  const auto first_word_within = [&](std::string_view pattern, bool regex) {
    const std::string_view word = FirstLiteralWord(pattern, regex);
    return !word.empty() && NamesWithin({word}, names);
  };
  if (in.kind == NodeKind::kGlob) {
    const Texts globs = TextsOf(view, in.As<GlobNode>().globs);
    return std::all_of(globs.begin(), globs.end(), [&](std::string_view glob) {
      return first_word_within(glob, false);
    });
  }
  return in.kind == NodeKind::kRegex &&
         first_word_within(PatternOf(view, in.As<RegexNode>().regex), true);
}

bool Programs(const RuleView& view, const Node& node, Texts* names) {
  for (const std::string_view name :
       TextsOf(view, node.As<ProgramNode>().names)) {
    if (name.empty() || HasWildcard(name)) return false;
    names->push_back(name);
  }
  return true;
}

std::optional<std::string> ExplainNever(const RuleView& view,
                                        const Node& node) {
  for (const std::string_view word :
       TextsOf(view, node.As<ProgramNode>().names))
    if (word.find(' ') != std::string_view::npos)
      return "no program is called " + Quoted(word);
  return std::nullopt;
}

void Sample(const RuleView& view, const Node& node, const Draft& draft,
            const DraftSink& add) {
  for (const std::string_view program :
       TextsOf(view, node.As<ProgramNode>().names)) {
    Draft with = draft;
    with.program = Instance(program);
    add(with);
  }
}

}  // namespace
}  // namespace program_matcher

constinit const MatcherType kProgramMatcher = {
    .key = "program",
    .read = &program_matcher::Read,
    .prefilter = &program_matcher::MakePrefilter,
    .match = &program_matcher::Match,
    .within = &program_matcher::IsWithin,
    .programs = &program_matcher::Programs,
    .why_never = &program_matcher::ExplainNever,
    .sample = &program_matcher::Sample};

}  // namespace gate::rules
