#include "cli/written_places.h"

#include <algorithm>
#include <string_view>

#include "base/file.h"
#include "base/paths.h"

namespace gate::cli {
namespace {

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
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

}  // namespace gate::cli
