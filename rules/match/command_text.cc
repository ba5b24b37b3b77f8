#include "rules/match/command_text.h"

#include <algorithm>

#include "base/text.h"
#include "rules/glob.h"
#include "rules/match/gaps.h"

namespace gate::rules {
namespace {

// Appends `text` in lower case; false when it has a character that is neither
// ASCII nor the mark for what is unknown.
bool AppendLower(std::string_view text, std::string* out) {
  const size_t begin = out->size();
  out->append(text);
  char* const lower = out->data() + begin;
  unsigned char high = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = lower[i];
    high |= static_cast<unsigned char>(c);
    lower[i] = static_cast<char>(c + (c >= 'A' && c <= 'Z' ? 'a' - 'A' : 0));
  }
  if (high < 0x80) return true;
  for (size_t i = 0; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) < 0x80) continue;
    if (!text.substr(i).starts_with(kUnknownText)) return false;
    i += kUnknownText.size() - 1;
  }
  return true;
}

// The normalised line, and the same with the program's base name first, so
// that /usr/bin/git is found by `git …`.
void MakeLines(MatchContext& context, PreparedInvocation* prepared) {
  prepared->lines_made = true;
  const auto& argv = context.invocation->argv;
  size_t size = 0;
  for (const parser::Argument& word : argv)
    size += word.text.size() + word.suffix.size() + 4;
  std::string rest;
  rest.reserve(size);
  size_t bare_size = 0;  // of `rest` with nothing quoted
  for (size_t i = 1; i < argv.size(); ++i) {
    const parser::Argument& word = argv[i];
    rest += ' ';
    bare_size += 1 + word.text.size();
    if (!word.known) {
      rest += word.text;
      rest += kUnknownText;
      rest += word.suffix;
      bare_size += kUnknownText.size() + word.suffix.size();
    } else if (word.glob) {
      rest += word.text;
    } else {
      rest += ShellQuote(word.text);
    }
  }
  std::string first;
  if (!argv.empty()) {
    const parser::Argument& word = argv[0];
    first = word.known ? word.text
                       : word.text + std::string(kUnknownText) + word.suffix;
    prepared->line = word.known ? ShellQuote(first) : first;
  }
  prepared->line_by_name = ShellQuote(context.invocation->program) + rest;
  prepared->line += rest;
  if (prepared->line.size() != first.size() + bare_size) {
    std::string bare;
    bare.reserve(bare_size);
    for (size_t i = 1; i < argv.size(); ++i) {
      bare += ' ';
      bare += argv[i].text;
      if (argv[i].known) continue;
      bare += kUnknownText;
      bare += argv[i].suffix;
    }
    prepared->bare_by_name = context.invocation->program + bare;
    prepared->bare = std::move(first) + bare;
  }
}

// The words with nothing quoted, in lower case. What stands in a line and has
// no quote of its own stands here, too: quotes only stand between.
std::string LowerWords(const MatchContext& context) {
  const auto& argv = context.invocation->argv;
  const std::string& program = context.invocation->program;
  size_t size = 2 + program.size();
  for (const parser::Argument& word : argv)
    size += word.text.size() + word.suffix.size() + 4;
  std::string words;
  words.reserve(size);
  size_t rest = 0;  // where the second word's blank stands
  for (const parser::Argument& word : argv) {
    if (!AppendLower(word.text, &words)) return "";
    if (!word.known) {
      words += kUnknownText;
      if (!AppendLower(word.suffix, &words)) return "";
    }
    if (&word == argv.data()) rest = words.size();
    words += ' ';
  }
  // The line that begins with the program's name is the end of this one, except
  // when the name was shortened.
  if (!argv.empty() && argv[0].known && argv[0].text.ends_with(program))
    return words;
  const std::string behind = words.substr(rest);
  words += '\n';
  if (!AppendLower(program, &words)) return "";
  return words + behind;
}

}  // namespace

std::string LowerForAtoms(std::initializer_list<std::string_view> lines) {
  size_t size = lines.size();
  for (const std::string_view text : lines) size += text.size();
  std::string lower;
  lower.reserve(size);
  for (const std::string_view text : lines) {
    if (!AppendLower(text, &lower)) return "";
    lower += '\n';
  }
  return lower;
}

PreparedInvocation& PrepareLines(MatchContext& context) {
  PreparedInvocation& prepared = context.Prepare();
  if (!prepared.lines_made) MakeLines(context, &prepared);
  return prepared;
}

