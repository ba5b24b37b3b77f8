// Words to fields: brace and tilde expansion, the parts of a word, field
// splitting, quote removal (bash(1), EXPANSION, in its order).
#include <algorithm>
#include <cctype>

#include "parser/braces.h"
#include "parser/expand_internal.h"

namespace gate::parser {
namespace {

constexpr std::string_view kGlobCharacters = "*?[";

Piece Text(Value value, bool quoted, bool split, Span span) {
  return {Piece::Kind::kText, std::move(value), quoted, split, span};
}

Alternatives One(Piece piece) { return {{std::move(piece)}}; }

Alternatives FromValues(const Values& values, bool quoted, bool split,
                        Span span) {
  Alternatives all;
  for (const Value& value : values)
    all.push_back({Text(value, quoted, split, span)});
  return all;
}

// The text before which `~` stands, without the tilde; npos when a quoted
// part or an expansion follows before a slash, so that nothing is expanded.
Values TildeValue(Expander& x, std::string_view prefix, bool* expands) {
  *expands = true;
  std::optional<bool> set;
  if (prefix.empty()) {
    const Values home = GetVariable(x, "HOME", &set);
    if (set == true) return home;
    const std::string fallback = x.host.HomeOf("");
    if (set == false && !fallback.empty()) return {Value::Of(fallback)};
    return {Value::Hole(UnknownCode::kDynamicArgument, Span{})};
  }
  if (prefix == "+") return x.state.cwd;
  if (prefix == "-") return GetVariable(x, "OLDPWD");
  if (prefix.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTU"
                               "VWXYZ0123456789._-") !=
      std::string_view::npos) {
    *expands = false;
    return {Value{}};
  }
  if (std::isdigit(static_cast<unsigned char>(prefix[0])) != 0)
    return {Value::Hole(UnknownCode::kDynamicArgument, Span{})};
  const std::string home = x.host.HomeOf(std::string(prefix));
  if (home.empty()) *expands = false;
  return {Value::Of(home)};
}

// An unquoted literal at the start of a word (or after = and : where those
// count), its tildes expanded.
Alternatives ExpandLiteral(Expander& x, const std::string& text, Span span,
                           bool at_start, bool last, bool after_equals,
                           bool after_colon, bool split) {
  Alternatives all{{}};
  std::string plain;
  const auto flush = [&] {
    if (plain.empty()) return;
    AppendAlternatives(&all, One(Text(Value::Of(plain), false, split, span)));
    plain.clear();
  };
  bool seen_equals = !after_equals;
  size_t i = 0;
  while (i < text.size()) {
    const bool candidate =
        text[i] == '~' &&
        ((i == 0 && at_start) ||
         (i > 0 && after_equals && text[i - 1] == '=' && !seen_equals) ||
         (i > 0 && after_colon && text[i - 1] == ':'));
    if (i > 0 && text[i - 1] == '=') seen_equals = true;
    if (!candidate) {
      plain += text[i++];
      continue;
    }
    size_t end = i + 1;
    while (end < text.size() && text[end] != '/' &&
           !(text[end] == ':' && after_colon))
      ++end;
    bool expands = end < text.size() || last;
    Values home;
    if (expands)
      home = TildeValue(x, std::string_view(text).substr(i + 1, end - i - 1),
                        &expands);
    if (!expands) {
      plain += text[i++];
      continue;
    }
    flush();
    AppendAlternatives(&all, FromValues(home, /*quoted=*/true, false, span));
    i = end;
  }
  flush();
  return all;
}

bool IsAssignmentLike(std::string_view text) {
  const size_t equals = text.find('=');
  return equals != std::string_view::npos && IsName(text.substr(0, equals));
}

void EscapeInto(std::string_view text, std::string* pattern) {
  for (const char c : text) {
    if (std::string_view("*?[]\\!-^(|)@+").find(c) != std::string_view::npos)
      *pattern += '\\';
    *pattern += c;
  }
}

// Collects fields of one alternative.
class FieldBuilder {
 public:
  FieldBuilder(const State& state, Span span) : state_(state), span_(span) {
    ifs_ = CurrentIfs(state);
  }

