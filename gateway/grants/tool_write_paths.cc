#include "gateway/tool_write_paths.h"

#include <algorithm>
#include <string_view>

#include "base/ascii.h"
#include "base/file.h"
#include "base/paths.h"

namespace gate::app {
namespace {

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

int HexOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The path of a `file:` URL: `file:/p`, `file:///p`, `file://host/p`, with its
// percent escapes taken out. Empty: none of these, or one with a NUL.
std::string PathOfFileUrl(std::string_view url) {
  constexpr std::string_view kScheme = "file:";
  if (url.size() <= kScheme.size() ||
      LowerAscii(url.substr(0, kScheme.size())) != kScheme)
    return "";
  url.remove_prefix(kScheme.size());
  if (url.starts_with("//")) {
    const size_t slash = url.find('/', 2);
    if (slash == std::string_view::npos) return "";
    url.remove_prefix(slash);
  }
  std::string path;
  for (size_t i = 0; i < url.size(); ++i) {
    const int high =
        i + 2 < url.size() && url[i] == '%' ? HexOf(url[i + 1]) : -1;
    const int low = high < 0 ? -1 : HexOf(url[i + 2]);
    if (low >= 0) i += 2;
    path += low < 0 ? url[i] : static_cast<char>(high * 16 + low);
  }
  return path.find('\0') == std::string::npos ? path : "";
}

}  // namespace

std::vector<std::string> WrittenPlaces(const std::string& path,
                                       const std::string& cwd,
                                       const std::string& home) {
  std::vector<std::string> spellings = {path};
  const std::string trimmed(Trimmed(path));
  if (trimmed != path) spellings.push_back(trimmed);
  if (trimmed == "~" || trimmed.starts_with("~/"))
    spellings.push_back(home + trimmed.substr(1));
  if (std::string url = PathOfFileUrl(trimmed); !url.empty()) {
    // Without what a URL has behind its path.
    const size_t end = url.find_first_of("?#");
    if (end != std::string::npos) spellings.push_back(url.substr(0, end));
    spellings.push_back(std::move(url));
  }
  std::vector<std::string> places;
  const auto add = [&places](std::string place) {
    if (!place.empty() &&
        std::find(places.begin(), places.end(), place) == places.end())
      places.push_back(std::move(place));
  };
  for (const std::string& spelling : spellings) {
    add(Normalise(spelling, cwd));
    add(FollowLinks(spelling.starts_with('/') ? spelling : cwd + "/" + spelling)
            .value_or(""));
  }
  return places;
}

}  // namespace gate::app
