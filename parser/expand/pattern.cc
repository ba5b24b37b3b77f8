// Shell patterns (bash(1), Pattern Matching).
//
// The compiler turns text into elements: a byte, any character, a bracket
// expression, a star, an extended pattern with its alternatives. Matching
// walks the elements with the set of positions where a match may stand, from
// the front (EndsFrom) or, for suffixes, from the back (StartsOf). `!(…)` needs
// one walk for each position.
#include "parser/expand/pattern.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/ascii.h"
#include "parser/expand/expand.h"

namespace gate::parser {
namespace {

constexpr size_t kMaxMatchSteps = 1 << 21;
constexpr int kMaxPatternDepth = 24;

bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// The bytes of the UTF-8 character at text[at]; an invalid byte stands alone.
size_t SizeAt(std::string_view text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const size_t size = lead < 0xC2   ? 1
                      : lead < 0xE0 ? 2
                      : lead < 0xF0 ? 3
                      : lead < 0xF5 ? 4
                                    : 1;
  if (size == 1 || at + size > text.size()) return 1;
  for (size_t i = 1; i < size; ++i)
    if (!IsContinuation(text[at + i])) return 1;
  return size;
}

uint32_t CodeAt(std::string_view text, size_t at, size_t size) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (size == 1) return lead;
  uint32_t code = lead & (0x7Fu >> size);
  for (size_t i = 1; i < size; ++i)
    code = (code << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3F);
  return code;
}

struct ClassRow {
  std::string_view name;
  int (*test)(int);
};
constexpr std::array<ClassRow, 12> kClasses = {{{"alnum", std::isalnum},
                                                {"alpha", std::isalpha},
                                                {"blank", std::isblank},
                                                {"cntrl", std::iscntrl},
                                                {"digit", std::isdigit},
                                                {"graph", std::isgraph},
                                                {"lower", std::islower},
                                                {"print", std::isprint},
                                                {"punct", std::ispunct},
                                                {"space", std::isspace},
                                                {"upper", std::isupper},
                                                {"xdigit", std::isxdigit}}};
constexpr int kWordClass = 12;
constexpr int kAsciiClass = 13;

// The bracket expression that begins at pattern[0]: its length, or 0 when the
// bracket is an ordinary character.
size_t BracketSize(std::string_view pattern) {
  size_t i = 1;
  if (i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^')) ++i;
  bool first = true;
  while (i < pattern.size() && (first || pattern[i] != ']')) {
    first = false;
    if (pattern[i] == '[' && i + 1 < pattern.size() &&
        (pattern[i + 1] == ':' || pattern[i + 1] == '=' ||
         pattern[i + 1] == '.')) {
      const char end[] = {pattern[i + 1], ']', '\0'};
      const size_t close = pattern.find(end, i + 2);
      if (close != std::string_view::npos) {
        i = close + 2;
        continue;
      }
    }
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    ++i;
  }
  return i < pattern.size() ? i + 1 : 0;
}

// The parenthesis that closes the one at `open`; npos when there is none.
size_t CloseOf(std::string_view pattern, size_t open) {
  int depth = 0;
  for (size_t i = open; i < pattern.size(); ++i) {
    if (pattern[i] == '\\') {
      ++i;
    } else if (pattern[i] == '[') {
      const size_t size = BracketSize(pattern.substr(i));
      if (size > 0) i += size - 1;
    } else if (pattern[i] == '(') {
      ++depth;
    } else if (pattern[i] == ')') {
      if (--depth == 0) return i;
    }
  }
  return std::string_view::npos;
}

std::vector<std::string_view> SplitAlternatives(std::string_view list) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '\\') {
      ++i;
    } else if (list[i] == '[') {
      const size_t size = BracketSize(list.substr(i));
      if (size > 0) i += size - 1;
    } else if (list[i] == '(') {
      ++depth;
    } else if (list[i] == ')') {
      --depth;
    } else if (list[i] == '|' && depth == 0) {
      parts.push_back(list.substr(start, i - start));
      start = i + 1;
    }
  }
  parts.push_back(list.substr(start));
  return parts;
}

void Unite(Pattern::Positions* into, const Pattern::Positions& more) {
  if (more.empty()) return;
  Pattern::Positions all;
  all.reserve(into->size() + more.size());
  std::set_union(into->begin(), into->end(), more.begin(), more.end(),
                 std::back_inserter(all));
  *into = std::move(all);
}

}  // namespace