  void Add(const Piece& piece) {
    if (piece.kind == Piece::Kind::kBreak) {
      Finish();
      present_ = piece.quoted;
      return;
    }
    // White space of an expansion before this piece ended a field.
    if (!piece.split && pending_end_) Finish();
    if (piece.quoted) {
      for (const Chunk& chunk : piece.value.chunks) {
        if (chunk.hole) continue;
        EscapeInto(chunk.text, &pattern_);
      }
      value_.Append(piece.value);
      present_ = true;
      return;
    }
    if (!piece.split) {
      for (const Chunk& chunk : piece.value.chunks) Literal(chunk);
      return;
    }
    for (const Chunk& chunk : piece.value.chunks) {
      if (chunk.hole && chunk.digits) {
        AppendHole(chunk);
      } else if (chunk.hole) {
        splits_ = true;
        AppendHole(chunk);
      } else if (!ifs_) {
        splits_ = true;
        AppendHole({"", true, false, UnknownCode::kDynamicArgument, span_});
      } else {
        Split(chunk.text);
      }
    }
  }

  Fields Take() {
    Finish();
    return std::move(fields_);
  }

 private:
  void AppendHole(const Chunk& chunk) {
    if (pending_end_) Finish();
    Value hole;
    hole.chunks.push_back(chunk);
    value_.Append(hole);
    present_ = true;
  }

  void Literal(const Chunk& chunk) {
    if (chunk.hole) {
      AppendHole(chunk);
      return;
    }
    if (chunk.text.find_first_of(kGlobCharacters) != std::string::npos)
      glob_ = true;
    pattern_ += chunk.text;
    value_.Append(std::string_view(chunk.text));
    present_ = present_ || !chunk.text.empty();
  }

  bool IsIfs(char c) const { return ifs_->find(c) != std::string::npos; }
  static bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

  // POSIX field splitting: a run of IFS white space ends a field; another IFS
  // character ends one with the white space around it.
  void Split(std::string_view text) {
    size_t i = 0;
    while (i < text.size()) {
      if (!IsIfs(text[i])) {
        size_t end = i;
        while (end < text.size() && !IsIfs(text[end])) ++end;
        if (pending_end_) Finish();
        Literal({std::string(text.substr(i, end - i)), false, false,
                 UnknownCode::kDynamicArgument, Span{}});
        present_ = true;
        i = end;
        continue;
      }
      if (IsBlank(text[i])) {
        if (present_ || !value_.chunks.empty()) pending_end_ = true;
        ++i;
        continue;
      }
      // A delimiter ends the field it follows, also an empty one.
      present_ = true;
      Finish();
      ++i;
      while (i < text.size() && IsIfs(text[i]) && IsBlank(text[i])) ++i;
    }
  }

  void Finish() {
    if (present_ || !value_.chunks.empty()) {
      Field field;
      field.value = std::move(value_);
      field.splits = splits_;
      field.glob = glob_ && !state_.noglob;
      if (field.glob && field.value.known()) field.pattern = pattern_;
      field.span = span_;
      fields_.push_back(std::move(field));
    }
    value_ = Value{};
    pattern_.clear();
    present_ = glob_ = splits_ = pending_end_ = false;
  }

