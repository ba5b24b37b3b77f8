// Gemini CLI: policies/*.toml, and the lists of tools in settings.json.
//
// Only rules about its shell tool are about commands. The first rule that
// matches by priority wins there, so an ask holds unless an allow of higher
// priority matches; a deny stays absolute, which is stricter.
#include <algorithm>

#include "base/ascii.h"
#include "base/regex.h"
#include "base/text.h"
#include "rules/data.h"
#include "rules/import/importer.h"
#include "rules/names.h"

namespace gate::rules {
namespace {

constexpr std::string_view kShellTool = "run_shell_command";

// The words of a command prefix; nothing when it speaks of shell syntax.
std::optional<Json> PrefixWords(const std::string& text) {
  if (text.find_first_of("'\"\\`$;|&<>(){}[]#\n\t~*?") != std::string::npos)
    return std::nullopt;
  Json words = Json::array();
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) {
      if (text[at] == '@') return std::nullopt;
      words.push_back(text.substr(at, end - at));
    }
    at = end + 1;
  }
  if (words.empty() || IsNoProgram(words[0].get<std::string>()))
    return std::nullopt;
  return words;
}

class GeminiImporter final : public Importer {
 public:
  using Importer::Importer;
  void Read() override;

 private:
  void Settings();
};

void GeminiImporter::Read() {
  const size_t first = text_.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text_[first] == '{') return Settings();
  const auto file = ReadToml(text_);
  if (!file) {
    RefuseAt(file.error().line, file.error().column, file.error().message,
             "mend the file first");
    return;
  }
  struct Row {
    Json match;
    Action action = Action::kDeny;
    int64_t priority = 0;
    std::string id, reason;
  };
  std::vector<Row> rows;
  bool any = false;
  for (const auto& [key, value] : file->members) {
    if (key == "safety_checker" || key == "safety_checkers") {
      RefuseAt(value.line, value.column,
               "safety checkers are programs that gate does not start");
      continue;
    }
    if ((key != "rule" && key != "rules") || !value.IsList()) {
      RefuseAt(value.line, value.column,
               "`" + Visible(key) + "` is not part of a policy of Gemini CLI");
      continue;
    }
    any = true;
    for (const DataValue& rule : value.items) {
      const auto refuse = [&](const std::string& message,
                              const std::string& help = {}) {
        RefuseAt(rule.line, rule.column, message, help);
      };
      if (!rule.IsTable()) {
        refuse("a rule is not a table");
        continue;
      }
      std::vector<std::string> tools;
      const DataValue* tool = rule.Find("toolName");
      if (tool == nullptr || !tool->Texts(&tools)) {
        refuse("the rule names no `toolName`");
        continue;
      }
      const bool shell = Contains(tools, kShellTool);
      const bool wild =
          std::any_of(tools.begin(), tools.end(), [](const std::string& name) {
            return name.find('*') != std::string::npos &&
                   !name.starts_with("mcp_");
          });
      if (!shell && !wild) {
        NoteAt(rule.line, rule.column,
               "the rule is about other tools and stays there");
        continue;
      }
      Row row;
      std::string problem;
      std::vector<std::string> prefixes;
      std::string regex, interactive;
      for (const auto& [name, member] : rule.members) {
        if (name == "toolName") continue;
        if (name == "commandPrefix") {
          if (!member.Texts(&prefixes) || prefixes.empty())
            problem = "`commandPrefix` is not text";
        } else if (name == "commandRegex" && member.IsText()) {
          regex = member.text;
        } else if (name == "decision" && member.IsText()) {
          if (member.text == "allow")
            row.action = Action::kAllow;
          else if (member.text == "ask_user")
            row.action = Action::kAsk;
          else if (member.text != "deny")
            problem =
                "the decision `" + Visible(member.text) + "` is not known";
        } else if (name == "priority" &&
                   member.type == DataValue::Type::kInteger) {
          row.priority = member.integer;
        } else if (name == "denyMessage" && member.IsText()) {
          row.reason = member.text;
        } else if (name == "interactive" &&
                   member.type == DataValue::Type::kBool) {
          interactive = member.truth ? "true" : "false";
        } else if (name == "modes") {
          std::vector<std::string> modes;
          if (!member.Texts(&modes) || !Contains(modes, "default") ||
              !Contains(modes, "autoEdit") || !Contains(modes, "plan") ||
              !Contains(modes, "yolo"))
            problem = "gate does not know the mode that Gemini CLI is in";
        } else if (name == "allowRedirection" &&
                   member.type == DataValue::Type::kBool) {
          if (member.truth)
            NoteAt(member.line, member.column,
                   "gate judges redirections by what they write; the rule does "
                   "not allow them");
        } else {
          problem = "`" + Visible(name) + "` cannot be carried over";
        }
      }
      if (rule.Find("decision") == nullptr)
        problem = "the rule has no `decision`";
      if (rule.Find("priority") == nullptr)
        problem = "the rule has no `priority`";
      if (!regex.empty() && !prefixes.empty())
        problem = "`commandPrefix` and `commandRegex` exclude each other";
      if (problem.empty() && prefixes.empty() && regex.empty())
        problem = "the rule means every command";
      if (!interactive.empty() && row.action == Action::kAllow)
        problem = "an allow cannot stand on whether a person can be asked";
      Json any_of = Json::array();
      for (const std::string& prefix : prefixes) {
        const auto words = PrefixWords(prefix);
        if (!words) {
          problem = "the prefix `" + Visible(prefix) +
                    "` speaks of shell syntax, which gate has resolved";
          break;
        }
        const std::string program = (*words)[0].get<std::string>();
        if (row.action == Action::kAllow && RunsWhatItIsGiven(program) &&
            words->size() == 1) {
          problem = "it allows whatever `" + Visible(program) + "` is given";
          break;
        }
        any_of.push_back({{"prefix", *words}});
      }
      if (problem.empty() && !regex.empty()) {
        // There the pattern is looked for in JSON text, behind the opening
        // quote of the command; the end of the text is never that of the
        // command.
        if (regex.find_first_of("^$") != std::string::npos ||
            !EmbeddedIn(regex).empty())
          problem =
              "the pattern `" + Visible(regex) + "` matches other text in gate";
        else if (row.action == Action::kAllow)
          problem = "an allow by pattern lets through what follows the pattern";
        else if (!Regex::Compile("^(?:" + regex + ")"))
          problem = "RE2 does not know the pattern `" + Visible(regex) + "`";
        any_of.push_back({{"regex", "^(?:" + regex + ")"}});
      }
      if (!problem.empty()) {
        refuse(problem);
        continue;
      }
      row.match = any_of.size() == 1 ? any_of[0] : Json{{"any", any_of}};
      if (!interactive.empty())
        row.match["interactive"] = interactive == "true";
      row.id = Id("gemini", prefixes.empty() ? regex : prefixes[0]);
      ids_.insert(row.id);
      if (row.reason.empty()) row.reason = "imported from Gemini CLI";
      rows.push_back(std::move(row));
    }
  }
  if (!any && result_.diagnostics.empty())
    RefuseAt(1, 1, "there is no `[[rule]]`", "is it a policy of Gemini CLI?");
  for (const Row& row : rows) {
    Json match = row.match;
    Json unless = Json::array();
    if (row.action == Action::kAsk)
      for (const Row& other : rows)
        if (other.action == Action::kAllow && other.priority > row.priority)
          unless.push_back(other.match);
    if (!unless.empty()) match["unless"] = {{"any", unless}};
    Add(row.id, row.action, row.reason, match);
  }
}

