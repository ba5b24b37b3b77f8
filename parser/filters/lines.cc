// grep and awk, in their simplest uses.

#include <algorithm>

#include "base/ascii.h"
#include "parser/filters/filters.h"
#include "parser/filters/internal.h"
#include "parser/filters/regex.h"

namespace gate::parser::filters {
namespace {

// One pattern of grep: a fixed string, or alternatives of expressions.
struct Pattern {
  bool fixed = false;
  bool ignore_case = false;
  std::string text;
  std::vector<SimpleRegex> alternatives;

  // 1 found, 0 not, -1 not known.
  int Find(std::string_view line, size_t from,
           SimpleRegex::Match* match) const {
    if (fixed) {
      const std::string subject =
          ignore_case ? LowerAscii(line) : std::string(line);
      const size_t at = subject.find(text, from);
      if (at == std::string::npos) return 0;
      match->begin = at;
      match->end = at + text.size();
      return 1;
    }
    int best = 0;
    for (const SimpleRegex& regex : alternatives) {
      SimpleRegex::Match other;
      const int found = regex.Search(line, from, &other);
      if (found < 0) return -1;
      if (found == 0) continue;
      if (best == 0 || other.begin < match->begin ||
          (other.begin == match->begin && other.end > match->end)) {
        *match = other;
      }
      best = 1;
    }
    return best;
  }
};

// Splits at top-level alternation; groups and brackets with one inside are
// beyond SimpleRegex anyway and fail there.
bool CompileAlternatives(std::string_view text, bool extended, bool ignore_case,
                         Pattern* pattern) {
  std::string part;
  const auto add = [&] {
    auto regex = SimpleRegex::Compile(part, extended, ignore_case);
    part.clear();
    if (!regex) return false;
    pattern->alternatives.push_back(std::move(*regex));
    return true;
  };
  for (size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (c == '[') {
      // A `|` inside brackets is literal; leave such patterns alone.
      const size_t end = text.find(']', k + 2);
      if (end == std::string_view::npos) return false;
      if (text.substr(k, end - k).find('|') != std::string_view::npos) {
        return false;
      }
    }
    if (c == '\\' && k + 1 < text.size()) {
      if (text[k + 1] == '|' && !extended) {
        if (part.empty() || !add()) return false;
        ++k;
        continue;
      }
      part += c;
      part += text[++k];
      continue;
    }
    if (c == '|' && extended) {
      if (part.empty() || !add()) return false;
      continue;
    }
    part += c;
  }
  if (part.empty() && !pattern->alternatives.empty()) return false;
  return add();
}

}  // namespace

Output Grep(const Argv& argv, std::string_view input) {
  Parsed p;
  if (!Parse(argv, "vFEGixoce:am:h",
             "invert-match=v fixed-strings=F extended-regexp=E "
             "ignore-case=i only-matching=o line-regexp=x count=c",
             &p) ||
      !IsAscii(input)) {
    return std::nullopt;
  }
  for (size_t i = 1; i < argv.size(); ++i) {
    constexpr std::string_view kLong[] = {"--",
                                          "--invert-match",
                                          "--fixed-strings",
                                          "--extended-regexp",
                                          "--ignore-case",
                                          "--only-matching",
                                          "--line-regexp",
                                          "--count"};
    if (argv[i].starts_with("--") &&
        std::find(std::begin(kLong), std::end(kLong), argv[i]) ==
            std::end(kLong)) {
      return std::nullopt;
    }
  }
  if (p.Has('F') + p.Has('E') + p.Has('G') > 1) return std::nullopt;
  Pattern pattern;
  pattern.fixed = p.Has('F');
  pattern.ignore_case = p.Has('i');
  std::string text;
  int given = 0;
  for (const auto& [option, value] : p.options) {
    if (option != 'e') continue;
    text = value;
    ++given;
  }
  if (given > 1) return std::nullopt;
  if (given == 0) {
    if (p.operands.empty()) return std::nullopt;
    text = p.operands[0];
    p.operands.erase(p.operands.begin());
  }
  if (!OnlyStdin(p) || !IsAscii(text) || text.find('\n') != std::string::npos) {
    return std::nullopt;
  }
  if (pattern.fixed) {
    pattern.text = pattern.ignore_case ? LowerAscii(text) : text;
  } else if (!CompileAlternatives(text, p.Has('E'), p.Has('i'), &pattern)) {
    return std::nullopt;
  }
  size_t most = SIZE_MAX;
  if (const std::string* value = p.Value('m')) {
    if (!ParseCount(*value, &most) || most == 0) return std::nullopt;
  }
  if (p.Has('x') && (!pattern.fixed || p.Has('o'))) return std::nullopt;
  if (p.Has('o') && p.Has('v')) return std::nullopt;
  std::string out;
  size_t selected = 0;
  for (const std::string_view line : Lines(input)) {
    if (selected >= most) break;
    const std::string_view body = WithoutNewline(line);
    SimpleRegex::Match match;
    int found = pattern.Find(body, 0, &match);
    if (found < 0) return std::nullopt;
    if (p.Has('x') && found == 1) {
      found = body.size() == pattern.text.size() ? 1 : 0;
    }
    if ((found == 1) == p.Has('v')) continue;
    ++selected;
    if (p.Has('c')) continue;
    if (!p.Has('o')) {
      out += body;
      out += '\n';
      continue;
    }
    for (size_t at = 0; found == 1;) {
      if (match.begin == match.end) return std::nullopt;
      out += body.substr(match.begin, match.end - match.begin);
      out += '\n';
      at = match.end;
      found = pattern.Find(body, at, &match);
      if (found < 0) return std::nullopt;
    }
  }
  if (p.Has('c')) return std::to_string(selected) + "\n";
  return out;
}

namespace {

// What awk's print writes: a field, the last field, or text.
struct Piece {
  bool text = false;
  bool last = false;
  size_t field = 0;
  bool separated = false;  // by a comma from the piece before
  std::string literal;
};

class AwkReader {
 public:
  explicit AwkReader(std::string_view text) : text_(text) {}

