// Words to fields: brace expansion, the parts of a word, field splitting,
// quote removal (bash(1), EXPANSION, in its order).
#include <algorithm>

#include "parser/expand/braces.h"
#include "parser/expand/internal.h"

namespace gate::parser {
namespace {

Alternatives FromValues(const Values& values, bool quoted, bool split,
                        Span span) {
  Alternatives all;
  for (const Value& value : values)
    all.push_back({TextPiece(value, quoted, split, span)});
  return all;
}

// NAME=, NAME+= and NAME[…]= at the start of a word.
bool IsAssignmentLike(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return false;
  std::string_view name = text.substr(0, equals);
  if (name.ends_with('+')) name.remove_suffix(1);
  if (const size_t open = name.find('[');
      open != std::string_view::npos && name.ends_with(']'))
    name = name.substr(0, open);
  return IsName(name);
}

// The common words: literal and quoted text without anything to expand.
bool PlainText(const Expander& x, const Word& word, std::string* text) {
  const auto add = [text](const std::string& more) { *text += more; };
  for (const PartId id : word.parts) {
    const Part& part = x.script.ast.parts[id];
    switch (part.kind) {
      case PartKind::kLiteral:
        if (part.text.find_first_of("{~*?[") != std::string::npos) return false;
        add(part.text);
        break;
      case PartKind::kEscaped:
      case PartKind::kSingleQuoted:
      case PartKind::kAnsiQuoted:
        add(part.text);
        break;
      case PartKind::kDoubleQuoted:
      case PartKind::kLocaleQuoted:
        for (const PartId inner : part.parts) {
          if (x.script.ast.parts[inner].kind != PartKind::kQuotedText)
            return false;
          add(x.script.ast.parts[inner].text);
        }
        break;
      default:
        return false;
    }
  }
  return !word.parts.empty();
}

void AppendToAll(std::vector<Fields>* all, const Fields& fields) {
  for (Fields& line : *all)
    line.insert(line.end(), fields.begin(), fields.end());
}

// Too many alternatives: one field for all of them.
Field Merged(const std::vector<Fields>& results, Span span) {
  Field field;
  field.span = span;
  Values values;
  for (const Fields& result : results) {
    if (result.size() != 1 || result[0].splits || result[0].glob) {
      field.splits = true;
      field.value = Value::Unknown(UnknownCode::kDynamicArgument, span);
      return field;
    }
    values.push_back(result[0].value);
  }
  field.value = OneOf(values);
  return field;
}

// The command line so far followed by each of `results`.
void Cross(std::vector<Fields>* all, std::vector<Fields> results, Span span) {
  if (results.size() > 1) {
    std::vector<Fields> unique;
    const auto same = [](const Fields& a, const Fields& b) {
      return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                        [](const Field& m, const Field& n) {
                          return m.value == n.value && m.glob == n.glob &&
                                 m.splits == n.splits && m.pattern == n.pattern;
                        });
    };
    for (Fields& result : results) {
      const bool known =
          std::any_of(unique.begin(), unique.end(),
                      [&](const Fields& other) { return same(result, other); });
      if (!known) unique.push_back(std::move(result));
    }
    results = std::move(unique);
  }
  if (results.size() == 1) {
    AppendToAll(all, results[0]);
    return;
  }
  if (all->size() * results.size() > kMaxAlternatives) {
    AppendToAll(all, {Merged(results, span)});
    return;
  }
  std::vector<Fields> lines;
  for (const Fields& line : *all) {
    for (const Fields& result : results) {
      lines.push_back(line);
      lines.back().insert(lines.back().end(), result.begin(), result.end());
    }
  }
  *all = std::move(lines);
}

std::vector<Fields> Built(const State& state, const Alternatives& alternatives,
                          Span span) {
  std::vector<Fields> results;
  for (const Pieces& pieces : alternatives) {
    FieldBuilder builder(state, span);
    for (const Piece& piece : pieces) builder.Add(piece);
    results.push_back(builder.Take());
  }
  return results;
}

// A double-quoted part in which "$@" stands for nothing is nothing itself when
// the rest of it is empty.
void DropNothing(const Expander& x, const Part& part, Alternatives* all) {
  // What an operation leaves of a set variable is sometimes a field.
  bool operates = false;
  for (const PartId id : part.parts) {
    const Part& inner = x.script.ast.parts[id];
    if (inner.kind == PartKind::kParameter && part.parts.size() > 1 &&
        x.script.ast.parameters[inner.parameter].op >=
            ParameterOp::kRemovePrefix)
      operates = true;
  }
  for (Pieces& pieces : *all) {
    bool nothing = false;
    bool filled = false;
    bool maybe = operates;
    for (const Piece& piece : pieces) {
      nothing = nothing || piece.kind == Piece::Kind::kNothing;
      filled = filled || piece.kind == Piece::Kind::kBreak;
      for (const Chunk& chunk : piece.value.chunks)
        (chunk.unknown && !chunk.digits ? maybe : filled) = true;
    }
    if (!nothing || filled) continue;
    if (maybe) {
      for (Piece& piece : pieces) piece.vanishes = true;
      continue;
    }
    pieces.resize(1);
    pieces[0] = {Piece::Kind::kNothing, Value{}, true, false, Span{}};
  }
}

// "${a[*]#p}${b[@]}": bash splits what the first joined.
bool MixesElements(const Expander& x, const Part& part) {
  bool all = false;
  bool joined = false;
  for (const PartId id : part.parts) {
    const Part& inner = x.script.ast.parts[id];
    if (inner.kind != PartKind::kParameter) continue;
    const Parameter& p = x.script.ast.parameters[inner.parameter];
    std::string which = p.name;
    if (p.has_subscript && p.subscript != kNone)
      for (const PartId sub : x.script.ast.words[p.subscript].parts)
        which = x.script.ast.parts[sub].text;
    if (which == "@" || p.indirect || p.at_names) all = true;
    if (which == "*" && (p.op != ParameterOp::kPlain || p.indirect))
      joined = true;
    if (p.op >= ParameterOp::kDefault && p.op <= ParameterOp::kAlternative &&
        p.operand != kNone) {
      // Nor closely into what an operand or a reference brings.
      const Span span = x.script.ast.words[p.operand].span;
      all = true;
      const std::string_view source = x.script.source;
      if (span.begin > source.size() ||
          source.substr(span.begin, span.size()).find('*') !=
              std::string_view::npos)
        joined = true;
    }
  }
  return all && joined;
}

// A `$` that expands nothing makes bash forget that something was expanded
// before it: the word is not split then, unless "$@" or the like is in it.
void KeepWhole(const Expander& x, const Word& word, Alternatives* all) {
  bool expanded = false;
  bool forgotten = false;
  bool elements = false;
  bool unclear = false;
  for (const PartId id : word.parts) {
    const Part& part = x.script.ast.parts[id];
    if (part.kind == PartKind::kLiteral) {
      if (part.text.find('$') != std::string::npos) forgotten = expanded;
      continue;
    }
    if (part.kind == PartKind::kCommand || part.kind == PartKind::kArithmetic) {
      expanded = true;
      forgotten = false;
    }
    if (part.kind != PartKind::kParameter) continue;
    expanded = true;
    forgotten = false;
    const Parameter& p = x.script.ast.parameters[part.parameter];
    // These split all the same.
    if ((p.name == "@" || p.name == "*") && p.op == ParameterOp::kPlain &&
        !p.indirect)
      elements = true;
    else if (p.name == "@" || p.name == "*" || p.has_subscript || p.indirect ||
             p.operand != kNone)
      unclear = true;
  }
  if (!forgotten || (elements && !unclear)) return;
  for (Pieces& pieces : *all)
    for (Piece& piece : pieces) {
      if (piece.split && unclear)
        piece.value = Value::Unknown(UnknownCode::kDynamicArgument, word.span);
      piece.split = piece.split && unclear;
    }
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
        all.push_back(head);
        all.back().insert(all.back().end(), tail.begin(), tail.end());
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
      split = split || piece.split || !piece.quoted || piece.vanishes ||
              piece.kind != Piece::Kind::kText;
      span = piece.span;
    }
  const Piece unknown = TextPiece(
      Value::Unknown(UnknownCode::kDynamicArgument, span), !split, split, span);
  for (Pieces& pieces : *a) pieces.push_back(unknown);
}

