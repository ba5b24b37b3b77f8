// A command as text: globs and regexes over its words, and over the line.
#include <algorithm>

#include "base/text.h"
#include "rules/gaps.h"
#include "rules/glob.h"
#include "rules/match.h"

namespace gate::rules {
namespace {

constexpr std::string_view kUnknownText = "\xEF\xBF\xBC";  // U+FFFC

}  // namespace

Matcher::Prepared& Matcher::Prepare() {
  if (prepared_.size() < analysis_.invocations.size())
    prepared_.resize(analysis_.invocations.size());
  return prepared_[subject_->number];
}

namespace {

// Lines of ASCII and the mark for what is unknown, parted by a line end.
std::string LowerForAtoms(std::initializer_list<std::string_view> lines) {
  std::string lower;
  for (const std::string_view text : lines) {
    lower.reserve(lower.size() + text.size() + 1);
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (static_cast<unsigned char>(c) < 0x80) {
        lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      } else if (text.substr(i).starts_with(kUnknownText)) {
        lower += kUnknownText;
        i += kUnknownText.size() - 1;
      } else {
        return "";
      }
    }
    lower += '\n';
  }
  return lower;
}

}  // namespace

// The normalised line, and the same with the program's base name first, so
// that /usr/bin/git is found by `git …`.
void Matcher::MakeLines(Prepared* prepared) {
  prepared->lines_made = true;
  std::string rest, bare;
  for (size_t i = 1; i < invocation_->argv.size(); ++i) {
    const parser::Argument& word = invocation_->argv[i];
    rest += ' ';
    bare += ' ';
    if (word.known) {
      rest += word.glob ? word.text : ShellQuote(word.text);
      bare += word.text;
    } else {
      const std::string text =
          word.text + std::string(kUnknownText) + word.suffix;
      rest += text;
      bare += text;
    }
  }
  std::string first;
  if (!invocation_->argv.empty()) {
    const parser::Argument& word = invocation_->argv[0];
    first = word.known ? word.text
                       : word.text + std::string(kUnknownText) + word.suffix;
    prepared->line = word.known ? ShellQuote(first) : first;
  }
  prepared->line_by_name = ShellQuote(invocation_->program) + rest;
  prepared->line += rest;
  if (prepared->line.size() != first.size() + bare.size()) {
    prepared->bare_by_name = invocation_->program + bare;
    prepared->bare = std::move(first) + bare;
  }
  const auto unless_same = [](const std::string& text,
                              const std::string& other) -> std::string_view {
    return text == other ? std::string_view{} : std::string_view(text);
  };
  prepared->lower = LowerForAtoms(
      {prepared->line, unless_same(prepared->line_by_name, prepared->line),
       prepared->bare, unless_same(prepared->bare_by_name, prepared->bare)});
}

std::array<const std::string*, 4> Matcher::LinesToTry(
    const Prepared& prepared) const {
  const bool by_name =
      !invocation_->program.empty() && (!strict_ || FirstWordIsPlain());
  const bool bare = !strict_ && !prepared.bare.empty();
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
const std::vector<std::u32string>& Matcher::Gapped(Prepared* prepared) {
  if (prepared->gapped_made) return prepared->gapped;
  prepared->gapped_made = true;
  const auto& argv = invocation_->argv;
  if (std::none_of(argv.begin(), argv.end(),
                   [](const auto& word) { return !word.known || word.glob; }))
    return prepared->gapped;
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
    AppendText(quote ? ShellQuote(invocation_->program) : invocation_->program,
               &by_name);
    if (!by_name.empty() && by_name != line)
      prepared->gapped.push_back(by_name + rest);
    if (prepared->bare.empty()) break;  // quotes make no difference
  }
  return prepared->gapped;
}

// Whether a pattern of this node is tried on what unknown words may be. The
// program is not: a pattern that begins with its name speaks of that program.
bool Matcher::TriesGaps(const Node& node, std::string_view pattern, bool regex,
                        Prepared* prepared) {
  if (strict_ || (node.flags & kUnknownIsMark) != 0 || Gapped(prepared).empty())
    return false;
  const std::string_view first = FirstLiteralWord(pattern, regex);
  return first.empty() || first == invocation_->program;
}

