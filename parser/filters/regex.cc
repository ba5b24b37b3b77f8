// The longest end is found by following all states at once; groups by
// backtracking towards that end, greedily from the left.

#include "parser/filters/regex.h"

#include <algorithm>
#include <cctype>

#include "parser/filters/internal.h"

namespace gate::parser::filters {
namespace {

constexpr size_t kMaxWork = 4000000;
constexpr size_t kMany = SIZE_MAX;

bool IsClass(std::string_view name, int c) {
  if (name == "alnum") return std::isalnum(c) != 0;
  if (name == "alpha") return std::isalpha(c) != 0;
  if (name == "blank") return c == ' ' || c == '\t';
  if (name == "digit") return std::isdigit(c) != 0;
  if (name == "lower") return std::islower(c) != 0;
  if (name == "punct") return std::ispunct(c) != 0;
  if (name == "space") return std::isspace(c) != 0;
  if (name == "upper") return std::isupper(c) != 0;
  return std::isxdigit(c) != 0;
}

constexpr std::string_view kClassNames[] = {"alnum", "alpha", "blank",
                                            "digit", "lower", "punct",
                                            "space", "upper", "xdigit"};

// A range whose meaning no locale changes.
bool SafeRange(char a, char b) {
  const auto within = [&](char low, char high) {
    return low <= a && a <= b && b <= high;
  };
  return within('0', '9') || within('a', 'z') || within('A', 'Z');
}

// [...] at `*at` (behind the bracket); leaves `*at` behind the end.
bool ParseBracket(std::string_view p, size_t* at, std::bitset<128>* set) {
  const bool negated = *at < p.size() && p[*at] == '^';
  if (negated) ++*at;
  for (bool first = true;; first = false) {
    if (*at >= p.size()) return false;
    const char c = p[*at];
    if (c == ']' && !first) break;
    if (c == '\\') return false;  // grep and sed differ
    if (c == '[' && *at + 1 < p.size() &&
        (p[*at + 1] == '.' || p[*at + 1] == '=')) {
      return false;
    }
    if (c == '[' && *at + 1 < p.size() && p[*at + 1] == ':') {
      const size_t end = p.find(":]", *at + 2);
      if (end == std::string_view::npos) return false;
      const std::string_view name = p.substr(*at + 2, end - *at - 2);
      if (std::find(std::begin(kClassNames), std::end(kClassNames), name) ==
          std::end(kClassNames)) {
        return false;
      }
      for (int k = 1; k < 128; ++k) {
        if (IsClass(name, k)) set->set(static_cast<size_t>(k));
      }
      *at = end + 2;
      continue;
    }
    if (*at + 2 < p.size() && p[*at + 1] == '-' && p[*at + 2] != ']') {
      if (!SafeRange(c, p[*at + 2])) return false;
      for (char k = c; k <= p[*at + 2]; ++k) {
        set->set(static_cast<size_t>(k));
      }
      *at += 3;
      continue;
    }
    set->set(static_cast<size_t>(c));
    ++*at;
  }
  ++*at;
  if (negated) *set = ~*set;
  return true;
}

}  // namespace

std::optional<SimpleRegex> SimpleRegex::Compile(std::string_view p,
                                                bool extended,
                                                bool ignore_case) {
  if (!IsAscii(p) || p.size() > 1000 ||
      p.find('\n') != std::string_view::npos) {
    return std::nullopt;
  }
  SimpleRegex regex;
  bool open = false;
  bool repeatable = false;
  for (size_t at = 0; at < p.size();) {
    const char c = p[at];
    const bool escaped = c == '\\';
    if (escaped && at + 1 >= p.size()) return std::nullopt;
    const char e = escaped ? p[at + 1] : c;
    const bool special = extended != escaped;
    // Groups: ( in extended, \( in basic.
    if ((e == '(' || e == ')') && special) {
      Item item;
      if (e == '(') {
        if (open || regex.groups_ == 9) return std::nullopt;
        open = true;
        item.kind = Item::kOpen;
        item.group = ++regex.groups_;
      } else {
        if (!open) return std::nullopt;
        open = false;
        item.kind = Item::kClose;
        item.group = regex.groups_;
      }
      regex.items_.push_back(item);
      at += escaped ? 2 : 1;
      repeatable = false;
      continue;
    }
    if (e == '|' && special) return std::nullopt;
    // Repetition.
    const bool star = c == '*';
    const bool other = (e == '+' || e == '?' || e == '{') && special;
    if (star || other) {
      if (!repeatable) return std::nullopt;
      Item& item = regex.items_.back();
      at += escaped ? 2 : 1;
      if (star) {
        item.least = 0;
        item.most = kMany;
      } else if (e == '+') {
        item.most = kMany;
      } else if (e == '?') {
        item.least = 0;
      } else {
        const size_t close = p.find(extended ? "}" : "\\}", at);
        if (close == std::string_view::npos) return std::nullopt;
        const std::string_view range = p.substr(at, close - at);
        const size_t comma = range.find(',');
        if (!ParseCount(range.substr(0, comma), &item.least)) {
          return std::nullopt;
        }
        item.most = item.least;
        if (comma != std::string_view::npos) {
          item.most = kMany;
          if (comma + 1 < range.size() &&
              !ParseCount(range.substr(comma + 1), &item.most)) {
            return std::nullopt;
          }
        }
        if (item.least > 255 || item.most < item.least ||
            (item.most != kMany && item.most > 255)) {
          return std::nullopt;
        }
        at = close + (extended ? 1 : 2);
      }
      repeatable = false;
      continue;
    }
    if (c == '^') {
      if (at != 0) return std::nullopt;
      Item item;
      item.kind = Item::kBegin;
      regex.items_.push_back(item);
      ++at;
      continue;
    }
    if (c == '$') {
      if (at + 1 != p.size()) return std::nullopt;
      Item item;
      item.kind = Item::kEnd;
      regex.items_.push_back(item);
      ++at;
      continue;
    }
    Item item;
    if (escaped) {
      // Letters and digits behind a backslash mean more; `\n` is for sed.
      if (std::isalnum(static_cast<unsigned char>(e)) != 0 ||
          std::string_view(".[]*^$/\\-&@#%,:;!~\"' {}()+?|=_").find(e) ==
              std::string_view::npos) {
        return std::nullopt;
      }
      // \} \< \> \` \' have or had meanings of their own.
      if (e == '\'' || (e == '}' && !extended)) return std::nullopt;
      item.set.set(static_cast<size_t>(e));
      at += 2;
    } else if (c == '.') {
      item.set.set();
      ++at;
    } else if (c == '[') {
      ++at;
      if (!ParseBracket(p, &at, &item.set)) return std::nullopt;
    } else {
      if (extended && c == '}') return std::nullopt;
      item.set.set(static_cast<size_t>(c));
      ++at;
    }
    if (ignore_case) {
      for (size_t k = 'a'; k <= 'z'; ++k) {
        if (item.set[k] || item.set[k - 32]) {
          item.set.set(k);
          item.set.set(k - 32);
        }
      }
    }
    regex.items_.push_back(item);
    repeatable = true;
  }
  if (open) return std::nullopt;
  return regex;
}

bool SimpleRegex::Ends(std::string_view text, size_t from, size_t* longest,
                       size_t* work) const {
  // ends[k]: the items so far can match text[from, from + k).
  std::vector<bool> ends(1, true);
  for (const Item& item : items_) {
    if (item.kind == Item::kOpen || item.kind == Item::kClose) continue;
    std::vector<bool> next;
    for (size_t k = 0; k < ends.size(); ++k) {
      if (!ends[k]) continue;
      const size_t at = from + k;
      if (item.kind == Item::kBegin || item.kind == Item::kEnd) {
        const bool holds =
            item.kind == Item::kBegin ? at == 0 : at == text.size();
        if (holds) {
          if (next.size() <= k) next.resize(k + 1);
          next[k] = true;
        }
        continue;
      }
      for (size_t n = 0;; ++n) {
        if (++*work > kMaxWork) return false;
        if (n >= item.least) {
          if (next.size() <= k + n) next.resize(k + n + 1);
          next[k + n] = true;
        }
        if (n == item.most || at + n >= text.size() ||
            !item.set[static_cast<size_t>(text[at + n])]) {
          break;
        }
      }
    }
    ends = std::move(next);
    if (ends.empty()) break;
  }
  *longest = kMany;
  for (size_t k = ends.size(); k-- > 0;) {
    if (ends[k]) {
      *longest = from + k;
      break;
    }
  }
  return true;
}

bool SimpleRegex::Capture(std::string_view text, size_t item, size_t at,
                          size_t end, Match* match, size_t* work) const {
  if (++*work > kMaxWork) return false;
  if (item == items_.size()) return at == end;
  const Item& i = items_[item];
  switch (i.kind) {
    case Item::kOpen:
      match->groups[static_cast<size_t>(i.group)].first = at;
      return Capture(text, item + 1, at, end, match, work);
    case Item::kClose:
      match->groups[static_cast<size_t>(i.group)].second = at;
      return Capture(text, item + 1, at, end, match, work);
    case Item::kBegin:
      return at == 0 && Capture(text, item + 1, at, end, match, work);
    case Item::kEnd:
      return at == text.size() && Capture(text, item + 1, at, end, match, work);
    case Item::kChar:
      break;
  }
  size_t n = 0;
  while (n < i.most && at + n < end &&
         i.set[static_cast<size_t>(text[at + n])]) {
    ++n;
  }
  for (;; --n) {
    if (n < i.least) return false;
    if (Capture(text, item + 1, at + n, end, match, work)) return true;
    if (*work > kMaxWork || n == 0) return false;
  }
}

int SimpleRegex::Search(std::string_view text, size_t from,
                        Match* match) const {
  size_t work = 0;
  for (size_t begin = from; begin <= text.size(); ++begin) {
    size_t end = 0;
    if (!Ends(text, begin, &end, &work)) return -1;
    if (end == kMany) {
      if (!items_.empty() && items_[0].kind == Item::kBegin) return 0;
      continue;
    }
    match->begin = begin;
    match->end = end;
    match->groups.fill({kMany, kMany});
    if (groups_ == 0) return 1;
    return Capture(text, 0, begin, end, match, &work) ? 1 : -1;
  }
  return 0;
}

}  // namespace gate::parser::filters
