// Shell patterns (bash(1), Pattern Matching).
//
// A pattern is matched by recursion over pattern and text positions with a
// budget of steps: a star tries every rest, which is quadratic at worst per
// star, and hostile patterns run out of budget instead of time.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "parser/expand.h"

namespace gate::parser {
namespace {

constexpr size_t kMaxMatchSteps = 1 << 20;

class Matcher {
 public:
  Matcher(bool extglob, bool ignore_case)
      : extglob_(extglob), ignore_case_(ignore_case) {}

  bool Match(std::string_view pattern, std::string_view text) {
    while (true) {
      if (++steps_ > kMaxMatchSteps) return false;
      if (pattern.empty()) return text.empty();
      const char c = pattern[0];
      if (extglob_ && pattern.size() > 1 && pattern[1] == '(' &&
          std::string_view("?*+@!").find(c) != std::string_view::npos) {
        const size_t close = CloseOf(pattern, 1);
        if (close != std::string_view::npos)
          return MatchExtended(c, pattern.substr(2, close - 2),
                               pattern.substr(close + 1), text);
      }
      if (c == '*') {
        while (!pattern.empty() && pattern[0] == '*' &&
               !(extglob_ && pattern.size() > 1 && pattern[1] == '('))
          pattern.remove_prefix(1);
        if (pattern.empty()) return true;
        for (size_t skip = 0; skip <= text.size(); ++skip)
          if (Match(pattern, text.substr(skip))) return true;
        return false;
      }
      if (c == '?') {
        if (text.empty()) return false;
        pattern.remove_prefix(1);
        text.remove_prefix(CharacterSize(text));
        continue;
      }
      if (c == '[') {
        size_t used = 0;
        bool hit = false;
        if (MatchBracket(pattern, text, &used, &hit)) {
          if (text.empty() || !hit) return false;
          pattern.remove_prefix(used);
          text.remove_prefix(CharacterSize(text));
          continue;
        }
        // Not a bracket expression: an ordinary character.
      }
      size_t width = 1;
      char wanted = c;
      if (c == '\\' && pattern.size() > 1) {
        wanted = pattern[1];
        width = 2;
      }
      if (text.empty() || !Same(wanted, text[0])) return false;
      pattern.remove_prefix(width);
      text.remove_prefix(1);
    }
  }

 private:
  static size_t CharacterSize(std::string_view text) {
    size_t size = 1;
    if ((static_cast<unsigned char>(text[0]) & 0xC0) != 0xC0) return 1;
    while (size < text.size() &&
           (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80)
      ++size;
    return size;
  }

  bool Same(char a, char b) const {
    if (a == b) return true;
    return ignore_case_ && std::tolower(static_cast<unsigned char>(a)) ==
                               std::tolower(static_cast<unsigned char>(b));
  }

  // The parenthesis that closes the one at `open`.
  static size_t CloseOf(std::string_view pattern, size_t open) {
    int depth = 0;
    for (size_t i = open; i < pattern.size(); ++i) {
      if (pattern[i] == '\\') {
        ++i;
      } else if (pattern[i] == '(') {
        ++depth;
      } else if (pattern[i] == ')') {
        if (--depth == 0) return i;
      }
    }
    return std::string_view::npos;
  }

  static std::vector<std::string_view> Alternatives(std::string_view list) {
    std::vector<std::string_view> parts;
    int depth = 0;
    size_t start = 0;
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i] == '\\') {
        ++i;
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

  bool MatchExtended(char kind, std::string_view list, std::string_view rest,
                     std::string_view text) {
    const auto parts = Alternatives(list);
    if (kind == '!') {
      for (size_t size = 0; size <= text.size(); ++size) {
        bool hit = false;
        for (const auto part : parts)
          hit = hit || Match(part, text.substr(0, size));
        if (!hit && Match(rest, text.substr(size))) return true;
      }
      return false;
    }
    if ((kind == '?' || kind == '*') && Match(rest, text)) return true;
    for (size_t size = 0; size <= text.size(); ++size) {
      if (steps_ > kMaxMatchSteps) return false;
      for (const auto part : parts) {
        if (!Match(part, text.substr(0, size))) continue;
        const std::string_view after = text.substr(size);
        if (Match(rest, after)) return true;
        const bool repeats = kind == '*' || kind == '+';
        if (repeats && size > 0 && MatchExtended('*', list, rest, after))
          return true;
      }
    }
    return false;
  }

  static bool InClass(std::string_view name, unsigned char c) {
    struct Row {
      const char* name;
      int (*test)(int);
    };
    static constexpr std::array<Row, 12> kRows = {{{"alnum", std::isalnum},
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
    for (const Row& row : kRows)
      if (name == row.name) return row.test(c) != 0;
    return name == "word" && (std::isalnum(c) != 0 || c == '_');
  }

  // False when `pattern` does not begin with a bracket expression.
  bool MatchBracket(std::string_view pattern, std::string_view text,
                    size_t* used, bool* hit) const {
    size_t i = 1;
    bool negated = false;
    if (i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^')) {
      negated = true;
      ++i;
    }
    const unsigned char c =
        text.empty() ? 0 : static_cast<unsigned char>(text[0]);
    bool found = false;
    bool first = true;
    while (i < pattern.size() && (first || pattern[i] != ']')) {
      first = false;
      if (pattern[i] == '[' && i + 1 < pattern.size() &&
          pattern[i + 1] == ':') {
        const size_t end = pattern.find(":]", i + 2);
        if (end != std::string_view::npos) {
          found = found || InClass(pattern.substr(i + 2, end - i - 2), c);
          i = end + 2;
          continue;
        }
      }
      if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
      const auto low = static_cast<unsigned char>(pattern[i++]);
      unsigned char high = low;
      if (i + 1 < pattern.size() && pattern[i] == '-' &&
          pattern[i + 1] != ']') {
        ++i;
        if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
        high = static_cast<unsigned char>(pattern[i++]);
      }
      if (low <= c && c <= high) found = true;
      if (ignore_case_ && std::isalpha(c) != 0) {
        const auto other = static_cast<unsigned char>(
            std::islower(c) != 0 ? std::toupper(c) : std::tolower(c));
        if (low <= other && other <= high) found = true;
      }
    }
    if (i >= pattern.size()) return false;
    *used = i + 1;
    *hit = found != negated;
    return true;
  }

  bool extglob_;
  bool ignore_case_;
  size_t steps_ = 0;
};

}  // namespace

bool MatchPattern(std::string_view pattern, std::string_view text, bool extglob,
                  bool ignore_case) {
  return Matcher(extglob, ignore_case).Match(pattern, text);
}

}  // namespace gate::parser