struct Pattern::Element {
  enum class Kind : uint8_t { kByte, kAny, kSet, kStar, kExtended };
  Kind kind = Kind::kByte;
  char byte = 0;  // kByte; the operator of kExtended
  bool negated = false;
  uint32_t classes = 0;
  std::vector<std::pair<uint32_t, uint32_t>> ranges;
  std::vector<Sequence> alternatives;
};

struct Pattern::Compiler {
  Pattern& owner;

  Sequence Run(std::string_view pattern, int depth) {
    Sequence out;
    if (depth > kMaxPatternDepth) {
      owner.unclear_ = true;
      return out;
    }
    size_t i = 0;
    while (i < pattern.size()) {
      const char c = pattern[i];
      Element element;
      if (owner.options_.extglob && i + 1 < pattern.size() &&
          pattern[i + 1] == '(' &&
          std::string_view("?*+@!").find(c) != std::string_view::npos) {
        const size_t close = CloseOf(pattern, i + 1);
        if (close == std::string_view::npos) {
          owner.valid_ = false;
          return out;
        }
        element.kind = Element::Kind::kExtended;
        element.byte = c;
        for (const auto part :
             SplitAlternatives(pattern.substr(i + 2, close - i - 2)))
          element.alternatives.push_back(Run(part, depth + 1));
        i = close + 1;
        out.push_back(std::move(element));
        continue;
      }
      if (c == '*') {
        ++i;
        if (!out.empty() && out.back().kind == Element::Kind::kStar) continue;
        element.kind = Element::Kind::kStar;
        out.push_back(std::move(element));
        continue;
      }
      if (c == '?') {
        element.kind = Element::Kind::kAny;
        ++i;
        out.push_back(std::move(element));
        continue;
      }
      if (c == '[') {
        const size_t size = BracketSize(pattern.substr(i));
        if (size > 0) {
          out.push_back(Bracket(pattern.substr(i, size)));
          i += size;
          continue;
        }
      }
      if (c == '\\' && i + 1 < pattern.size()) ++i;
      element.byte = pattern[i++];
      out.push_back(std::move(element));
    }
    return out;
  }

  uint32_t Code(std::string_view text, size_t* at) const {
    const size_t size = owner.options_.bytes ? 1 : SizeAt(text, *at);
    const uint32_t code = CodeAt(text, *at, size);
    *at += size;
    return code;
  }

  Element Bracket(std::string_view text) {
    Element element;
    element.kind = Element::Kind::kSet;
    size_t i = 1;
    if (text[i] == '!' || text[i] == '^') {
      element.negated = true;
      ++i;
    }
    const size_t end = text.size() - 1;
    while (i < end) {
      if (text[i] == '[' &&
          (text[i + 1] == ':' || text[i + 1] == '=' || text[i + 1] == '.')) {
        const char closing[] = {text[i + 1], ']', '\0'};
        const size_t close = text.find(closing, i + 2);
        if (close != std::string_view::npos && close < end) {
          Named(text[i + 1], text.substr(i + 2, close - i - 2), &element);
          i = close + 2;
          continue;
        }
      }
      if (text[i] == '\\' && i + 1 < end) ++i;
      const uint32_t low = Code(text, &i);
      uint32_t high = low;
      if (i + 1 < end && text[i] == '-') {
        ++i;
        if (text[i] == '[' && text[i + 1] == '.') owner.unclear_ = true;
        if (text[i] == '\\' && i + 1 < end) ++i;
        high = Code(text, &i);
      }
      element.ranges.emplace_back(low, high);
    }
    return element;
  }

  void Named(char kind, std::string_view name, Element* element) {
    if (kind != ':') {
      if (name.size() == 1)
        element->ranges.emplace_back(static_cast<unsigned char>(name[0]),
                                     static_cast<unsigned char>(name[0]));
      else
        owner.unclear_ = true;  // names of collating symbols
      return;
    }
    for (size_t row = 0; row < kClasses.size(); ++row)
      if (name == kClasses[row].name) element->classes |= 1u << row;
    if (name == "word") element->classes |= 1u << kWordClass;
    if (name == "ascii") element->classes |= 1u << kAsciiClass;
    if (element->classes == 0) owner.unclear_ = true;
  }
};

// One walk over one text.
struct Pattern::Matching {
  Pattern& owner;
  std::string_view text;
  bool single;  // every character is one byte
  bool unclear = false;

  uint32_t size() const { return static_cast<uint32_t>(text.size()); }

  bool Spend(size_t steps) {
    owner.steps_ += steps + 1;
    if (owner.steps_ > kMaxMatchSteps) unclear = true;
    return !unclear;
  }

