// The texts that both readers read alike, recognised in one pass.
//
// One line of commands whose words are of ordinary characters, or quoted
// without anything that is special inside quotes; between them blanks and
// single | && || ; and the simplest redirections. Everything else is left to
// the comparison. That both readers agree on these is tested with generated
// texts (read_plain_test).
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "parser/crosscheck/tree_check.h"

namespace gate::parser {
namespace {

enum : uint8_t { kFirstChar = 1, kArgumentChar = 2 };

constexpr std::array<uint8_t, 256> MakeTable() {
  std::array<uint8_t, 256> table{};
  auto add = [&](std::string_view chars, uint8_t value) {
    for (char c : chars) table[static_cast<uint8_t>(c)] = value;
  };
  add("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-",
      kFirstChar | kArgumentChar);
  add(":=,+@%^*?~", kArgumentChar);
  return table;
}
constexpr std::array<uint8_t, 256> kTable = MakeTable();

// Words that are, to one of the readers, not the name of a simple command.
constexpr std::string_view kNotNames[] = {
    "if",      "then",   "else",     "elif",  "fi",     "case",
    "esac",    "for",    "select",   "while", "until",  "do",
    "done",    "in",     "function", "time",  "coproc", "declare",
    "typeset", "export", "readonly", "local", "unset",  "unsetenv"};

bool Is(char c, uint8_t of) {
  return (kTable[static_cast<uint8_t>(c)] & of) != 0;
}

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool Scan() {
    for (;;) {
      Blanks();
      if (!Command()) return false;
      Blanks();
      if (End()) return true;
      const char c = Next();
      if (c == '&' && !Take('&')) return false;
      if (c == '|') Take('|');
      if (c != '&' && c != '|' && c != ';') return false;
      Blanks();
      if (End()) return c == ';';
    }
  }

 private:
  bool End() const { return p_ == text_.size(); }
  char Peek() const { return End() ? '\0' : text_[p_]; }
  char Next() { return text_[p_++]; }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++p_;
    return true;
  }
  void Blanks() {
    while (!End() && IsBlank(text_[p_])) ++p_;
  }

  bool Command() {
    const size_t begin = p_;
    if (Peek() == '-') return false;
    while (!End() && Is(text_[p_], kFirstChar)) ++p_;
    const std::string_view name = text_.substr(begin, p_ - begin);
    if (name.empty() || std::find(std::begin(kNotNames), std::end(kNotNames),
                                  name) != std::end(kNotNames)) {
      return false;
    }
    bool redirected = false;
    bool dash = false;
    for (;;) {
      const size_t before = p_;
      Blanks();
      const char c = Peek();
      if (End() || c == '|' || c == '&' || c == ';') return true;
      if (p_ == before) return false;  // two words touch
      if (Redirects()) {
        // The grammar misreads a digit of a redirection after a lone `-`.
        if (dash || !Redirect()) return false;
        redirected = true;
      } else {
        const size_t word = p_;
        if (redirected || !Argument()) return false;
        dash = text_.substr(word, p_ - word) == "-";
      }
    }
  }

  bool Argument() {
    const size_t begin = p_;
    while (!End()) {
      const char c = text_[p_];
      if (Is(c, kArgumentChar)) {
        ++p_;
      } else if (c == '\'' || c == '"') {
        const size_t close = text_.find(c, p_ + 1);
        if (close == std::string_view::npos) return false;
        const std::string_view inner = text_.substr(p_ + 1, close - p_ - 1);
        if (c == '"' && inner.find_first_of("$`\\") != inner.npos) {
          return false;
        }
        p_ = close + 1;
      } else {
        break;
      }
    }
    return p_ > begin;
  }

  // True at `>`, `1>` and `2>`.
  bool Redirects() const {
    if (Peek() == '>') return true;
    return p_ + 1 < text_.size() && (text_[p_] == '1' || text_[p_] == '2') &&
           text_[p_ + 1] == '>';
  }

  // >word, >>word, 2>word, 2>&1: nothing but separators may follow them.
  bool Redirect() {
    if (Peek() != '>') ++p_;
    ++p_;
    if (Take('&')) {
      if (End() || Peek() < '0' || Peek() > '9') return false;
      ++p_;
      return true;
    }
    Take('>');
    Blanks();
    const size_t begin = p_;
    while (!End() && Is(text_[p_], kFirstChar)) ++p_;
    return p_ > begin && text_[begin] != '-';
  }

  std::string_view text_;
  size_t p_ = 0;
};

}  // namespace

bool IsPlain(std::string_view text) {
  if (text.find_first_of("\n\r\v\f") != std::string_view::npos) return false;
  return Scanner(text).Scan();
}

}  // namespace gate::parser
