// The syntax of RE2 as an automaton.
#include <algorithm>

#include "rules/match/gaps_internal.h"

namespace gate::rules::gaps {
namespace {

constexpr int kMaxDepth = 200;

// The syntax of RE2, of a pattern that RE2 has accepted.
class Reader {
 public:
  Reader(std::u32string_view text, Automaton* to) : text_(text), to_(*to) {}

  Part Read() {
    const Part part = Alternatives(0);
    if (at_ < text_.size()) to_.given_up = true;
    return part;
  }

 private:
  bool Done() const { return at_ >= text_.size() || to_.given_up; }
  char32_t Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : U'\0';
  }
  bool Take(char32_t c) {
    if (Done() || Peek() != c) return false;
    ++at_;
    return true;
  }

  Part Alternatives(int depth) {
    if (depth > kMaxDepth) to_.given_up = true;
    Part part = Sequence(depth);
    while (Take('|')) part = to_.Either(part, Sequence(depth));
    return part;
  }

  Part Sequence(int depth) {
    Part part = to_.Empty();
    while (!Done() && Peek() != '|' && Peek() != ')')
      part = to_.Then(part, Repeated(depth));
    return part;
  }

  Part Repeated(int depth) {
    const size_t begin = at_;
    const bool fold = fold_;
    Part part = Atom(depth);
    for (;;) {
      if (Take('*')) {
        part = to_.Star(part);
      } else if (Take('+')) {
        part = to_.Plus(part);
      } else if (Take('?')) {
        part = to_.Optional(part);
      } else if (size_t least = 0, most = 0; Count(&least, &most)) {
        part = Times(begin, fold, depth, least, most);
      } else {
        return part;
      }
      Take('?');  // the lazy forms match the same
      if (to_.given_up) return part;
    }
  }

  // The repeated piece once more: read again from its text.
  Part Again(size_t begin, size_t end, bool fold, int depth) {
    const std::u32string_view whole = text_;
    const size_t back = at_;
    const bool fold_then = fold_;
    text_ = text_.substr(0, end);
    at_ = begin;
    fold_ = fold;
    const Part part = ++copies_ > kMaxStates ? GiveUp() : Repeated(depth + 1);
    text_ = whole;
    at_ = back;
    fold_ = fold_then;
    return part;
  }

  Part Times(size_t begin, bool fold, int depth, size_t least, size_t most) {
    const size_t end = count_begin_;
    Part part = to_.Empty();
    for (size_t i = 0; i < least && !to_.given_up; ++i)
      part = to_.Then(part, Again(begin, end, fold, depth));
    if (most == SIZE_MAX)
      return to_.Then(part, to_.Star(Again(begin, end, fold, depth)));
    for (size_t i = least; i < most && !to_.given_up; ++i)
      part = to_.Then(part, to_.Optional(Again(begin, end, fold, depth)));
    return part;
  }

