// `operands`: the words of a command that are no options.
#include <algorithm>

#include "base/paths.h"
#include "base/text.h"
#include "rules/compile/compiler.h"
#include "rules/match/context.h"
#include "rules/matchers/command_nodes.h"
#include "rules/matchers/options.h"
#include "rules/matchers/proofs.h"
#include "rules/matchers/samples.h"

namespace gate::rules {
namespace operands_matcher {
namespace {

struct OperandsNode {
  Range any, all, none;  // strings
  Range any_path;        // paths
  uint32_t min = 0;
  uint32_t max = UINT32_MAX;
  uint32_t written = UINT32_MAX;  // regex of how an unknown operand is written
  uint32_t options = UINT32_MAX;  // see SubcommandNode
  uint32_t unknown_is_mark = 0;   // see GlobNode
};

CompiledMatch Read(Compiler& compiler, CompilingFile& file,
                   const TreeNode& node) {
  if (!compiler.Is(file, node, Compiler::Type::kObject, "operands"))
    return compiler.Never();
  OperandsNode made;
  made.options = compiler.accept_list();
  made.unknown_is_mark = compiler.unknown_is_mark() ? 1 : 0;
  const auto strings = [&](const TreeNode& member) {
    return compiler.AddStrings(compiler.StringList(file, member, "operands"));
  };
  for (const TreeNode& member : file.tree.children(node)) {
    if (member.key == "any") {
      made.any = strings(member);
    } else if (member.key == "all") {
      made.all = strings(member);
    } else if (member.key == "none") {
      made.none = strings(member);
    } else if (member.key == "any_path") {
      made.any_path = compiler.AddPaths(file, member, "operands");
    } else if (member.key == "written") {
      made.written = compiler.AddRegex(file, member);
    } else if (member.key == "min" || member.key == "max") {
      if (compiler.Is(file, member, Compiler::Type::kNumber, "a count") &&
          member.number >= 0 && member.number <= 1000 &&
          member.number == static_cast<uint32_t>(member.number))
        (member.key == "min" ? made.min : made.max) =
            static_cast<uint32_t>(member.number);
      else
        compiler.Problem(file, member.begin, "rule-bad-value",
                         "a count is a number from 0 to 1000");
    } else {
      compiler.UnknownKey(file, member, "operands",
                          "any all none any_path written min max");
    }
  }
  if (node.count == 0)
    compiler.Problem(file, node.begin, "rule-empty-pattern",
                     "`operands` says nothing");
  CompiledMatch match;
  match.scope = kPerInvocation;
  match.node = compiler.AddNode(NodeKind::kOperands, made);
  return match;
}

// Whether the line itself may decide what the variable of `word` holds: its
// name stands anywhere but in an expansion (`x=`, `read x`, `for x in`). Such a
// word says nothing about where it leads.
bool SetByLine(std::string_view word, std::string_view line) {
  const auto part = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
  };
  const size_t dollar = word.find('$');
  if (dollar == std::string_view::npos) return true;
  size_t begin = dollar + 1;
  if (begin < word.size() && word[begin] == '{') ++begin;
  size_t end = begin;
  while (end < word.size() && part(word[end])) ++end;
  const std::string_view name = word.substr(begin, end - begin);
  if (name.empty()) return true;
  for (size_t at = line.find(name); at != std::string_view::npos;
       at = line.find(name, at + 1)) {
    const size_t after = at + name.size();
    if (after < line.size() && part(line[after])) continue;
    size_t run = at;
    while (run > 0 && part(line[run - 1])) --run;
    if (run < at) {  // another name ends so; or `printf -vx`, `read -ax`
      if (run > 0 && line[run - 1] == '-' && at - run <= 3) return true;
      continue;
    }
    const bool expanded =
        at > 0 && (line[at - 1] == '$' ||
                   (at > 1 && line[at - 1] == '{' && line[at - 2] == '$'));
    const bool assigns =
        expanded && line[at - 1] == '{' &&
        (line.substr(after, 1) == "=" || line.substr(after, 2) == ":=");
    // A part of a path is no name of a variable.
    const bool in_path = at > 0 && (line[at - 1] == '/' || line[at - 1] == '-');
    if (assigns || (!expanded && !in_path)) return true;
  }
  return false;
}

Tri IsWritten(MatchContext& context, const parser::Argument& word,
              uint32_t regex) {
  const std::string_view line = context.facts.line;
  if (word.known || regex >= context.view->regexes.size() ||
      word.span.end > line.size() || word.span.begin > word.span.end)
    return Tri::kNo;
  const std::string_view text =
      line.substr(word.span.begin, word.span.end - word.span.begin);
  // What find puts in place of {} is no variable, so nothing else sets it.
  // (Of `{} +` the whole command is the place: no word begins so and has a
  // blank.)
  const bool placeholder = text == "{}" || text == "'{}'" || text == "\"{}\"" ||
                           (text.starts_with("find ") &&
                            (text.find(" {} +") != std::string_view::npos ||
                             text.find(" '{}' +") != std::string_view::npos));
  if (!placeholder) {
    if (SetByLine(text, line)) return Tri::kNo;
    // A file that is read into the shell may set any variable.
    for (const parser::Invocation& each : context.analysis.invocations)
      if (each.program == "." || each.program == "source") return Tri::kNo;
  }
  const Regex* compiled = context.layer->regexes->Get(
      regex, context.view->Text(context.view->regexes[regex].pattern));
  const MatchResult found =
      compiled == nullptr ? MatchResult::kError : compiled->Search(text);
  if (found == MatchResult::kError) context.error = true;
  return Of(found == MatchResult::kYes);
}

Tri Match(MatchContext& context, const Node& node) {
  if (context.invocation == nullptr) return Tri::kNo;
  const auto& own = node.As<OperandsNode>();
  std::vector<const parser::Argument*> operands;
  Tri result = Tri::kYes;
  if (own.options < context.view->nodes.size()) {
    result = HasOnly(context, own.options, &operands);
  } else {
    bool options = true;
    for (size_t i = 1; i < context.invocation->argv.size(); ++i) {
      const parser::Argument& word = context.invocation->argv[i];
      if (options && word.known && word.text == "--")
        options = false;
      else if (!options || word.text.empty() || word.text[0] != '-' ||
               (word.known && word.text == "-"))
        operands.push_back(&word);
    }
  }
  const std::vector<const parser::Argument*> with_subcommand = operands;
  // The words that name the sub-command are no operands.
  size_t at = 0;
  for (const std::string& word : context.invocation->subcommand) {
    bool found = false;
    for (size_t i = at; i < operands.size() && !found; ++i)
      found = operands[i]->known && operands[i]->text == word;
    if (!found && at < operands.size() && operands[at]->known) {
      // An alias stands where its name would.
      operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(at));
      continue;
    }
    for (size_t i = at; i < operands.size(); ++i) {
      if (!operands[i]->known || operands[i]->text != word) continue;
      // What stands before the first is the value of an option of the program
      // (`git -c a=b checkout`). A rule that loosens counts it.
      const size_t first = at == 0 && !context.strict ? 0 : i;
      operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(first),
                     operands.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      at = first;
      break;
    }
  }
  uint32_t least = 0;
  bool more = false;
  for (const parser::Argument* word : operands) {
    if (word->splits || word->glob)
      more = true;
    else
      ++least;
  }
  if (least < own.min) result = And(result, more ? Tri::kPossible : Tri::kNo);
  if (own.max != UINT32_MAX) {
    if (least > own.max) return Tri::kNo;
    if (more) result = And(result, Tri::kPossible);
  }
  // An unknown quoted word may be any operand, but is no option. `mark`: it is
  // only taken for what begins in any way.
  const bool mark = own.unknown_is_mark != 0;
  const auto may_be = [](std::string_view pattern, bool only_star) {
    return pattern.starts_with('*') ||
           (!only_star && !pattern.starts_with('-'));
  };
  const auto matches = [&](const parser::Argument& word, Range range,
                           bool only_star) {
    Tri best = Tri::kNo;
    for (const FlatText& text : context.Strings(range)) {
      const std::string_view pattern = context.view->Text(text);
      if (word.known && !word.glob) {
        best = Or(best, context.Fits(pattern, word.text));
      } else {
        // Enough of the word is known to say no, or it is possible.
        const size_t star =
            std::min(pattern.find_first_of("*?\\"), pattern.size());
        const std::string_view fixed = pattern.substr(0, star);
        std::string_view have = word.text;
        if (word.known) have = have.substr(0, have.find_first_of("*?["));
        const size_t shared = std::min(fixed.size(), have.size());
        if (fixed.substr(0, shared) == have.substr(0, shared) &&
            (!have.empty() || word.splits || may_be(pattern, only_star)))
          best = Or(best, Tri::kPossible);
      }
    }
    return best;
  };
  if (own.any.count > 0) {
    // A rule that tightens cannot know how far the name of a sub-command goes.
    Tri any = Tri::kNo;
    for (const parser::Argument* word :
         context.strict ? operands : with_subcommand)
      any = Or(any, matches(*word, own.any, mark));
    result = And(result, any);
  }
  if (own.all.count > 0)
    for (const parser::Argument* word : operands)
      result = And(result, matches(*word, own.all, mark));
  if (own.none.count > 0)
    for (const parser::Argument* word : operands)
      result = And(result, context.strict && !word->known
                               ? Tri::kPossible
                               : Not(matches(*word, own.none, true)));
  if (own.any_path.count > 0) {
    Tri any = Tri::kNo;
    const auto add = [&](parser::Argument path, const parser::Argument& cwd) {
      if (path.known && !path.text.empty() && path.text[0] != '/') {
        if (cwd.known) {
          path.text = Normalise(path.text, cwd.text);
        } else {
          path.known = false;
          path.suffix = "/" + path.text;
          path.text.clear();
        }
      } else if (path.known) {
        path.text = Normalise(path.text, "/");
      }
      return context.paths.MatchAny(*context.view, own.any_path,
                                    {&path, false, UINT32_MAX});
    };
    for (const parser::Argument* word : operands) {
      // From which of several directories it is not known: a rule that
      // tightens fears any of them, one that loosens needs all.
      Tri from = add(*word, context.invocation->cwd);
      for (const parser::Argument& cwd : context.invocation->other_cwds) {
        const Tri other = add(*word, cwd);
        if (!context.strict)
          from = Or(from, other);
        else if (other != from)
          from = Tri::kPossible;
      }
      any = Or(any, from);
    }
    result = And(result, any);
  }
  if (own.written != UINT32_MAX) {
    // Every operand is unknown, and stands in the line as the regex says.
    result = And(result, Of(!operands.empty()));
    for (const parser::Argument* word : operands)
      result = And(result, IsWritten(context, *word, own.written));
  }
  return result;
}

bool IsWithin(NodeRef inner, NodeRef outer) {
  if (!SameKind(inner, outer)) return false;
  const auto& in = At(inner).As<OperandsNode>();
  const auto& out = At(outer).As<OperandsNode>();
  const auto i = [&](Range range) { return TextsOf(*inner.view, range); };
  const auto o = [&](Range range) { return TextsOf(*outer.view, range); };
  // Which words are operands depends on the accept-list beside it.
  const auto only = [](NodeRef ref, uint32_t options) {
    return options < ref.view->nodes.size()
               ? TextsOf(*ref.view,
                         ref.view->nodes[options].As<OptionsNode>().only)
               : Texts();
  };
  if (only(inner, in.options) != only(outer, out.options)) return false;
  if (out.any.count > 0 &&
      !(in.any.count > 0 && NamesWithin(i(in.any), o(out.any))))
    return false;
  if (out.all.count > 0 && i(in.all) != o(out.all)) return false;
  if (!Subset(o(out.none), i(in.none))) return false;
  if (out.any_path.count > 0 &&
      !(in.any_path.count > 0 &&
        PathsWithin(*inner.view, in.any_path, *outer.view, out.any_path)))
    return false;
  if (out.written != UINT32_MAX &&
      !(in.written != UINT32_MAX && PatternOf(*inner.view, in.written) ==
                                        PatternOf(*outer.view, out.written)))
    return false;
  return out.min <= in.min && out.max >= in.max;
}

std::optional<std::string> ExplainNever(const RuleView&, const Node& node) {
  const auto& own = node.As<OperandsNode>();
  if (own.max < own.min)
    return "`min` " + std::to_string(own.min) + " is more than `max` " +
           std::to_string(own.max);
  return std::nullopt;
}

void Sample(const RuleView& view, const Node& node, const Draft& draft,
            const DraftSink& add) {
  const auto& own = node.As<OperandsNode>();
  const Texts any = TextsOf(view, own.any);
  const auto paths = view.In(view.paths, own.any_path);
  Draft with = draft;
  if (!any.empty())
    AddWord(&with.operands, ShellQuote(Instance(any[0])));
  else if (!paths.empty())
    AddWord(&with.operands, PathInstance(view, paths[0]));
  else
    for (uint32_t i = 0; i < std::min(own.min, 3u); ++i)
      AddWord(&with.operands, "x");
  add(with);
}

}  // namespace
}  // namespace operands_matcher

constinit const MatcherType kOperandsMatcher = {
    .key = "operands",
    .read = &operands_matcher::Read,
    .prefilter = &AnyCommand,
    .match = &operands_matcher::Match,
    .within = &operands_matcher::IsWithin,
    .why_never = &operands_matcher::ExplainNever,
    .sample = &operands_matcher::Sample};

}  // namespace gate::rules
