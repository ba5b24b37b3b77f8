// tr: sets of bytes, translated, deleted, squeezed (GNU coreutils).

#include <algorithm>
#include <array>
#include <cctype>

#include "base/ascii.h"
#include "parser/filters/internal.h"

namespace gate::parser::filters {
namespace {

using Bytes = std::vector<unsigned char>;

struct Set {
  Bytes bytes;
  // Offsets where [:lower:] or [:upper:] begin, for their pairing.
  std::vector<std::pair<size_t, char>> cases;
  bool other_class = false;
  // [c*]: where the repeated byte stands, at most once.
  bool fills = false;
  size_t fill_at = 0;
  unsigned char fill = 0;
};

bool InClass(std::string_view name, int c) {
  if (name == "alnum") return std::isalnum(c) != 0 && c < 128;
  if (name == "alpha") return std::isalpha(c) != 0 && c < 128;
  if (name == "blank") return c == ' ' || c == '\t';
  if (name == "cntrl") return c < 32 || c == 127;
  if (name == "digit") return c >= '0' && c <= '9';
  if (name == "graph") return c > 32 && c < 127;
  if (name == "lower") return c >= 'a' && c <= 'z';
  if (name == "print") return c >= 32 && c < 127;
  if (name == "punct") return c > 32 && c < 127 && std::isalnum(c) == 0;
  if (name == "space") return c == ' ' || (c >= 9 && c <= 13);
  if (name == "upper") return c >= 'A' && c <= 'Z';
  if (name == "xdigit") return c < 128 && std::isxdigit(c) != 0;
  return false;
}

constexpr std::string_view kClasses[] = {"alnum", "alpha", "blank", "cntrl",
                                         "digit", "graph", "lower", "print",
                                         "punct", "space", "upper", "xdigit"};

struct Character {
  unsigned char byte = 0;
  bool escaped = false;
};

// Backslashes are resolved first; an escaped character is never special.
bool Unescape(std::string_view text, std::vector<Character>* out) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out->push_back({static_cast<unsigned char>(text[i]), false});
      continue;
    }
    if (i + 1 >= text.size()) return false;  // a warning, then a backslash
    const char c = text[++i];
    unsigned char byte = static_cast<unsigned char>(c);
    if (const auto control = ControlEscape(c)) {
      byte = static_cast<unsigned char>(*control);
    } else if (c >= '0' && c <= '7') {
      int value = 0, digits = 0;
      for (; digits < 3 && i < text.size() && text[i] >= '0' && text[i] <= '7';
           ++digits, ++i) {
        value = value * 8 + (text[i] - '0');
      }
      --i;
      if (value > 255) return false;
      byte = static_cast<unsigned char>(value);
    }
    out->push_back({byte, true});
  }
  return true;
}

bool ParseSet(std::string_view text, bool second, Set* set) {
  std::vector<Character> chars;
  if (!Unescape(text, &chars)) return false;
  const auto plain = [&](size_t i, char c) {
    return i < chars.size() && !chars[i].escaped &&
           chars[i].byte == static_cast<unsigned char>(c);
  };
  for (size_t i = 0; i < chars.size();) {
    if (plain(i, '[') && plain(i + 1, '=')) return false;
    if (plain(i, '[') && plain(i + 1, ':')) {
      std::string name;
      size_t end = i + 2;
      while (end < chars.size() && !plain(end, ':')) {
        name += static_cast<char>(chars[end++].byte);
      }
      if (!plain(end, ':') || !plain(end + 1, ']') ||
          std::find(std::begin(kClasses), std::end(kClasses), name) ==
              std::end(kClasses)) {
        return false;
      }
      if (name == "lower" || name == "upper") {
        set->cases.emplace_back(set->bytes.size(), name[0]);
      } else {
        set->other_class = true;
      }
      for (int c = 0; c < 256; ++c) {
        if (InClass(name, c)) {
          set->bytes.push_back(static_cast<unsigned char>(c));
        }
      }
      i = end + 2;
      continue;
    }
    if (plain(i, '[') && i + 2 < chars.size() && plain(i + 2, '*')) {
      size_t end = i + 3;
      std::string number;
      while (end < chars.size() && chars[end].byte >= '0' &&
             chars[end].byte <= '9') {
        number += static_cast<char>(chars[end++].byte);
      }
      if (plain(end, ']')) {
        if (!second || number.starts_with('0')) return false;
        if (number.empty()) {
          if (set->fills) return false;
          set->fills = true;
          set->fill_at = set->bytes.size();
          set->fill = chars[i + 1].byte;
        } else {
          size_t count = 0;
          if (!ParseCount(number, &count) || count > 1024) return false;
          set->bytes.insert(set->bytes.end(), count, chars[i + 1].byte);
        }
        i = end + 1;
        continue;
      }
    }
    if (plain(i + 1, '-') && i + 2 < chars.size()) {
      const unsigned char from = chars[i].byte, to = chars[i + 2].byte;
      if (from > to) return false;
      for (int c = from; c <= to; ++c) {
        set->bytes.push_back(static_cast<unsigned char>(c));
      }
      i += 3;
      continue;
    }
    set->bytes.push_back(chars[i++].byte);
  }
  return true;
}

