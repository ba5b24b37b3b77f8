// [[ … ]]: bash reads it by a small parser of its own.

#include "parser/syntax/lexer.h"

namespace gate::parser::reading {
namespace {

bool IsUnary(std::string_view text) {
  return text.size() == 2 && text[0] == '-' &&
         std::string_view("abcdefghknoprstuvwxzGLOSNR").find(text[1]) !=
             std::string_view::npos;
}

bool IsBinary(std::string_view text) {
  constexpr std::string_view kOperators[] = {"=",   "==",  "!=",  "-nt", "-ot",
                                             "-lt", "-gt", "-eq", "-ef", "-ne",
                                             "-ge", "-le", "<",   ">"};
  for (std::string_view name : kOperators) {
    if (text == name) return true;
  }
  return false;
}

}  // namespace

// The lexer keeps the token before `[[` as the last one, as bash does.
Tok Reader::ConditionToken() {
  token_ = Token();
  shared_.sites.resize(site_base_);
  token_.sites = site_base_;
  token_.kind = LexRaw();
  if (failed_ || shared_.too_large) token_.kind = Tok::kError;
  token_.sites_end = static_cast<uint32_t>(shared_.sites.size());
  return token_.kind;
}

Tok Reader::ConditionSkip() {
  Tok tok = ConditionToken();
  while (tok == Tok::kNewline) tok = ConditionToken();
  return tok;
}

bool Reader::ConditionError(const char* message) {
  if (failed_ || shared_.too_large) return false;
  if (token_.kind == Tok::kEof) {
    return Fail(end_, end_, "unexpected end while looking for `]]'");
  }
  return Fail(token_.begin, token_.end, message);
}

void Reader::ConditionWord(NodeId node, bool is_operator) {
  WordId word = kNone;
  if (token_.kind == Tok::kWord) {
    word = BuildWord(token_);
  } else {
    word = AddWord(token_.begin, token_.end);
    const PartId part = AddPart(PartKind::kLiteral, token_.begin, token_.end);
    if (word == kNone || part == kNone) return;
    AppendText(token_.begin, token_.end, &shared_.ast.parts[part].text);
    shared_.ast.words[word].parts.push_back(part);
  }
  NodeAt(node).words.push_back(word);
  NodeAt(node).operators.push_back(is_operator);
}

bool Reader::ConditionList(NodeId node, Tok* next) {
  if (!Enter()) return false;
  bool good = true;
  for (;;) {
    good = ConditionTerm(node, next);
    if (!good || (*next != Tok::kAndAnd && *next != Tok::kOrOr)) break;
    ConditionWord(node, true);
  }
  Leave();
  return good;
}

// One term; `next` receives the token after it, which is the current one.
bool Reader::ConditionTerm(NodeId node, Tok* next) {
  std::string store;
  Tok tok = ConditionSkip();
  while (tok == Tok::kWord && TokenText(token_, &store) == "!") {
    ConditionWord(node, true);
    store.clear();
    tok = ConditionSkip();
  }
  if (tok == Tok::kOpen) {
    ConditionWord(node, true);
    if (!ConditionList(node, next)) return false;
    if (*next != Tok::kClose) return ConditionError("expected `)'");
    ConditionWord(node, true);
    *next = ConditionSkip();
    return true;
  }
  if (tok != Tok::kWord) {
    return ConditionError("unexpected token in a conditional command");
  }
  store.clear();
  if (IsUnary(TokenText(token_, &store))) {
    ConditionWord(node, true);
    if (ConditionToken() != Tok::kWord) {
      return ConditionError("unexpected argument of a unary operator");
    }
    ConditionWord(node, false);
    *next = ConditionSkip();
    return true;
  }
  ConditionWord(node, false);
  tok = ConditionToken();
  if (tok == Tok::kConditionEnd || tok == Tok::kAndAnd || tok == Tok::kOrOr ||
      tok == Tok::kClose) {
    *next = tok;
    return true;
  }
  store.clear();
  const std::string text(TokenText(token_, &store));
  bool pattern = false;
  bool regex = false;
  if (tok == Tok::kWord && IsBinary(text)) {
    pattern = text == "=" || text == "==" || text == "!=";
  } else if (tok == Tok::kWord && text == "=~") {
    regex = true;
  } else if (tok != Tok::kLess && tok != Tok::kGreater) {
    return ConditionError("expected a binary operator");
  }
  ConditionWord(node, true);
  const bool extglob = state_.extglob;
  if (pattern) state_.extglob = true;
  state_.regex = regex;
  tok = ConditionToken();
  state_.extglob = extglob;
  state_.regex = false;
  if (tok != Tok::kWord) {
    return ConditionError("unexpected argument of a binary operator");
  }
  ConditionWord(node, false);
  *next = ConditionSkip();
  return true;
}

bool Reader::ParseConditional(NodeId node) {
  Accept();
  state_.before = state_.last;
  state_.last = Tok::kConditionStart;
  state_.condition = true;
  Tok next = Tok::kError;
  if (!ConditionList(node, &next)) return false;
  if (next != Tok::kConditionEnd) {
    return ConditionError("unexpected token in a conditional command");
  }
  state_.condition = false;
  state_.last = Tok::kConditional;
  state_.current = Tok::kConditionEnd;
  have_ = true;
  Accept();
  return true;
}

}  // namespace gate::parser::reading