  uint32_t Next(uint32_t at) const {
    return at + (single ? 1 : static_cast<uint32_t>(SizeAt(text, at)));
  }
  // The character boundary before `at` (> 0).
  uint32_t Previous(uint32_t at) const {
    if (single) return at - 1;
    for (uint32_t back = 2; back <= 4 && back <= at; ++back)
      if (SizeAt(text, at - back) == back) return at - back;
    return at - 1;
  }
  bool IsBoundary(uint32_t at) const {
    if (single || at == 0 || at >= text.size() || !IsContinuation(text[at]))
      return true;
    for (uint32_t back = 1; back <= 3 && back <= at; ++back)
      if (SizeAt(text, at - back) > back) return false;
    return true;
  }

  static bool InClasses(uint32_t classes, uint32_t code) {
    const int c = static_cast<int>(code);
    for (size_t row = 0; row < kClasses.size(); ++row)
      if ((classes >> row & 1) != 0 && kClasses[row].test(c) != 0) return true;
    if ((classes >> kAsciiClass & 1) != 0) return true;
    return (classes >> kWordClass & 1) != 0 &&
           (std::isalnum(c) != 0 || c == '_');
  }

  bool SetHas(const Element& element, uint32_t at) {
    const uint32_t code = CodeAt(text, at, Next(at) - at);
    const auto in = [&element](uint32_t c) {
      for (const auto& [low, high] : element.ranges)
        if (low <= c && c <= high) return true;
      return false;
    };
    bool found = in(code);
    if (code < 0x80) {
      const int c = static_cast<int>(code);
      found = found || InClasses(element.classes, code);
      if (!found && owner.options_.ignore_case && std::isalpha(c) != 0) {
        const auto other = static_cast<uint32_t>(
            std::islower(c) != 0 ? std::toupper(c) : std::tolower(c));
        found = in(other) || InClasses(element.classes, other);
      }
    } else if (!found && (element.classes != 0 || owner.options_.ignore_case)) {
      unclear = true;  // what the locale says
    }
    return found != element.negated;
  }

  bool ByteIs(const Element& element, char c) const {
    if (element.byte == c) return true;
    return owner.options_.ignore_case &&
           std::tolower(static_cast<unsigned char>(element.byte)) ==
               std::tolower(static_cast<unsigned char>(c));
  }

  // The positions after (forward) or before (backward) `element`.
  Positions Step(const Element& element, const Positions& from, bool forward) {
    Positions to;
    if (from.empty() || !Spend(from.size())) return to;
    switch (element.kind) {
      case Element::Kind::kByte:
        for (const uint32_t at : from) {
          if (forward ? at >= size() : at == 0) continue;
          if (ByteIs(element, text[forward ? at : at - 1]))
            to.push_back(forward ? at + 1 : at - 1);
        }
        break;
      case Element::Kind::kAny:
      case Element::Kind::kSet:
        for (const uint32_t at : from) {
          if (forward ? at >= size() : at == 0) continue;
          const uint32_t begin = forward ? at : Previous(at);
          if (element.kind == Element::Kind::kAny || SetHas(element, begin))
            to.push_back(forward ? Next(at) : begin);
        }
        std::sort(to.begin(), to.end());
        to.erase(std::unique(to.begin(), to.end()), to.end());
        break;
      case Element::Kind::kStar: {
        const uint32_t begin = forward ? from.front() : 0;
        const uint32_t end = forward ? size() : from.back();
        if (!Spend(end - begin)) return to;
        to.reserve(end - begin + 1);
        for (uint32_t at = begin; at <= end; ++at)
          if (IsBoundary(at) ||
              std::binary_search(from.begin(), from.end(), at))
            to.push_back(at);
        break;
      }
      case Element::Kind::kExtended:
        to = Extended(element, from, forward);
        break;
    }
    return to;
  }

  Positions Any(const Element& element, const Positions& from, bool forward) {
    Positions to;
    for (const Sequence& alternative : element.alternatives)
      Unite(&to, Walk(alternative, from, forward));
    return to;
  }

  Positions Extended(const Element& element, const Positions& from,
                     bool forward) {
    if (element.byte == '!') {
      Positions to;
      for (const uint32_t at : from) {
        const Positions hit = Any(element, {at}, forward);
        if (unclear) return {};
        const uint32_t begin = forward ? at : 0;
        const uint32_t end = forward ? size() : at;
        if (!Spend(end - begin)) return {};
        Positions rest;
        for (uint32_t k = begin; k <= end; ++k)
          if (IsBoundary(k) && !std::binary_search(hit.begin(), hit.end(), k))
            rest.push_back(k);
        Unite(&to, rest);
      }
      return to;
    }
    Positions to = Any(element, from, forward);
    if (element.byte == '+' || element.byte == '*') {
      Positions edge = to;
      while (!edge.empty() && !unclear) {
        const Positions more = Any(element, edge, forward);
        Positions fresh;
        std::set_difference(more.begin(), more.end(), to.begin(), to.end(),
                            std::back_inserter(fresh));
        Unite(&to, fresh);
        edge = std::move(fresh);
      }
    }
    if (element.byte == '?' || element.byte == '*') Unite(&to, from);
    return to;
  }

