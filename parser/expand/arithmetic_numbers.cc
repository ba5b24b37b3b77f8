// Numbers of arithmetic: how they are written and what operators make of them.
#include <cctype>

#include "parser/expand/internal.h"

namespace gate::parser {
namespace {

int64_t Wrap(uint64_t value) { return static_cast<int64_t>(value); }

// The value of a digit in bash's bases up to 64.
int64_t DigitOf(char d, int64_t base) {
  if (d >= '0' && d <= '9') return d - '0';
  if (d >= 'a' && d <= 'z') return d - 'a' + 10;
  if (d >= 'A' && d <= 'Z') return base <= 36 ? d - 'A' + 10 : d - 'A' + 36;
  if (d == '@') return 62;
  if (d == '_') return 63;
  return 99;
}

}  // namespace

std::optional<int64_t> ArithmeticLiteral(std::string_view digits) {
  int64_t base = 10;
  const bool leading_zero = digits.starts_with('0');
  if (const size_t hash = digits.find('#'); hash != std::string_view::npos) {
    base = 0;
    for (const char d : digits.substr(0, hash)) {
      if (std::isdigit(static_cast<unsigned char>(d)) == 0 || base > 64)
        return std::nullopt;
      base = base * 10 + (d - '0');
    }
    digits.remove_prefix(hash + 1);
    if (base < 2 || base > 64 || digits.empty()) return std::nullopt;
    if (leading_zero) return std::nullopt;  // 010#5
  } else if (digits.size() > 1 && digits[0] == '0') {
    base = digits[1] == 'x' || digits[1] == 'X' ? 16 : 8;
    digits.remove_prefix(base == 16 ? 2 : 1);
  }
  uint64_t value = 0;
  for (const char d : digits) {
    const int64_t digit = DigitOf(d, base);
    if (digit >= base) return std::nullopt;
    value = value * static_cast<uint64_t>(base) + static_cast<uint64_t>(digit);
  }
  return Wrap(value);
}

std::optional<int64_t> ArithmeticOperation(std::string_view op, int64_t a,
                                           int64_t b) {
  const auto x = static_cast<uint64_t>(a);
  const auto y = static_cast<uint64_t>(b);
  if (op == "+") return Wrap(x + y);
  if (op == "-") return Wrap(x - y);
  if (op == "*") return Wrap(x * y);
  if (op == "/" || op == "%") {
    if (b == 0) return std::nullopt;
    if (a == INT64_MIN && b == -1) return op == "/" ? a : 0;
    return op == "/" ? a / b : a % b;
  }
  if (op == "<<") return Wrap(x << (y & 63));
  if (op == ">>") return a >> (y & 63);
  if (op == "<") return a < b;
  if (op == ">") return a > b;
  if (op == "<=") return a <= b;
  if (op == ">=") return a >= b;
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "&") return Wrap(x & y);
  if (op == "|") return Wrap(x | y);
  if (op == "^") return Wrap(x ^ y);
  if (op == "**") {
    if (b < 0) return std::nullopt;
    uint64_t result = 1;
    uint64_t base = x;
    for (uint64_t e = y; e != 0; e >>= 1, base *= base)
      if ((e & 1) != 0) result *= base;
    return Wrap(result);
  }
  return std::nullopt;
}

}  // namespace gate::parser
