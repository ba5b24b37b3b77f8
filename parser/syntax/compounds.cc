// Compound commands: loops, case, if, functions, coprocesses.
#include <utility>

#include "parser/syntax/lexer.h"

namespace gate::parser::reading {

// Without the redirections after it.
NodeId Reader::ParseShellCommand() {
  if (!Enter()) return kNone;
  const Tok tok = Peek();
  const NodeId node = AddNode(NodeKind::kGroup, token_.begin);
  bool good = node != kNone;
  if (good) {
    Node& command = NodeAt(node);
    switch (tok) {
      case Tok::kFor:
        command.kind = NodeKind::kFor;
        good = ParseLoop(node);
        break;
      case Tok::kSelect:
        command.kind = NodeKind::kSelect;
        good = ParseLoop(node);
        break;
      case Tok::kWhile:
      case Tok::kUntil:
        command.kind = tok == Tok::kWhile ? NodeKind::kWhile : NodeKind::kUntil;
        Accept();
        good = AddBody(node, Tok::kDo) && AddBody(node, Tok::kDone);
        break;
      case Tok::kIf:
        command.kind = NodeKind::kIf;
        good = ParseIf(node);
        break;
      case Tok::kCase:
        command.kind = NodeKind::kCase;
        good = ParseCase(node);
        break;
      case Tok::kOpen:
        command.kind = NodeKind::kSubshell;
        good = ParseSubshell(node);
        break;
      case Tok::kOpenBrace:
        Accept();
        good = AddBody(node, Tok::kCloseBrace);
        break;
      case Tok::kArithmetic: {
        command.kind = NodeKind::kArithmetic;
        const WordId word =
            BuildRange(token_.inner.begin, token_.inner.end, Mode::kArithmetic,
                       {token_.sites, token_.sites_end});
        NodeAt(node).words.push_back(word);
        Accept();
        break;
      }
      case Tok::kConditionStart:
        command.kind = NodeKind::kConditional;
        good = ParseConditional(node);
        break;
      default:
        good = Unexpected() != kNone;
        break;
    }
  }
  Leave();
  if (!good || failed_ || shared_.too_large) return kNone;
  Close(node);
  return node;
}

bool Reader::ParseSubshell(NodeId node) {
  const uint32_t open = token_.begin;
  const bool nested = open > 0 && text_[open - 1] == '(';
  Accept();
  if (!AddBody(node, Tok::kClose)) return false;
  if (nested) {
    Suspicious(SuspectKind::kParenthesis, open, open + 1);
    Suspicious(SuspectKind::kParenthesis, consumed_ - 1, consumed_);
  }
  return true;
}

// for and select.
bool Reader::ParseLoop(NodeId node) {
  const bool is_for = token_.kind == Tok::kFor;
  Accept();
  Tok tok = Peek();
  if (is_for && tok == Tok::kArithmeticFor) return ParseArithmeticFor(node);
  if (tok != Tok::kWord) {
    Unexpected();
    return false;
  }
  std::string store;
  NodeAt(node).name = TokenText(token_, &store);
  Accept();
  if (Peek() == Tok::kSemicolon) {
    Accept();
    SkipNewlines();
    return ParseLoopBody(node);
  }
  SkipNewlines();
  if (Peek() != Tok::kIn) {
    Suspicious(SuspectKind::kCloser, token_.begin - 1, token_.begin);
    return ParseLoopBody(node);
  }
  Accept();
  NodeAt(node).has_in = true;
  while ((tok = Peek()) == Tok::kWord) {
    const WordId word = BuildWord(token_);
    NodeAt(node).words.push_back(word);
    Accept();
  }
  if (tok != Tok::kNewline && tok != Tok::kSemicolon && tok != Tok::kEof) {
    Unexpected();
    return false;
  }
  Accept();
  SkipNewlines();
  return ParseLoopBody(node);
}

bool Reader::ParseLoopBody(NodeId node) {
  const Tok tok = Peek();
  if (tok == Tok::kDo) {
    Accept();
    return AddBody(node, Tok::kDone);
  }
  if (tok == Tok::kOpenBrace) {
    Accept();
    return AddBody(node, Tok::kCloseBrace);
  }
  Unexpected();
  return false;
}

bool Reader::ParseArithmeticFor(NodeId node) {
  NodeAt(node).kind = NodeKind::kArithmeticFor;
  const Token head = token_;
  const Sites sites{head.sites, head.sites_end};
  uint32_t p = head.inner.begin;
  const uint32_t end = head.inner.end;
  int count = 0;
  for (;;) {
    while (p < end && (text_[p] == ' ' || text_[p] == '\t')) ++p;
    const uint32_t semicolon = FindDelimiter(p, end, ';', sites, false);
    if (++count <= 3) {
      const WordId word = BuildRange(p, semicolon, Mode::kArithmetic, sites);
      NodeAt(node).words.push_back(word);
    }
    if (semicolon >= end) break;
    p = semicolon + 1;
  }
  Accept();
  if (Peek() == Tok::kSemicolon || token_.kind == Tok::kNewline) {
    Accept();
    SkipNewlines();
  }
  NodeAt(node).has_in = true;
  const bool good = ParseLoopBody(node);
  NodeAt(node).has_in = false;
  if (good && count != 3) {
    return Fail(head.begin, head.end,
                "an arithmetic for needs three expressions");
  }
  return good;
}

bool Reader::ParseCase(NodeId node) {
  Accept();
  if (Peek() != Tok::kWord) {
    Unexpected();
    return false;
  }
  const WordId subject = BuildWord(token_);
  NodeAt(node).words.push_back(subject);
  Accept();
  SkipNewlines();
  if (!Expect(Tok::kIn)) return false;
  bool last = false;
  while (!last) {
    SkipNewlines();
    if (Peek() == Tok::kEsac) break;
    if (!ParseClause(node, &last)) return false;
  }
  return Expect(Tok::kEsac);
}

// One clause up to its ;; — `last` when it has none.
bool Reader::ParseClause(NodeId node, bool* last) {
  if (Peek() == Tok::kOpen) Accept();
  Clause clause;
  for (;;) {
    if (Peek() != Tok::kWord) {
      Unexpected();
      return false;
    }
    clause.patterns.push_back(BuildWord(token_));
    Accept();
    if (Peek() != Tok::kPipe) break;
    Accept();
  }
  if (!Expect(Tok::kClose)) return false;
  SkipNewlines();
  auto ends = [](Tok tok) {
    return tok == Tok::kSemiSemi || tok == Tok::kSemiAnd ||
           tok == Tok::kSemiSemiAnd || tok == Tok::kEsac;
  };
  if (!ends(Peek())) {
    clause.body = ParseCompoundList();
    if (clause.body == kNone) return false;
  }
  const Tok end = Peek();
  if (!ends(end)) {
    Unexpected();
    return false;
  }
  if (end == Tok::kEsac) {
    *last = true;
  } else {
    clause.end = end == Tok::kSemiSemi  ? ClauseEnd::kBreak
                 : end == Tok::kSemiAnd ? ClauseEnd::kFallThrough
                                        : ClauseEnd::kContinue;
    Accept();
  }
  NodeAt(node).clauses.push_back(std::move(clause));
  return true;
}

bool Reader::ParseIf(NodeId node) {
  do {
    Accept();  // if, elif
    if (!AddBody(node, Tok::kThen)) return false;
    const NodeId body = ParseCompoundList();
    if (body == kNone) return false;
    AddChild(node, body);
  } while (Peek() == Tok::kElif);
  if (Peek() == Tok::kElse) {
    Accept();
    const NodeId body = ParseCompoundList();
    if (body == kNone) return false;
    AddChild(node, body);
  }
  return Expect(Tok::kFi);
}

// function NAME [()] body
NodeId Reader::ParseFunction() {
  const NodeId node = AddNode(NodeKind::kFunction, token_.begin);
  if (node == kNone) return kNone;
  Accept();
  if (Peek() != Tok::kWord) return Unexpected();
  std::string store;
  NodeAt(node).name = TokenText(token_, &store);
  Accept();
  const Tok tok = Peek();
  const uint32_t begin = token_.begin;
  if (tok == Tok::kNewline) {
    SkipNewlines();
  } else if (tok == Tok::kOpen) {
    Accept();
    if (Peek() == Tok::kClose) {
      Accept();
      SkipNewlines();
    } else {
      // The body is a subshell.
      const NodeId body = AddNode(NodeKind::kSubshell, begin);
      if (body == kNone || !AddBody(body, Tok::kClose)) return kNone;
      if (!ParseRedirects(body)) return kNone;
      AddChild(node, body);
      Close(node);
      return node;
    }
  }
  return ParseFunctionBody(node) ? node : kNone;
}

bool Reader::ParseFunctionBody(NodeId node) {
  if (!StartsShellCommand(Peek())) {
    Unexpected();
    return false;
  }
  const NodeId body = ParseShellCommand();
  if (body == kNone || !ParseRedirects(body)) return false;
  AddChild(node, body);
  Close(node);
  return true;
}

NodeId Reader::ParseCoproc() {
  const NodeId node = AddNode(NodeKind::kCoproc, token_.begin);
  if (node == kNone) return kNone;
  Suspicious(SuspectKind::kKeyword, token_.begin, token_.end);
  Accept();
  NodeId body = kNone;
  const Tok tok = Peek();
  if (tok == Tok::kWord) {
    body = AddNode(NodeKind::kSimple, token_.begin);
    if (body == kNone) return kNone;
    std::string store;
    std::string name(TokenText(token_, &store));
    const Token first = token_;
    AddSimpleWord(body);
    Accept();
    if (StartsShellCommand(Peek())) {
      Suspicious(SuspectKind::kKeyword, first.begin, first.end);
      NodeAt(node).name = std::move(name);
      body = ParseShellCommand();
      if (body == kNone || !ParseRedirects(body)) return kNone;
    } else if (!ParseSimple(body)) {
      return kNone;
    }
  } else if (StartsShellCommand(tok)) {
    body = ParseShellCommand();
    if (body == kNone || !ParseRedirects(body)) return kNone;
  } else if (tok == Tok::kAssignment || IsRedirect(tok)) {
    body = AddNode(NodeKind::kSimple, token_.begin);
    if (body == kNone || !ParseSimple(body)) return kNone;
  } else {
    return Unexpected();
  }
  AddChild(node, body);
  Close(node);
  return node;
}

}  // namespace gate::parser::reading