  const State& state_;
  Span span_;
  std::optional<std::string> ifs_;
  Fields fields_;
  Value value_;
  std::string pattern_;
  bool present_ = false;  // there is a field, even if it is empty
  bool glob_ = false;
  bool splits_ = false;
  bool pending_end_ = false;  // white space came: the next text starts a field
};

// The words of one source word after brace expansion.
std::vector<std::vector<BraceAtom>> BraceResults(Expander& x, const Word& word,
                                                 bool* complete) {
  std::vector<BraceAtom> atoms;
  for (const PartId id : word.parts) {
    const Part& part = x.script.ast.parts[id];
    if (part.kind != PartKind::kLiteral) {
      atoms.push_back({0, id});
      continue;
    }
    for (const char c : part.text) atoms.push_back({c, kNone});
  }
  std::vector<std::vector<BraceAtom>> results;
  *complete = ExpandBraceAtoms(atoms, &results);
  return results;
}

bool HasBrace(const Expander& x, const Word& word) {
  for (const PartId id : word.parts) {
    const Part& part = x.script.ast.parts[id];
    if (part.kind == PartKind::kLiteral &&
        part.text.find('{') != std::string::npos)
      return true;
  }
  return false;
}

Alternatives ExpandAtoms(Expander& x, const std::vector<BraceAtom>& atoms,
                         Span span) {
  Alternatives all{{}};
  std::string literal;
  bool at_start = true;
  size_t i = 0;
  while (i < atoms.size()) {
    if (atoms[i].part != kNone) {
      AppendAlternatives(&all,
                         ExpandPart(x, atoms[i].part, false, false, false));
      at_start = false;
      ++i;
      continue;
    }
    literal.clear();
    while (i < atoms.size() && atoms[i].part == kNone) literal += atoms[i++].c;
    AppendAlternatives(
        &all, ExpandLiteral(x, literal, span, at_start, i == atoms.size(),
                            at_start && IsAssignmentLike(literal),
                            at_start && IsAssignmentLike(literal), false));
    at_start = false;
  }
  return all;
}

// The common word: one literal without anything to expand.
const std::string* PlainText(const Expander& x, const Word& word) {
  if (word.parts.size() != 1) return nullptr;
  const Part& part = x.script.ast.parts[word.parts[0]];
  if (part.kind == PartKind::kSingleQuoted ||
      part.kind == PartKind::kAnsiQuoted)
    return &part.text;
  if (part.kind != PartKind::kLiteral ||
      part.text.find_first_of("{~*?[") != std::string::npos)
    return nullptr;
  return &part.text;
}

}  // namespace

void AppendAlternatives(Alternatives* a, const Alternatives& b) {
  if (b.size() == 1) {
    for (Pieces& pieces : *a)
      pieces.insert(pieces.end(), b[0].begin(), b[0].end());
    return;
  }
  if (a->size() * b.size() <= kMaxAlternatives) {
    Alternatives all;
    for (const Pieces& head : *a) {
      for (const Pieces& tail : b) {
        Pieces pieces = head;
        pieces.insert(pieces.end(), tail.begin(), tail.end());
        all.push_back(std::move(pieces));
      }
    }
    *a = std::move(all);
    return;
  }
  // Too many: what differs becomes unknown.
  bool split = false;
  Span span;
  for (const Pieces& pieces : b)
    for (const Piece& piece : pieces) {
      split = split || piece.split || piece.kind == Piece::Kind::kBreak;
      span = piece.span;
    }
  Piece hole = Text(Value::Hole(UnknownCode::kDynamicArgument, span), !split,
                    split, span);
  for (Pieces& pieces : *a) pieces.push_back(hole);
}

std::optional<std::string> CurrentIfs(const State& state) {
  if (state.ifs_unknown) return std::nullopt;
  const auto found = state.variables.find("IFS");
  if (found == state.variables.end()) return std::string(" \t\n");
  const Variable& ifs = found->second;
  if (ifs.shape != Variable::Shape::kScalar || ifs.maybe_unset)
    return std::nullopt;
  if (ifs.scalar.empty()) return std::string(" \t\n");
  if (ifs.scalar.size() != 1 || !ifs.scalar[0].known()) return std::nullopt;
  return std::string(ifs.scalar[0].text());
}

