#include "rules/glob.h"

#include <algorithm>
#include <vector>

namespace gate::rules {
namespace {

// One step of a pattern. kAnyTail is the final "/**", which may also be
// nothing at all.
struct Token {
  enum class Kind : uint8_t {
    kLiteral,
    kOne,        // one character but "/"
    kOneAny,     // one character
    kOneNotDot,  // one character but "/" and "."
    kStar,       // any number of characters but "/"
    kStarAny,    // any number of characters
    kSkipTwo,    // may be left out together with the next two tokens
  };
  Kind kind = Kind::kLiteral;
  char c = 0;
};
using TokenKind = Token::Kind;
using Tokens = std::vector<Token>;

Tokens ReadPath(std::string_view pattern) {
  Tokens tokens;
  tokens.reserve(pattern.size() + 2);
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      tokens.push_back({TokenKind::kLiteral, pattern[++i]});
    } else if (c == '*' && i + 1 < pattern.size() && pattern[i + 1] == '*') {
      while (i + 1 < pattern.size() && pattern[i + 1] == '*') ++i;
      const bool final = i + 1 == pattern.size();
      if (final && !tokens.empty() &&
          tokens.back().kind == TokenKind::kLiteral && tokens.back().c == '/') {
        tokens.back() = {TokenKind::kSkipTwo, 0};
        tokens.push_back({TokenKind::kLiteral, '/'});
      }
      tokens.push_back({TokenKind::kStarAny, 0});
    } else if (c == '*') {
      tokens.push_back({TokenKind::kStar, 0});
    } else if (c == '?') {
      tokens.push_back({TokenKind::kOne, 0});
    } else {
      tokens.push_back({TokenKind::kLiteral, c});
    }
  }
  return tokens;
}

Tokens ReadShell(std::string_view pattern) {
  Tokens tokens;
  bool start = true;  // of a component
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      tokens.push_back({TokenKind::kLiteral, pattern[++i]});
    } else if (c == '*') {
      while (i + 1 < pattern.size() && pattern[i + 1] == '*') ++i;
      if (start) {  // nothing, or a character but "." and then anything
        tokens.push_back({TokenKind::kSkipTwo, 0});
        tokens.push_back({TokenKind::kOneNotDot, 0});
      }
      tokens.push_back({TokenKind::kStar, 0});
    } else if (c == '?') {
      tokens.push_back({start ? TokenKind::kOneNotDot : TokenKind::kOne, 0});
    } else if (c == '[') {
      size_t end = i + 1;
      if (end < pattern.size() && (pattern[end] == '!' || pattern[end] == '^'))
        ++end;
      if (end < pattern.size() && pattern[end] == ']') ++end;
      while (end < pattern.size() && pattern[end] != ']') ++end;
      if (end < pattern.size()) {
        tokens.push_back({start ? TokenKind::kOneNotDot : TokenKind::kOne, 0});
        i = end;
      } else {
        tokens.push_back({TokenKind::kLiteral, c});
      }
    } else {
      tokens.push_back({TokenKind::kLiteral, c});
    }
    start = c == '/';
  }
  return tokens;
}

bool Consumes(const Token& token) { return token.kind != TokenKind::kSkipTwo; }
bool Loops(const Token& token) {
  return token.kind == TokenKind::kStar || token.kind == TokenKind::kStarAny;
}

// Whether some character can be consumed by both.
bool CharactersMeet(const Token& a, const Token& b) {
  const auto takes = [](const Token& t, char c) {
    switch (t.kind) {
      case TokenKind::kLiteral:
        return t.c == c;
      case TokenKind::kOne:
      case TokenKind::kStar:
        return c != '/';
      case TokenKind::kOneNotDot:
        return c != '/' && c != '.';
      case TokenKind::kOneAny:
      case TokenKind::kStarAny:
        return true;
      case TokenKind::kSkipTwo:
        return false;
    }
    return false;
  };
  if (a.kind == TokenKind::kLiteral) return takes(b, a.c);
  if (b.kind == TokenKind::kLiteral) return takes(a, b.c);
  return true;  // two sets of "any but a few" always share a character
}

