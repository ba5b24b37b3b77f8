// Arithmetic as bash evaluates it (bash(1), ARITHMETIC EVALUATION).
//
// A recursive descent over known text. Names evaluate to their variable's
// text, which is an expression again; subscripts in such text are expanded,
// so that they can run commands. Where a value is not known the result is not
// either, and every part that could be evaluated is.
#include <cctype>

#include "base/ascii.h"
#include "parser/expand/internal.h"

namespace gate::parser {
namespace {

constexpr int kMaxExpressionDepth = 64;

class Arithmetic {
 public:
  Arithmetic(Expander& x, std::string_view text, Span span, int depth)
      : x_(x), text_(text), span_(span), depth_(depth) {}

  using Number = std::optional<int64_t>;

  Number Run() {
    Skip();
    if (at_ == text_.size()) return 0;
    const Number value = Comma();
    Skip();
    if (at_ != text_.size()) error_ = true;
    failed_ = error_ || failed_;
    return error_ ? std::nullopt : value;
  }
  // True when bash may report an error.
  bool failed() const { return failed_; }

 private:
  struct Nested {
    explicit Nested(Arithmetic& a) : owner(a) { ++owner.depth_; }
    ~Nested() { --owner.depth_; }
    Arithmetic& owner;
  };

  void Skip() {
    while (at_ < text_.size() &&
           std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
      ++at_;
  }
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool Take(std::string_view token) {
    Skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  template <class F>
  static Number Both(Number a, Number b, F f) {
    if (!a || !b) return std::nullopt;
    return f(*a, *b);
  }

  Number Comma() {
    Nested nested(*this);
    Number value = Assignment();
    while (!error_ && Take(",")) value = Assignment();
    return value;
  }

  // A name with an optional subscript; the position stays when there is none.
  bool TakeName(std::string* name, Values* subscript, bool* has_subscript) {
    Skip();
    size_t end = at_;
    while (end < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 ||
            text_[end] == '_'))
      ++end;
    *name = std::string(text_.substr(at_, end - at_));
    if (!IsName(*name)) return false;
    at_ = end;
    *has_subscript = false;
    if (Peek() != '[') return true;
    int level = 0;
    size_t close = at_;
    for (; close < text_.size(); ++close) {
      if (text_[close] == '[') ++level;
      if (text_[close] == ']' && --level == 0) break;
    }
    if (close >= text_.size()) {
      error_ = true;
      return true;
    }
    *has_subscript = true;
    if (close == at_ + 1) error_ = true;
    // An operand that is not evaluated does not evaluate its subscript.
    if (skip_ > 0) {
      at_ = close + 1;
      return true;
    }
    *subscript = ExpandText(
        x_, Value::Of(std::string(text_.substr(at_ + 1, close - at_ - 1))),
        span_);
    at_ = close + 1;
    return true;
  }

  Number ValueOf(const std::string& name, const Values& subscript,
                 bool has_subscript) {
    if (skip_ > 0) return 0;
    const Values values = has_subscript
                              ? Element(x_, name, subscript, nullptr, span_)
                              : GetVariable(x_, name);
    Number result;
    for (size_t i = 0; i < values.size(); ++i) {
      const Number one = TextValue(values[i]);
      result = i == 0 ? one : (result == one ? result : std::nullopt);
    }
    return result;
  }

  // The number that a variable's text stands for.
  Number TextValue(const Value& value) {
    if (!value.known()) {
      NoteUnknown(value);
      return std::nullopt;
    }
    if (depth_ >= kMaxExpressionDepth || !x_.host.Spend(1)) {
      x_.host.Note(UnknownCode::kLimit, span_, "arithmetic is nested too deep");
      return std::nullopt;
    }
    Arithmetic inner(x_, value.text(), span_, depth_ + 1);
    const Number number = inner.Run();
    failed_ = failed_ || inner.failed();
    return number;
  }

  void NoteUnknown(const Value& value) {
    for (const Chunk& chunk : value.chunks) {
      if (!chunk.unknown || chunk.digits) continue;
      x_.host.Note(UnknownCode::kDynamicCode, span_,
                   "unknown text is evaluated as arithmetic");
      return;
    }
  }

  Number Assignment() {
    Nested nested(*this);
    if (depth_ > kMaxExpressionDepth * 2) {
      x_.host.Note(UnknownCode::kLimit, span_, "arithmetic is nested too deep");
      error_ = true;
      return std::nullopt;
    }
    const size_t start = at_;
    std::string name;
    Values subscript;
    bool has_subscript = false;
    if (IsAssignment(start) && TakeName(&name, &subscript, &has_subscript)) {
      Skip();
      for (const std::string_view op : kAssigning) {
        if (!Take(op)) continue;
        const Number right = Assignment();
        Number value = right;
        if (op != "=") {
          const Number left = ValueOf(name, subscript, has_subscript);
          value = Binary(op.substr(0, op.size() - 1), left, right);
        }
        Store(name, subscript, has_subscript, value);
        return value;
      }
    }
    at_ = start;
    return Ternary();
  }

  static constexpr std::string_view kAssigning[] = {
      "<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "="};

  // Looks ahead without evaluating: NAME[…] OP= .
  bool IsAssignment(size_t from) const {
    size_t i = from;
    while (i < text_.size() &&
           std::isspace(static_cast<unsigned char>(text_[i])) != 0)
      ++i;
    const size_t name = i;
    while (i < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[i])) != 0 ||
            text_[i] == '_'))
      ++i;
    if (!IsName(text_.substr(name, i - name))) return false;
    if (i < text_.size() && text_[i] == '[') {
      int level = 0;
      for (; i < text_.size(); ++i) {
        if (text_[i] == '[') ++level;
        if (text_[i] == ']' && --level == 0) break;
      }
      if (i < text_.size()) ++i;
    }
    while (i < text_.size() &&
           std::isspace(static_cast<unsigned char>(text_[i])) != 0)
      ++i;
    const std::string_view rest = text_.substr(i);
    return !rest.starts_with("==") && StartsWithAny(kAssigning, rest);
  }

