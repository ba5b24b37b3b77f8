// What a person's yes makes writable beside the workspace.

#include "base/paths.h"
#include "router/plan.h"

namespace gate::router {

Status OpenPlaces(const std::vector<std::string>& opened,
                  backends::Profile* profile) {
  for (const std::string& place : opened) {
    const std::string path = Normalise(place, "/");
    const auto refused = [&](const char* why) {
      return Fail(ErrorCode::kPermission, "`" + path + "` " + why);
    };
    for (const std::string& hidden : profile->deny_read)
      if (IsWithin(path, hidden)) return refused("is hidden from sandboxes");
    for (const std::string& own : profile->protect)
      if (IsWithin(path, own) || IsWithin(own, path))
        return refused("may not be changed by sandboxed commands");
    profile->write.push_back(path);
    // Names that are to have no second one in a writable place: here they are
    // meant.
    std::erase_if(profile->alias_checked_paths, [&](const std::string& sole) {
      return IsWithin(sole, path) || IsWithin(path, sole);
    });
  }
  return {};
}

}  // namespace gate::router
