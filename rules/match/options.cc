// Options and operands of a command.
//
// For rules that tighten, an option is found however it is spelled: exact,
// bundled, with a value attached, abbreviated. For accept-lists (`only`) it is
// the other way round: a word is an option of the list by its exact spelling,
// or it is not accepted. Either error is on the safe side.
#include <algorithm>
#include <initializer_list>

#include "base/paths.h"
#include "parser/programs.h"
#include "rules/glob.h"
#include "rules/match.h"

namespace gate::rules {
namespace {

// The Does bits of findings with these roles.
uint16_t DoesOf(uint32_t roles) {
  using parser::Role;
  constexpr auto kBits = [](std::initializer_list<Role> some) {
    uint32_t bits = 0;
    for (const Role role : some)
      bits |= uint32_t{1} << static_cast<unsigned>(role);
    return bits;
  };
  constexpr uint32_t kReads =
      kBits({Role::kRead, Role::kListRead, Role::kDirectory});
  constexpr uint32_t kRuns =
      kBits({Role::kCommand, Role::kShellCode, Role::kSplitCommand});
  constexpr uint32_t kCode = kBits({Role::kForeignCode});
  return static_cast<uint16_t>(
      ((roles & kReads) != 0 ? kDoesRead : 0) |
      ((roles & kRuns) != 0 ? kDoesRun : 0) |
      ((roles & kCode) != 0 ? kDoesCode : 0) |
      ((roles & ~(kReads | kRuns | kCode)) != 0 ? kDoesOther : 0));
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
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

}  // namespace

Tri Matcher::Options(const Node& node) {
  if (invocation_ == nullptr) return Tri::kNo;
  const auto wanted = [&](Range range) {
    return view_->In(view_->strings, range);
  };
  Tri result = Tri::kYes;
  if (node.a.count > 0) {
    Tri any = Tri::kNo;
    for (const FlatText& text : wanted(node.a))
      any = Or(any, HasOption(view_->Text(text), !strict_));
    result = And(result, any);
  }
  for (const FlatText& text : wanted(node.b))
    result = And(result, HasOption(view_->Text(text), !strict_));
  for (const FlatText& text : wanted(node.c)) {
    if (result == Tri::kNo) break;
    result = And(result, Not(HasOption(view_->Text(text), strict_)));
  }
  if (node.d.count > 0 && result != Tri::kNo)
    result = And(result, Only(node, nullptr));
  return result;
}

const parser::OptionsRead& Matcher::ReadOptions() {
  Prepared& prepared = Prepare();
  if (prepared.options == nullptr) {
    if (invocation_->read) {
      prepared.options = &*invocation_->read;
    } else {
      prepared.options = &prepared.own_options.emplace(
          reader_ != nullptr ? reader_(*invocation_) : parser::OptionsRead{});
    }
  }
  return *prepared.options;
}

Tri Matcher::OnlyDoes(const Node& node) {
  if (invocation_ == nullptr) return Tri::kNo;
  const parser::OptionsRead& read = ReadOptions();
  if (!read.known) return Tri::kNo;
  if ((DoesOf(read.roles) & ~node.mask) != 0) return Tri::kNo;
  return read.complete ? Tri::kYes : Tri::kPossible;
}

Tri Matcher::Act(const Node& node) {
  if (invocation_ == nullptr) return Tri::kNo;
  const parser::ActsRead& acts = ReadOptions().acts;
  if (node.flags == kActDescribed || node.flags == kActNotDescribed)
    return rules::Of(acts.described == (node.flags == kActDescribed));
  if (!acts.described) return Tri::kNo;
  if (node.flags == kActAny) {
    if ((acts.possible & node.mask) == 0) return Tri::kNo;
    return (acts.certain & node.mask) != 0 ? Tri::kYes : Tri::kPossible;
  }
  // A file of the workspace may be called like the program.
  if (strict_ && !FirstWordIsPlain()) return Tri::kNo;
  if ((acts.certain & ~node.mask) != 0) return Tri::kNo;
  return (acts.possible & ~node.mask) == 0 ? Tri::kYes : Tri::kPossible;
}

Tri Matcher::Redirects(const Node& node) {
  if (invocation_ == nullptr) return Tri::kNo;
  const parser::ActsRead& acts = ReadOptions().acts;
  if (!acts.described) return Tri::kNo;
  if ((node.mask & kHidden) != 0 && acts.hides_options) return Tri::kPossible;
  return rules::Of((acts.redirects & node.mask) != 0);
}

Tri Matcher::HasOption(std::string_view name, bool beyond) {
  std::optional<std::string_view> value;
  if (const size_t equals = name.find('='); equals != std::string_view::npos) {
    value = name.substr(equals + 1);
    name = name.substr(0, equals);
  }
  const auto literal = [&](std::string_view spelling) {
    return MayHaveOption(spelling) ? LiteralOption(spelling, value, beyond)
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
  const parser::OptionsRead& read = ReadOptions();
  for (const std::string_view spellings : read.options) {
    if (!parser::IsSpelling(spellings, name)) continue;
    if (!value) return Tri::kYes;
    others(spellings);
  }
  if (beyond && read.unread)
    for (const std::string_view spellings : parser::SpellingsOf(
             invocation_->program, invocation_->subcommand, name))
      others(spellings);
  return found;
}

// False when LiteralOption would say no: whichever way an option is written,
// its first letter stands in a word with a dash before it.
bool Matcher::MayHaveOption(std::string_view name) {
  if (!facts_.first_looks || name.size() < 2 || name[0] != '-' || name == "--")
    return true;
  Prepared& prepared = Prepare();
  if (!prepared.letters_made) {
    prepared.letters_made = true;
    const auto& argv = invocation_->argv;
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

// With `beyond`, a `--` behind an option may be that option's value, so that
// options after it are possible.
Tri Matcher::LiteralOption(std::string_view name,
                           std::optional<std::string_view> wanted_value,
                           bool beyond) {
  const bool with_value = wanted_value.has_value();
  const bool is_long = name.starts_with("--");
  const bool is_short = name.size() == 2 && name[0] == '-' && name[1] != '-';
  const auto& argv = invocation_->argv;
  const auto value_is = [&](std::string_view value, bool known) {
    if (!with_value) return Tri::kYes;
    if (!known) return Tri::kPossible;
    return rules::Of(
        value == *wanted_value ||
        (wanted_value->ends_with('*') &&
         value.starts_with(wanted_value->substr(0, wanted_value->size() - 1))));
  };
  const auto next_value = [&](size_t i) {
    if (i + 1 >= argv.size()) return rules::Of(!with_value);
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

// The accept-list: entries are "-l", "--long", "-n:" and "--lines:" (takes a
// value, attached or as the next word), "-#" (a number: -5). What is left are
// the operands.
Tri Matcher::Only(const Node& node,
                  std::vector<const parser::Argument*>* operands) {
  const auto entries = view_->In(view_->strings, node.d);
  // 0 not accepted, 1 accepted, 2 accepted and takes a value.
  const auto lookup = [&](std::string_view option) {
    for (const FlatText& text : entries) {
      const std::string_view entry = view_->Text(text);
      if (entry == option) return 1;
      if (entry.size() == option.size() + 1 && entry.back() == ':' &&
          entry.starts_with(option))
        return 2;
    }
    return 0;
  };
  const auto& argv = invocation_->argv;
  const bool globs = (node.flags & kGlobsAreHarmless) != 0;
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

Tri Matcher::Operands(const Node& node) {
  if (invocation_ == nullptr) return Tri::kNo;
  std::vector<const parser::Argument*> operands;
  Tri result = Tri::kYes;
  if (node.e.begin != UINT32_MAX && node.e.begin < view_->nodes.size()) {
    result = Only(view_->nodes[node.e.begin], &operands);
  } else {
    bool options = true;
    for (size_t i = 1; i < invocation_->argv.size(); ++i) {
      const parser::Argument& word = invocation_->argv[i];
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
  for (const std::string& word : invocation_->subcommand) {
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
      const size_t first = at == 0 && !strict_ ? 0 : i;
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
  if (least < node.x) result = And(result, more ? Tri::kPossible : Tri::kNo);
  if (node.y != UINT32_MAX) {
    if (least > node.y) return Tri::kNo;
    if (more) result = And(result, Tri::kPossible);
  }
  // An unknown quoted word may be any operand, but is no option. `mark`: it is
  // only taken for what begins in any way.
  const bool mark = (node.flags & kUnknownIsMark) != 0;
  const auto may_be = [](std::string_view pattern, bool only_star) {
    return pattern.starts_with('*') ||
           (!only_star && !pattern.starts_with('-'));
  };
  const auto matches = [&](const parser::Argument& word, Range range,
                           bool only_star) {
    Tri best = Tri::kNo;
    for (const FlatText& text : view_->In(view_->strings, range)) {
      const std::string_view pattern = view_->Text(text);
      if (word.known && !word.glob) {
        best = Or(best, Fits(pattern, word.text));
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
  if (node.a.count > 0) {
    // A rule that tightens cannot know how far the name of a sub-command goes.
    Tri any = Tri::kNo;
    for (const parser::Argument* word : strict_ ? operands : with_subcommand)
      any = Or(any, matches(*word, node.a, mark));
    result = And(result, any);
  }
  if (node.b.count > 0)
    for (const parser::Argument* word : operands)
      result = And(result, matches(*word, node.b, mark));
  if (node.c.count > 0)
    for (const parser::Argument* word : operands)
      result = And(result, strict_ && !word->known
                               ? Tri::kPossible
                               : Not(matches(*word, node.c, true)));
  if (node.d.count > 0) {
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
      return paths_.MatchAny(*view_, node.d, {&path, false, UINT32_MAX});
    };
    for (const parser::Argument* word : operands) {
      // From which of several directories it is not known: a rule that
      // tightens fears any of them, one that loosens needs all.
      Tri from = add(*word, invocation_->cwd);
      for (const parser::Argument& cwd : invocation_->other_cwds) {
        const Tri other = add(*word, cwd);
        if (!strict_)
          from = Or(from, other);
        else if (other != from)
          from = Tri::kPossible;
      }
      any = Or(any, from);
    }
    result = And(result, any);
  }
  if (node.f.count > 0) {
    // Every operand is unknown, and stands in the line as the regex says.
    result = And(result, rules::Of(!operands.empty()));
    for (const parser::Argument* word : operands)
      result = And(result, Written(*word, node.f.begin));
  }
  return result;
}

Tri Matcher::Written(const parser::Argument& word, uint32_t regex) {
  const std::string_view line = facts_.line;
  if (word.known || regex >= view_->regexes.size() ||
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
    for (const parser::Invocation& each : analysis_.invocations)
      if (each.program == "." || each.program == "source") return Tri::kNo;
  }
  const Regex* compiled =
      layer_->regexes->Get(regex, view_->Text(view_->regexes[regex].pattern));
  const MatchResult found =
      compiled == nullptr ? MatchResult::kError : compiled->Search(text);
  if (found == MatchResult::kError) error_ = true;
  return rules::Of(found == MatchResult::kYes);
}

}  // namespace gate::rules
