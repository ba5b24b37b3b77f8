// Editing a client's JSON settings. Internal to hooks/; pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hooks/install.h"

namespace gate::hooks {

inline constexpr size_t kMaxSettingsBytes = 4 << 20;

// An entry that gate owns: one for each event of the client that it reads.
// In the line of an entry whose client contains.
inline constexpr const char* kIntentOption = " --mode intent";

struct HookEntry {
  std::string event = "PreToolUse";
  std::string client;  // as in `gate hook CLIENT`
  std::string matcher;
  std::string command;  // the guard line
  int timeout_s = 15;
  // Writes "onFailure": "block". An entry that has it keeps it.
  bool block_on_failure = false;
};

// The entries that PlanInstall(options) writes, that of PreToolUse first.
std::vector<HookEntry> EntriesFor(const InstallOptions& options);

// `file` (the text of a settings file; white space counts as {}; nothing: there
// is no file) with exactly these entries of gate's, at least one and all of one
// client. Every byte that is not gate's
// stays. kInvalid when the text is not valid JSON, when its hooks have another
// shape than the client's, or when it switches hooks off.
Result<std::string> WithHooks(std::optional<std::string_view> file,
                              std::vector<HookEntry> entries);
// As WithHooks, with one entry.
Result<std::string> WithHook(std::optional<std::string_view> file,
                             const HookEntry& entry);

// `file` without any entry of gate's for `client`, byte for byte as it was
// before WithHooks; nothing when there was no file. Where another program has
// laid the file out anew since, what the entry leaves empty around it goes too.
Result<std::optional<std::string>> WithoutHook(std::string_view file,
                                               std::string_view client);

// An entry of gate's, and where in the list of its event it stands.
struct FoundHook {
  HookEntry entry;
  size_t group = 0, handler = 0;
};
Result<std::vector<FoundHook>> FindHooks(std::string_view file,
                                         std::string_view client);

// Whether `file` says disableAllHooks.
Result<bool> SwitchesHooksOff(std::string_view file);

}  // namespace gate::hooks