// Whether the languages of two patterns meet: a search of the pairs of
// positions, each visited once.
Tri Meet(const Tokens& a, const Tokens& b) {
  const size_t width = b.size() + 1;
  const size_t states = (a.size() + 1) * width;
  if (states > kMaxGlobSteps) return Tri::kPossible;
  std::vector<bool> seen(states, false);
  std::vector<uint32_t> todo;
  const auto visit = [&](size_t i, size_t j) {
    if (i > a.size() || j > b.size()) return;
    const size_t state = i * width + j;
    if (seen[state]) return;
    seen[state] = true;
    todo.push_back(static_cast<uint32_t>(state));
  };
  visit(0, 0);
  while (!todo.empty()) {
    const uint32_t state = todo.back();
    todo.pop_back();
    const size_t i = state / width, j = state % width;
    if (i == a.size() && j == b.size()) return Tri::kYes;
    if (i < a.size()) {
      if (a[i].kind == TokenKind::kSkipTwo) {
        visit(i + 1, j);
        visit(i + 3, j);
      } else if (Loops(a[i])) {
        visit(i + 1, j);
      }
    }
    if (j < b.size()) {
      if (b[j].kind == TokenKind::kSkipTwo) {
        visit(i, j + 1);
        visit(i, j + 3);
      } else if (Loops(b[j])) {
        visit(i, j + 1);
      }
    }
    if (i < a.size() && j < b.size() && Consumes(a[i]) && Consumes(b[j]) &&
        CharactersMeet(a[i], b[j])) {
      const size_t next_i = Loops(a[i]) ? i : i + 1;
      const size_t next_j = Loops(b[j]) ? j : j + 1;
      visit(next_i, next_j);
    }
  }
  return Tri::kNo;
}

Tokens Literal(std::string_view text) {
  Tokens tokens;
  tokens.reserve(text.size());
  for (const char c : text) tokens.push_back({TokenKind::kLiteral, c});
  return tokens;
}

constexpr std::string_view kPathSpecial = "*?\\";
constexpr std::string_view kShellSpecial = "*?[]\\";

bool IsOneOf(char c, std::string_view set) {
  for (const char s : set)
    if (s == c) return true;
  return false;
}

// Whether every text of `pattern` begins, or ends, otherwise than every text
// of `other`, in which the characters of `special` are not themselves. Decides
// most pairs without looking at either as a whole.
bool BeginDiffers(std::string_view pattern, std::string_view other,
                  std::string_view special) {
  for (size_t i = 0; i < pattern.size() && i < other.size(); ++i) {
    if (IsOneOf(pattern[i], kPathSpecial) || IsOneOf(other[i], special))
      return false;
    // The slash of a final "/**" may be missing.
    if (pattern[i] == '/' && i + 1 < pattern.size() && pattern[i + 1] == '*')
      return false;
    if (pattern[i] != other[i]) return true;
  }
  return false;
}

bool EndDiffers(std::string_view pattern, std::string_view other,
                std::string_view special) {
  size_t p = pattern.size(), o = other.size();
  while (p > 0 && o > 0) {
    --p;
    --o;
    if (IsOneOf(pattern[p], kPathSpecial) || IsOneOf(other[o], special))
      return false;
    // What a backslash precedes may be anything's literal self.
    if ((p > 0 && pattern[p - 1] == '\\') || (o > 0 && other[o - 1] == '\\'))
      return false;
    if (pattern[p] != other[o]) return true;
  }
  return false;
}

void AddBelow(Tokens* tokens) {
  tokens->push_back({TokenKind::kSkipTwo, 0});
  tokens->push_back({TokenKind::kLiteral, '/'});
  tokens->push_back({TokenKind::kStarAny, 0});
}

}  // namespace

bool HasWildcard(std::string_view pattern) {
  for (const char c : pattern)
    if (c == '*' || c == '?' || c == '\\') return true;
  return false;
}

