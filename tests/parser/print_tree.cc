// The tree as an s-expression: (list (simple "ls" "-l")).
//
// A word is printed between double quotes, its parts one after another:
// literal text as it is, everything else as {kind …}. Without recursion.
#include "tests/parser/print_tree.h"

#include <iterator>
#include <string>
#include <utility>
#include <vector>

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

// Visiting a thing queues what it consists of; the queue then goes in front
// of everything that is still to be printed.
class Printer {
 public:
  explicit Printer(const Ast& ast) : ast_(ast) {}

  std::string Run() {
    stack_.push_back({Task::kNode, ast_.root, {}});
    while (!stack_.empty()) {
      const Task task = std::move(stack_.back());
      stack_.pop_back();
      switch (task.kind) {
        case Task::kText:
          out_ += task.text;
          break;
        case Task::kNode:
          VisitNode(task.id);
          break;
        case Task::kWord:
          if (task.id == kNone) break;
          for (PartId part : ast_.words[task.id].parts)
            Queue(Task::kPart, part);
          break;
        case Task::kPart:
          VisitPart(ast_.parts[task.id]);
          break;
      }
      stack_.insert(stack_.end(), std::make_move_iterator(queue_.rbegin()),
                    std::make_move_iterator(queue_.rend()));
      queue_.clear();
    }
    return std::move(out_);
  }

 private:
  struct Task {
    enum Kind : uint8_t { kText, kNode, kWord, kPart } kind;
    uint32_t id;
    std::string text;
  };

  void Queue(Task::Kind kind, uint32_t id) { queue_.push_back({kind, id, {}}); }
  void Add(std::string text) {
    if (!queue_.empty() && queue_.back().kind == Task::kText) {
      queue_.back().text += text;
    } else {
      queue_.push_back({Task::kText, 0, std::move(text)});
    }
  }
  void AddWord(WordId word) {
    Add("\"");
    Queue(Task::kWord, word);
    Add("\"");
  }

