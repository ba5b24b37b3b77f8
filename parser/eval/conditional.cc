// test, [ and [[.
#include <charconv>

#include "parser/eval/evaluate.h"

namespace gate::parser {
namespace {

std::optional<int64_t> Integer(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t");
  size_t end = text.find_last_not_of(" \t");
  if (begin == std::string_view::npos) return std::nullopt;
  text = text.substr(begin, end - begin + 1);
  if (text.starts_with("+")) text.remove_prefix(1);
  int64_t value = 0;
  auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

bool IsArithmeticOperator(std::string_view op) {
  return op == "-eq" || op == "-ne" || op == "-lt" || op == "-le" ||
         op == "-gt" || op == "-ge";
}

bool Compare(std::string_view op, int64_t a, int64_t b) {
  if (op == "-eq") return a == b;
  if (op == "-ne") return a != b;
  if (op == "-lt") return a < b;
  if (op == "-le") return a <= b;
  if (op == "-gt") return a > b;
  return a >= b;
}

// Whether a variable is set, as -v asks; runs what a subscript holds.
std::optional<bool> IsSet(Evaluator& e, Shell& shell, const Script& script,
                          const Value& name, Span span) {
  if (!name.known()) {
    // A subscript in it would be evaluated.
    bool digits = true;
    for (const Chunk& chunk : name.chunks) {
      digits = digits && (!chunk.unknown || chunk.digits);
    }
    if (!digits) e.NoteAt(UnknownCode::kDynamicCode, span, "-v");
    return std::nullopt;
  }
  Expander x{shell, script, e};
  if (name.text().find('[') != std::string_view::npos) {
    EvaluateArithmetic(x, name, span);
    return std::nullopt;
  }
  std::optional<bool> set;
  GetVariable(x, std::string(name.text()), &set);
  return set;
}

class TestEvaluation {
 public:
  TestEvaluation(Evaluator& e, Shell& shell, const Call& call)
      : e_(e), shell_(shell), call_(call) {}

  std::optional<bool> Run(size_t begin, size_t end, int depth = 0) {
    size_t n = end - begin;
    if (depth > 8) return std::nullopt;
    if (n == 0) return false;
    std::optional<std::string> first = Text(begin);
    if (n == 1) return NonEmpty(begin);
    if (n == 2) {
      if (first == "!") return Not(NonEmpty(begin + 1));
      return Unary(begin);
    }
    if (n == 3) {
      std::optional<std::string> op = Text(begin + 1);
      if (op && IsBinary(*op)) return Binary(begin);
      if (first == "!") return Not(Run(begin + 1, end, depth + 1));
      if (first == "(" && Text(end - 1) == ")") {
        return NonEmpty(begin + 1);
      }
      if (!op || !first) {
        RunSubscripts(begin, end);
        return std::nullopt;
      }
    }
    if (n == 4 && first == "!") return Not(Run(begin + 1, end, depth + 1));
    // -o binds weaker than -a.
    for (const char* join : {"-o", "-a"}) {
      for (size_t i = begin + 1; i + 1 < end; ++i) {
        if (Text(i) != join) continue;
        std::optional<bool> left = Run(begin, i, depth + 1);
        std::optional<bool> right = Run(i + 1, end, depth + 1);
        bool any = join[1] == 'o';
        if (left == any || right == any) return any;
        if (!left || !right) return std::nullopt;
        return !any;
      }
    }
    RunSubscripts(begin, end);
    return std::nullopt;
  }

 private:
  static std::optional<bool> Not(std::optional<bool> value) {
    if (value) return !*value;
    return value;
  }

  static bool IsBinary(std::string_view op) {
    return op == "=" || op == "==" || op == "!=" || op == "<" || op == ">" ||
           op == "-nt" || op == "-ot" || op == "-ef" ||
           IsArithmeticOperator(op);
  }

  std::optional<std::string> Text(size_t i) const {
    const Field& field = call_.fields[i];
    if (field.glob && !shell_.noglob) return std::nullopt;
    return Known(field);
  }

  std::optional<bool> NonEmpty(size_t i) const {
    const Field& field = call_.fields[i];
    if (field.splits) return std::nullopt;
    if (field.value.known()) return !field.value.text().empty();
    for (const Chunk& chunk : field.value.chunks) {
      if (!chunk.unknown || chunk.digits) return true;
    }
    return std::nullopt;
  }

  std::optional<bool> Unary(size_t i) {
    std::optional<std::string> op = Text(i);
    if (!op) {
      RunSubscripts(i, i + 2);
      return std::nullopt;
    }
    if (*op == "-n") return NonEmpty(i + 1);
    if (*op == "-z") return Not(NonEmpty(i + 1));
    if ((*op == "-v" || *op == "-R") && call_.script != nullptr) {
      return IsSet(e_, shell_, *call_.script, call_.fields[i + 1].value,
                   call_.span);
    }
    return std::nullopt;
  }

  std::optional<bool> Binary(size_t i) const {
    std::string op = *Text(i + 1);
    std::optional<std::string> a = Text(i), b = Text(i + 2);
    if (!a || !b) return std::nullopt;
    if (op == "=" || op == "==") return *a == *b;
    if (op == "!=") return *a != *b;
    if (op == "<") return *a < *b;
    if (op == ">") return *a > *b;
    if (IsArithmeticOperator(op)) {
      std::optional<int64_t> x = Integer(*a), y = Integer(*b);
      if (x && y) return Compare(op, *x, *y);
    }
    return std::nullopt;
  }

  // Where the form is not known, -v may still see a subscript.
  void RunSubscripts(size_t begin, size_t end) {
    for (size_t i = begin; i + 1 < end; ++i) {
      std::optional<std::string> op = Text(i);
      if (op && *op != "-v" && *op != "-R") continue;
      const Value& name = call_.fields[i + 1].value;
      if (!op && name.known() &&
          name.text().find('[') == std::string_view::npos) {
        continue;
      }
      if (!op && !name.known()) continue;
      if (call_.script != nullptr) {
        IsSet(e_, shell_, *call_.script, name, call_.span);
      }
    }
  }

  Evaluator& e_;
  Shell& shell_;
  const Call& call_;
};

// [[ … ]] by recursive descent over its words.
class Conditional {
 public:
  Conditional(Evaluator& e, Shell& shell, const Script& script,
              const Node& node)
      : e_(e), shell_(shell), script_(script), node_(node) {}

  std::optional<bool> Run() { return Or(0); }

 private:
  bool More() const { return at_ < node_.words.size(); }
  bool Operator(std::string_view text) const {
    return More() && at_ < node_.operators.size() && node_.operators[at_] &&
           OperatorText(at_) == text;
  }
  bool AnyOperator() const {
    return More() && at_ < node_.operators.size() && node_.operators[at_];
  }
  std::string OperatorText(size_t i) const {
    const Word& word = script_.ast.words[node_.words[i]];
    std::string text;
    for (PartId part : word.parts) text += script_.ast.parts[part].text;
    return text;
  }

  std::optional<bool> Or(int depth) {
    std::optional<bool> left = And(depth);
    while (Operator("||")) {
      ++at_;
      std::optional<bool> right = And(depth);
      if (left == true || right == true) {
        left = true;
      } else if (!left || !right) {
        left = std::nullopt;
      }
    }
    return left;
  }

  std::optional<bool> And(int depth) {
    std::optional<bool> left = Primary(depth);
    while (Operator("&&")) {
      ++at_;
      std::optional<bool> right = Primary(depth);
      if (left == false || right == false) {
        left = false;
      } else if (!left || !right) {
        left = std::nullopt;
      }
    }
    return left;
  }

  std::optional<bool> Primary(int depth) {
    if (depth > 100 || !e_.Spend(1)) {
      e_.NoteLimit("[[ too deep");
      at_ = node_.words.size();
      return std::nullopt;
    }
    bool negate = false;
    while (Operator("!")) {
      ++at_;
      negate = !negate;
    }
    std::optional<bool> value;
    if (Operator("(")) {
      ++at_;
      value = Or(depth + 1);
      if (Operator(")")) ++at_;
    } else {
      value = Term();
    }
    if (negate && value) value = !*value;
    return value;
  }

  Values Operand() {
    if (!More()) return {Value::Of("")};
    Expander x{shell_, script_, e_};
    return ExpandToValue(x, node_.words[at_++]);
  }

  std::optional<bool> NonEmpty(const Values& values) {
    std::optional<bool> result;
    for (const Value& value : values) {
      std::optional<bool> one;
      if (value.known()) {
        one = !value.text().empty();
      } else {
        for (const Chunk& chunk : value.chunks) {
          if (!chunk.unknown || chunk.digits) one = true;
        }
      }
      if (!one || (result && result != one)) return std::nullopt;
      result = one;
    }
    return result;
  }

  std::optional<bool> Term() {
    if (!More()) return std::nullopt;
    Span span = e_.Map(script_, script_.ast.words[node_.words[at_]].span);
    if (AnyOperator()) {
      std::string op = OperatorText(at_);
      if (op.size() == 2 && op[0] == '-') {
        ++at_;
        Values operand = Operand();
        if (op == "-n") return NonEmpty(operand);
        if (op == "-z") {
          std::optional<bool> some = NonEmpty(operand);
          if (some) return !*some;
          return some;
        }
        if (op == "-v" || op == "-R") {
          std::optional<bool> set;
          for (const Value& value : operand) {
            set = IsSet(e_, shell_, script_, value, span);
          }
          if (operand.size() == 1) return set;
        }
        return std::nullopt;
      }
      ++at_;  // an operator where none may stand: nothing is known
      return std::nullopt;
    }
    Values left = Operand();
    if (!AnyOperator() || Operator("&&") || Operator("||") || Operator(")")) {
      return NonEmpty(left);
    }
    std::string op = OperatorText(at_);
    ++at_;
    if (!More()) return std::nullopt;
    Expander x{shell_, script_, e_};
    if (IsArithmeticOperator(op)) {
      Values right = Operand();
      std::optional<int64_t> a, b;
      for (const Value& value : left) a = EvaluateArithmetic(x, value, span);
      for (const Value& value : right) b = EvaluateArithmetic(x, value, span);
      if (left.size() == 1 && right.size() == 1 && a && b) {
        return Compare(op, *a, *b);
      }
      return std::nullopt;
    }
    if (op == "=" || op == "==" || op == "!=") {
      Values right = ExpandToPattern(x, node_.words[at_++]);
      if (left.size() != 1 || right.size() != 1 || !left[0].known() ||
          !right[0].known()) {
        return std::nullopt;
      }
      std::optional<bool> same =
          MatchInState(shell_, right[0].text(), left[0].text(), true);
      if (!same) return std::nullopt;
      return op == "!=" ? !*same : *same;
    }
    Values right = Operand();
    if (op == "=~") {
      Variable matches;
      matches.shape = Variable::Shape::kIndexed;
      matches.unknown_elements = true;
      matches.tainted = true;
      shell_.variables["BASH_REMATCH"] = std::move(matches);
      return std::nullopt;
    }
    std::optional<std::string> a = Known(left), b = Known(right);
    if (a && b && op == "<") return *a < *b;
    if (a && b && op == ">") return *a > *b;
    return std::nullopt;
  }

  Evaluator& e_;
  Shell& shell_;
  const Script& script_;
  const Node& node_;
  size_t at_ = 0;
};

}  // namespace

std::optional<bool> EvaluateTest(Evaluator& evaluator, Shell& shell,
                                 const Call& call) {
  size_t end = call.fields.size();
  if (Known(call.fields[0]) == "[" && end > 1 &&
      Known(call.fields[end - 1]) == "]") {
    --end;
  }
  bool open = false;
  for (size_t i = 1; i < end; ++i) {
    open = open || call.fields[i].splits;
  }
  TestEvaluation test(evaluator, shell, call);
  std::optional<bool> result = test.Run(1, end);
  if (open) return std::nullopt;
  return result;
}

void Evaluator::ExecuteConditional(Shell& shell, const Script& script,
                                   const Node& node) {
  if (shell.posix) {
    // dash knows no such word: it looks for a program of that name, and takes
    // the operators for its own.
    const Span span = Map(script, node.span);
    const std::string text = TextAt(span);
    if (text.find_first_of("<>(|&;`") != std::string::npos)
      NoteAt(UnknownCode::kUnmodelled, span, "[[ in sh");
    RecordForeign(shell, "[[", span);
    (void)Conditional(*this, shell, script, node).Run();
    shell.status.reset();
    return;
  }
  std::optional<bool> result = Conditional(*this, shell, script, node).Run();
  if (result) {
    shell.status = *result ? 0 : 1;
  } else {
    shell.status.reset();
  }
}

}  // namespace gate::parser
