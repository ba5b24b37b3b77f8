// What may stand at a protected name all the same.
//
// Names are protected because a program takes orders from what it finds there.
// How much a file can order depends on the name, and so does what gate lets git
// (or a project's generator) leave there:
//
// - auto-executed: an agent, an editor or a tool loads it by itself, and what
//   it says can start programs or lift the loader's own guards (.mcp.json,
//   the settings of agents, .vscode/tasks.json, …). Never from its content
//   alone.
// - settings: loaded by itself too, but only some entries have power. It may
//   stay when no entry with power was added, changed or removed; which entries
//   have none is a list, so that a new one has power (.npmrc, .yarnrc,
//   .vscode/settings.json, .vscode/extensions.json).
// - elsewhere: auto-executed in a home directory only, which no workspace is,
//   or only after a yes that its reader keeps by content (shell start-up files,
//   .gitconfig, .envrc). It may stay where git checked it out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gate::backends {

enum class NameClass : unsigned char { kObeyed, kSettings, kElsewhere };

// The class of a path that begins at a protected name's first component, in any
// case.
NameClass ClassOf(std::string_view relative);

// Whether a file of that name can go without lifting a protection.
bool MayGo(std::string_view relative);

// The entries of a settings file that have power, as text that compares equal
// when they mean the same. Nothing when that cannot be told.
std::optional<std::vector<std::string>> EntriesWithPower(
    std::string_view relative, std::string_view content);

// Whether `after` orders what `before` did, and no more and no less. nullptr:
// no file. False for a name that is not of the class settings.
bool SamePower(std::string_view relative, const std::string* before,
               const std::string* after);

}  // namespace gate::backends