  Positions Walk(const Sequence& sequence, Positions at, bool forward) {
    if (forward) {
      for (size_t i = 0; i < sequence.size() && !at.empty(); ++i)
        at = Step(sequence[i], at, true);
    } else {
      for (size_t i = sequence.size(); i-- > 0 && !at.empty();)
        at = Step(sequence[i], at, false);
    }
    return at;
  }
};

Pattern::Pattern(std::string_view pattern, PatternOptions options)
    : options_(options) {
  sequence_ = std::make_unique<Sequence>(Compiler{*this}.Run(pattern, 0));
  is_literal_ = valid_ && !unclear_ && !options_.ignore_case;
  for (const Element& element : *sequence_) {
    is_literal_ = is_literal_ && element.kind == Element::Kind::kByte;
    if (is_literal_) literal_ += element.byte;
  }
}

Pattern::~Pattern() = default;

const std::string* Pattern::literal() const {
  return is_literal_ ? &literal_ : nullptr;
}

bool Pattern::begins_with_star() const {
  return !sequence_->empty() && sequence_->front().kind == Element::Kind::kStar;
}

bool Pattern::StarAnd(bool first) const {
  if (!valid_ || unclear_ || sequence_->empty()) return false;
  const size_t star = first ? 0 : sequence_->size() - 1;
  for (size_t i = 0; i < sequence_->size(); ++i) {
    const Element::Kind kind = (*sequence_)[i].kind;
    if (kind == Element::Kind::kExtended ||
        (kind == Element::Kind::kStar) != (i == star))
      return false;
  }
  return true;
}

bool Pattern::star_then_fixed() const { return StarAnd(true); }
bool Pattern::fixed_then_star() const { return StarAnd(false); }

bool Pattern::EndsFrom(std::string_view text, uint32_t at, Positions* ends) {
  ends->clear();
  if (unclear_) return false;
  if (!valid_) return true;
  Matching matching{*this, text, options_.bytes || IsAscii(text)};
  *ends = matching.Walk(*sequence_, {at}, true);
  return !matching.unclear;
}

bool Pattern::StartsOf(std::string_view text, Positions* starts) {
  starts->clear();
  if (unclear_) return false;
  if (!valid_) return true;
  Matching matching{*this, text, options_.bytes || IsAscii(text)};
  *starts = matching.Walk(*sequence_, {matching.size()}, false);
  return !matching.unclear;
}

std::optional<bool> Pattern::Matches(std::string_view text) {
  if (is_literal_) return literal_ == text;
  Positions ends;
  if (!EndsFrom(text, 0, &ends)) return std::nullopt;
  return !ends.empty() && ends.back() == text.size();
}

std::optional<bool> TryMatchPattern(std::string_view pattern,
                                    std::string_view text, bool extglob,
                                    bool ignore_case) {
  PatternOptions options{extglob, ignore_case, false};
  const std::optional<bool> answer = Pattern(pattern, options).Matches(text);
  if (IsAscii(text)) return answer;
  options.bytes = true;
  return answer == Pattern(pattern, options).Matches(text) ? answer
                                                           : std::nullopt;
}

std::optional<bool> MatchInState(const State& state, std::string_view pattern,
                                 std::string_view text, bool conditional) {
  const bool extglob = conditional || state.extglob;
  const auto answer =
      TryMatchPattern(pattern, text, extglob, state.nocasematch);
  const int globs = state.extglob_unknown && !conditional ? 2 : 1;
  const int cases = state.nocasematch_unknown ? 2 : 1;
  for (int g = 0; answer && g < globs; ++g)
    for (int c = 0; c < cases; ++c)
      if ((g > 0 || c > 0) &&
          answer != TryMatchPattern(pattern, text, extglob != (g > 0),
                                    state.nocasematch != (c > 0)))
        return std::nullopt;
  return answer;
}

bool MatchPattern(std::string_view pattern, std::string_view text, bool extglob,
                  bool ignore_case) {
  return TryMatchPattern(pattern, text, extglob, ignore_case).value_or(false);
}

}  // namespace gate::parser
