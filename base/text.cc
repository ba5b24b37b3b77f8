#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace gate {
namespace {

constexpr uint32_t kIllFormed = 0xffffffff;

struct Character {
  uint32_t code = kIllFormed;
  size_t size = 1;
};

bool InRange(unsigned char byte, unsigned char low, unsigned char high) {
  return low <= byte && byte <= high;
}

// The character at `at`. For an ill-formed sequence `size` is the length of
// its maximal subpart, which is what Unicode recommends to replace by one
// U+FFFD: the bytes that could have begun a character, at least one.
Character Decode(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const unsigned char lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return {lead, 1};
  size_t size = 0;
  uint32_t code = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  if (InRange(lead, 0xc2, 0xdf)) {
    size = 2;
    code = lead & 0x1f;
  } else if (InRange(lead, 0xe0, 0xef)) {
    size = 3;
    code = lead & 0x0f;
    if (lead == 0xe0) low = 0xa0;   // overlong
    if (lead == 0xed) high = 0x9f;  // surrogates
  } else if (InRange(lead, 0xf0, 0xf4)) {
    size = 4;
    code = lead & 0x07;
    if (lead == 0xf0) low = 0x90;   // overlong
    if (lead == 0xf4) high = 0x8f;  // beyond U+10FFFF
  } else {
    return {kIllFormed, 1};
  }
  for (size_t i = 1; i < size; ++i) {
    const auto next = static_cast<unsigned char>(byte(at + i));
    if (!InRange(next, low, high)) return {kIllFormed, i};
    code = code << 6 | (next & 0x3f);
    low = 0x80;
    high = 0xbf;
  }
  return {code, size};
}

struct Range {
  uint32_t first;
  uint32_t last;
};

// Characters without a glyph of their own, and those that reorder or break
// what stands around them. From Unicode 15: Bidi_Control, the
// Default_Ignorable_Code_Point set, line and paragraph separators, and
// interlinear annotation. Sorted.
constexpr std::array kHidden = {
    Range{0x00, 0x08},       Range{0x0b, 0x1f},       Range{0x7f, 0x9f},
    Range{0xad, 0xad},       Range{0x34f, 0x34f},     Range{0x61c, 0x61c},
    Range{0x115f, 0x1160},   Range{0x17b4, 0x17b5},   Range{0x180b, 0x180f},
    Range{0x200b, 0x200f},   Range{0x2028, 0x202e},   Range{0x2060, 0x206f},
    Range{0x2800, 0x2800},   Range{0x3164, 0x3164},   Range{0xfe00, 0xfe0f},
    Range{0xfeff, 0xfeff},   Range{0xffa0, 0xffa0},   Range{0xfff0, 0xfffb},
    Range{0x1bca0, 0x1bca3}, Range{0x1d173, 0x1d17a}, Range{0xe0000, 0xe0fff},
};

bool IsHidden(uint32_t code) {
  if (code == kIllFormed) return true;
  const auto range = std::lower_bound(
      kHidden.begin(), kHidden.end(), code,
      [](const Range& r, uint32_t value) { return r.last < value; });
  return range != kHidden.end() && range->first <= code;
}

// Characters that emoji sequences are made of. U+FE0F after one of them and
// U+200D between two of them are ordinary emoji, as commit messages hold them.
bool IsPictograph(uint32_t code) {
  return (0x203c <= code && code <= 0x3299 && !IsHidden(code)) ||
         (0x1f000 <= code && code <= 0x1faff);
}

constexpr uint32_t kEmojiPresentation = 0xfe0f;
constexpr uint32_t kJoiner = 0x200d;

bool IsUnquoted(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '@' || c == '+' ||
         c == ':' || c == ',' || c == '.' || c == '/' || c == '-';
}

constexpr std::array<std::string_view, 21> kReserved = {
    "case",   "coproc", "do",      "done",     "elif",  "else", "esac",
    "fi",     "for",    "foreach", "function", "if",    "in",   "repeat",
    "select", "then",   "time",    "until",    "while", "end",  "nocorrect"};

constexpr char kHexDigits[] = "0123456789abcdef";

void AppendHexByte(std::string* out, unsigned char byte) {
  out->push_back(kHexDigits[byte >> 4]);
  out->push_back(kHexDigits[byte & 15]);
}

void AppendEscape(std::string* out, std::string_view text, size_t at,
                  const Character& c) {
  if (c.code == kIllFormed || c.code < 0x80) {
    for (size_t i = 0; i < c.size; ++i) {
      *out += "\\x";
      AppendHexByte(out, static_cast<unsigned char>(text[at + i]));
    }
    return;
  }
  const bool wide = c.code > 0xffff;
  *out += wide ? "\\U" : "\\u";
  for (int shift = wide ? 24 : 8; shift >= 0; shift -= 8)
    AppendHexByte(out, static_cast<unsigned char>(c.code >> shift));
}

// Calls visit(offset, character, hidden) for every character of `text`.
template <class Visit>
void ForEach(std::string_view text, Visit visit) {
  uint32_t previous = 0;
  for (size_t at = 0; at < text.size();) {
    const Character c = Decode(text, at);
    if (c.code >= 0x20 && c.code < 0x7f) {  // nearly all of most texts
      visit(at, c, false);
      previous = c.code;
      ++at;
      continue;
    }
    bool hidden = IsHidden(c.code);
    if (c.code == kEmojiPresentation && IsPictograph(previous)) hidden = false;
    if (c.code == kJoiner &&
        (IsPictograph(previous) || previous == kEmojiPresentation) &&
        at + c.size < text.size() &&
        IsPictograph(Decode(text, at + c.size).code)) {
      hidden = false;
    }
    visit(at, c, hidden);
    previous = hidden ? 0 : c.code;
    at += c.size;
  }
}

int Base64Value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

}  // namespace

