#include "hooks/clients/codex_review.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/paths.h"
#include "hooks/clients/codex_sandbox.h"

namespace gate::hooks {
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

// sha256 over the entry as JSON with sorted names and without blanks.
std::string CodexHash(const HookEntry& entry) {
  const std::string identity =
      "{\"event_name\":\"pre_tool_use\",\"hooks\":[{\"async\":false,"
      "\"command\":" +
      Dump(entry.command) + ",\"timeout\":" + std::to_string(entry.timeout_s) +
      ",\"type\":\"command\"}],\"matcher\":" + Dump(entry.matcher) + "}";
  return "sha256:" + Hex(Sha256(identity));
}

}  // namespace

void MarkForCodex(const FoundHook& hook, Installed* installed) {
  installed->review_place = ":pre_tool_use:" + std::to_string(hook.group) +
                            ":" + std::to_string(hook.handler);
  installed->review_hash = CodexHash(hook.entry);
}

HookReview ReviewByCodex(const InstallOptions& options,
                         const Installed& installed) {
  // Trust, of a project's hooks too, is in the user's file alone
  // (codex-rs/hooks/src/config_rules.rs of openai/codex).
  InstallOptions user = options;
  user.project = false;
  const auto hooks_file = SettingsPath(user);
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
          FindIn(states, (place + "/" + name + installed.review_place).c_str());
  const rules::DataValue* hash = FindIn(state, "trusted_hash");
  if (hash == nullptr) return {true, "nobody has trusted it there"};
  if (IsFalse(FindIn(state, "enabled"))) return {true, "it is switched off"};
  if (!IsText(hash, installed.review_hash))
    return {false, "it says something else than when it was trusted"};
  const rules::DataValue* projects = config->Find("projects");
  if (options.project &&
      !IsText(
          FindIn(FindIn(projects, options.project_dir.c_str()), "trust_level"),
          "trusted"))
    return {false, "it counts only in a project that Codex trusts"};
  return {true, ""};
}

}  // namespace gate::hooks
