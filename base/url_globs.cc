#include "base/url_globs.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/ascii.h"

namespace gate {
namespace {

using std::string_view;

// What looking for the ends of all hosts may read; a URL of ordinary work needs
// some hundred bytes.
constexpr size_t kMaxBytesRead = 1 << 21;

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Whether what stands behind `text` is no host any more.
bool HostEnds(string_view text) {
  const size_t scheme = text.find("://");
  if (scheme != string_view::npos) text.remove_prefix(scheme + 3);
  // `http:/x` is taken for `http://x`; so nothing ends at the first slashes.
  while (text.starts_with('/')) text.remove_prefix(1);
  const size_t end = text.find_first_of("/?#");
  return end != string_view::npos && end > 0 && text[end - 1] != ':';
}

// The number at the beginning of `text`, which loses it.
std::optional<uint64_t> TakeNumber(string_view* text) {
  size_t size = 0;
  uint64_t value = 0;
  while (size < text->size() && size < 18 && IsDigit((*text)[size]))
    value = value * 10 + static_cast<uint64_t>((*text)[size++] - '0');
  if (size == 0) return std::nullopt;
  text->remove_prefix(size);
  return value;
}

using Parts = std::vector<std::string>;

// What one glob stands for: nothing where it is none, or one that curl refuses.
struct Glob {
  Parts parts;
  bool many = false;
};

std::optional<Glob> ReadSet(string_view inside) {
  Glob glob;
  if (inside.find_first_of("{[]") != string_view::npos) return std::nullopt;
  while (true) {
    const size_t comma = inside.find(',');
    if (glob.parts.size() >= kMaxGlobbedHosts) {
      glob.many = true;
      return glob;
    }
    glob.parts.emplace_back(inside.substr(0, comma));
    if (comma == string_view::npos) return glob;
    inside.remove_prefix(comma + 1);
  }
}

std::optional<Glob> ReadRange(string_view inside) {
  Glob glob;
  const auto step_in = [](string_view rest) -> std::optional<uint64_t> {
    if (rest.empty()) return 1;
    if (!rest.starts_with(':')) return std::nullopt;
    rest.remove_prefix(1);
    const auto step = TakeNumber(&rest);
    return rest.empty() && step && *step > 0 ? step : std::nullopt;
  };
  if (inside.size() >= 3 && IsLetter(inside[0]) && inside[1] == '-' &&
      IsLetter(inside[2])) {
    const auto step = step_in(inside.substr(3));
    if (!step) return std::nullopt;
    for (uint64_t c = static_cast<uint8_t>(inside[0]);
         c <= static_cast<uint8_t>(inside[2]) && glob.parts.size() < 128;
         c += std::min<uint64_t>(*step, 256))
      glob.parts.emplace_back(1, static_cast<char>(c));
    return glob.parts.empty() ? std::nullopt : std::optional(glob);
  }
  const size_t width = inside.find('-');
  const auto first = TakeNumber(&inside);
  if (!first || !inside.starts_with('-')) return std::nullopt;
  const bool padded = width > 1 && *first < 1000000000000000000ULL;
  inside.remove_prefix(1);
  const auto last = TakeNumber(&inside);
  const auto step = step_in(inside);
  if (!last || !step || *last < *first) return std::nullopt;
  for (uint64_t i = *first; i <= *last; i += *step) {
    if (glob.parts.size() >= kMaxGlobbedHosts) {
      glob.many = true;
      break;
    }
    std::string number = std::to_string(i);
    // `[001-100]` is written with as many digits.
    if (padded && number.size() < width)
      number.insert(0, width - number.size(), '0');
    glob.parts.push_back(std::move(number));
  }
  return glob;
}

// `[::1]`, `[fe80::1%25eth0]`: an address of which the brackets are part.
bool IsAddress(string_view inside) {
  return std::ranges::count(inside, ':') >= 2 &&
         inside.substr(0, inside.find('%'))
                 .find_first_not_of("0123456789abcdefABCDEF:.") ==
             string_view::npos;
}

}  // namespace

std::vector<std::string> HostGlobs(string_view url) {
  struct Made {
    std::string text;
    bool done = false;  // its host is whole
  };
  std::vector<Made> made(1);
  size_t read = 0;
  const auto add = [&read](string_view text, Made* to) {
    to->text += text;
    if (to->done) return;
    read += to->text.size();
    to->done = HostEnds(to->text);
  };
  const auto append = [&](string_view text) {
    for (Made& each : made) add(text, &each);
  };
  while (!url.empty()) {
    if (read > kMaxBytesRead) return {};
    const size_t at = std::min(url.find_first_of("{[\\"), url.size());
    append(url.substr(0, at));
    url.remove_prefix(at);
    if (url.empty()) break;
    if (std::ranges::all_of(made, &Made::done)) break;
    if (url[0] == '\\') {
      // It takes the meaning from the character behind it.
      const bool quotes = url.size() > 1 &&
                          string_view("{}[]").find(url[1]) != string_view::npos;
      append(url.substr(quotes ? 1 : 0, 1));
      url.remove_prefix(quotes ? 2 : 1);
      continue;
    }
    const size_t close = url.find(url[0] == '{' ? '}' : ']');
    std::optional<Glob> glob;
    if (close != string_view::npos) {
      const string_view inside = url.substr(1, close - 1);
      if (url[0] == '{') {
        glob = ReadSet(inside);
      } else if (!IsAddress(inside)) {
        glob = ReadRange(inside);
      }
    }
    if (!glob) {
      append(url.substr(0, 1));
      url.remove_prefix(1);
      continue;
    }
    if (glob->many) return {};
    std::vector<Made> next;
    for (Made& each : made) {
      const size_t more = each.done ? 1 : glob->parts.size();
      if (next.size() + more > kMaxGlobbedHosts) return {};
      if (each.done) {
        each.text += url.substr(0, close + 1);
        next.push_back(std::move(each));
        continue;
      }
      for (const std::string& part : glob->parts) {
        next.push_back(each);
        add(part, &next.back());
      }
    }
    made = std::move(next);
    url.remove_prefix(close + 1);
  }
  std::vector<std::string> out;
  out.reserve(made.size());
  for (Made& each : made) {
    each.text += url;
    out.push_back(std::move(each.text));
  }
  return out;
}

}  // namespace gate
