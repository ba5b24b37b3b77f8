// `options`: the options of a command.
//
// For rules that tighten, an option is found however it is spelled: exact,
// bundled, with a value attached, abbreviated. For accept-lists (`only`) it is
// the other way round: a word is an option of the list by its exact spelling,
// or it is not accepted. Either error is on the safe side.
#include "rules/matchers/options.h"

#include <algorithm>

#include "base/ascii.h"
#include "parser/programs.h"
#include "rules/compile/compiler.h"
#include "rules/matchers/proofs.h"
#include "rules/matchers/samples.h"

namespace gate::rules {
namespace options_matcher {
namespace {

CompiledMatch Read(Compiler& compiler, CompilingFile& file,
                   const TreeNode& node) {
  if (!compiler.Is(file, node, Compiler::Type::kObject, "options"))
    return compiler.Never();
  OptionsNode made;
  for (const TreeNode& member : file.tree.children(node)) {
    if (member.key == "globs_are_harmless") {
      if (compiler.Flag(file, member)) made.globs_are_harmless = 1;
      continue;
    }
    Range* range = member.key == "any_of"    ? &made.any_of
                   : member.key == "all_of"  ? &made.all_of
                   : member.key == "none_of" ? &made.none_of
                   : member.key == "only"    ? &made.only
                                             : nullptr;
    if (range == nullptr) {
      compiler.UnknownKey(file, member, "options",
                          "any_of all_of none_of only globs_are_harmless");
      continue;
    }
    if (range == &made.only && member.type == Compiler::Type::kArray &&
        member.count == 0) {
      *range = compiler.AddStrings({"--"});  // no option at all
      continue;
    }
    *range = compiler.AddStrings(compiler.StringList(file, member, "options"));
  }
  if (made.any_of.count + made.all_of.count + made.none_of.count +
          made.only.count ==
      0)
    compiler.Problem(file, node.begin, "rule-empty-pattern",
                     "`options` says nothing");
  CompiledMatch match;
  match.scope = kPerInvocation;
  match.node = compiler.AddNode(NodeKind::kOptions, made);
  return match;
}

// The first letter of an option, as MayHaveOption looks for it.
uint32_t LetterOf(std::string_view option) {
  if (option.size() < 2 || option[0] != '-' || option == "--")
    return ~uint32_t{0};
  return LetterMark(option[1] == '-' ? option[2] : option[1]);
}

Prefilter MakePrefilter(const Compiler& compiler, const Node& node) {
  const auto& own = node.As<OptionsNode>();
  Prefilter prefilter;
  prefilter.programs = kCommandMarks;
  if (own.any_of.count > 0) prefilter.letters = 0;
  for (const std::string_view option : compiler.Texts(own.any_of))
    prefilter.letters |= LetterOf(option);
  Prefilter needed;
  for (const std::string_view option : compiler.Texts(own.all_of)) {
    needed.letters = LetterOf(option);
    prefilter = Both(prefilter, needed);
  }
  return prefilter;
}

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// With `beyond`, a `--` behind an option may be that option's value, so that
// options after it are possible.
Tri LiteralOption(MatchContext& context, std::string_view name,
                  std::optional<std::string_view> wanted_value, bool beyond) {
  const bool with_value = wanted_value.has_value();
  const bool is_long = name.starts_with("--");
  const bool is_short = name.size() == 2 && name[0] == '-' && name[1] != '-';
  const auto& argv = context.invocation->argv;
  const auto value_is = [&](std::string_view value, bool known) {
    if (!with_value) return Tri::kYes;
    if (!known) return Tri::kPossible;
    return Of(value == *wanted_value || (wanted_value->ends_with('*') &&
                                         value.starts_with(wanted_value->substr(
                                             0, wanted_value->size() - 1))));
  };
  const auto next_value = [&](size_t i) {
    if (i + 1 >= argv.size()) return Of(!with_value);
    return value_is(argv[i + 1].text, argv[i + 1].known);
  };
  Tri best = Tri::kNo, before = Tri::kNo;
  bool ended = false;  // by a `--` that may have been a value
  for (size_t i = 1; i < argv.size() && best != Tri::kYes; ++i) {
    const parser::Argument& argument = argv[i];
    const std::string_view word = argument.text;
    if (argument.known && word == "--") {
      if (best == Tri::kYes || !beyond || ended || i == 1 ||
          argv[i - 1].text.size() < 2 || argv[i - 1].text[0] != '-' ||
          argv[i - 1].text == "--")
        break;
      ended = true;
      before = best;
      continue;
    }
    if (!argument.known && word.empty()) {
      // Any words: an option may be among them. One unknown word in quotes is
      // taken for the operand that it nearly always is.
      if (argument.splits) best = Or(best, Tri::kPossible);
      continue;
    }
    if (word == name && argument.known) {
      best = Or(best, next_value(i));
      continue;
    }
    if (!argument.known && word == "-") best = Or(best, Tri::kPossible);
    if (word.size() < 2 || word[0] != '-') continue;
    const size_t cut = std::min(word.find('='), word.size());
    const std::string_view head = word.substr(0, cut);
    const std::string_view value =
        cut < word.size() ? word.substr(cut + 1) : std::string_view{};
    if (is_long) {
      if (!word.starts_with("--")) continue;
      if (head == name ||
          (head.size() >= 3 && name.starts_with(head)))  // abbreviated
        best = Or(best, cut < word.size() ? value_is(value, argument.known)
                        : argument.known  ? next_value(i)
                                          : Tri::kPossible);
      else if (!argument.known && name.starts_with(word))
        best = Or(best, Tri::kPossible);
    } else if (is_short) {
      if (word[1] == '-') continue;
      for (size_t k = 1; k < word.size(); ++k) {
        if (word[k] == name[1]) {
          const std::string_view rest = word.substr(k + 1);
          best = Or(best, rest.empty() && argument.known
                              ? next_value(i)
                              : value_is(rest.starts_with('=') ? rest.substr(1)
                                                               : rest,
                                         argument.known));
          break;
        }
        if (!IsLetter(word[k]) && !IsDigit(word[k])) break;
      }
      if (!argument.known) best = Or(best, Tri::kPossible);
    } else if (head == name) {  // -name, of find and java
      best = Or(best, value_is(value, argument.known));
    } else if (!argument.known && name.starts_with(word)) {
      best = Or(best, Tri::kPossible);
    }
  }
  return ended ? Or(before, And(best, Tri::kPossible)) : best;
}

// False when LiteralOption would say no: whichever way an option is written,
// its first letter stands in a word with a dash before it.
bool MayHaveOption(MatchContext& context, std::string_view name) {
  if (!context.facts.first_looks || name.size() < 2 || name[0] != '-' ||
      name == "--")
    return true;
  PreparedInvocation& prepared = context.Prepare();
  if (!prepared.letters_made) {
    prepared.letters_made = true;
    const auto& argv = context.invocation->argv;
    for (size_t i = 1; i < argv.size(); ++i) {
      if (!argv[i].known) prepared.letters = ~uint64_t{0};
      if (!argv[i].text.starts_with('-')) continue;
      for (const char c : argv[i].text)
        prepared.letters |= uint64_t{1} << (c & 63);
    }
  }
  const char first = name[1] == '-' ? name[2] : name[1];
  return (prepared.letters >> (first & 63) & 1u) != 0;
}

Tri HasOption(MatchContext& context, std::string_view name, bool beyond) {
  std::optional<std::string_view> value;
  if (const size_t equals = name.find('='); equals != std::string_view::npos) {
    value = name.substr(equals + 1);
    name = name.substr(0, equals);
  }
  const auto literal = [&](std::string_view spelling) {
    return MayHaveOption(context, spelling)
               ? LiteralOption(context, spelling, value, beyond)
               : Tri::kNo;
  };
  Tri found = literal(name);
  if (found == Tri::kYes || name.empty() || name[0] != '-') return found;
  const auto others = [&](std::string_view spellings) {
    for (size_t at = 0; at < spellings.size();) {
      const size_t end = std::min(spellings.find(' ', at), spellings.size());
      const std::string_view spelling = spellings.substr(at, end - at);
      if (spelling != name) found = Or(found, literal(spelling));
      at = end + 1;
    }
  };
  // Another spelling of it, as the program's description knows it. That the
  // description does not see it proves nothing: it may not list all options.
  const parser::OptionsRead& read = context.ReadOptions();
  for (const std::string_view spellings : read.options) {
    if (!parser::IsSpelling(spellings, name)) continue;
    if (!value) return Tri::kYes;
    others(spellings);
  }
  if (beyond && read.unread)
    for (const std::string_view spellings : parser::SpellingsOf(
             context.invocation->program, context.invocation->subcommand, name))
      others(spellings);
  return found;
}

// The accept-list: entries are "-l", "--long", "-n:" and "--lines:" (takes a
// value, attached or as the next word), "-#" (a number: -5). What is left are
// the operands.
Tri OnlyOf(MatchContext& context, const OptionsNode& own,
           std::vector<const parser::Argument*>* operands) {
  const auto entries = context.Strings(own.only);
  // 0 not accepted, 1 accepted, 2 accepted and takes a value.
  const auto lookup = [&](std::string_view option) {
    for (const FlatText& text : entries) {
      const std::string_view entry = context.view->Text(text);
      if (entry == option) return 1;
      if (entry.size() == option.size() + 1 && entry.back() == ':' &&
          entry.starts_with(option))
        return 2;
    }
    return 0;
  };
  const auto& argv = context.invocation->argv;
  const bool globs = own.globs_are_harmless != 0;
  Tri result = Tri::kYes;
  bool options = true;
  for (size_t i = 1; i < argv.size(); ++i) {
    const parser::Argument& argument = argv[i];
    const std::string_view word = argument.text;
    const bool dash = !word.empty() && (word[0] == '-' || word[0] == '+');
    if (!argument.known) {
      // What cannot be an option is an operand.
      if (options && (word.empty() || dash || argument.splits))
        result = And(result, Tri::kPossible);
      if (operands != nullptr) operands->push_back(&argument);
      continue;
    }
    if (argument.glob && options && !word.empty() &&
        (word[0] == '*' || word[0] == '?' || word[0] == '[' || dash) && !globs)
      result = And(result, Tri::kPossible);
    const bool plus = !word.empty() && word[0] == '+';
    if (!options || !dash || word == "-" || (plus && lookup("+") == 0)) {
      if (operands != nullptr) operands->push_back(&argument);
      continue;
    }
    if (plus) continue;  // an entry "+": words that start so are accepted
    if (word == "--") {
      options = false;
      continue;
    }
    const auto take_value = [&] {
      if (i + 1 >= argv.size()) return;
      ++i;
      if (!argv[i].known && argv[i].splits)
        result = And(result, Tri::kPossible);
    };
    const size_t cut = std::min(word.find('='), word.size());
    const int whole = lookup(word.substr(0, cut));
    if (whole != 0 &&
        (cut == word.size() || word.starts_with("--") || whole == 2)) {
      if (whole == 2 && cut == word.size()) take_value();
      continue;
    }
    if (word.starts_with("--")) return Tri::kNo;
    if (IsDigit(word[1])) {
      if (lookup("-#") != 0 &&
          std::all_of(word.begin() + 1, word.end(), IsDigit))
        continue;
      if (lookup(word.substr(0, 2)) == 0) return Tri::kNo;
    }
    for (size_t k = 1; k < word.size(); ++k) {  // a bundle
      const char letter[2] = {'-', word[k]};
      const int found = lookup({letter, 2});
      if (found == 0) return Tri::kNo;
      if (found == 2) {
        if (k + 1 == word.size()) take_value();
        break;
      }
    }
  }
  return result;
}

Tri MatchLists(MatchContext& context, const Node& node) {
  if (context.invocation == nullptr) return Tri::kNo;
  const auto& own = node.As<OptionsNode>();
  Tri result = Tri::kYes;
  if (own.any_of.count > 0) {
    Tri any = Tri::kNo;
    for (const FlatText& text : context.Strings(own.any_of))
      any = Or(any,
               HasOption(context, context.view->Text(text), !context.strict));
    result = And(result, any);
  }
  for (const FlatText& text : context.Strings(own.all_of))
    result = And(result,
                 HasOption(context, context.view->Text(text), !context.strict));
  for (const FlatText& text : context.Strings(own.none_of)) {
    if (result == Tri::kNo) break;
    result =
        And(result,
            Not(HasOption(context, context.view->Text(text), context.strict)));
  }
  if (own.only.count > 0 && result != Tri::kNo)
    result = And(result, OnlyOf(context, own, nullptr));
  return result;
}

Tri Match(MatchContext& context, const Node& node) {
  const Tri tri = MatchLists(context, node);
  // `strict` is set below an odd number of `unless` of such a rule.
  if (context.doubted_options_fail && context.strict && tri == Tri::kPossible)
    return Tri::kNo;
  return tri;
}

bool IsWithin(NodeRef inner, NodeRef outer) {
  if (!SameKind(inner, outer)) return false;
  const auto& in = At(inner).As<OptionsNode>();
  const auto& out = At(outer).As<OptionsNode>();
  const auto i = [&](Range range) { return TextsOf(*inner.view, range); };
  const auto o = [&](Range range) { return TextsOf(*outer.view, range); };
  if (out.globs_are_harmless != in.globs_are_harmless) return false;
  const Texts any = o(out.any_of), all = i(in.all_of);
  if (out.any_of.count > 0 &&
      !(in.any_of.count > 0 && Subset(i(in.any_of), any)) &&
      std::none_of(all.begin(), all.end(),
                   [&](std::string_view one) { return Contains(any, one); }))
    return false;
  if (!Subset(o(out.all_of), all) || !Subset(o(out.none_of), i(in.none_of)))
    return false;
  return out.only.count == 0 ||
         (in.only.count > 0 && Subset(i(in.only), o(out.only)));
}

std::optional<std::string> ExplainNever(const RuleView& view,
                                        const Node& node) {
  const auto& own = node.As<OptionsNode>();
  const Texts any = TextsOf(view, own.any_of), all = TextsOf(view, own.all_of),
              none = TextsOf(view, own.none_of), only = TextsOf(view, own.only);
  for (const std::string_view name : all) {
    if (Contains(none, name))
      return Quoted(name) + " is in `all_of` and in `none_of`";
    if (!only.empty() && !Contains(only, name) &&
        !Contains(only, std::string(name) + ":"))
      return Quoted(name) + " is in `all_of` and not in `only`";
  }
  if (!any.empty() && Subset(any, none))
    return "all of `any_of` is in `none_of`";
  for (const Texts& names : {any, all, none})
    for (const std::string_view name : names)
      if (!name.starts_with('-') && !name.starts_with('+'))
        return Quoted(name) + " is no option: one begins with a dash";
  return std::nullopt;
}

void Sample(const RuleView& view, const Node& node, const Draft& draft,
            const DraftSink& add) {
  const auto& own = node.As<OptionsNode>();
  Draft with = draft;
  const Texts any = TextsOf(view, own.any_of);
  if (!any.empty()) AddWord(&with.options, any[0]);
  for (const std::string_view option : TextsOf(view, own.all_of))
    AddWord(&with.options, option);
  add(with);
}

}  // namespace
}  // namespace options_matcher

Tri HasOnly(MatchContext& context, uint32_t options,
            std::vector<const parser::Argument*>* operands) {
  if (options >= context.view->nodes.size() ||
      context.view->nodes[options].kind != NodeKind::kOptions)
    return Tri::kPossible;
  return options_matcher::OnlyOf(
      context, context.view->nodes[options].As<OptionsNode>(), operands);
}

constinit const MatcherType kOptionsMatcher = {
    .key = "options",
    .read = &options_matcher::Read,
    .prefilter = &options_matcher::MakePrefilter,
    .match = &options_matcher::Match,
    .within = &options_matcher::IsWithin,
    .why_never = &options_matcher::ExplainNever,
    .sample = &options_matcher::Sample};

}  // namespace gate::rules