  // The text with what has a meaning here, and what is not printable, escaped.
  static std::string Escaped(const std::string& text) {
    static constexpr char kHex[] = "0123456789abcdef";
    std::string out;
    for (char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '\n') {
        out += "\\n";
      } else if (c == '\\' || c == '"' || c == '{' || c == '}') {
        out += '\\';
        out += c;
      } else if (byte < 0x20 || byte == 0x7f) {
        out += "\\x";
        out += kHex[byte >> 4];
        out += kHex[byte & 15];
      } else {
        out += c;
      }
    }
    return out;
  }

  void VisitNode(NodeId id) {
    if (id == kNone) {
      Add("()");
      return;
    }
    const Node& node = ast_.nodes[id];
    Add(std::string("(") + NodeName(node.kind));
    if (node.negated) Add(" !");
    if (node.timed) Add(" time");
    if (!node.name.empty()) Add(" name=\"" + Escaped(node.name) + "\"");
    if (node.has_in) Add(" in");
    for (const Assignment& assignment : node.assignments) {
      Add(" ");
      AddAssignment(assignment);
    }
    for (size_t i = 0; i < node.words.size(); ++i) {
      const bool is_operator = i < node.operators.size() && node.operators[i];
      Add(is_operator ? " :" : " ");
      if (i < node.declared.size() && node.declared[i] != kNone) {
        AddAssignment(node.declarations[node.declared[i]]);
      } else {
        AddWord(node.words[i]);
      }
    }
    for (size_t i = 0; i < node.children.size(); ++i) {
      Add(" ");
      Queue(Task::kNode, node.children[i]);
      if (i < node.asynchronous.size() && node.asynchronous[i]) Add(" &");
      if (i < node.pipe_stderr.size() && node.pipe_stderr[i]) Add(" |&");
    }
    for (const Clause& clause : node.clauses) {
      Add(" (clause");
      for (WordId word : clause.patterns) {
        Add(" ");
        AddWord(word);
      }
      Add(" ");
      Queue(Task::kNode, clause.body);
      if (clause.end == ClauseEnd::kFallThrough) Add(" ;&");
      if (clause.end == ClauseEnd::kContinue) Add(" ;;&");
      Add(")");
    }
    for (RedirectId redirect : node.redirects) {
      Add(" ");
      AddRedirect(ast_.redirects[redirect]);
    }
    Add(")");
  }

  void AddParts(const std::vector<PartId>& parts) {
    for (PartId part : parts) Queue(Task::kPart, part);
  }

  void VisitPart(const Part& part) {
    switch (part.kind) {
      case PartKind::kLiteral:
      case PartKind::kQuotedText:
        Add(Escaped(part.text));
        return;
      case PartKind::kEscaped:
        Add("{esc " + Escaped(part.text));
        break;
      case PartKind::kSingleQuoted:
        Add("{sq " + Escaped(part.text));
        break;
      case PartKind::kAnsiQuoted:
        Add("{ansi " + Escaped(part.text));
        break;
      case PartKind::kDoubleQuoted:
        Add("{dq ");
        AddParts(part.parts);
        break;
      case PartKind::kLocaleQuoted:
        Add("{locale ");
        AddParts(part.parts);
        break;
      case PartKind::kParameter:
        AddParameter(ast_.parameters[part.parameter]);
        return;
      case PartKind::kCommand:
        Add(part.backquoted ? "{` " : "{$ ");
        if (part.unreadable) Add("unreadable ");
        Queue(Task::kNode, part.body);
        break;
      case PartKind::kProcess:
        Add("{" + part.text + "( ");
        if (part.unreadable) Add("unreadable ");
        Queue(Task::kNode, part.body);
        break;
      case PartKind::kArithmetic:
        Add("{arith ");
        AddParts(part.parts);
        break;
      case PartKind::kExtendedGlob:
        Add("{" + part.text + "glob");
        for (WordId word : part.words) {
          Add(" ");
          AddWord(word);
        }
        break;
    }
    Add("}");
  }

  void AddParameter(const Parameter& parameter) {
    Add("{$");
    if (parameter.indirect) Add("!");
    Add(Escaped(parameter.name));
    if (parameter.has_subscript) {
      Add("[");
      AddWord(parameter.subscript);
      Add("]");
    }
    if (parameter.op != ParameterOp::kPlain) {
      std::string op = " ";
      if (parameter.colon) op += ':';
      op += OpName(parameter.op);
      if (parameter.longest || parameter.all) op += "all";
      if (parameter.at_names) op += '@';
      if (parameter.op == ParameterOp::kReplace) {
        static constexpr const char* kModes[] = {"", "/", "#", "%"};
        op += kModes[static_cast<int>(parameter.replace)];
      }
      Add(std::move(op));
    }
    for (WordId word : {parameter.operand, parameter.replacement}) {
      if (word == kNone) continue;
      Add(" ");
      AddWord(word);
    }
    Add("}");
  }

  void AddAssignment(const Assignment& assignment) {
    Add("(= " + Escaped(assignment.name));
    if (assignment.subscript != kNone) {
      Add("[");
      AddWord(assignment.subscript);
      Add("]");
    }
    if (assignment.append) Add(" +");
    if (!assignment.is_array) {
      Add(" ");
      AddWord(assignment.value);
      Add(")");
      return;
    }
    Add(" (");
    bool first = true;
    for (const ArrayElement& element : assignment.elements) {
      if (!first) Add(" ");
      first = false;
      if (element.subscript != kNone) {
        Add("[");
        AddWord(element.subscript);
        Add(element.append ? "]+=" : "]=");
      }
      AddWord(element.value);
    }
    Add("))");
  }

  void AddRedirect(const Redirect& redirect) {
    std::string head = "(";
    if (redirect.descriptor >= 0) head += std::to_string(redirect.descriptor);
    if (!redirect.variable.empty()) {
      head += '{' + Escaped(redirect.variable) + '}';
    }
    Add(head + RedirectName(redirect.kind) + ' ');
    AddWord(redirect.kind == RedirectKind::kHereDocument ? redirect.body
                                                         : redirect.target);
    Add(")");
  }

  const Ast& ast_;
  std::vector<Task> stack_;
  std::vector<Task> queue_;
  std::string out_;
};

}  // namespace

std::string Print(const Ast& ast) { return Printer(ast).Run(); }

}  // namespace gate::parser
