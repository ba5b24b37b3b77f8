// Rules that other tools keep as JSON.
#include <algorithm>

#include "base/text.h"
#include "rules/glob.h"
#include "rules/import.h"
#include "rules/names.h"

namespace gate::rules {
namespace {

// The program that a glob of gate means; empty when it means several.
std::string ProgramOf(const std::string& glob) {
  const std::string word = glob.substr(0, glob.find(' '));
  return word.find_first_of("*?") == std::string::npos ? word : "";
}

std::string Escape(const std::string& pointer) {
  std::string out;
  for (const char c : pointer) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

}  // namespace

// permissions.{deny,ask,allow}: Bash, Bash(command), Bash(prefix:*), Bash(a *).
// The first list that matches wins, in this order, which is strictest wins.
void Importer::Claude() {
  const auto json = ReadJson();
  if (!json) return;
  const auto permissions = json->find("permissions");
  if (permissions == json->end() || !permissions->is_object())
    return Refuse(0, "there is no `permissions`", "is it Claude Code's?");
  for (const auto& [list, entries] : permissions->items()) {
    const std::string pointer = "/permissions/" + Escape(list);
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

// permission.bash: an action, or patterns in an order of which the last that
// matches wins. An earlier, stricter one therefore holds unless a later,
// weaker one matches.
void Importer::Opencode() {
  const auto json = ReadJson();
  if (!json) return;
  const auto permission = json->find("permission");
  if (permission == json->end() || !permission->is_object() ||
      !permission->contains("bash"))
    return Refuse(0, "there is no `permission.bash`", "is it opencode's?");
  OpencodeElsewhere(*json);
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
          LocatePointer(text_, "/permission/bash/" + Escape(pattern), true),
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

void Importer::OpencodeElsewhere(const Json& settings) {
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
          Refuse(At(at + "/" + Escape(name)),
                 "`" + Visible(name) + "` stops the shell here, too",
                 "write it by hand: `default_action`, or a rule with `agent`");
        else
          Note(At(at + "/" + Escape(name)),
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
        look(agent, "/" + std::string(key) + "/" + Escape(name), false);
  }
}

// {version, rules: [{name, command, subcommand?, block_args, reason}]}: denied
// when one of the arguments is given, short options in bundles, too.
void Importer::SafetyNet() {
  const auto json = ReadJson();
  if (!json) return;
  if (json->value("version", Json()) != 1 || !json->contains("rules") ||
      !(*json)["rules"].is_array())
    return Refuse(0, "it has no `version` 1 and `rules`",
                  "is it cc-safety-net's?");
  for (const auto& [key, value] : json->items())
    if (key != "version" && key != "rules" && key != "$schema")
      Refuse(At("/" + Escape(key)),
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

}  // namespace gate::rules