  // [NR==N] { print [LIST] }
  bool Read(size_t* only_line, std::vector<Piece>* pieces) {
    Blank();
    if (Word("NR")) {
      Blank();
      if (!Word("==")) return false;
      Blank();
      if (!Number(only_line) || *only_line == 0) return false;
      Blank();
      if (at_ == text_.size()) return true;  // prints the whole line
    }
    if (!Word("{")) return false;
    Blank();
    if (!Word("print")) return false;
    if (at_ < text_.size() && std::string_view(" \t$\";}").find(text_[at_]) ==
                                  std::string_view::npos) {
      return false;
    }
    bool separated = false;
    for (;;) {
      Blank();
      if (Word(";")) Blank();
      if (Word("}")) break;
      Piece piece;
      piece.separated = separated;
      separated = false;
      if (Word("$")) {
        if (Word("NF")) {
          piece.last = true;
        } else if (!Number(&piece.field) || piece.field > 10000) {
          return false;
        }
      } else if (Word("\"")) {
        const size_t end = text_.find_first_of("\"\\\n", at_);
        if (end == std::string_view::npos || text_[end] != '"') return false;
        piece.text = true;
        piece.literal = text_.substr(at_, end - at_);
        at_ = end + 1;
      } else {
        return false;
      }
      pieces->push_back(std::move(piece));
      Blank();
      if (Word(",")) {
        separated = true;
        Blank();
        if (at_ < text_.size() && text_[at_] == '}') return false;
      }
    }
    Blank();
    return at_ == text_.size() && !separated;
  }

 private:
  void Blank() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) {
      ++at_;
    }
  }
  bool Word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool Number(size_t* value) {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return ParseCount(text_.substr(begin, at_ - begin), value);
  }

  std::string_view text_;
  size_t at_ = 0;
};

std::vector<std::string_view> SplitFields(std::string_view line,
                                          char separator) {
  std::vector<std::string_view> fields;
  if (separator != ' ') {
    if (line.empty()) return fields;
    while (true) {
      const size_t end = line.find(separator);
      fields.push_back(line.substr(0, end));
      if (end == std::string_view::npos) return fields;
      line.remove_prefix(end + 1);
    }
  }
  for (size_t at = 0;;) {
    at = line.find_first_not_of(" \t", at);
    if (at == std::string_view::npos) return fields;
    const size_t end = std::min(line.find_first_of(" \t", at), line.size());
    fields.push_back(line.substr(at, end - at));
    at = end;
  }
}

}  // namespace

// Programs of awk differ in much; not in printing fields of ASCII lines.
Output Awk(const Argv& argv, std::string_view input) {
  Parsed p;
  if (!Parse(argv, "F:", "", &p, /*posix=*/true) || p.operands.empty() ||
      !IsAscii(input)) {
    return std::nullopt;
  }
  const std::string program = p.operands[0];
  p.operands.erase(p.operands.begin());
  if (!OnlyStdin(p) || !IsAscii(program)) return std::nullopt;
  char separator = ' ';
  if (const std::string* value = p.Value('F')) {
    if (value->size() != 1 || *value == "t" || *value == "\\" ||
        *value == "\n") {
      return std::nullopt;
    }
    separator = (*value)[0];
  }
  if (p.options.size() > 1) return std::nullopt;
  size_t only_line = 0;
  std::vector<Piece> pieces;
  if (!AwkReader(program).Read(&only_line, &pieces)) return std::nullopt;
  std::string out;
  size_t number = 0;
  for (const std::string_view line : Lines(input)) {
    ++number;
    if (only_line != 0 && number != only_line) continue;
    const std::string_view body = WithoutNewline(line);
    const auto fields = SplitFields(body, separator);
    if (pieces.empty()) out += body;
    for (const Piece& piece : pieces) {
      if (piece.separated) out += ' ';
      if (piece.text) {
        out += piece.literal;
      } else if (piece.last) {
        // Without fields $NF is $0, which may be blanks.
        out += fields.empty() ? body : fields.back();
      } else if (piece.field == 0) {
        out += body;
      } else if (piece.field <= fields.size()) {
        out += fields[piece.field - 1];
      }
    }
    out += '\n';
    if (out.size() > kMaxFilterBytes) return std::nullopt;
  }
  return out;
}

}  // namespace gate::parser::filters