size_t Utf8Prefix(std::string_view bytes) {
  size_t at = 0;
  while (at < bytes.size()) {
    if (static_cast<unsigned char>(bytes[at]) < 0x80) {
      ++at;
      continue;
    }
    const Character c = Decode(bytes, at);
    if (c.code == kIllFormed) return at;
    at += c.size;
  }
  return at;
}

bool IsUtf8(std::string_view bytes) {
  return Utf8Prefix(bytes) == bytes.size();
}

std::string ToUtf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t good = Utf8Prefix(bytes);
    out.append(bytes.substr(0, good));
    bytes.remove_prefix(good);
    if (bytes.empty()) break;
    out += "\xef\xbf\xbd";
    bytes.remove_prefix(Decode(bytes, 0).size);
  }
  return out;
}

std::vector<Span> FindHidden(std::string_view text) {
  std::vector<Span> spans;
  ForEach(text, [&](size_t at, const Character& c, bool hidden) {
    if (!hidden) return;
    const auto begin = static_cast<uint32_t>(at);
    const auto end = static_cast<uint32_t>(at + c.size);
    if (!spans.empty() && spans.back().end == begin) {
      spans.back().end = end;
    } else {
      spans.push_back({begin, end});
    }
  });
  return spans;
}

std::string Visible(std::string_view text, bool keep_layout) {
  std::string out;
  out.reserve(text.size());
  ForEach(text, [&](size_t at, const Character& c, bool hidden) {
    const bool layout = c.code == '\n' || c.code == '\t';
    if (layout ? !keep_layout : hidden) {
      AppendEscape(&out, text, at, c);
    } else {
      out.append(text.substr(at, c.size));
    }
  });
  return out;
}

std::string ShellQuote(std::string_view word) {
  // An unquoted '=' is safe only where the word cannot be an assignment.
  const bool no_assignment =
      word.starts_with('-') || word.starts_with('/') || word.starts_with('.');
  const bool plain =
      !word.empty() &&
      std::all_of(word.begin(), word.end(),
                  [&](char c) {
                    return IsUnquoted(c) || (c == '=' && no_assignment);
                  }) &&
      std::find(kReserved.begin(), kReserved.end(), word) == kReserved.end();
  if (plain) return std::string(word);
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

LineColumn Locate(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  LineColumn place;
  place.line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t newline = before.rfind('\n');
  place.column = newline == std::string_view::npos ? before.size() + 1
                                                   : before.size() - newline;
  return place;
}

std::string Base64(std::string_view bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    const size_t have = std::min<size_t>(3, bytes.size() - i);
    for (size_t k = 0; k < 3; ++k) {
      group <<= 8;
      if (k < have) group |= static_cast<unsigned char>(bytes[i + k]);
    }
    for (size_t k = 0; k < 4; ++k)
      out += k <= have ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

bool DecodeBase64(std::string_view text, std::string* out) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t group = 0;
  size_t digits = 0;
  size_t padding = 0;
  for (const char c : text) {
    if (c == ' ' || (c >= '\t' && c <= '\r')) continue;
    if (c == '=') {
      if (++padding > 2) return false;
      continue;
    }
    const int value = Base64Value(c);
    if (value < 0 || padding > 0) return false;
    group = group << 6 | static_cast<uint32_t>(value);
    if (++digits % 4 == 0) {
      bytes.push_back(static_cast<char>(group >> 16 & 0xff));
      bytes.push_back(static_cast<char>(group >> 8 & 0xff));
      bytes.push_back(static_cast<char>(group & 0xff));
      group = 0;
    }
  }
  const size_t rest = digits % 4;
  if (rest == 1) return false;
  if (padding != 0 && rest + padding != 4) return false;
  if (rest >= 2) {
    group <<= 6 * (4 - rest);
    bytes.push_back(static_cast<char>(group >> 16 & 0xff));
    if (rest == 3) bytes.push_back(static_cast<char>(group >> 8 & 0xff));
  }
  *out = std::move(bytes);
  return true;
}

void AppendUtf8(uint32_t code, std::string* out) {
  const auto add = [out](uint32_t byte) { *out += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr uint32_t kStart[] = {0xC0, 0xE0, 0xF0};
  add(kStart[more - 1] | (code >> 6 * more & (0x3Fu >> more)));
  for (int k = more - 1; k >= 0; --k) add(0x80 | (code >> 6 * k & 0x3F));
}

std::string Hex(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) AppendHexByte(&out, static_cast<unsigned char>(c));
  return out;
}

}  // namespace gate
