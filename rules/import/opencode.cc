// opencode's opencode.json.
#include <algorithm>

#include "base/text.h"
#include "rules/glob.h"
#include "rules/import/importer.h"

namespace gate::rules {
namespace {

class OpencodeImporter final : public Importer {
 public:
  using Importer::Importer;
  void Read() override;

 private:
  // Refuses what opencode says of the shell anywhere but in permission.bash.
  void Elsewhere(const Json& settings);
};

// permission.bash: an action, or patterns in an order of which the last that
// matches wins. An earlier, stricter one therefore holds unless a later,
// weaker one matches.
void OpencodeImporter::Read() {
  const auto json = ReadJson();
  if (!json) return;
  const auto permission = json->find("permission");
  if (permission == json->end() || !permission->is_object() ||
      !permission->contains("bash"))
    return Refuse(0, "there is no `permission.bash`", "is it opencode's?");
  Elsewhere(*json);
  const Json& bash = (*permission)["bash"];
  struct Row {
    std::string glob;
    Action action;
    size_t at;
  };
  std::vector<Row> rows;
  const auto add = [&](const std::string& pattern, const Json& value,
                       size_t at) {
    const auto action = value.is_string()
                            ? ParseAction(value.get<std::string>())
                            : std::nullopt;
    if (!action || *action == Action::kSandbox)
      return Refuse(at, "the action of `" + Visible(pattern) +
                            "` is not allow, ask or deny");
    if (const auto glob = GlobOf(at, pattern, /*question=*/true, *action))
      rows.push_back({*glob, *action, at});
  };
  if (bash.is_string()) {
    add("*", bash, At("/permission/bash"));
  } else if (bash.is_object()) {
    // The order is that of the text, which the JSON value does not keep.
    std::vector<std::pair<size_t, std::string>> order;
    for (const auto& [pattern, value] : bash.items())
      order.emplace_back(
          LocatePointer(text_, "/permission/bash/" + EscapePointer(pattern),
                        true),
          pattern);
    std::sort(order.begin(), order.end());
    for (const auto& [at, pattern] : order) add(pattern, bash[pattern], at);
  } else {
    return Refuse(At("/permission/bash"), "`bash` is no action and no object");
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    if (row.action == Action::kAllow && ProgramOf(row.glob).empty()) {
      Refuse(row.at, "`" + Visible(row.glob) + "` allows programs of any name",
             "name the command, or leave it to the sandbox");
      continue;
    }
    Json unless = Json::array();
    for (size_t j = i + 1; j < rows.size(); ++j)
      if (rows[j].action < row.action)
        unless.push_back({{"glob", rows[j].glob}});
    Json match = {{"glob", row.glob}};
    if (!unless.empty()) match["unless"] = {{"any", unless}};
    Add(Id("opencode", row.glob), row.action, "imported from opencode", match);
  }
}

void OpencodeImporter::Elsewhere(const Json& settings) {
  const auto look = [this](const Json& holder, const std::string& pointer,
                           bool own) {
    for (const char* key : {"permission", "tools"}) {
      const auto found = holder.find(key);
      if (found == holder.end()) continue;
      const std::string at = pointer + "/" + key;
      if (!found->is_object()) {
        Refuse(At(at), "`" + std::string(key) + "` means the shell, too");
        continue;
      }
      for (const auto& [name, value] : found->items()) {
        const bool bash = TextGlob(name, "bash") != Tri::kNo;
        const bool here =
            own && name == "bash" && std::string_view(key) == "permission";
        if (here || value == "allow" || value == true) continue;
        if (bash)
          Refuse(At(at + "/" + EscapePointer(name)),
                 "`" + Visible(name) + "` stops the shell here, too",
                 "write it by hand: `default_action`, or a rule with `agent`");
        else
          Note(At(at + "/" + EscapePointer(name)),
               "`" + Visible(name) + "` is about another tool and stays there");
      }
    }
  };
  look(settings, "", true);
  for (const char* key : {"agent", "mode"}) {
    const auto agents = settings.find(key);
    if (agents == settings.end() || !agents->is_object()) continue;
    for (const auto& [name, agent] : agents->items())
      if (agent.is_object())
        look(agent, "/" + std::string(key) + "/" + EscapePointer(name), false);
  }
}

}  // namespace

namespace opencode {
const ImportFormat* Get();
const ImportFormat* Get() {
  static constexpr ImportFormat kFormat =
      FormatOf<OpencodeImporter>("opencode");
  return &kFormat;
}
}  // namespace opencode

}  // namespace gate::rules