Alternatives ExpandPart(Expander& x, PartId id, bool quoted, bool assigning,
                        bool split_literals) {
  const Part& part = x.script.ast.parts[id];
  const bool splits = !quoted && !assigning;
  switch (part.kind) {
    case PartKind::kLiteral:
      return OnlyPiece(TextPiece(Value::Of(part.text), quoted,
                                 split_literals && splits, part.span));
    case PartKind::kEscaped:
    case PartKind::kSingleQuoted:
    case PartKind::kAnsiQuoted:
    case PartKind::kQuotedText:
      return OnlyPiece(TextPiece(Value::Of(part.text), true, false, part.span));
    case PartKind::kDoubleQuoted:
    case PartKind::kLocaleQuoted: {
      Alternatives all{{}};
      if (part.parts.empty())
        AppendAlternatives(
            &all, OnlyPiece(TextPiece(Value{}, true, false, part.span)));
      for (const PartId inner : part.parts)
        AppendAlternatives(&all, ExpandPart(x, inner, true, assigning, false));
      if (!assigning) {
        DropNothing(x, part, &all);
        if (part.parts.size() > 1 && MixesElements(x, part))
          for (Pieces& pieces : all)
            for (Piece& piece : pieces) piece.vanishes = true;
      }
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
                             : Value::Unknown(UnknownCode::kDynamicArgument,
                                              part.span, true);
        results = results.empty() ? Values{value} : Union(results, {value});
      }
      return FromValues(results, quoted, splits, part.span);
    }
    case PartKind::kProcess: {
      const Value path =
          x.host.Process(x.state, x.script, part.body,
                         part.text.empty() ? '<' : part.text[0], part.span);
      return OnlyPiece(TextPiece(path, true, false, part.span));
    }
    case PartKind::kExtendedGlob: {
      std::string open = part.text;
      if (!open.ends_with('(')) open += '(';
      Alternatives all{{TextPiece(Value::Of(open), false, false, part.span)}};
      for (size_t i = 0; i < part.words.size(); ++i) {
        if (i > 0)
          AppendAlternatives(&all, OnlyPiece(TextPiece(Value::Of("|"), false,
                                                       false, part.span)));
        WordPlace place;
        place.assigning = assigning;
        AppendAlternatives(
            &all,
            ExpandWordPieces(x, x.script.ast.words[part.words[i]], place));
      }
      AppendAlternatives(
          &all, OnlyPiece(TextPiece(Value::Of(")"), false, false, part.span)));
      return all;
    }
  }
  return OnlyPiece(
      TextPiece(Value::Unknown(UnknownCode::kUnmodelled, part.span), quoted,
                splits, part.span));
}

