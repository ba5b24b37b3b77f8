// The grammar of bash: lists, pipelines, simple commands, redirections.
//
// Recursive descent with one token of lookahead, which is read when bash's own
// parser (an LALR one) would read it, because the lexer depends on what has
// been parsed so far.
#include <algorithm>
#include <utility>

#include "parser/syntax/lexer.h"

namespace gate::parser::reading {
namespace {

constexpr std::string_view kDeclarations[] = {"declare", "typeset", "local",
                                              "export", "readonly"};

bool IsDeclaration(const Ast& ast, const Node& command) {
  if (command.words.empty()) return false;
  const Word& first = ast.words[command.words[0]];
  if (first.parts.size() != 1) return false;
  const Part& part = ast.parts[first.parts[0]];
  return part.kind == PartKind::kLiteral &&
         std::find(std::begin(kDeclarations), std::end(kDeclarations),
                   part.text) != std::end(kDeclarations);
}

}  // namespace

bool Reader::IsRedirect(Tok tok) {
  switch (tok) {
    case Tok::kLess:
    case Tok::kGreater:
    case Tok::kAppend:
    case Tok::kHere:
    case Tok::kHereDash:
    case Tok::kHereString:
    case Tok::kLessAnd:
    case Tok::kGreaterAnd:
    case Tok::kLessGreater:
    case Tok::kClobber:
    case Tok::kBothWrite:
    case Tok::kBothAppend:
    case Tok::kRedirectName:
    case Tok::kNumber:
      return true;
    default:
      return false;
  }
}

bool Reader::StartsShellCommand(Tok tok) {
  switch (tok) {
    case Tok::kFor:
    case Tok::kCase:
    case Tok::kWhile:
    case Tok::kUntil:
    case Tok::kSelect:
    case Tok::kIf:
    case Tok::kOpen:
    case Tok::kOpenBrace:
    case Tok::kArithmetic:
    case Tok::kConditionStart:
      return true;
    default:
      return false;
  }
}

bool Reader::StartsCommand(Tok tok) {
  return tok == Tok::kWord || tok == Tok::kAssignment || tok == Tok::kBang ||
         tok == Tok::kTime || tok == Tok::kFunction || tok == Tok::kCoproc ||
         IsRedirect(tok) || StartsShellCommand(tok);
}

void Reader::SkipNewlines() {
  while (Peek() == Tok::kNewline) Accept();
}

bool Reader::Expect(Tok tok) {
  if (Peek() != tok) {
    Unexpected();
    return false;
  }
  Accept();
  return true;
}

NodeId Reader::Unexpected() {
  if (failed_ || shared_.too_large) return kNone;
  if (token_.kind == Tok::kEof) {
    Fail(end_, end_, "unexpected end of the text");
  } else if (token_.kind == Tok::kNewline) {
    Fail(token_.begin, token_.end, "unexpected end of the line");
  } else {
    const uint32_t end = std::min(token_.end, end_);
    const uint32_t begin = std::min(token_.begin, end);
    const size_t size = std::min<size_t>(end - begin, 40);
    Fail(begin, end,
         "unexpected `" + std::string(text_.substr(begin, size)) + "'");
  }
  return kNone;
}

NodeId Reader::ReadScript() {
  NodeId list = kNone;
  for (;;) {
    const Tok tok = Peek();
    if (tok == Tok::kNewline) {
      Accept();
      continue;
    }
    if (tok == Tok::kEof || tok == Tok::kError) break;
    if (list == kNone) {
      list = AddNode(NodeKind::kList, token_.begin);
      if (list == kNone) break;
    }
    const size_t before = NodeAt(list).children.size();
    bool good = ParseListItems(list, false);
    if (good && Peek() != Tok::kNewline && Peek() != Tok::kEof) {
      Unexpected();
      good = false;
    }
    if (!good || failed_ || shared_.too_large) {
      // bash runs a line when it has read the whole of it.
      NodeAt(list).children.resize(before);
      NodeAt(list).asynchronous.resize(before);
      if (before == 0) list = kNone;
      break;
    }
    Close(list);
    if (token_.kind == Tok::kNewline && state_.last != Tok::kSemicolon &&
        state_.last != Tok::kAmpersand && token_.end > token_.begin) {
      Suspicious(SuspectKind::kSeparator, token_.end - 1, token_.end);
    }
  }
  return list;
}

NodeId Reader::ReadSubstitution() {
  SkipNewlines();
  if (Peek() == Tok::kClose) {
    Accept();
    return kNone;
  }
  if (token_.kind == Tok::kError) return kNone;
  const NodeId list = ParseCompoundList();
  if (list == kNone) return kNone;
  if (Peek() != Tok::kClose) {
    if (token_.kind == Tok::kEof) {
      Fail(end_, end_, "unexpected end while looking for a matching `)'");
      return kNone;
    }
    return Unexpected();
  }
  Accept();
  return list;
}

// Adds commands to a list up to where it ends; the token after it is not
// taken. A compound list goes over lines.
bool Reader::ParseListItems(NodeId list, bool compound) {
  for (;;) {
    const NodeId item = ParseAndOr();
    if (item == kNone) return false;
    AddChild(list, item);
    NodeAt(list).asynchronous.push_back(false);
    const Tok separator = Peek();
    if (separator != Tok::kSemicolon && separator != Tok::kAmpersand &&
        !(compound && separator == Tok::kNewline)) {
      if (compound && separator != Tok::kClose && token_.begin > begin_ &&
          (ClassOf(text_[token_.begin - 1]) & kBlankClass) != 0) {
        Suspicious(SuspectKind::kCloser, token_.begin - 1, token_.begin);
      }
      return true;
    }
    const uint32_t newline = separator == Tok::kNewline ? token_.end : 0;
    if (separator == Tok::kAmpersand) NodeAt(list).asynchronous.back() = true;
    Accept();
    if (compound) SkipNewlines();
    const Tok next = Peek();
    if (StartsCommand(next)) {
      if (newline > 0) {
        Suspicious(SuspectKind::kSeparator, newline - 1, newline);
      }
      continue;
    }
    if (compound || next == Tok::kNewline || next == Tok::kEof) return true;
    Unexpected();
    return false;
  }
}

NodeId Reader::ParseCompoundList() {
  SkipNewlines();
  if (!Enter()) return kNone;
  NodeId list = kNone;
  if (StartsCommand(Peek())) {
    list = AddNode(NodeKind::kList, token_.begin);
    if (list != kNone) {
      if (ParseListItems(list, true)) {
        Close(list);
      } else {
        list = kNone;
      }
    }
  } else {
    Unexpected();
  }
  Leave();
  return list;
}

bool Reader::AddBody(NodeId node, Tok end) {
  const NodeId body = ParseCompoundList();
  if (body == kNone || !Expect(end)) return false;
  AddChild(node, body);
  return true;
}

NodeId Reader::ParseAndOr() {
  NodeId left = ParsePipelineCommand();
  int chain = shared_.depth;
  while (left != kNone) {
    const Tok tok = Peek();
    if (tok != Tok::kAndAnd && tok != Tok::kOrOr) break;
    // Chains nest to the left, and those who walk the tree recurse.
    if (++chain > kMaxDepth) {
      TooLarge("more than 200 commands joined by && and ||");
      return kNone;
    }
    Accept();
    SkipNewlines();
    const NodeId node =
        AddNode(tok == Tok::kAndAnd ? NodeKind::kAnd : NodeKind::kOr, 0);
    if (node == kNone) return kNone;
    NodeAt(node).span = NodeAt(left).span;
    const NodeId right = ParsePipelineCommand();
    if (right == kNone) return kNone;
    AddChild(node, left);
    AddChild(node, right);
    Close(node);
    left = node;
  }
  return left;
}

NodeId Reader::ParsePipelineCommand() {
  Tok tok = Peek();
  const uint32_t begin = token_.begin;
  bool negated = false;
  bool timed = false;
  while (tok == Tok::kBang || tok == Tok::kTime) {
    Suspicious(SuspectKind::kKeyword, token_.begin, token_.end);
    Accept();
    if (tok == Tok::kBang) {
      negated = !negated;
    } else {
      timed = true;
      for (Tok option : {Tok::kTimeOption, Tok::kTimeEnd}) {
        if (Peek() != option) continue;
        Suspicious(SuspectKind::kKeyword, token_.begin, token_.end);
        Accept();
      }
    }
    tok = Peek();
    if (tok == Tok::kNewline || tok == Tok::kSemicolon || tok == Tok::kEof) {
      const NodeId node = AddNode(NodeKind::kPipeline, begin);
      const NodeId empty = AddNode(NodeKind::kSimple, begin);
      if (node == kNone || empty == kNone) return kNone;
      AddChild(node, empty);
      NodeAt(node).pipe_stderr.push_back(false);
      NodeAt(node).negated = negated;
      NodeAt(node).timed = timed;
      Close(empty);
      Close(node);
      return node;
    }
  }
  return ParsePipeline(begin, negated, timed);
}

NodeId Reader::ParsePipeline(uint32_t begin, bool negated, bool timed) {
  NodeId command = ParseCommand();
  if (command == kNone) return kNone;
  Tok tok = Peek();
  const bool piped = tok == Tok::kPipe || tok == Tok::kPipeBoth;
  if (!piped && !negated && !timed) return command;
  const NodeId node = AddNode(NodeKind::kPipeline, begin);
  if (node == kNone) return kNone;
  NodeAt(node).negated = negated;
  NodeAt(node).timed = timed;
  for (;;) {
    AddChild(node, command);
    NodeAt(node).pipe_stderr.push_back(tok == Tok::kPipeBoth);
    if (tok != Tok::kPipe && tok != Tok::kPipeBoth) break;
    Accept();
    SkipNewlines();
    command = ParseCommand();
    if (command == kNone) return kNone;
    tok = Peek();
  }
  Close(node);
  return node;
}

NodeId Reader::ParseCommand() {
  const Tok tok = Peek();
  if (tok == Tok::kWord || tok == Tok::kAssignment || IsRedirect(tok)) {
    return ParseSimpleOrFunction();
  }
  if (StartsShellCommand(tok)) {
    const NodeId node = ParseShellCommand();
    if (node == kNone || !ParseRedirects(node)) return kNone;
    return node;
  }
  if (tok != Tok::kFunction && tok != Tok::kCoproc) return Unexpected();
  if (!Enter()) return kNone;
  const NodeId node = tok == Tok::kFunction ? ParseFunction() : ParseCoproc();
  Leave();
  return node;
}

NodeId Reader::ParseSimpleOrFunction() {
  const NodeId node = AddNode(NodeKind::kSimple, token_.begin);
  if (node == kNone) return kNone;
  if (token_.kind == Tok::kWord && !token_.equals) {
    std::string store;
    const std::string name(TokenText(token_, &store));
    AddSimpleWord(node);
    Accept();
    if (Peek() == Tok::kOpen) {
      Accept();
      if (!Expect(Tok::kClose)) return kNone;
      SkipNewlines();
      Node& function = NodeAt(node);
      function.kind = NodeKind::kFunction;
      function.words.clear();
      function.name = name;
      if (!Enter()) return kNone;
      const bool good = ParseFunctionBody(node);
      Leave();
      return good ? node : kNone;
    }
  }
  return ParseSimple(node) ? node : kNone;
}

// Adds the current token, a word, to a simple command.
void Reader::AddSimpleWord(NodeId node) {
  if (token_.equals && IsDeclaration(shared_.ast, NodeAt(node))) {
    Assignment assignment;
    if (!BuildAssignment(token_, false, &assignment)) return;
    const WordId word = BuildDeclaration(token_, assignment);
    Node& command = NodeAt(node);
    command.declared.resize(command.words.size(), kNone);
    command.declared.push_back(
        static_cast<uint32_t>(command.declarations.size()));
    command.declarations.push_back(std::move(assignment));
    command.words.push_back(word);
    return;
  }
  const WordId word = BuildWord(token_);
  NodeAt(node).words.push_back(word);
}

bool Reader::ParseSimple(NodeId node) {
  for (;;) {
    Tok tok = Peek();
    // After `a=b >x` the grammar takes `c=d` for a word, but expansion sets it
    // apart again: it assigns as long as no command name was read.
    if (tok == Tok::kWord && token_.equals && NodeAt(node).words.empty()) {
      tok = Tok::kAssignment;
    }
    if (tok == Tok::kWord) {
      AddSimpleWord(node);
      Accept();
      state_.redirects_only = false;
    } else if (tok == Tok::kAssignment) {
      Assignment assignment;
      BuildAssignment(token_, false, &assignment);
      NodeAt(node).assignments.push_back(std::move(assignment));
      Accept();
      state_.redirects_only = false;
    } else if (IsRedirect(tok)) {
      const Node& command = NodeAt(node);
      const bool first = command.words.empty() && command.assignments.empty() &&
                         command.redirects.empty();
      if (!ParseRedirect(node)) return false;
      if (first) state_.redirects_only = true;
    } else {
      break;
    }
    if (failed_ || shared_.too_large) return false;
  }
  state_.redirects_only = false;
  Node& command = NodeAt(node);
  if (!command.declared.empty()) {
    command.declared.resize(command.words.size(), kNone);
  }
  Close(node);
  return !failed_ && token_.kind != Tok::kError;
}

bool Reader::ParseRedirects(NodeId node) {
  while (IsRedirect(Peek())) {
    if (!ParseRedirect(node)) return false;
  }
  Close(node);
  return token_.kind != Tok::kError;
}

bool Reader::ParseRedirect(NodeId node) {
  Redirect redirect;
  const uint32_t begin = token_.begin;
  Tok tok = Peek();
  if (tok == Tok::kNumber) {
    redirect.descriptor = token_.number;
    Accept();
    tok = Peek();
  } else if (tok == Tok::kRedirectName) {
    Suspicious(SuspectKind::kDescriptorName, token_.begin, token_.end);
    std::string store;
    const std::string_view text = TokenText(token_, &store);
    redirect.variable = text.substr(1, text.size() - 2);
    Accept();
    tok = Peek();
  }
  bool may_be_descriptor = false;
  switch (tok) {
    case Tok::kLess:
      redirect.kind = RedirectKind::kRead;
      break;
    case Tok::kGreater:
      redirect.kind = RedirectKind::kWrite;
      break;
    case Tok::kAppend:
      redirect.kind = RedirectKind::kAppend;
      break;
    case Tok::kClobber:
      redirect.kind = RedirectKind::kClobber;
      break;
    case Tok::kLessGreater:
      redirect.kind = RedirectKind::kReadWrite;
      Suspicious(SuspectKind::kReadWrite, token_.begin, token_.end);
      break;
    case Tok::kHere:
    case Tok::kHereDash:
      redirect.kind = RedirectKind::kHereDocument;
      break;
    case Tok::kHereString: {
      redirect.kind = RedirectKind::kHereString;
      const Node& holder = shared_.ast.nodes[node];
      if (holder.kind != NodeKind::kSimple || !holder.redirects.empty()) {
        Suspicious(SuspectKind::kHereString, token_.begin, token_.end);
      }
      break;
    }
    case Tok::kBothWrite:
      redirect.kind = RedirectKind::kBothWrite;
      break;
    case Tok::kBothAppend:
      redirect.kind = RedirectKind::kBothAppend;
      break;
    case Tok::kLessAnd:
      redirect.kind = RedirectKind::kDuplicateIn;
      may_be_descriptor = true;
      break;
    case Tok::kGreaterAnd:
      redirect.kind = RedirectKind::kDuplicateOut;
      may_be_descriptor = true;
      break;
    default:
      Unexpected();
      return false;
  }
  Accept();
  const Tok target = Peek();
  if (target != Tok::kWord && !(may_be_descriptor && (target == Tok::kNumber ||
                                                      target == Tok::kMinus))) {
    Unexpected();
    return false;
  }
  const RedirectId id = static_cast<RedirectId>(shared_.ast.redirects.size());
  if (redirect.kind == RedirectKind::kHereDocument) {
    Suspicious(SuspectKind::kHereOperator, begin, token_.end);
    redirect.span = Map(begin, token_.end);
    shared_.ast.redirects.push_back(std::move(redirect));
    PushHere(id, token_, tok == Tok::kHereDash);
  } else {
    redirect.target = BuildWord(token_);
    redirect.span = Map(begin, token_.end);
    if (redirect.target == kNone) return false;
    if (tok == Tok::kGreaterAnd && target == Tok::kWord &&
        redirect.descriptor < 0 && redirect.variable.empty()) {
      // >&word is &>word unless it names a descriptor.
      std::string text;
      bool constant = true;
      for (PartId p : shared_.ast.words[redirect.target].parts) {
        const Part& part = shared_.ast.parts[p];
        constant &= part.kind == PartKind::kLiteral ||
                    part.kind == PartKind::kEscaped ||
                    part.kind == PartKind::kSingleQuoted;
        text += part.text;
      }
      const size_t digits =
          std::min(text.find_first_not_of("0123456789"), text.size());
      const bool descriptor = digits == text.size() ||
                              (digits + 1 == text.size() && text.back() == '-');
      if (constant && !descriptor) redirect.kind = RedirectKind::kBothWrite;
    }
    shared_.ast.redirects.push_back(std::move(redirect));
  }
  if (failed_) return false;
  NodeAt(node).redirects.push_back(id);
  Accept();
  return true;
}

}  // namespace gate::parser::reading