Tri Matcher::Glob(const Node& node) {
  if (invocation_ == nullptr) return Tri::kNo;
  Prepared& prepared = Prepare();
  if (!prepared.lines_made) MakeLines(&prepared);
  const auto lines = LinesToTry(prepared);
  Tri best = Tri::kNo;
  for (const ImageText& text : view_->In(view_->strings, node.a)) {
    const std::string_view pattern = view_->Text(text);
    // "git push *" also means "git push".
    const std::string_view alone = pattern.ends_with(" *")
                                       ? pattern.substr(0, pattern.size() - 2)
                                       : std::string_view{};
    for (const std::string* line : lines) {
      if (line == nullptr || best == Tri::kYes) continue;
      best = Or(best, Fits(pattern, *line));
      if (!alone.empty() && best != Tri::kYes)
        best = Or(best, Fits(alone, *line));
    }
    if (best != Tri::kNo || !TriesGaps(node, pattern, false, &prepared))
      continue;
    for (const std::u32string& gapped : Gapped(&prepared)) {
      if (OutOfSteps()) return Tri::kPossible;
      if (GlobMayMatch(pattern, gapped, &steps_) ||
          (!alone.empty() && GlobMayMatch(alone, gapped, &steps_)))
        best = Tri::kPossible;
    }
  }
  // A `*` of a rule that loosens must not stand for what is not known.
  if (strict_ && best == Tri::kYes &&
      prepared.line.find(kUnknownText) != std::string::npos)
    return Tri::kPossible;
  return best;
}

// Whether it is worth compiling: most regexes of a program's rules are about
// words that a given line does not have.
bool Matcher::MayMatch(const RegexRecord& record,
                       const Prepared& prepared) const {
  if (record.atoms.count == 0 || prepared.lower.empty() || !facts_.first_looks)
    return true;
  for (const ImageText& atom : view_->In(view_->strings, record.atoms))
    if (prepared.lower.find(view_->Text(atom)) != std::string::npos)
      return true;
  return false;
}

Tri Matcher::RegexNode(const Node& node) {
  if (invocation_ == nullptr || node.x >= view_->regexes.size())
    return Tri::kNo;
  Prepared& prepared = Prepare();
  if (!prepared.lines_made) MakeLines(&prepared);
  const RegexRecord& record = view_->regexes[node.x];
  const std::string_view pattern = view_->Text(record.pattern);
  const auto in_gaps = [&] {
    if (!TriesGaps(node, pattern, true, &prepared)) return Tri::kNo;
    for (const std::u32string& gapped : Gapped(&prepared))
      if (OutOfSteps() || RegexMayMatch(pattern, gapped, &steps_))
        return Tri::kPossible;
    return Tri::kNo;
  };
  if (!MayMatch(record, prepared)) return in_gaps();
  const Regex* regex = layer_->regexes->Get(node.x, pattern);
  if (regex == nullptr) {
    error_ = true;
    return Tri::kPossible;
  }
  for (const std::string* line : LinesToTry(prepared)) {
    if (line == nullptr) continue;
    switch (regex->Search(*line)) {
      case MatchResult::kYes:
        return strict_ && line->find(kUnknownText) != std::string::npos
                   ? Tri::kPossible
                   : Tri::kYes;
      case MatchResult::kError:
        error_ = true;
        return Tri::kPossible;
      case MatchResult::kNo:
        break;
    }
  }
  return in_gaps();
}

// The text of the whole line, as it was written. Quoted text and comments are
// in it, so only rules that say more than this, and that tighten, ask for it.
Tri Matcher::Line(const Node& node) {
  if (strict_ || node.x >= view_->regexes.size()) return Tri::kNo;
  const RegexRecord& record = view_->regexes[node.x];
  if (!line_lowered_) {
    line_lowered_ = true;
    line_lower_ = LowerForAtoms({facts_.line});
  }
  const auto atoms = view_->In(view_->strings, record.atoms);
  if (facts_.first_looks && !line_lower_.empty() && !atoms.empty() &&
      std::none_of(atoms.begin(), atoms.end(), [&](const ImageText& atom) {
        return line_lower_.find(view_->Text(atom)) != std::string::npos;
      }))
    return Tri::kNo;
  const Regex* regex =
      layer_->regexes->Get(node.x, view_->Text(record.pattern));
  const MatchResult found =
      regex == nullptr ? MatchResult::kError : regex->Search(facts_.line);
  if (found == MatchResult::kError) {
    error_ = true;
    return Tri::kPossible;
  }
  return rules::Of(found == MatchResult::kYes);
}

}  // namespace gate::rules
