// The names of files that programs make of what a word names: what wget calls
// a download, where git puts a clone.
#include "base/ascii.h"
#include "parser/programs/image.h"

namespace gate::parser::programs {
namespace {

// %41 is A. What would be a `/` or a control character stays as it is: it
// cannot stand in a name.
std::string Decode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = HexValue(text[i + 1]), low = HexValue(text[i + 2]);
      const int value = high * 16 + low;
      if (high >= 0 && low >= 0 && value >= 0x20 && value != '/') {
        out += static_cast<char>(value);
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

// The last part of a URL's path, and its query with the `?`.
struct UrlEnd {
  std::string_view name, query;
};

UrlEnd EndOfUrl(std::string_view url) {
  UrlEnd end;
  if (const size_t scheme = url.find("://"); scheme != std::string_view::npos) {
    url.remove_prefix(scheme + 3);
  }
  url = url.substr(0, url.find('#'));
  const size_t query = url.find('?');
  if (query != std::string_view::npos) {
    end.query = url.substr(query);
    url = url.substr(0, query);
  }
  const size_t slash = url.rfind('/');
  if (slash != std::string_view::npos) end.name = url.substr(slash + 1);
  return end;
}

std::string CloneName(std::string_view url) {
  url = url.substr(0, url.find_last_not_of('/') + 1);
  if (url.ends_with("/.git")) url.remove_suffix(5);
  url = url.substr(0, url.find_last_not_of('/') + 1);
  const size_t at = url.find_last_of("/:");
  if (at != std::string_view::npos) url.remove_prefix(at + 1);
  for (std::string_view ending : {".git", ".bundle"}) {
    if (url.ends_with(ending)) url.remove_suffix(ending.size());
  }
  return std::string(url);
}

// Braces and brackets of curl's URLs stand for several names.
std::string CurlPattern(std::string_view name) {
  std::string out;
  char until = '\0';
  for (const char c : name) {
    if (until != '\0') {
      if (c == until) until = '\0';
      continue;
    }
    if (c == '{' || c == '[') {
      until = c == '{' ? '}' : ']';
      out += '*';
      continue;
    }
    out += c;
  }
  return out;
}

constexpr std::string_view kPackings[] = {".gz",  ".bz2",  ".xz", ".zst",
                                          ".lz4", ".lzma", ".lz", ".Z",
                                          ".br",  ".zz",   ".lzo"};

std::string Unpacked(std::string_view path) {
  for (std::string_view ending : kPackings) {
    if (path.ends_with(ending) && path.size() > ending.size()) {
      return std::string(path.substr(0, path.size() - ending.size()));
    }
  }
  for (std::string_view ending : {".tgz", ".tbz2", ".txz", ".tzst"}) {
    if (path.ends_with(ending) && path.size() > ending.size()) {
      return std::string(path.substr(0, path.size() - ending.size())) + ".tar";
    }
  }
  return "";
}

}  // namespace

Naming ParseNaming(std::string_view name) {
  if (name == "url") return Naming::kUrl;
  if (name == "url-query") return Naming::kUrlQuery;
  if (name == "decoded") return Naming::kDecoded;
  if (name == "clone") return Naming::kClone;
  if (name == "base") return Naming::kBase;
  if (name == "unpacked") return Naming::kUnpacked;
  if (name == "packed") return Naming::kPacked;
  if (name == "prefix") return Naming::kPrefix;
  return Naming::kNone;
}

bool NameFile(Naming naming, Argument* word) {
  std::string text = word->text;
  if (!word->known) {
    // The last part is known when it follows what is not.
    const bool whole = word->suffix.find('/') != std::string::npos;
    const bool path = naming >= Naming::kUnpacked;
    if (!whole || path) return false;
    text = "://" + word->suffix;
  }
  const UrlEnd end = EndOfUrl(text);
  std::string name;
  bool pattern = word->glob && word->known;
  switch (naming) {
    case Naming::kUrl:
      name = CurlPattern(end.name);
      pattern = pattern || name != end.name;
      break;
    case Naming::kUrlQuery:
      name = Decode(end.name.empty() ? "index.html" : end.name);
      if (!end.query.empty()) {
        name += '?';
        for (const char c : Decode(end.query.substr(1))) {
          if (c == '/') {
            name += "%2F";
          } else {
            name += c;
          }
        }
      }
      break;
    case Naming::kDecoded:
      name = Decode(end.name.empty() ? "index.html" : end.name);
      break;
    case Naming::kClone:
      name = CloneName(text);
      break;
    case Naming::kBase: {
      const std::string_view path =
          std::string_view(text).substr(0, text.find_last_not_of('/') + 1);
      const size_t at = path.find_last_of("/:");
      name = path.substr(at == std::string_view::npos ? 0 : at + 1);
      break;
    }
    case Naming::kUnpacked:
      name = Unpacked(text);
      break;
    case Naming::kPacked:
      if (!Unpacked(text).empty() || text.empty()) return false;
      name = text + ".*";
      pattern = true;
      break;
    case Naming::kPrefix:
      name = text + "*";
      pattern = true;
      break;
    case Naming::kNone:
      return false;
  }
  if (name.empty() || name == "." || name == "..") return false;
  word->text = std::move(name);
  word->suffix.clear();
  word->known = true;
  word->splits = false;
  word->glob = pattern && word->text.find_first_of("*?[") != std::string::npos;
  return true;
}

}  // namespace gate::parser::programs
