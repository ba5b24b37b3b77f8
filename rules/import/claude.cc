// Claude Code's settings.json.

#include "base/text.h"
#include "rules/glob.h"
#include "rules/import/importer.h"
#include "rules/names.h"

namespace gate::rules {
namespace {

class ClaudeImporter final : public Importer {
 public:
  using Importer::Importer;
  void Read() override;
};

// permissions.{deny,ask,allow}: Bash, Bash(command), Bash(prefix:*), Bash(a *).
// The first list that matches wins, in this order, which is strictest wins.
void ClaudeImporter::Read() {
  const auto json = ReadJson();
  if (!json) return;
  const auto permissions = json->find("permissions");
  if (permissions == json->end() || !permissions->is_object())
    return Refuse(0, "there is no `permissions`", "is it Claude Code's?");
  for (const auto& [list, entries] : permissions->items()) {
    const std::string pointer = "/permissions/" + EscapePointer(list);
    const bool known = list == "allow" || list == "ask" || list == "deny";
    if (!known || !entries.is_array()) {
      if (known)
        Refuse(At(pointer), "`" + list + "` is not an array");
      else
        Note(At(pointer), "`permissions." + Visible(list) +
                              "` is no list of commands and stays there");
      continue;
    }
    const Action action = *ParseAction(list);
    for (size_t i = 0; i < entries.size(); ++i) {
      const size_t at = At(pointer + "/" + std::to_string(i));
      if (!entries[i].is_string()) {
        Refuse(at, "an entry is not a string");
        continue;
      }
      std::string entry = entries[i].get<std::string>();
      const std::string tool = entry.substr(0, entry.find('('));
      if (tool.find('*') != std::string::npos && !tool.starts_with("mcp__") &&
          action != Action::kAllow) {
        Refuse(at, "`" + Visible(entry) + "` means the shell, too",
               "set `default_action` in a rule file for what no rule knows");
        continue;
      }
      if (entry != "Bash" && !entry.starts_with("Bash(")) {
        Note(at,
             "`" + Visible(entry) + "` is about another tool and stays there");
        continue;
      }
      if (entry == "Bash") entry = "Bash(*)";
      if (!entry.ends_with(')')) {
        Refuse(at, "`" + Visible(entry) + "` does not end in `)`");
        continue;
      }
      entry = entry.substr(5, entry.size() - 6);
      // The end `:*` is another way to write ` *`.
      if (entry.ends_with(":*")) entry.replace(entry.size() - 2, 2, " *");
      const auto glob = GlobOf(at, entry, /*question=*/false, action);
      if (!glob) continue;
      const std::string program = ProgramOf(*glob);
      if (action == Action::kAllow &&
          (program.empty() || (RunsWhatItIsGiven(program) &&
                               glob->find('*') != std::string::npos))) {
        Refuse(at,
               "`" + Visible(entry) +
                   "` allows programs of any name, or "
                   "whatever an interpreter is given",
               "name the command, or leave it to the sandbox");
        continue;
      }
      Add(Id("claude." + list, *glob), action,
          "imported from Claude Code (" + list + ")", {{"glob", *glob}});
    }
  }
}

}  // namespace

namespace claude {
const ImportFormat* Get();
const ImportFormat* Get() {
  static constexpr ImportFormat kFormat = FormatOf<ClaudeImporter>("claude");
  return &kFormat;
}
}  // namespace claude

}  // namespace gate::rules
