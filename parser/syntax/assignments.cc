// name=value, name[subscript]+=value, name=(…).
#include <utility>

#include "parser/syntax/lexer.h"

namespace gate::parser::reading {

// Takes apart a token of an assignment's form; an element of name=(…) has no
// name. False when a limit was met.
bool Reader::BuildAssignment(const Token& token, bool element,
                             Assignment* out) {
  Sites sites{token.sites, token.sites_end};
  const uint32_t end = token.end;
  const uint32_t equals = FindEquals(token.begin, end, sites, element);
  if (equals == kNone) return false;
  out->span = Map(token.begin, end);
  uint32_t p = SkipJoins(token.begin, end);
  while (p < end && IsNameChar(text_[p])) {
    out->name += text_[p];
    p = SkipJoins(p + 1, end);
  }
  if (text_[p] == '[') {
    const uint32_t close = SkipSubscript(p, end, sites);
    out->subscript = BuildRange(p + 1, close, Mode::kWord, sites);
    p = SkipJoins(close + 1, end);
  }
  out->append = text_[p] == '+';
  const uint32_t value = SkipJoins(equals + 1, end);
  while (sites.next < sites.end && shared_.sites[sites.next].begin < value) {
    ++sites.next;
  }
  if (sites.next < sites.end && shared_.sites[sites.next].begin == value &&
      shared_.sites[sites.next].kind == SiteKind::kArray) {
    const Site& site = shared_.sites[sites.next];
    if (site.end < end) {
      Doubt(token.begin, end, "text after the elements of an array");
    }
    out->is_array = true;
    out->elements = shared_.arrays[site.body];
    return true;
  }
  if (value < end) {
    out->value = BuildRange(value, end, Mode::kWord, sites);
  }
  return true;
}

// The word that an assignment is where it stands as an argument.
WordId Reader::BuildDeclaration(const Token& token,
                                const Assignment& assignment) {
  if (!assignment.is_array) return BuildWord(token);
  const WordId word = AddWord(token.begin, token.end);
  if (word == kNone) return kNone;
  std::vector<PartId> parts;
  const uint32_t begin = token.begin;
  auto literal = [&](std::string_view text) {
    const PartId part = AddPart(PartKind::kLiteral, begin, begin);
    if (part == kNone) return;
    shared_.ast.parts[part].text = text;
    parts.push_back(part);
  };
  auto take = [&](WordId id) {
    if (id == kNone) return;
    const Word& from = shared_.ast.words[id];
    parts.insert(parts.end(), from.parts.begin(), from.parts.end());
  };
  auto subscript = [&](WordId id) {
    if (id == kNone) return;
    literal("[");
    take(id);
    literal("]");
  };
  literal(assignment.name);
  subscript(assignment.subscript);
  literal(assignment.append ? "+=(" : "=(");
  bool first = true;
  for (const ArrayElement& element : assignment.elements) {
    if (!first) literal(" ");
    first = false;
    subscript(element.subscript);
    if (element.subscript != kNone) literal(element.append ? "+=" : "=");
    take(element.value);
  }
  literal(")");
  shared_.ast.words[word].parts = std::move(parts);
  return word;
}

}  // namespace gate::parser::reading