  void Store(const std::string& name, const Values& subscript,
             bool has_subscript, Number value) {
    if (skip_ > 0) return;
    const Value stored =
        value && maybe_ == 0
            ? Value::Of(std::to_string(*value))
            : Value::Unknown(UnknownCode::kDynamicArgument, span_, true);
    if (has_subscript)
      AssignElement(x_, ResolveReference(x_.state, name), subscript, {stored},
                    false, span_);
    else
      SetVariable(x_, name, {stored});
  }

  Number Ternary() {
    const Number condition = Or();
    if (!Take("?")) return condition;
    Guard yes(*this, condition && *condition == 0, !condition);
    const Number a = Comma();
    yes.End();
    if (!Take(":")) {
      error_ = true;
      return std::nullopt;
    }
    Guard no(*this, condition && *condition != 0, !condition);
    const Number b = Ternary();
    no.End();
    if (!condition) return a == b ? a : std::nullopt;
    return *condition != 0 ? a : b;
  }

  // An operand that is skipped, or that may or may not be evaluated.
  struct Guard {
    Guard(Arithmetic& a, bool skip, bool maybe)
        : owner(a), skip_by(skip ? 1 : 0), maybe_by(maybe ? 1 : 0) {
      owner.skip_ += skip_by;
      owner.maybe_ += maybe_by;
    }
    void End() {
      owner.skip_ -= skip_by;
      owner.maybe_ -= maybe_by;
      skip_by = maybe_by = 0;
    }
    ~Guard() { End(); }
    Arithmetic& owner;
    int skip_by;
    int maybe_by;
  };

  Number Or() {
    Number value = And();
    while (!error_ && Take("||")) {
      Guard guard(*this, value && *value != 0, !value);
      const Number right = And();
      guard.End();
      if (value && *value != 0)
        value = 1;
      else
        value = Both(value, right,
                     [](int64_t, int64_t b) -> int64_t { return b != 0; });
    }
    return value;
  }

  Number And() {
    Number value = Joined();
    while (!error_ && Take("&&")) {
      Guard guard(*this, value && *value == 0, !value);
      const Number right = Joined();
      guard.End();
      if (value && *value == 0)
        value = 0;
      else
        value = Both(value, right,
                     [](int64_t, int64_t b) -> int64_t { return b != 0; });
    }
    return value;
  }

  // Operators that join two operands, from the loosest level to the tightest;
  // each is none where one of `not_before` follows.
  struct Operator {
    int level;
    std::string_view text;
    std::string_view not_before;
  };
  static constexpr int kTightest = 8;
  static constexpr Operator kJoining[] = {
      {0, "|", "|="}, {1, "^", "^="}, {2, "&", "&="}, {3, "==", ""},
      {3, "!=", ""},  {4, "<=", ""},  {4, ">=", ""},  {4, "<", "<"},
      {4, ">", ">"},  {5, "<<", "="}, {5, ">>", "="}, {6, "+", "="},
      {6, "-", "="},  {7, "*", "*="}, {7, "/", "="},  {7, "%", "="}};

  std::string_view TakeOperator(int level) {
    Skip();
    const std::string_view rest = text_.substr(at_);
    for (const Operator& op : kJoining) {
      if (op.level != level || !rest.starts_with(op.text) ||
          op.not_before.find(Peek(op.text.size())) != std::string_view::npos)
        continue;
      at_ += op.text.size();
      return op.text;
    }
    return {};
  }

