#include "hooks/clients/claude_sign.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/paths.h"
#include "base/text.h"

namespace gate::hooks {
namespace {

// Variables that other clients set for their hooks. A key of a provider
// (GEMINI_API_KEY) is no sign: people have those with any client.
struct Variable {
  std::string_view prefix;
  const char* client;
};
constexpr Variable kVariables[] = {
    {"QWEN_PROJECT_DIR=", "qwen"},      {"QWEN_CODE_SESSION_ID=", "qwen"},
    {"QWEN_CODE_PROJECT_DIR=", "qwen"}, {"GEMINI_PROJECT_DIR=", "gemini"},
    {"GEMINI_SESSION_ID=", "gemini"},   {"GEMINI_CWD=", "gemini"},
    {"COPILOT_CLI=", "copilot"},        {"CURSOR_VERSION=", "cursor"},
    {"FACTORY_PROJECT_DIR=", "droid"},  {"CRUSH_SESSION_ID=", "crush"}};

bool IsClaudeName(std::string_view part) {
  return part == "claude" || part == "claude.exe" ||
         part.find("claude-code") != std::string_view::npos ||
         part.starts_with("claude-agent-sdk");
}

// Whether the innermost package or program in `path` that is an agent's is
// Claude Code's: another client may lie in a directory that is called so.
bool NamesClaude(std::string_view path) {
  while (!path.empty()) {
    const std::string_view part = BaseName(path);
    if (IsClaudeName(part)) return true;
    if (part.find('-') != std::string_view::npos && IsAgentName(part))
      return false;
    const size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) break;
    path = path.substr(0, slash);
  }
  return false;
}

// The script that an interpreter runs; empty for any other program.
std::string ScriptOf(const ProcessView& process) {
  const std::string_view name = BaseName(process.executable);
  if (name != "node" && name != "bun" && name != "deno" && name != "nodejs")
    return "";
  for (size_t i = 1; i < process.words.size(); ++i)
    if (!process.words[i].starts_with('-')) return process.words[i];
  return "";
}

bool IsClaude(const ProcessView& process) {
  const std::string script = ScriptOf(process);
  if (!script.empty()) return NamesClaude(script);
  // Where it is not an interpreter, its own name, or the directory that the
  // native installer uses.
  return IsClaudeName(BaseName(process.executable)) ||
         (process.executable.empty() && IsClaudeName(process.name)) ||
         process.executable.find("/claude/versions/") != std::string::npos;
}

// "2.1.330" of "claude-code_2-1-330_harness" (AI_AGENT).
std::string VersionOfAgent(std::string_view agent) {
  if (!agent.starts_with("claude-code_")) return "";
  agent.remove_prefix(agent.find('_') + 1);
  std::string version(agent.substr(0, agent.find('_')));
  if (version.empty() ||
      version.find_first_not_of("0123456789-") != std::string::npos)
    return "";
  std::ranges::replace(version, '-', '.');
  return version;
}

// What file it is, where nothing tells the version: another version is another
// file.
std::string IdentityOf(const std::string& path) {
  struct stat info{};
  if (path.empty() || ::stat(path.c_str(), &info) != 0) return "unknown";
  return "of file " + std::to_string(info.st_dev) + ":" +
         std::to_string(info.st_ino) + ":" + std::to_string(info.st_size) +
         ":" + std::to_string(info.st_mtim.tv_sec);
}

std::string VersionOf(const std::vector<std::string>& environment,
                      const ProcessView* claude) {
  // An agent within an agent has the variable of the outer one, unless it sets
  // its own; every version that sets it overwrites it.
  for (const std::string& entry : environment)
    if (entry.starts_with("AI_AGENT="))
      if (std::string version = VersionOfAgent(
              std::string_view(entry).substr(sizeof "AI_AGENT=" - 1));
          !version.empty())
        return version;
  if (claude == nullptr) return "unknown";
  constexpr std::string_view kVersions = "/claude/versions/";
  const size_t at = claude->executable.find(kVersions);
  if (at != std::string::npos) {
    const std::string rest = claude->executable.substr(at + kVersions.size());
    return rest.substr(0, rest.find('/'));
  }
  const std::string script = ScriptOf(*claude);
  return IdentityOf(script.empty() ? claude->executable : script);
}

// What a person calls the agent: of a script the package that it lies in.
std::string NameOf(const ProcessView& process) {
  const std::string script = ScriptOf(process);
  std::string_view path = script;
  while (!path.empty()) {
    const std::string_view part = BaseName(path);
    if (part.find('-') != std::string_view::npos && IsAgentName(part))
      return Visible(part);
    const size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) break;
    path = path.substr(0, slash);
  }
  return Visible(process.name);
}

ClientSign Other(std::string name, std::string why) {
  return {false, std::move(name), "unknown", std::move(why)};
}

}  // namespace

ClientSign TellClaude(const Event& event,
                      const std::vector<std::string>& environment,
                      const std::vector<ProcessView>& ancestors) {
  const auto client = std::ranges::find_if_not(
      ancestors, [](const ProcessView& process) { return IsShell(process); });
  if (client != ancestors.end() && IsClaude(*client))
    return {true, "claude", VersionOf(environment, &*client), ""};
  if (client != ancestors.end() && IsAgent(*client))
    return Other(NameOf(*client), "it started the hook");
  for (const Variable& variable : kVariables)
    for (const std::string& entry : environment)
      if (entry.starts_with(variable.prefix) &&
          entry.size() > variable.prefix.size())
        return Other(variable.client,
                     "its hooks have " + std::string(variable.prefix.substr(
                                             0, variable.prefix.size() - 1)));
  if (!event.foreign.empty()) return Other("another client", event.foreign);
  if (!event.complete)
    return Other("an unknown client",
                 "its events lack what Claude Code's have");
  return {true, "claude", VersionOf(environment, nullptr), ""};
}

}  // namespace gate::hooks
