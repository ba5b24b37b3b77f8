// The tree as an s-expression: (list (simple "ls" "-l")).
//
// A word is printed between double quotes, its parts one after another:
// literal text as it is, everything else as {kind …}. Recursion is bounded by
// the depth that the reader allows.
#include <string>

#include "parser/ast.h"

namespace gate::parser {
namespace {

const char* OpName(ParameterOp op) {
  switch (op) {
    case ParameterOp::kPlain:
      return "";
    case ParameterOp::kLength:
      return "length";
    case ParameterOp::kDefault:
      return "-";
    case ParameterOp::kAssign:
      return "=";
    case ParameterOp::kError:
      return "?";
    case ParameterOp::kAlternative:
      return "+";
    case ParameterOp::kRemovePrefix:
      return "#";
    case ParameterOp::kRemoveSuffix:
      return "%";
    case ParameterOp::kReplace:
      return "/";
    case ParameterOp::kSlice:
      return "slice";
    case ParameterOp::kUpper:
      return "^";
    case ParameterOp::kLower:
      return ",";
    case ParameterOp::kToggle:
      return "~";
    case ParameterOp::kTransform:
      return "@";
    case ParameterOp::kNames:
      return "names";
    case ParameterOp::kKeys:
      return "keys";
    case ParameterOp::kBad:
      return "bad";
  }
  return "bad";
}

const char* RedirectName(RedirectKind kind) {
  switch (kind) {
    case RedirectKind::kRead:
      return "<";
    case RedirectKind::kWrite:
      return ">";
    case RedirectKind::kClobber:
      return ">|";
    case RedirectKind::kAppend:
      return ">>";
    case RedirectKind::kReadWrite:
      return "<>";
    case RedirectKind::kBothWrite:
      return "&>";
    case RedirectKind::kBothAppend:
      return "&>>";
    case RedirectKind::kDuplicateIn:
      return "<&";
    case RedirectKind::kDuplicateOut:
      return ">&";
    case RedirectKind::kHereDocument:
      return "<<";
    case RedirectKind::kHereString:
      return "<<<";
  }
  return "?";
}

const char* NodeName(NodeKind kind) {
  switch (kind) {
    case NodeKind::kSimple:
      return "simple";
    case NodeKind::kPipeline:
      return "pipeline";
    case NodeKind::kAnd:
      return "and";
    case NodeKind::kOr:
      return "or";
    case NodeKind::kList:
      return "list";
    case NodeKind::kSubshell:
      return "subshell";
    case NodeKind::kGroup:
      return "group";
    case NodeKind::kIf:
      return "if";
    case NodeKind::kFor:
      return "for";
    case NodeKind::kArithmeticFor:
      return "arithmetic-for";
    case NodeKind::kSelect:
      return "select";
    case NodeKind::kWhile:
      return "while";
    case NodeKind::kUntil:
      return "until";
    case NodeKind::kCase:
      return "case";
    case NodeKind::kFunction:
      return "function";
    case NodeKind::kConditional:
      return "conditional";
    case NodeKind::kArithmetic:
      return "arithmetic";
    case NodeKind::kCoproc:
      return "coproc";
  }
  return "?";
}

class Printer {
 public:
  explicit Printer(const Ast& ast) : ast_(ast) {}

  void PrintNode(NodeId id) {
    if (id == kNone) {
      out_ += "()";
      return;
    }
    const Node& node = ast_.nodes[id];
    out_ += '(';
    out_ += NodeName(node.kind);
    if (node.negated) out_ += " !";
    if (node.timed) out_ += " time";
    if (!node.name.empty()) {
      out_ += " name=\"";
      Text(node.name);
      out_ += '"';
    }
    if (node.has_in) out_ += " in";
    for (const Assignment& assignment : node.assignments) {
      out_ += ' ';
      PrintAssignment(assignment);
    }
    for (size_t i = 0; i < node.words.size(); ++i) {
      out_ += ' ';
      if (i < node.operators.size() && node.operators[i]) out_ += ':';
      if (i < node.declared.size() && node.declared[i] != kNone) {
        PrintAssignment(node.declarations[node.declared[i]]);
      } else {
        PrintWord(node.words[i]);
      }
    }
    for (size_t i = 0; i < node.children.size(); ++i) {
      out_ += ' ';
      PrintNode(node.children[i]);
      if (i < node.asynchronous.size() && node.asynchronous[i]) out_ += " &";
      if (i < node.pipe_stderr.size() && node.pipe_stderr[i]) out_ += " |&";
    }
    for (const Clause& clause : node.clauses) {
      out_ += " (clause";
      for (WordId word : clause.patterns) {
        out_ += ' ';
        PrintWord(word);
      }
      out_ += ' ';
      PrintNode(clause.body);
      if (clause.end == ClauseEnd::kFallThrough) out_ += " ;&";
      if (clause.end == ClauseEnd::kContinue) out_ += " ;;&";
      out_ += ')';
    }
    for (RedirectId redirect : node.redirects) {
      out_ += ' ';
      PrintRedirect(ast_.redirects[redirect]);
    }
    out_ += ')';
  }

