// cc-safety-net's JSON.

#include "base/text.h"
#include "rules/import/importer.h"

namespace gate::rules {
namespace {

class SafetyNetImporter final : public Importer {
 public:
  using Importer::Importer;
  void Read() override;
};

// {version, rules: [{name, command, subcommand?, block_args, reason}]}: denied
// when one of the arguments is given, short options in bundles, too.
void SafetyNetImporter::Read() {
  const auto json = ReadJson();
  if (!json) return;
  if (json->value("version", Json()) != 1 || !json->contains("rules") ||
      !(*json)["rules"].is_array())
    return Refuse(0, "it has no `version` 1 and `rules`",
                  "is it cc-safety-net's?");
  for (const auto& [key, value] : json->items())
    if (key != "version" && key != "rules" && key != "$schema")
      Refuse(At("/" + EscapePointer(key)),
             "`" + Visible(key) + "` has no counterpart in gate");
  const Json& rules = (*json)["rules"];
  for (size_t i = 0; i < rules.size(); ++i) {
    const Json& rule = rules[i];
    const size_t at = At("/rules/" + std::to_string(i));
    bool understood = rule.is_object();
    if (understood)
      for (const auto& [key, value] : rule.items()) {
        const bool text = key == "name" || key == "command" ||
                          key == "subcommand" || key == "reason";
        understood =
            understood &&
            ((text && value.is_string()) ||
             (key == "block_args" && value.is_array() && !value.empty()));
      }
    for (const char* key : {"name", "command", "block_args", "reason"})
      understood = understood && rule.contains(key);
    if (!understood) {
      Refuse(at, "the rule has another form than cc-safety-net's");
      continue;
    }
    Json options = Json::array(), operands = Json::array();
    for (const Json& argument : rule["block_args"]) {
      const std::string text =
          argument.is_string() ? argument.get<std::string>() : "";
      if (text.empty() || text == "--" || text.starts_with('@') ||
          text.find_first_of("*?\\") != std::string::npos)
        understood = false;
      else if (text.starts_with('-') && text.size() > 1)
        options.push_back(text);
      else
        operands.push_back(text);
    }
    const std::string command = rule["command"].get<std::string>();
    if (!understood || command.empty() || command.starts_with('@') ||
        command.find_first_of("*?\\/ ") != std::string::npos ||
        IsNoProgram(command)) {
      Refuse(at, "a name or argument of `" +
                     Visible(rule["name"].get<std::string>()) +
                     "` means something else in gate");
      continue;
    }
    Json any = Json::array();
    if (!options.empty()) any.push_back({{"options", {{"any_of", options}}}});
    if (!operands.empty()) any.push_back({{"operands", {{"any", operands}}}});
    Json match = {{"program", {command}}, {"any", any}};
    if (rule.contains("subcommand")) match["subcommand"] = {rule["subcommand"]};
    Add(Id("safety-net", rule["name"].get<std::string>()), Action::kDeny,
        rule["reason"].get<std::string>(), match);
  }
}

}  // namespace

namespace safetynet {
const ImportFormat* Get();
const ImportFormat* Get() {
  static constexpr ImportFormat kFormat =
      FormatOf<SafetyNetImporter>("cc-safety-net");
  return &kFormat;
}
}  // namespace safetynet

}  // namespace gate::rules