Alternatives ExpandPart(Expander& x, PartId id, bool quoted, bool assigning,
                        bool split_literals) {
  const Part& part = x.script.ast.parts[id];
  const bool splits = !quoted && !assigning;
  switch (part.kind) {
    case PartKind::kLiteral:
      return One(Text(Value::Of(part.text), quoted, split_literals && splits,
                      part.span));
    case PartKind::kEscaped:
    case PartKind::kSingleQuoted:
    case PartKind::kAnsiQuoted:
    case PartKind::kQuotedText:
      return One(Text(Value::Of(part.text), true, false, part.span));
    case PartKind::kDoubleQuoted:
    case PartKind::kLocaleQuoted: {
      Alternatives all{{}};
      if (part.parts.empty())
        AppendAlternatives(&all, One(Text(Value{}, true, false, part.span)));
      for (const PartId inner : part.parts)
        AppendAlternatives(&all, ExpandPart(x, inner, true, assigning, false));
      return all;
    }
    case PartKind::kParameter:
      return ExpandParameter(x, x.script.ast.parameters[part.parameter], quoted,
                             assigning, part.span);
    case PartKind::kCommand:
      return FromValues(
          x.host.Substitute(x.state, x.script, part.body, part.span), quoted,
          splits, part.span);
    case PartKind::kArithmetic: {
      Values text{Value{}};
      for (const PartId inner : part.parts)
        text =
            Concatenate(text, Joined(ExpandPart(x, inner, true, true, false)));
      Values results;
      for (const Value& one : text) {
        const auto number = EvaluateArithmetic(x, one, part.span);
        Value value = number ? Value::Of(std::to_string(*number))
                             : Value::Hole(UnknownCode::kDynamicArgument,
                                           part.span, true);
        results = results.empty() ? Values{value} : Union(results, {value});
      }
      return FromValues(results, quoted, splits, part.span);
    }
    case PartKind::kProcess: {
      const Value path =
          x.host.Process(x.state, x.script, part.body,
                         part.text.empty() ? '<' : part.text[0], part.span);
      return One(Text(path, true, false, part.span));
    }
    case PartKind::kExtendedGlob: {
      Alternatives all{
          {Text(Value::Of(part.text + "("), false, false, part.span)}};
      for (size_t i = 0; i < part.words.size(); ++i) {
        if (i > 0)
          AppendAlternatives(
              &all, One(Text(Value::Of("|"), false, false, part.span)));
        AppendAlternatives(
            &all, ExpandWordPieces(x, part.words[i], assigning, false, false));
      }
      AppendAlternatives(&all,
                         One(Text(Value::Of(")"), false, false, part.span)));
      return all;
    }
  }
  return One(Text(Value::Hole(UnknownCode::kUnmodelled, part.span), quoted,
                  splits, part.span));
}

Alternatives ExpandWordPieces(Expander& x, WordId id, bool assigning,
                              bool split_literals, bool tilde_after_colon) {
  const Word& word = x.script.ast.words[id];
  Alternatives all{{}};
  for (size_t i = 0; i < word.parts.size(); ++i) {
    const Part& part = x.script.ast.parts[word.parts[i]];
    if (part.kind == PartKind::kLiteral &&
        part.text.find('~') != std::string::npos) {
      AppendAlternatives(
          &all, ExpandLiteral(x, part.text, part.span, i == 0,
                              i + 1 == word.parts.size(), false,
                              tilde_after_colon, split_literals && !assigning));
      continue;
    }
    AppendAlternatives(
        &all, ExpandPart(x, word.parts[i], false, assigning, split_literals));
  }
  return all;
}

Values Joined(const Alternatives& alternatives) {
  Values values;
  for (const Pieces& pieces : alternatives) {
    Value value;
    for (const Piece& piece : pieces) {
      if (piece.kind == Piece::Kind::kBreak)
        value.Append(" ");
      else
        value.Append(piece.value);
    }
    values = values.empty() ? Values{std::move(value)} : Union(values, {value});
  }
  return values.empty() ? Values{Value{}} : values;
}

