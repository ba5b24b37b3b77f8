// `regex`: a pattern of the command as a line. `line`: one of the whole line.
#include <algorithm>

#include "rules/compile/compiler.h"
#include "rules/glob.h"
#include "rules/match/command_text.h"
#include "rules/match/gaps.h"
#include "rules/matchers/command_nodes.h"
#include "rules/matchers/proofs.h"
#include "rules/matchers/samples.h"

namespace gate::rules {
namespace regex_matcher {
namespace {

CompiledMatch ReadCommand(Compiler& compiler, CompilingFile& file,
                          const TreeNode& node) {
  const uint32_t regex = compiler.AddRegex(file, node);
  if (regex == UINT32_MAX) return compiler.Never();
  CompiledMatch match;
  match.command = true;
  match.scope = kPerInvocation;
  const std::string_view word = FirstLiteralWord(node.text, true);
  if (!word.empty()) {
    match.keys.always = false;
    match.keys.programs.emplace_back(word);
  }
  match.names = NamesOf(word, /*fixed=*/false);
  match.node = compiler.AddNode(NodeKind::kRegex,
                                RegexNode{regex, compiler.unknown_is_mark()});
  return match;
}

// It matches what is only data, so it must not be the only thing that a rule
// says, and it takes nothing back.
CompiledMatch ReadLine(Compiler& compiler, CompilingFile& file,
                       const TreeNode& node) {
  if (compiler.loosens() || compiler.inverted())
    compiler.Problem(
        file, node.key_begin, "rule-loosen-condition",
        "a rule that loosens may not stand on the text of the whole line",
        "use `regex`, which sees each command by itself");
  const uint32_t regex = compiler.AddRegex(file, node);
  if (regex == UINT32_MAX) return compiler.Never();
  CompiledMatch match;
  match.node = compiler.AddNode(NodeKind::kLine, RegexNode{regex});
  return match;
}

Tri MatchCommand(MatchContext& context, const Node& node) {
  const auto& own = node.As<RegexNode>();
  if (context.invocation == nullptr ||
      own.regex >= context.view->regexes.size())
    return Tri::kNo;
  PreparedInvocation& prepared = context.Prepare();
  const RegexRecord& record = context.view->regexes[own.regex];
  const std::string_view pattern = context.view->Text(record.pattern);
  const auto in_gaps = [&] {
    if (!TriesGaps(context, own.unknown_is_mark != 0, pattern, true, &prepared))
      return Tri::kNo;
    for (const std::u32string& gapped : Gapped(context, &prepared))
      if (context.OutOfSteps() ||
          RegexMayMatch(pattern, gapped, &context.steps))
        return Tri::kPossible;
    return Tri::kNo;
  };
  if (!MayMatch(context, record, &prepared)) return in_gaps();
  PrepareLines(context);
  const Regex* regex = context.layer->regexes->Get(own.regex, pattern);
  if (regex == nullptr) {
    context.error = true;
    return Tri::kPossible;
  }
  for (const std::string* line : LinesToTry(context, prepared)) {
    if (line == nullptr) continue;
    switch (regex->Search(*line)) {
      case MatchResult::kYes:
        return context.strict && line->find(kUnknownText) != std::string::npos
                   ? Tri::kPossible
                   : Tri::kYes;
      case MatchResult::kError:
        context.error = true;
        return Tri::kPossible;
      case MatchResult::kNo:
        break;
    }
  }
  return in_gaps();
}

// The text of the whole line, as it was written, and each text that it makes
// and runs. Quoted text and comments are in it, so only rules that say more
// than this, and that tighten, ask for it.
Tri MatchLine(MatchContext& context, const Node& node) {
  const auto& own = node.As<RegexNode>();
  if (context.strict || own.regex >= context.view->regexes.size())
    return Tri::kNo;
  const RegexRecord& record = context.view->regexes[own.regex];
  // The line is the same for all of its commands.
  const auto known = context.found_in_line.find(&record);
  if (known != context.found_in_line.end()) return known->second;
  if (!context.line_lowered) {
    context.line_lowered = true;
    context.line_lower = LowerForAtoms({context.facts.line});
    for (const std::string& text : context.analysis.run_texts) {
      // Empty: the first look says nothing, of any of them.
      const std::string lower = LowerForAtoms({text});
      if (lower.empty()) context.line_lower.clear();
      if (context.line_lower.empty()) break;
      context.line_lower += '\n';
      context.line_lower += lower;
    }
  }
  const auto atoms = context.Strings(record.atoms);
  if (context.facts.first_looks && !context.line_lower.empty() &&
      !atoms.empty() &&
      std::none_of(atoms.begin(), atoms.end(), [&](const FlatText& atom) {
        return context.line_lower.find(context.view->Text(atom)) !=
               std::string::npos;
      })) {
    context.found_in_line.emplace(&record, Tri::kNo);
    return Tri::kNo;
  }
  const Regex* regex = context.layer->regexes->Get(
      own.regex, context.view->Text(record.pattern));
  MatchResult found = regex == nullptr ? MatchResult::kError
                                       : regex->Search(context.facts.line);
  for (const std::string& text : context.analysis.run_texts) {
    if (found != MatchResult::kNo) break;
    found = regex->Search(text);
  }
  if (found == MatchResult::kError) {
    context.error = true;
    return Tri::kPossible;
  }
  const Tri tri = Of(found == MatchResult::kYes);
  context.found_in_line.emplace(&record, tri);
  return tri;
}

bool IsWithin(NodeRef inner, NodeRef outer) {
  if (!SameKind(inner, outer)) return false;
  const uint32_t in = At(inner).As<RegexNode>().regex;
  const uint32_t out = At(outer).As<RegexNode>().regex;
  return in < inner.view->regexes.size() && out < outer.view->regexes.size() &&
         PatternOf(*inner.view, in) == PatternOf(*outer.view, out);
}

bool Programs(const RuleView& view, const Node& node, Texts* names) {
  const std::string_view word =
      FirstLiteralWord(PatternOf(view, node.As<RegexNode>().regex), true);
  if (word.empty() || HasWildcard(word)) return false;
  names->push_back(word);
  return true;
}

std::optional<std::string> ExplainNever(const RuleView& view,
                                        const Node& node) {
  const std::string_view pattern = PatternOf(view, node.As<RegexNode>().regex);
  if (pattern.find("(?") != std::string_view::npos &&
      pattern.find("(?i)") == std::string_view::npos &&
      pattern.find("(?:") == std::string_view::npos)
    return std::nullopt;
  bool set = false;
  for (size_t i = 0; i + 1 < pattern.size(); ++i) {
    const char c = pattern[i], next = pattern[i + 1];
    if (c == '\\') {
      ++i;
      continue;
    }
    if (c == '[') set = true;
    if (c == ']') set = false;
    if (set) continue;
    const auto is_text = [](char x) {
      return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') ||
             (x >= '0' && x <= '9') || x == ' ' || x == '_' || x == '/' ||
             x == '-';
    };
    if ((c == '$' && is_text(next)) || (is_text(c) && next == '^'))
      return "in " + Quoted(pattern) + " text stands where the command " +
             (c == '$' ? "has ended" : "has not begun");
  }
  return std::nullopt;
}

// A text that a plain pattern matches; empty for any other pattern.
std::string RegexInstance(std::string_view pattern) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (c == '^' || c == '$') continue;
    if (c == '\\' && next == 's') {
      out += ' ';
      i += i + 2 < pattern.size() && pattern[i + 2] == '+' ? 2 : 1;
    } else if (c == '\\' && next == 'b') {
      ++i;
    } else if (c == '\\' && !(next >= 'a' && next <= 'z')) {
      out += next;
      ++i;
    } else if (c == '.') {
      out += 'x';
      if (next == '*' || next == '+') ++i;
    } else if (c == '\\' || c == '(' || c == '[' || c == '|' || c == '*' ||
               c == '+' || c == '?' || c == '{') {
      return "";
    } else {
      out += c;
    }
  }
  return out;
}

void Sample(const RuleView& view, const Node& node, const Draft& draft,
            const DraftSink& add) {
  Draft with = draft;
  with.whole = RegexInstance(PatternOf(view, node.As<RegexNode>().regex));
  add(with);
}

}  // namespace
}  // namespace regex_matcher

constinit const MatcherType kRegexMatcher = {
    .key = "regex",
    .read = &regex_matcher::ReadCommand,
    .prefilter = &AnyCommand,
    .match = &regex_matcher::MatchCommand,
    .within = &regex_matcher::IsWithin,
    .programs = &regex_matcher::Programs,
    .why_never = &regex_matcher::ExplainNever,
    .sample = &regex_matcher::Sample};

constinit const MatcherType kLineMatcher = {.key = "line",
                                            .read = &regex_matcher::ReadLine,
                                            .match = &regex_matcher::MatchLine,
                                            .within = &regex_matcher::IsWithin};

}  // namespace gate::rules
