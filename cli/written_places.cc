#include "cli/written_places.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <string_view>

#include "base/paths.h"

namespace gate::cli {
namespace {

constexpr int kMaxLinks = 40;  // as the kernel has it

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

}  // namespace

std::string LandsOn(const std::string& path) {
  std::string rest = path;
  std::string at;  // without a final slash; empty for the root
  int links = 0;
  while (!rest.empty()) {
    const size_t slash = std::min(rest.find('/'), rest.size());
    const std::string part = rest.substr(0, slash);
    rest.erase(0, std::min(slash + 1, rest.size()));
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      at.resize(at.empty() ? 0 : at.rfind('/'));
      continue;
    }
    const std::string next = at + "/" + part;
    char target[PATH_MAX];
    const ssize_t size = ::readlink(next.c_str(), target, sizeof target);
    if (size < 0) {
      at = next;
      continue;
    }
    if (++links > kMaxLinks) return "";
    if (size > 0 && target[0] == '/') at.clear();
    rest = std::string(target, static_cast<size_t>(size)) + "/" + rest;
  }
  return at.empty() ? "/" : at;
}

std::vector<std::string> WrittenPlaces(const std::string& path,
                                       const std::string& cwd,
                                       const std::string& home) {
  std::vector<std::string> spellings = {path};
  const std::string trimmed(Trimmed(path));
  if (trimmed != path) spellings.push_back(trimmed);
  if (trimmed == "~" || trimmed.starts_with("~/"))
    spellings.push_back(home + trimmed.substr(1));
  std::vector<std::string> places;
  const auto add = [&places](std::string place) {
    if (!place.empty() &&
        std::find(places.begin(), places.end(), place) == places.end())
      places.push_back(std::move(place));
  };
  for (const std::string& spelling : spellings) {
    add(Normalise(spelling, cwd));
    add(LandsOn(spelling.starts_with('/') ? spelling : cwd + "/" + spelling));
  }
  return places;
}

}  // namespace gate::cli