std::array<bool, 256> Members(const Bytes& bytes) {
  std::array<bool, 256> in = {};
  for (const unsigned char c : bytes) in[c] = true;
  return in;
}

}  // namespace

Output Tr(const Argv& argv, std::string_view input) {
  Parsed p;
  if (!Parse(argv, "cCdst",
             "complement=c delete=d squeeze-repeats=s truncate-set1=t", &p,
             /*posix=*/true)) {
    return std::nullopt;
  }
  const bool complement = p.Has('c') || p.Has('C');
  const bool remove = p.Has('d'), squeeze = p.Has('s');
  const size_t sets = p.operands.size();
  if (sets == 0 || sets > 2) return std::nullopt;
  if (remove && (squeeze ? sets != 2 : sets != 1)) return std::nullopt;
  if (!remove && !squeeze && sets != 2) return std::nullopt;
  const bool translate = !remove && sets == 2;
  Set one, two;
  if (!ParseSet(p.operands[0], false, &one)) return std::nullopt;
  if (sets == 2 && !ParseSet(p.operands[1], true, &two)) return std::nullopt;
  if (two.fills && !translate) return std::nullopt;
  if (complement) {
    const auto in = Members(one.bytes);
    one.bytes.clear();
    for (int c = 0; c < 256; ++c) {
      if (!in[static_cast<size_t>(c)]) {
        one.bytes.push_back(static_cast<unsigned char>(c));
      }
    }
    if (!one.cases.empty() && translate) one.other_class = true;
    one.cases.clear();
  }
  std::array<unsigned char, 256> map;
  for (size_t c = 0; c < 256; ++c) map[c] = static_cast<unsigned char>(c);
  if (translate) {
    if (two.other_class) return std::nullopt;
    // Case classes of SET2 must stand opposite to those of SET1.
    for (const auto& [at, letter] : two.cases) {
      const bool paired = std::any_of(
          one.cases.begin(), one.cases.end(),
          [&](const auto& c) { return c.first == at && c.second != letter; });
      if (!paired) return std::nullopt;
    }
    if (complement && (one.other_class || two.fills)) return std::nullopt;
    if (two.fills) {
      if (one.bytes.size() > two.bytes.size()) {
        two.bytes.insert(
            two.bytes.begin() + static_cast<std::ptrdiff_t>(two.fill_at),
            one.bytes.size() - two.bytes.size(), two.fill);
      }
    }
    if (p.Has('t')) {
      if (one.bytes.size() > two.bytes.size()) {
        one.bytes.resize(two.bytes.size());
      }
    } else if (two.bytes.empty()) {
      return std::nullopt;
    } else if (two.bytes.size() < one.bytes.size()) {
      if (!two.cases.empty()) return std::nullopt;
      two.bytes.resize(one.bytes.size(), two.bytes.back());
    }
    for (size_t k = 0; k < one.bytes.size(); ++k) {
      map[one.bytes[k]] = two.bytes[k];
    }
  }
  const auto in_one = Members(one.bytes);
  const auto squeezed = Members(sets == 2 ? two.bytes : one.bytes);
  std::string out;
  for (const char c : input) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (remove && in_one[byte]) continue;
    const char made = static_cast<char>(map[byte]);
    if (squeeze && squeezed[map[byte]] && !out.empty() && out.back() == made) {
      continue;
    }
    out += made;
  }
  return out;
}

}  // namespace gate::parser::filters