  std::string Take() { return std::move(out_); }

 private:
  void Text(const std::string& text) {
    static constexpr char kHex[] = "0123456789abcdef";
    for (char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '\n') {
        out_ += "\\n";
      } else if (c == '\\' || c == '"' || c == '{' || c == '}') {
        out_ += '\\';
        out_ += c;
      } else if (byte < 0x20 || byte == 0x7f) {
        out_ += "\\x";
        out_ += kHex[byte >> 4];
        out_ += kHex[byte & 15];
      } else {
        out_ += c;
      }
    }
  }

  void Parts(const std::vector<PartId>& parts) {
    for (PartId id : parts) PrintPart(ast_.parts[id]);
  }

  void PrintWord(WordId id) {
    out_ += '"';
    if (id != kNone) Parts(ast_.words[id].parts);
    out_ += '"';
  }

  void PrintPart(const Part& part) {
    switch (part.kind) {
      case PartKind::kLiteral:
      case PartKind::kQuotedText:
        Text(part.text);
        return;
      case PartKind::kEscaped:
        out_ += "{esc ";
        Text(part.text);
        break;
      case PartKind::kSingleQuoted:
        out_ += "{sq ";
        Text(part.text);
        break;
      case PartKind::kAnsiQuoted:
        out_ += "{ansi ";
        Text(part.text);
        break;
      case PartKind::kDoubleQuoted:
        out_ += "{dq ";
        Parts(part.parts);
        break;
      case PartKind::kLocaleQuoted:
        out_ += "{locale ";
        Parts(part.parts);
        break;
      case PartKind::kParameter:
        PrintParameter(ast_.parameters[part.parameter]);
        return;
      case PartKind::kCommand:
        out_ += part.backquoted ? "{` " : "{$ ";
        if (part.unreadable) out_ += "unreadable ";
        PrintNode(part.body);
        break;
      case PartKind::kProcess:
        out_ += '{';
        out_ += part.text;
        out_ += "( ";
        if (part.unreadable) out_ += "unreadable ";
        PrintNode(part.body);
        break;
      case PartKind::kArithmetic:
        out_ += "{arith ";
        Parts(part.parts);
        break;
      case PartKind::kExtendedGlob:
        out_ += '{';
        out_ += part.text;
        out_ += "glob";
        for (WordId word : part.words) {
          out_ += ' ';
          PrintWord(word);
        }
        break;
    }
    out_ += '}';
  }

  void PrintParameter(const Parameter& parameter) {
    out_ += "{$";
    if (parameter.indirect) out_ += '!';
    Text(parameter.name);
    if (parameter.has_subscript) {
      out_ += '[';
      PrintWord(parameter.subscript);
      out_ += ']';
    }
    if (parameter.op != ParameterOp::kPlain) {
      out_ += ' ';
      if (parameter.colon) out_ += ':';
      out_ += OpName(parameter.op);
      if (parameter.longest || parameter.all) out_ += "all";
      if (parameter.at_names) out_ += '@';
      if (parameter.op == ParameterOp::kReplace) {
        static constexpr const char* kModes[] = {"", "/", "#", "%"};
        out_ += kModes[static_cast<int>(parameter.replace)];
      }
    }
    if (parameter.operand != kNone) {
      out_ += ' ';
      PrintWord(parameter.operand);
    }
    if (parameter.replacement != kNone) {
      out_ += ' ';
      PrintWord(parameter.replacement);
    }
    out_ += '}';
  }

  void PrintAssignment(const Assignment& assignment) {
    out_ += "(= ";
    Text(assignment.name);
    if (assignment.subscript != kNone) {
      out_ += '[';
      PrintWord(assignment.subscript);
      out_ += ']';
    }
    if (assignment.append) out_ += " +";
    if (assignment.is_array) {
      out_ += " (";
      bool first = true;
      for (const ArrayElement& element : assignment.elements) {
        if (!first) out_ += ' ';
        first = false;
        if (element.subscript != kNone) {
          out_ += '[';
          PrintWord(element.subscript);
          out_ += element.append ? "]+=" : "]=";
        }
        PrintWord(element.value);
      }
      out_ += ')';
    } else {
      out_ += ' ';
      PrintWord(assignment.value);
    }
    out_ += ')';
  }

  void PrintRedirect(const Redirect& redirect) {
    out_ += '(';
    if (redirect.descriptor >= 0) out_ += std::to_string(redirect.descriptor);
    if (!redirect.variable.empty()) {
      out_ += '{';
      Text(redirect.variable);
      out_ += '}';
    }
    out_ += RedirectName(redirect.kind);
    out_ += ' ';
    PrintWord(redirect.kind == RedirectKind::kHereDocument ? redirect.body
                                                           : redirect.target);
    out_ += ')';
  }

  const Ast& ast_;
  std::string out_;
};

}  // namespace

std::string Print(const Ast& ast) {
  if (ast.root == kNone) return "()";
  Printer printer(ast);
  printer.PrintNode(ast.root);
  return printer.Take();
}

}  // namespace gate::parser