std::array<const std::string*, 4> LinesToTry(
    const MatchContext& context, const PreparedInvocation& prepared) {
  const bool by_name = !context.invocation->program.empty() &&
                       (!context.strict || context.FirstWordIsPlain());
  const bool bare = !context.strict && !prepared.bare.empty();
  return {&prepared.line,
          by_name && prepared.line_by_name != prepared.line
              ? &prepared.line_by_name
              : nullptr,
          bare ? &prepared.bare : nullptr,
          bare && by_name && prepared.bare_by_name != prepared.bare
              ? &prepared.bare_by_name
              : nullptr};
}

// The lines of LinesToTry with gaps where words are not known. A word with
// glob characters becomes names of files, which nobody knows beforehand.
const std::vector<std::u32string>& Gapped(MatchContext& context,
                                          PreparedInvocation* prepared) {
  if (prepared->gapped_made) return prepared->gapped;
  prepared->gapped_made = true;
  const auto& argv = context.invocation->argv;
  if (std::none_of(argv.begin(), argv.end(),
                   [](const auto& word) { return !word.known || word.glob; }))
    return prepared->gapped;
  if (!prepared->lines_made) MakeLines(context, prepared);
  const auto append = [](const parser::Argument& word, bool quote,
                         std::u32string* out) {
    if (!word.known) {
      AppendText(word.text, out);
      out->push_back(word.splits || word.text.starts_with('-') ? kAnyGap
                                                               : kOperandGap);
      AppendText(word.suffix, out);
    } else if (word.glob) {
      for (size_t at = 0; at < word.text.size();) {
        const std::string_view rest = std::string_view(word.text).substr(at);
        const size_t plain = std::min(rest.find_first_of("*?["), rest.size());
        AppendText(rest.substr(0, plain), out);
        at += plain;
        if (plain == rest.size()) break;
        out->push_back(kOperandGap);
        const size_t close = rest.find(']', plain + 2);
        at += rest[plain] == '[' && close != std::string_view::npos
                  ? close - plain + 1
                  : 1;
      }
    } else {
      AppendText(quote ? ShellQuote(word.text) : word.text, out);
    }
  };
  for (const bool quote : {true, false}) {
    std::u32string rest;
    for (size_t i = 1; i < argv.size(); ++i) {
      rest += U' ';
      append(argv[i], quote, &rest);
    }
    std::u32string line;
    append(argv[0], quote, &line);
    prepared->gapped.push_back(line + rest);
    std::u32string by_name;
    AppendText(quote ? ShellQuote(context.invocation->program)
                     : context.invocation->program,
               &by_name);
    if (!by_name.empty() && by_name != line)
      prepared->gapped.push_back(by_name + rest);
    if (prepared->bare.empty()) break;  // quotes make no difference
  }
  return prepared->gapped;
}

// Whether a pattern is tried on what unknown words may be. The
// program is not: a pattern that begins with its name speaks of that program.
bool TriesGaps(MatchContext& context, bool unknown_is_mark,
               std::string_view pattern, bool regex,
               PreparedInvocation* prepared) {
  if (context.strict || unknown_is_mark || Gapped(context, prepared).empty())
    return false;
  const std::string_view first = FirstLiteralWord(pattern, regex);
  return first.empty() || first == context.invocation->program;
}

// Whether it is worth compiling and the lines worth making: most regexes of a
// program's rules are about words that a given line does not have. A cold
// compilation costs more than all else of a decision.
bool MayMatch(MatchContext& context, const RegexRecord& record,
              PreparedInvocation* prepared) {
  if (record.atoms.count == 0 || !context.facts.first_looks) return true;
  if (!prepared->lower_made) {
    prepared->lower_made = true;
    prepared->lower = LowerWords(context);
  }
  if (prepared->lower.empty()) return true;
  bool quotes = false;
  const auto atoms = context.Strings(record.atoms);
  for (const FlatText& text : atoms) {
    const std::string_view atom = context.view->Text(text);
    if (atom.find_first_of("'\\") != std::string_view::npos)
      quotes = true;
    else if (prepared->lower.find(atom) != std::string::npos)
      return true;
  }
  if (!quotes) return false;
  // A quote of a line may be one that quoting put there.
  if (!prepared->lines_made) MakeLines(context, prepared);
  if (!prepared->lower_lines_made) {
    prepared->lower_lines_made = true;
    prepared->lower_lines =
        LowerForAtoms({prepared->line, prepared->line_by_name, prepared->bare,
                       prepared->bare_by_name});
  }
  if (prepared->lower_lines.empty()) return true;
  return std::any_of(atoms.begin(), atoms.end(), [&](const FlatText& text) {
    return prepared->lower_lines.find(context.view->Text(text)) !=
           std::string::npos;
  });
}

}  // namespace gate::rules
