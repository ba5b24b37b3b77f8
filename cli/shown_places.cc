#include "cli/shown_places.h"

#include <algorithm>
#include <string_view>

#include "base/paths.h"

namespace gate::cli {
namespace {

using parser::Effect;
using parser::EffectKind;

bool OnlyLooks(EffectKind kind) {
  return kind == EffectKind::kRead || kind == EffectKind::kExecuteFile;
}

bool Meet(std::string_view a, std::string_view b) {
  return IsWithin(a, b) || IsWithin(b, a);
}

}  // namespace

std::vector<std::string> PlacesToShow(const parser::Analysis& analysis,
                                      const std::string& workspace) {
  std::vector<std::string> places;
  for (const Effect& effect : analysis.effects) {
    const std::string& path = effect.path.text;
    if (!OnlyLooks(effect.kind) || !effect.path.known || effect.path.glob ||
        !IsTemporaryPlace(DirName(path)) ||
        (!workspace.empty() && Meet(path, workspace)) ||
        std::ranges::find(places, path) != places.end())
      continue;
    places.push_back(path);
    if (places.size() == kMaxShownPlaces) break;
  }
  std::erase_if(places, [&](const std::string& place) {
    return std::ranges::any_of(analysis.effects, [&](const Effect& effect) {
      if (OnlyLooks(effect.kind)) return false;
      for (const parser::Argument* at : {&effect.path, &effect.target})
        if (at->known && !at->text.empty() && Meet(at->text, place))
          return true;
      return false;
    });
  });
  return places;
}

}  // namespace gate::cli