  // "{2}", "{2,}", "{2,5}"; any other brace is itself.
  bool Count(size_t* least, size_t* most) {
    if (Done() || Peek() != '{') return false;
    size_t at = at_ + 1;
    const auto number = [&](size_t* value) {
      const size_t from = at;
      *value = 0;
      while (at < text_.size() && text_[at] >= '0' && text_[at] <= '9' &&
             *value < 100'000)
        *value = *value * 10 + (text_[at++] - '0');
      return at > from;
    };
    if (!number(least)) return false;
    *most = *least;
    if (at < text_.size() && text_[at] == ',') {
      ++at;
      if (!number(most)) *most = SIZE_MAX;
    }
    if (at >= text_.size() || text_[at] != '}') return false;
    count_begin_ = at_;
    at_ = at + 1;
    return true;
  }

  Part GiveUp() {
    to_.given_up = true;
    return to_.Empty();
  }

  Part Atom(int depth) {
    const char32_t c = text_[at_++];
    switch (c) {
      case '(':
        return Group(depth);
      case '[':
        return to_.One(Class());
      case '.':
        return to_.One(Anything());
      case '^':
        return multiline_ ? to_.Empty() : to_.Assert(Kind::kBegin);
      case '$':
        return multiline_ ? to_.Empty() : to_.Assert(Kind::kEnd);
      case '\\':
        return Escape();
      default:
        return to_.One(Literal(c));
    }
  }

  Part Group(int depth) {
    const bool fold = fold_, multiline = multiline_;
    if (Take('?')) {
      if (Peek() == 'P' || Peek() == '<') {  // a name
        while (!Done() && Peek() != '>') ++at_;
        Take('>');
      } else {
        bool on = true;
        while (!Done() && Peek() != ':' && Peek() != ')') {
          const char32_t flag = text_[at_++];
          if (flag == '-') on = false;
          if (flag == 'i') fold_ = on;
          if (flag == 'm') multiline_ = on;
        }
        // "(?i)" holds to the end of the group that it stands in.
        if (Take(')')) return to_.Empty();
        Take(':');
      }
    }
    const Part part = Alternatives(depth + 1);
    if (!Take(')')) to_.given_up = true;
    fold_ = fold;
    multiline_ = multiline;
    return part;
  }

  Set Literal(char32_t c) {
    Set set = Exactly(c);
    Fold(&set);
    return set;
  }

  void Fold(Set* set) {
    if (!fold_) return;
    const auto ranges = set->ranges;
    for (const auto& [low, high] : ranges) {
      for (char32_t c = low; c <= high && c < 0x80; ++c) {
        if (c >= 'a' && c <= 'z') set->ranges.push_back({c - 32, c - 32});
        if (c >= 'A' && c <= 'Z') set->ranges.push_back({c + 32, c + 32});
        // U+212A and U+017F are other cases of these; what others a character
        // beyond ASCII has is not looked up.
        const char32_t lower = c | 0x20;
        if (lower == 'k' || lower == 's') set->not_ascii = true;
      }
      if (high >= 0x80) set->not_ascii = true;
    }
  }

  // Appends \d, \w, \s and their opposites; false: it is none of them.
  static bool Perl(char32_t c, Set* set) {
    Set named;
    switch (c) {
      case 'd':
      case 'D':
        named.ranges = {{'0', '9'}};
        break;
      case 'w':
      case 'W':
        named.ranges = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
        break;
      case 's':
      case 'S':
        named.ranges = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
        break;
      default:
        return false;
    }
    if (c < 'a') {
      char32_t from = 0;
      for (const auto& [low, high] : named.ranges) {
        if (low > from) set->ranges.push_back({from, low - 1});
        from = high + 1;
      }
      set->ranges.push_back({from, 0x10FFFF});
    } else {
      set->ranges.insert(set->ranges.end(), named.ranges.begin(),
                         named.ranges.end());
    }
    return true;
  }

  // One character behind a backslash.
  char32_t Escaped() {
    if (Done()) return U'\\';
    const char32_t c = text_[at_++];
    const auto digits = [&](int base, size_t most) {
      char32_t value = 0;
      for (size_t i = 0; i < most && !Done(); ++i) {
        const char32_t d = Peek();
        const int digit =
            d >= '0' && d <= '9'   ? static_cast<int>(d - '0')
            : d >= 'a' && d <= 'f' ? static_cast<int>(d - 'a' + 10)
            : d >= 'A' && d <= 'F' ? static_cast<int>(d - 'A' + 10)
                                   : 99;
        if (digit >= base || value > 0x10FFFF) break;
        value =
            value * static_cast<char32_t>(base) + static_cast<char32_t>(digit);
        ++at_;
      }
      return value;
    };
    switch (c) {
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case 'r':
        return '\r';
      case 'f':
        return '\f';
      case 'v':
        return '\v';
      case 'a':
        return '\a';
      case 'x': {
        if (!Take('{')) return digits(16, 2);
        const char32_t value = digits(16, 8);
        Take('}');
        return value;
      }
      default:
        if (c < '0' || c > '7') return c;
        --at_;
        return digits(8, 3);
    }
  }

  // Behind \p or \P: its name is not looked up.
  void SkipName() {
    if (!Take('{')) {
      if (!Done()) ++at_;
      return;
    }
    while (!Done() && Peek() != '}') ++at_;
    Take('}');
  }

  Part Escape() {
    const char32_t c = Peek();
    Set set;
    if (Perl(c, &set)) {
      ++at_;
      return to_.One(std::move(set));
    }
    switch (c) {
      case 'b':
      case 'B':
        ++at_;
        return to_.Empty();
      case 'A':
        ++at_;
        return to_.Assert(Kind::kBegin);
      case 'z':
        ++at_;
        return to_.Assert(Kind::kEnd);
      case 'p':
      case 'P':
        ++at_;
        SkipName();
        return to_.One(Anything());
      case 'C':  // one byte: a character is one or more
        ++at_;
        return to_.Optional(to_.One(Anything()));
      case 'Q': {
        ++at_;
        Part part = to_.Empty();
        while (!Done() && !(Peek() == '\\' && Peek(1) == 'E'))
          part = to_.Then(part, to_.One(Literal(text_[at_++])));
        at_ = std::min(at_ + 2, text_.size());
        return part;
      }
      default:
        return to_.One(Literal(Escaped()));
    }
  }

  Set Class() {
    Set set;
    const bool negated = Take('^');
    bool vague = false;  // a name that is not looked up
    for (bool first = true; !Done() && (first || Peek() != ']');
         first = false) {
      if (Peek() == '[' && Peek(1) == ':') {
        while (!Done() && Peek() != ']') ++at_;
        Take(']');
        vague = true;
        continue;
      }
      if (Peek() == '\\' && Perl(Peek(1), &set)) {
        at_ += 2;
        continue;
      }
      if (Peek() == '\\' && (Peek(1) == 'p' || Peek(1) == 'P')) {
        at_ += 2;
        SkipName();
        vague = true;
        continue;
      }
      const auto one = [&] { return Take('\\') ? Escaped() : text_[at_++]; };
      const char32_t low = one();
      char32_t high = low;
      if (Peek() == '-' && Peek(1) != ']' && at_ + 1 < text_.size()) {
        ++at_;
        high = one();
      }
      set.ranges.push_back({low, high});
    }
    if (!Take(']')) to_.given_up = true;
    if (vague) return Anything();
    Fold(&set);
    if (negated) {
      set.negated = true;
      if (fold_) set.not_ascii = true;
    }
    return set;
  }

  std::u32string_view text_;
  Automaton& to_;
  size_t at_ = 0;
  size_t count_begin_ = 0;
  size_t copies_ = 0;
  bool fold_ = false, multiline_ = false;
};

}  // namespace

Part ReadRegex(std::u32string_view pattern, Automaton* to) {
  return Reader(pattern, to).Read();
}

}  // namespace gate::rules::gaps
