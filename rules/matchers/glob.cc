// `glob`: a pattern of the whole command as a line.
#include <algorithm>

#include "rules/compile/compiler.h"
#include "rules/glob.h"
#include "rules/match/command_text.h"
#include "rules/match/gaps.h"
#include "rules/matchers/command_nodes.h"
#include "rules/matchers/proofs.h"
#include "rules/matchers/samples.h"

namespace gate::rules {
namespace glob_matcher {
namespace {

CompiledMatch Read(Compiler& compiler, CompilingFile& file,
                   const TreeNode& node) {
  const auto patterns = compiler.StringList(file, node, "glob");
  CompiledMatch match;
  match.names = CommandNames::kCommands;
  match.command = true;
  match.scope = kPerInvocation;
  match.keys.always = false;
  for (const std::string_view pattern : patterns) {
    if (pattern.size() > kMaxGlobBytes)
      compiler.Problem(file, node.begin, "rule-too-long",
                       "the glob is too long");
    if (pattern.find_first_not_of("* ") == std::string_view::npos)
      compiler.Problem(file, node.begin, "rule-empty-pattern",
                       "this glob matches every command");
    const std::string_view word = FirstLiteralWord(pattern, false);
    if (word.empty()) match.keys.always = true;
    match.keys.programs.emplace_back(word);
    match.names =
        std::min(match.names, NamesOf(word, /*fixed=*/!HasWildcard(pattern)));
  }
  if (match.keys.always) match.keys = {};
  match.node = compiler.AddNode(
      NodeKind::kGlob,
      GlobNode{compiler.AddStrings(patterns), compiler.unknown_is_mark()});
  return match;
}

Tri Match(MatchContext& context, const Node& node) {
  if (context.invocation == nullptr) return Tri::kNo;
  const auto& glob = node.As<GlobNode>();
  PreparedInvocation& prepared = PrepareLines(context);
  const auto lines = LinesToTry(context, prepared);
  Tri best = Tri::kNo;
  for (const FlatText& text : context.Strings(glob.globs)) {
    const std::string_view pattern = context.view->Text(text);
    // "git push *" also means "git push".
    const std::string_view alone = pattern.ends_with(" *")
                                       ? pattern.substr(0, pattern.size() - 2)
                                       : std::string_view{};
    for (const std::string* line : lines) {
      if (line == nullptr || best == Tri::kYes) continue;
      best = Or(best, context.Fits(pattern, *line));
      if (!alone.empty() && best != Tri::kYes)
        best = Or(best, context.Fits(alone, *line));
    }
    if (best != Tri::kNo || !TriesGaps(context, glob.unknown_is_mark != 0,
                                       pattern, false, &prepared))
      continue;
    for (const std::u32string& gapped : Gapped(context, &prepared)) {
      if (context.OutOfSteps()) return Tri::kPossible;
      if (GlobMayMatch(pattern, gapped, &context.steps) ||
          (!alone.empty() && GlobMayMatch(alone, gapped, &context.steps)))
        best = Tri::kPossible;
    }
  }
  // A `*` of a rule that loosens must not stand for what is not known.
  if (context.strict && best == Tri::kYes &&
      prepared.line.find(kUnknownText) != std::string::npos)
    return Tri::kPossible;
  return best;
}

// The lines of which a command that `inner` matches surely is one.
bool GlobsOf(NodeRef inner, std::vector<std::string>* globs) {
  const RuleView& view = *inner.view;
  const Node& in = At(inner);
  if (in.kind == NodeKind::kGlob) {
    for (const std::string_view text : TextsOf(view, in.As<GlobNode>().globs))
      globs->emplace_back(text);
    return true;
  }
  if (in.kind == NodeKind::kProgram) {
    for (const std::string_view text :
         TextsOf(view, in.As<ProgramNode>().names)) {
      if (!IsPlain(text)) return false;
      globs->push_back(std::string(text) + " *");
    }
    return true;
  }
  if (in.kind != NodeKind::kPrefix) return false;
  // Only its first word: a rule that tightens also holds where the others
  // stand behind options.
  const auto positions = view.In(view.positions, in.As<PrefixNode>().positions);
  if (positions.empty()) return false;
  for (const std::string_view text : TextsOf(view, positions[0])) {
    if (!IsPlain(text) || text.find('/') != std::string_view::npos)
      return false;
    globs->push_back(std::string(text) + " *");
  }
  return true;
}

bool IsWithin(NodeRef inner, NodeRef outer) {
  std::vector<std::string> globs;
  if (!GlobsOf(inner, &globs)) return false;
  const Texts outers = TextsOf(*outer.view, At(outer).As<GlobNode>().globs);
  for (const std::string& glob : globs)
    for (const std::string& form : GlobForms(glob)) {
      const bool covered =
          std::any_of(outers.begin(), outers.end(), [&](std::string_view over) {
            const std::vector<std::string> over_forms = GlobForms(over);
            return std::any_of(
                over_forms.begin(), over_forms.end(),
                [&](const std::string& o) { return GlobWithin(form, o); });
          });
      if (!covered) return false;
    }
  return true;
}

bool Programs(const RuleView& view, const Node& node, Texts* names) {
  for (const std::string_view glob : TextsOf(view, node.As<GlobNode>().globs)) {
    const std::string_view word = FirstLiteralWord(glob, false);
    if (word.empty() || HasWildcard(word)) return false;
    names->push_back(word);
  }
  return true;
}

std::optional<std::string> ExplainNever(const RuleView& view,
                                        const Node& node) {
  for (const std::string_view glob : TextsOf(view, node.As<GlobNode>().globs))
    if (IsAssignment(glob.substr(0, glob.find(' '))))
      return "a command does not begin with an assignment, which `env` "
             "matches, unlike " +
             Quoted(glob);
    else if (glob.starts_with(' ') || (glob.ends_with(' ')) ||
             (glob.find("  ") != std::string_view::npos &&
              glob.find('\'') == std::string_view::npos))
      return "the command has one blank between words and none around "
             "them, unlike " +
             Quoted(glob);
  return std::nullopt;
}

void Sample(const RuleView& view, const Node& node, const Draft& draft,
            const DraftSink& add) {
  for (const std::string_view glob : TextsOf(view, node.As<GlobNode>().globs)) {
    Draft with = draft;
    with.whole = Instance(glob);
    add(with);
  }
}

}  // namespace
}  // namespace glob_matcher

constinit const MatcherType kGlobMatcher = {
    .key = "glob",
    .read = &glob_matcher::Read,
    .prefilter = &AnyCommand,
    .match = &glob_matcher::Match,
    .within = &glob_matcher::IsWithin,
    .programs = &glob_matcher::Programs,
    .why_never = &glob_matcher::ExplainNever,
    .sample = &glob_matcher::Sample};

}  // namespace gate::rules