Tri TextGlob(std::string_view pattern, std::string_view text) {
  // Most patterns end in another character than the text.
  if (!pattern.empty() && !text.empty() && pattern.back() != '*' &&
      pattern.back() != '?' && pattern.back() != text.back())
    return Tri::kNo;
  // Only the last star needs to be remembered: an earlier one could only take
  // more of the text than it must.
  size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  uint32_t steps = 0;
  while (t < text.size()) {
    if (++steps > kMaxGlobSteps) return Tri::kPossible;
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
      continue;
    }
    size_t width = 1;
    bool same = false;
    if (p < pattern.size()) {
      if (pattern[p] == '?') {
        same = true;
      } else if (pattern[p] == '\\' && p + 1 < pattern.size()) {
        same = pattern[p + 1] == text[t];
        width = 2;
      } else {
        same = pattern[p] == text[t];
      }
    }
    if (same) {
      p += width;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
      if (p < pattern.size() && pattern[p] != '*' && pattern[p] != '?' &&
          pattern[p] != '\\') {  // to where it can go on
        t = mark = std::min(text.find(pattern[p], mark), text.size());
      }
    } else {
      return Tri::kNo;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return Of(p == pattern.size());
}

Tri PathGlob(std::string_view pattern, std::string_view path) {
  return Meet(ReadPath(pattern), Literal(path));
}

Tri MeetsShell(std::string_view pattern, std::string_view shell, bool below) {
  if (BeginDiffers(pattern, shell, kShellSpecial) ||
      (!below && EndDiffers(pattern, shell, kShellSpecial)))
    return Tri::kNo;
  Tokens tokens = ReadShell(shell);
  if (below) AddBelow(&tokens);
  return Meet(ReadPath(pattern), tokens);
}

Tri MeetsUnknown(std::string_view pattern, std::string_view prefix,
                 std::string_view suffix, bool below) {
  if (BeginDiffers(pattern, prefix, "") ||
      (!below && EndDiffers(pattern, suffix, "")))
    return Tri::kNo;
  Tokens tokens = Literal(prefix);
  tokens.push_back({TokenKind::kStarAny, 0});
  for (const char c : suffix) tokens.push_back({TokenKind::kLiteral, c});
  if (below) AddBelow(&tokens);
  return Meet(ReadPath(pattern), tokens);
}

void AppendEscaped(std::string_view text, std::string* out) {
  for (const char c : text) {
    if (c == '*' || c == '?' || c == '\\') out->push_back('\\');
    out->push_back(c);
  }
}

std::string_view FirstLiteralWord(std::string_view pattern, bool regex) {
  if (regex) {
    if (!pattern.starts_with('^')) return {};
    pattern.remove_prefix(1);
  }
  size_t end = 0;
  while (end < pattern.size() &&
         ((pattern[end] >= 'a' && pattern[end] <= 'z') ||
          (pattern[end] >= 'A' && pattern[end] <= 'Z') ||
          (pattern[end] >= '0' && pattern[end] <= '9') || pattern[end] == '_' ||
          pattern[end] == '-'))
    ++end;
  if (end == 0) return {};
  const std::string_view rest = pattern.substr(end);
  const bool ends =
      regex ? (rest.starts_with(" ") && !rest.starts_with(" *") &&
               !rest.starts_with(" ?") && !rest.starts_with(" {")) ||
                  rest.starts_with("\\s+") || rest == "$"
            : rest.empty() || rest.starts_with(" ");
  // In \\Q…\\E nothing has its meaning.
  if (regex && pattern.find("\\Q") != std::string_view::npos) return {};
  if (regex && pattern.find('|') != std::string_view::npos) {
    // An alternation at top level would make the first word optional.
    int depth = 0;
    for (size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i] == '\\') {
        ++i;
      } else if (pattern[i] == '[') {
        return {};
      } else if (pattern[i] == '(') {
        ++depth;
      } else if (pattern[i] == ')') {
        --depth;
      } else if (pattern[i] == '|' && depth == 0) {
        return {};
      }
    }
  }
  return ends ? pattern.substr(0, end) : std::string_view{};
}

}  // namespace gate::rules
