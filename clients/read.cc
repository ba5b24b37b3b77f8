#include "clients/read.h"

#include <algorithm>

#include "base/file.h"
#include "base/paths.h"

namespace gate::clients {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 18;

enum class Shape : uint8_t { kText, kTexts, kNamed, kFlag, kNumber, kHook };
struct Member {
  std::string_view name;
  Shape shape;
};
constexpr Member kMembers[] = {{"schema", Shape::kNumber},
                               {"title", Shape::kText},
                               {"directory", Shape::kText},
                               {"variable", Shape::kText},
                               {"shell_variable", Shape::kText},
                               {"programs", Shape::kTexts},
                               {"packages", Shape::kTexts},
                               {"processes", Shape::kTexts},
                               {"process_paths", Shape::kTexts},
                               {"beside_directory", Shape::kTexts},
                               {"described_as", Shape::kNamed},
                               {"home", Shape::kNamed},
                               {"lists", Shape::kNamed},
                               {"classes", Shape::kNamed},
                               {"hook", Shape::kHook}};
constexpr Member kHookMembers[] = {{"first_that_rewrites", Shape::kText},
                                   {"first_that_blocks", Shape::kText},
                                   {"has_lookalikes", Shape::kFlag},
                                   {"has_own_sandbox", Shape::kFlag},
                                   {"matches_rewritten_lines", Shape::kFlag},
                                   {"runs_hooks_by_user_shell", Shape::kFlag},
                                   {"review", Shape::kText},
                                   {"review_help", Shape::kText},
                                   {"sandbox_off", Shape::kText},
                                   {"sandbox_narrow", Shape::kText},
                                   {"settings", Shape::kText},
                                   {"disabling_settings", Shape::kTexts},
                                   {"done_events", Shape::kTexts}};

// What stands in C++ source and in rule files as it is.
bool IsPlain(const Json& value) {
  return value.is_string() && !value.get_ref<const std::string&>().empty() &&
         std::ranges::all_of(value.get_ref<const std::string&>(),
                             [](char c) { return c >= ' ' && c <= '~'; });
}

bool AreTexts(const Json& value) {
  return value.is_array() && std::ranges::all_of(value, IsPlain);
}

template <size_t N>
std::string WhyWrong(const Json& object, const Member (&members)[N]) {
  if (!object.is_object()) return "is no object";
  for (const auto& [name, value] : object.items()) {
    const auto member = std::ranges::find(members, name, &Member::name);
    if (member == std::end(members)) return "has the unknown `" + name + "`";
    bool fits = false;
    switch (member->shape) {
      case Shape::kText:
        fits = IsPlain(value);
        break;
      case Shape::kTexts:
        fits = AreTexts(value);
        break;
      case Shape::kNamed:
        fits = value.is_object() && std::ranges::all_of(value, AreTexts);
        break;
      case Shape::kFlag:
        fits = value.is_boolean();
        break;
      case Shape::kNumber:
        fits = value == 1;
        break;
      case Shape::kHook:
        if (std::string why = WhyWrong(value, kHookMembers); !why.empty())
          return "has a `hook` that " + why;
        fits = value.contains("settings");
        break;
    }
    if (!fits) return "has a `" + name + "` of another shape";
  }
  return "";
}

}  // namespace

Result<std::vector<ClientFile>> ReadClients(
    const std::vector<std::string>& paths) {
  std::vector<ClientFile> files;
  for (const std::string& path : paths) {
    GATE_TRY(const std::string text, ReadFile(path, kMaxBytes));
    auto json = ParseJson(text, /*comments=*/true);
    if (!json)
      return Fail(ErrorCode::kInvalid, path + ": " + json.error().message);
    std::string why = WhyWrong(*json, kMembers);
    if (why.empty())
      for (const char* needed : {"schema", "title"})
        if (!json->contains(needed))
          why = std::string("has no `") + needed + "`";
    if (why.empty() && !json->contains("directory") &&
        (json->contains("variable") || json->contains("hook")))
      why = "names no `directory`";
    if (!why.empty()) return Fail(ErrorCode::kInvalid, path + " " + why);
    std::string name(BaseName(path));
    name.resize(std::min(name.rfind('.'), name.size()));
    // It names constants in C++ source.
    if (name.empty() ||
        !std::ranges::all_of(name, [](char c) { return c >= 'a' && c <= 'z'; }))
      return Fail(ErrorCode::kInvalid,
                  path + " is called otherwise than by small letters");
    files.push_back({std::move(name), std::move(*json)});
  }
  std::ranges::sort(files, {}, &ClientFile::client);
  return files;
}

}  // namespace gate::clients