  Number Joined(int level = 0) {
    if (level == kTightest) return Power();
    Number value = Joined(level + 1);
    while (!error_) {
      const std::string_view op = TakeOperator(level);
      if (op.empty()) break;
      value = Binary(op, value, Joined(level + 1));
    }
    return value;
  }

  Number Power() {
    Nested nested(*this);
    if (depth_ > kMaxExpressionDepth * 4) {
      error_ = true;
      return std::nullopt;
    }
    const Number base = Unary();
    Skip();
    if (Peek() == '*' && Peek(1) == '*' && Peek(2) != '=') {
      at_ += 2;
      return Binary("**", base, Power());
    }
    return base;
  }

  Number Unary() {
    Nested nested(*this);
    if (depth_ > kMaxExpressionDepth * 4) {
      x_.host.Note(UnknownCode::kLimit, span_, "arithmetic is nested too deep");
      error_ = true;
      return std::nullopt;
    }
    Skip();
    const char c = Peek();
    if ((c == '+' || c == '-') && Peek(1) == c) {
      at_ += 2;
      Skip();
      std::string name;
      Values subscript;
      bool has_subscript = false;
      if (!TakeName(&name, &subscript, &has_subscript)) {
        // --5 is minus minus five.
        return Unary();
      }
      const Number value =
          Binary(c == '+' ? "+" : "-", ValueOf(name, subscript, has_subscript),
                 Number(1));
      Store(name, subscript, has_subscript, value);
      return value;
    }
    if (c == '!' || c == '~' || c == '+' || c == '-') {
      ++at_;
      const Number value = Unary();
      if (!value) return value;
      if (c == '!') return *value == 0;
      if (c == '~') return ~*value;
      if (c == '-') return ArithmeticOperation("-", 0, *value);
      return value;
    }
    return Primary();
  }

  Number Primary() {
    Skip();
    if (Peek() == '(') {
      ++at_;
      const Number value = Comma();
      if (!Take(")")) error_ = true;
      return value;
    }
    if (std::isdigit(static_cast<unsigned char>(Peek())) != 0) return Literal();
    std::string name;
    Values subscript;
    bool has_subscript = false;
    if (!TakeName(&name, &subscript, &has_subscript)) {
      error_ = true;
      return std::nullopt;
    }
    if (error_) return std::nullopt;
    const Number value =
        skip_ > 0 ? Number(0) : ValueOf(name, subscript, has_subscript);
    Skip();
    const char c = Peek();
    if ((c == '+' || c == '-') && Peek(1) == c) {
      at_ += 2;
      Store(name, subscript, has_subscript,
            Binary(c == '+' ? "+" : "-", value, Number(1)));
    }
    return value;
  }

  Number Literal() {
    size_t end = at_;
    while (end < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 ||
            text_[end] == '#' || text_[end] == '@' || text_[end] == '_'))
      ++end;
    const Number value = ArithmeticLiteral(text_.substr(at_, end - at_));
    at_ = end;
    if (!value) error_ = true;
    return value;
  }

  Number Binary(std::string_view op, Number a, Number b) {
    if (skip_ > 0) return 0;
    if ((op == "/" || op == "%" || op == "**") && !b) failed_ = true;
    if (!a || !b) return std::nullopt;
    const Number value = ArithmeticOperation(op, *a, *b);
    if (!value) error_ = true;
    return value;
  }

  Expander& x_;
  std::string_view text_;
  Span span_;
  int depth_;
  size_t at_ = 0;
  bool error_ = false;
  bool failed_ = false;
  int skip_ = 0;   // inside an operand that is not evaluated
  int maybe_ = 0;  // inside one that may not be
};

}  // namespace

std::optional<int64_t> EvaluateArithmetic(Expander& x, const Value& text,
                                          Span span) {
  if (!text.known()) {
    bool digits = true;
    for (const Chunk& chunk : text.chunks)
      digits = digits && (!chunk.unknown || chunk.digits);
    if (!digits)
      x.host.Note(UnknownCode::kDynamicCode, span,
                  "unknown text is evaluated as arithmetic");
    x.host.Fail(x.state);
    // The known parts may run commands through subscripts.
    for (const Chunk& chunk : text.chunks)
      if (!chunk.unknown && chunk.text.find('[') != std::string::npos)
        x.host.Note(UnknownCode::kUnmodelled, span,
                    "an array subscript in partly unknown arithmetic");
    return std::nullopt;
  }
  if (!x.host.Spend(1)) return std::nullopt;
  Arithmetic arithmetic(x, text.text(), span, 0);
  const auto number = arithmetic.Run();
  if (arithmetic.failed()) x.host.Fail(x.state);
  return number;
}

}  // namespace gate::parser
