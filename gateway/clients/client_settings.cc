#include "gateway/client_settings.h"

#include "base/file.h"
#include "base/paths.h"
#include "gateway/clients/codex_sandbox.h"
#include "rules/data.h"

namespace gate::app {
namespace {

const rules::DataValue* FindIn(const rules::DataValue* table, const char* key) {
  return table == nullptr ? nullptr : table->Find(key);
}

bool IsFalse(const rules::DataValue* value) {
  return value != nullptr && value->type == rules::DataValue::Type::kBool &&
         !value->truth;
}

bool IsText(const rules::DataValue* value, std::string_view text) {
  return value != nullptr && value->IsText() && value->text == text;
}

// The feature has had two names (openai/codex, docs of 18 May 2026).
std::string WhySwitchedOff(const rules::DataValue& config,
                           const std::string& path) {
  const rules::DataValue* features = config.Find("features");
  for (const char* name : {"hooks", "codex_hooks"})
    if (IsFalse(FindIn(features, name)))
      return path + " says `" + name + " = false`";
  return "";
}

}  // namespace

hooks::InstallOptions HookOptions(const ProcessFacts& facts,
                                  const std::string& client) {
  hooks::InstallOptions options;
  options.client = client;
  options.home = facts.home;
  options.gate_path = facts.executable;
  options.config_dir = facts.places.config;
  options.state_dir = facts.places.state;
  options.claude_dir = facts.claude_dir;
  options.codex_home = facts.codex_dir;
  return options;
}

std::string WhyNoHookRuns(const ProcessFacts& facts, const std::string& client,
                          const std::vector<std::string>& directories) {
  std::vector<std::string> files;
  if (auto user = hooks::SettingsPath(HookOptions(facts, client)))
    files.push_back(*user);
  for (const std::string& directory : directories)
    for (const char* name : {"settings.json", "settings.local.json"})
      files.push_back(directory + "/.claude/" + name);
  // Which of them wins is not asked: one that says so is worth a look.
  for (const std::string& file : files) {
    const auto disables = hooks::DisablesHooks(file);
    if (!disables)
      return file + " may switch hooks off: " + disables.error().message;
    if (*disables) return file + " says `disableAllHooks`";
  }
  return "";
}

CodexTrust AskCodexTrust(const hooks::InstallOptions& options,
                         const hooks::Installed& installed) {
  // Trust, of a project's hooks too, is in the user's file alone
  // (codex-rs/hooks/src/config_rules.rs of openai/codex).
  hooks::InstallOptions user = options;
  user.project = false;
  const auto hooks_file = hooks::SettingsPath(user);
  if (!hooks_file) return {false, hooks_file.error().message};
  const std::string path = std::string(DirName(*hooks_file)) + "/config.toml";
  const auto config = ReadCodexConfig(path);
  if (!config) return {false, config.error().message};
  if (std::string why = WhySwitchedOff(*config, path); !why.empty())
    return {true, why};
  if (options.project) {
    const std::string own = options.project_dir + "/.codex/config.toml";
    const auto project = ReadCodexConfig(own);
    if (!project) return {false, project.error().message};
    if (std::string why = WhySwitchedOff(*project, own); !why.empty())
      return {true, why};
  }
  const rules::DataValue* states = FindIn(config->Find("hooks"), "state");
  const rules::DataValue* state = nullptr;
  // A CODEX_HOME is resolved before it stands in a key.
  const std::string directory(DirName(installed.path));
  const std::string name(BaseName(installed.path));
  for (const std::string& place : {directory, RealPath(directory)})
    if (state == nullptr)
      state =
          FindIn(states, (place + "/" + name + installed.codex_place).c_str());
  const rules::DataValue* hash = FindIn(state, "trusted_hash");
  if (hash == nullptr) return {true, "nobody has trusted it there"};
  if (IsFalse(FindIn(state, "enabled"))) return {true, "it is switched off"};
  if (!IsText(hash, installed.codex_hash))
    return {false, "it says something else than when it was trusted"};
  const rules::DataValue* projects = config->Find("projects");
  if (options.project &&
      !IsText(
          FindIn(FindIn(projects, options.project_dir.c_str()), "trust_level"),
          "trusted"))
    return {false, "it counts only in a project that Codex trusts"};
  return {true, ""};
}

}  // namespace gate::app