// tools.core, tools.exclude, tools.allowed, and their older names.
void GeminiImporter::Settings() {
  const auto json = ReadJson();
  if (!json) return;
  struct List {
    const char* pointer;
    char kind;  // 'c'ore, 'e'xclude, 'a'llowed
  };
  static constexpr List kLists[] = {
      {"/coreTools", 'c'},     {"/tools/core", 'c'},   {"/excludeTools", 'e'},
      {"/tools/exclude", 'e'}, {"/allowedTools", 'a'}, {"/tools/allowed", 'a'}};
  bool any = false;
  for (const List& list : kLists) {
    const Json::json_pointer pointer{std::string(list.pointer)};
    if (!json->contains(pointer)) continue;
    const Json& entries = (*json)[pointer];
    any = true;
    if (!entries.is_array()) {
      Refuse(At(list.pointer), "it is not an array");
      continue;
    }
    Json only = Json::array();
    bool all = false, failed = false;
    for (size_t i = 0; i < entries.size(); ++i) {
      const size_t at = At(std::string(list.pointer) + "/" + std::to_string(i));
      const std::string entry =
          entries[i].is_string() ? entries[i].get<std::string>() : "";
      const size_t open = entry.find('(');
      const std::string tool = entry.substr(0, open);
      if (tool != kShellTool && tool != "ShellTool") {
        if (entry.empty())
          Refuse(at, "an entry is not text");
        else
          Note(at, "`" + Visible(entry) +
                       "` is about another tool and stays there");
        continue;
      }
      if (open == std::string::npos) {
        if (list.kind == 'c') {
          all = true;
          continue;
        }
        Refuse(at, "the entry means every command",
               "set `default_action` in a rule file for what no rule knows");
        continue;
      }
      const std::string command =
          entry.ends_with(')') ? entry.substr(open + 1, entry.size() - open - 2)
                               : "";
      const auto words = PrefixWords(command);
      if (!words) {
        Refuse(at, "`" + Visible(entry) +
                       "` speaks of shell syntax, or of "
                       "nothing");
        failed = true;
        continue;
      }
      if (list.kind == 'c') {
        only.push_back({{"prefix", *words}});
      } else if (list.kind == 'e') {
        Add(Id("gemini.exclude", command), Action::kDeny,
            "imported from Gemini CLI (excluded tool)", {{"prefix", *words}});
      } else if (words->size() == 1 &&
                 RunsWhatItIsGiven((*words)[0].get<std::string>())) {
        Refuse(at, "it allows whatever `" + Visible(command) + "` is given");
      } else {
        Add(Id("gemini.allowed", command), Action::kAllow,
            "imported from Gemini CLI (allowed tool)", {{"prefix", *words}});
      }
    }
    if (list.kind != 'c' || all || failed) continue;
    if (only.empty()) {
      Refuse(At(list.pointer),
             "the shell tool is not in the list, so every "
             "command is off",
             "set `default_action` to deny in a rule file");
      continue;
    }
    Add(Id("gemini", "core"), Action::kDeny,
        "Gemini CLI may use other commands only",
        {{"program", {"*"}}, {"unless", {{"any", only}}}});
  }
  if (!any)
    Refuse(0, "there is no list of tools",
           "is it a settings.json of Gemini CLI?");
}

}  // namespace

namespace gemini {
const ImportFormat* Get();
const ImportFormat* Get() {
  static constexpr ImportFormat kFormat = FormatOf<GeminiImporter>("gemini");
  return &kFormat;
}
}  // namespace gemini

}  // namespace gate::rules