std::vector<Fields> ExpandWords(Expander& x, const std::vector<WordId>& words) {
  std::vector<Fields> all{{}};
  const auto append = [&all](const Fields& fields) {
    for (Fields& line : all)
      line.insert(line.end(), fields.begin(), fields.end());
  };
  for (const WordId id : words) {
    const Word& word = x.script.ast.words[id];
    if (const std::string* plain = PlainText(x, word)) {
      Field field;
      field.value = Value::Of(*plain);
      field.span = word.span;
      append({field});
      continue;
    }
    x.host.Spend(1);
    std::vector<Alternatives> expanded;
    bool complete = true;
    if (x.state.brace_expansion && HasBrace(x, word)) {
      const auto results = BraceResults(x, word, &complete);
      if (!x.host.Spend(results.size())) complete = false;
      if (complete)
        for (const auto& atoms : results)
          expanded.push_back(ExpandAtoms(x, atoms, word.span));
    } else {
      std::vector<BraceAtom> atoms;
      for (const PartId part : word.parts) {
        const Part& one = x.script.ast.parts[part];
        if (one.kind != PartKind::kLiteral) {
          atoms.push_back({0, part});
          continue;
        }
        for (const char c : one.text) atoms.push_back({c, kNone});
      }
      expanded.push_back(ExpandAtoms(x, atoms, word.span));
    }
    if (!complete) {
      Field field;
      field.value = Value::Hole(UnknownCode::kLimit, word.span);
      field.splits = true;
      field.span = word.span;
      append({field});
      continue;
    }
    for (const Alternatives& alternatives : expanded) {
      std::vector<Fields> results;
      for (const Pieces& pieces : alternatives) {
        FieldBuilder builder(x.state, word.span);
        for (const Piece& piece : pieces) builder.Add(piece);
        results.push_back(builder.Take());
      }
      if (results.size() == 1) {
        append(results[0]);
        continue;
      }
      if (all.size() * results.size() > kMaxAlternatives) {
        Field field;
        field.value = Value::Hole(UnknownCode::kDynamicArgument, word.span);
        field.splits = true;
        field.span = word.span;
        append({field});
        continue;
      }
      std::vector<Fields> lines;
      for (const Fields& line : all) {
        for (const Fields& result : results) {
          Fields one = line;
          one.insert(one.end(), result.begin(), result.end());
          lines.push_back(std::move(one));
        }
      }
      all = std::move(lines);
    }
  }
  return all;
}

Values ExpandToValue(Expander& x, WordId word, bool tilde_after_colon) {
  if (word == kNone) return {Value{}};
  if (const std::string* plain = PlainText(x, x.script.ast.words[word]))
    return {Value::Of(*plain)};
  return Joined(ExpandWordPieces(x, word, true, false, tilde_after_colon));
}

Values ExpandQuoted(Expander& x, WordId id) {
  if (id == kNone) return {Value{}};
  Alternatives all{{}};
  for (const PartId part : x.script.ast.words[id].parts)
    AppendAlternatives(&all, ExpandPart(x, part, true, true, false));
  return Joined(all);
}

Values ExpandToPattern(Expander& x, WordId id) {
  if (id == kNone) return {Value{}};
  Values patterns;
  for (const Pieces& pieces : ExpandWordPieces(x, id, true, false, false)) {
    Value pattern;
    for (const Piece& piece : pieces) {
      for (const Chunk& chunk : piece.value.chunks) {
        if (chunk.hole) {
          Value hole;
          hole.chunks.push_back(chunk);
          pattern.Append(hole);
        } else if (piece.quoted) {
          std::string escaped;
          EscapeInto(chunk.text, &escaped);
          pattern.Append(escaped);
        } else {
          pattern.Append(std::string_view(chunk.text));
        }
      }
    }
    patterns = patterns.empty() ? Values{pattern} : Union(patterns, {pattern});
  }
  return patterns;
}

std::vector<std::string> SplitFields(std::string_view text,
                                     std::string_view ifs) {
  State state;
  Variable variable;
  variable.scalar = {Value::Of(std::string(ifs))};
  state.variables["IFS"] = variable;
  FieldBuilder builder(state, Span{});
  builder.Add(Text(Value::Of(std::string(text)), false, true, Span{}));
  std::vector<std::string> words;
  for (const Field& field : builder.Take())
    words.emplace_back(field.value.text());
  return words;
}

}  // namespace gate::parser