Alternatives ExpandWordPieces(Expander& x, const Word& word,
                              const WordPlace& place) {
  Alternatives all{{}};
  for (size_t i = 0; i < word.parts.size(); ++i) {
    const Part& part = x.script.ast.parts[word.parts[i]];
    if (part.kind == PartKind::kLiteral) {
      LiteralPlace literal;
      literal.at_start = i == 0;
      literal.last = i + 1 == word.parts.size();
      literal.after_equals =
          place.after_equals && i == 0 && IsAssignmentLike(part.text);
      literal.after_colon = place.after_colon;
      literal.split = place.split_literals && !place.assigning;
      AppendAlternatives(&all, ExpandLiteral(x, part.text, part.span, literal));
      continue;
    }
    AppendAlternatives(&all, ExpandPart(x, word.parts[i], false,
                                        place.assigning, place.split_literals));
  }
  if (!place.assigning) KeepWhole(x, word, &all);
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

std::vector<Fields> ExpandWordList(Expander& x,
                                   const std::vector<WordId>& words,
                                   bool assignment_like) {
  std::vector<Fields> all{{}};
  all[0].reserve(words.size());
  WordPlace place;
  place.after_equals = assignment_like;
  for (const WordId id : words) {
    const Word& word = x.script.ast.words[id];
    if (std::string plain; PlainText(x, word, &plain)) {
      Field field;
      field.value = Value::Of(std::move(plain));
      field.span = word.span;
      if (all.size() == 1)
        all[0].push_back(std::move(field));
      else
        AppendToAll(&all, {field});
      continue;
    }
    x.host.Spend(1);
    const bool braces =
        (x.state.brace_expansion || x.state.brace_unknown) && HasBrace(x, word);
    std::vector<std::vector<BraceAtom>> results;
    bool complete = true;
    size_t size = 0;
    if (braces) {
      const std::vector<BraceAtom> atoms = AtomsOf(x, word);
      size = atoms.size();
      complete =
          ExpandBraceAtoms(atoms, &results) && x.host.Spend(results.size());
    }
    // `$${a,b}`: bash takes `${` for what braces leave alone.
    for (size_t i = 0; braces && i + 1 < word.parts.size(); ++i) {
      const Part& part = x.script.ast.parts[word.parts[i]];
      const Part& next = x.script.ast.parts[word.parts[i + 1]];
      if (part.kind == PartKind::kParameter &&
          x.script.ast.parameters[part.parameter].name == "$" &&
          next.kind == PartKind::kLiteral && next.text.starts_with("{"))
        complete = false;
    }
    if (!complete) {
      Field field;
      field.value = Value::Unknown(UnknownCode::kLimit, word.span);
      field.splits = true;
      field.span = word.span;
      AppendToAll(&all, {field});
      continue;
    }
    // What is expanded loses its braces.
    const bool expands =
        results.size() > 1 || (results.size() == 1 && results[0].size() < size);
    if (!expands) {
      Cross(&all, Built(x.state, ExpandWordPieces(x, word, place), word.span),
            word.span);
    } else if (!x.state.brace_unknown) {
      for (const auto& atoms : results)
        Cross(&all, Built(x.state, ExpandAtoms(x, atoms, word.span), word.span),
              word.span);
    } else {
      // Both readings, each with all its results.
      std::vector<Fields> expanded{{}};
      for (const auto& atoms : results)
        Cross(&expanded,
              Built(x.state, ExpandAtoms(x, atoms, word.span), word.span),
              word.span);
      for (Fields& fields :
           Built(x.state, ExpandWordPieces(x, word, place), word.span))
        expanded.push_back(std::move(fields));
      Cross(&all, std::move(expanded), word.span);
    }
  }
  if (x.state.failglob)
    for (const Fields& fields : all)
      for (const Field& field : fields)
        if (field.glob) {
          x.host.Fail(x.state);
          return all;
        }
  return all;
}

std::vector<Fields> ExpandWords(Expander& x, const std::vector<WordId>& words) {
  return ExpandWordList(x, words, true);
}

Values ExpandToValue(Expander& x, WordId id, bool tilde_after_colon) {
  if (id == kNone) return {Value{}};
  const Word& word = x.script.ast.words[id];
  if (std::string plain; PlainText(x, word, &plain))
    return {Value::Of(std::move(plain))};
  WordPlace place;
  place.assigning = true;
  place.after_colon = tilde_after_colon;
  return Joined(ExpandWordPieces(x, word, place));
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
  WordPlace place;
  place.assigning = true;
  Values patterns;
  for (const Pieces& pieces :
       ExpandWordPieces(x, x.script.ast.words[id], place)) {
    Value pattern;
    for (const Piece& piece : pieces) {
      for (const Chunk& chunk : piece.value.chunks) {
        if (chunk.unknown) {
          Value unknown;
          unknown.chunks.push_back(chunk);
          pattern.Append(unknown);
        } else if (piece.quoted) {
          pattern.Append(EscapePattern(chunk.text));
        } else {
          pattern.Append(std::string_view(chunk.text));
        }
      }
    }
    patterns = patterns.empty() ? Values{pattern} : Union(patterns, {pattern});
  }
  return patterns;
}

}  // namespace gate::parser
