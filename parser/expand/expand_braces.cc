// Brace expansion of words, and what it makes of the parameters beside it.

#include "parser/expand/internal.h"

namespace gate::parser {
namespace {

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

// Brace expansion puts texts together before parameters are read: $x{a,b} is
// $xa $xb, {$,}HOME has $HOME. The parameter that begins at atoms[*at], which
// is `$` or an expansion without braces; null when there is none such.
std::optional<Parameter> Regrouped(Expander& x,
                                   const std::vector<BraceAtom>& atoms,
                                   size_t* at) {
  const auto take_name = [&](size_t from) {
    std::string name;
    while (from < atoms.size() && atoms[from].part == kNone &&
           IsNameCharacter(atoms[from].c))
      name += atoms[from++].c;
    return name;
  };
  const BraceAtom& atom = atoms[*at];
  if (atom.part != kNone) {
    const Part& part = x.script.ast.parts[atom.part];
    if (part.kind != PartKind::kParameter) return std::nullopt;
    const Parameter& parameter = x.script.ast.parameters[part.parameter];
    const std::string& source = x.script.source;
    const bool bare = part.span.begin + 1 < source.size() &&
                      source[part.span.begin + 1] != '{';
    const std::string more = take_name(*at + 1);
    if (!bare || more.empty() || !IsName(parameter.name)) return std::nullopt;
    Parameter longer = parameter;
    longer.name += more;
    *at += 1 + more.size();
    return longer;
  }
  if (atom.c != '$' || *at + 1 >= atoms.size()) return std::nullopt;
  Parameter made;
  made.name = take_name(*at + 1);
  if (!made.name.empty() && made.name[0] >= '0' && made.name[0] <= '9')
    made.name.resize(1);
  const BraceAtom& next = atoms[*at + 1];
  if (made.name.empty() && next.part == kNone &&
      std::string_view("@*#?-$!").find(next.c) != std::string_view::npos)
    made.name = std::string(1, next.c);
  if (!made.name.empty()) {
    *at += 1 + made.name.size();
    return made;
  }
  if (next.part != kNone || next.c == '{' || next.c == '[')
    x.host.Note(UnknownCode::kUnmodelled, Span{}, "a `$` made by braces");
  return std::nullopt;
}

}  // namespace

bool HasBrace(const Expander& x, const Word& word) {
  for (const PartId id : word.parts) {
    const Part& part = x.script.ast.parts[id];
    if (part.kind == PartKind::kLiteral &&
        part.text.find('{') != std::string::npos)
      return true;
  }
  return false;
}

std::vector<BraceAtom> AtomsOf(const Expander& x, const Word& word) {
  std::vector<BraceAtom> atoms;
  for (const PartId id : word.parts) {
    const Part& part = x.script.ast.parts[id];
    if (part.kind != PartKind::kLiteral) {
      atoms.push_back({0, id});
      continue;
    }
    for (const char c : part.text) atoms.push_back({c, kNone});
  }
  return atoms;
}

// One result of brace expansion. Names before `=` do not make it an
// assignment any more, so that only a leading tilde counts.
Alternatives ExpandAtoms(Expander& x, const std::vector<BraceAtom>& atoms,
                         Span span) {
  Alternatives all{{}};
  std::string literal;
  bool lone = false;  // a `$` that begins nothing
  size_t i = 0;
  while (i < atoms.size()) {
    if (const auto made = Regrouped(x, atoms, &i)) {
      AppendAlternatives(&all, ExpandParameter(x, *made, false, false, span));
      continue;
    }
    if (atoms[i].part != kNone) {
      AppendAlternatives(&all,
                         ExpandPart(x, atoms[i].part, false, false, false));
      ++i;
      continue;
    }
    if (atoms[i].c == '\\') {
      // {Z..a} makes a backslash, which quotes what follows it.
      const bool one = i + 1 < atoms.size() && atoms[i + 1].part == kNone;
      AppendAlternatives(
          &all, OnlyPiece(TextPiece(
                    Value::Of(one ? std::string(1, atoms[i + 1].c) : ""), true,
                    false, span)));
      i += one ? 2 : 1;
      continue;
    }
    LiteralPlace place;
    place.at_start = i == 0;
    literal.clear();
    do {
      literal += atoms[i++].c;
    } while (i < atoms.size() && atoms[i].part == kNone && atoms[i].c != '\\' &&
             atoms[i].c != '$');
    lone = lone || literal.find('$') != std::string::npos;
    place.last = i == atoms.size();
    AppendAlternatives(&all, ExpandLiteral(x, literal, span, place));
  }
  // As after a `$` that expands nothing: whether it splits is not followed.
  if (lone)
    for (Pieces& pieces : all)
      for (Piece& piece : pieces)
        if (piece.split)
          piece.value = Value::Unknown(UnknownCode::kDynamicArgument, span);
  return all;
}

bool BracesExpand(Expander& x, WordId id) {
  const Word& word = x.script.ast.words[id];
  if (!HasBrace(x, word) ||
      (!x.state.brace_expansion && !x.state.brace_unknown))
    return false;
  const std::vector<BraceAtom> atoms = AtomsOf(x, word);
  std::vector<std::vector<BraceAtom>> results;
  return !ExpandBraceAtoms(atoms, &results) || results.size() != 1 ||
         results[0].size() < atoms.size();
}

}  // namespace gate::parser
