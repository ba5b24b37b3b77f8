// What a protected path is called in a report.
#include <algorithm>
#include <iterator>
#include <string_view>

#include "backends/native/calls/calls.h"

namespace gate::backends {

const char* ProtectedKind(const std::string& path) {
  static constexpr std::string_view kShell[] = {
      ".bashrc",       ".bash_profile", ".bash_login", ".bash_logout",
      ".bash_aliases", ".profile",      ".zshrc",      ".zprofile",
      ".zshenv",       ".zlogin",       ".zlogout",    ".kshrc",
      ".cshrc",        ".tcshrc",       ".login",      ".inputrc",
      "fish",          ".envrc",        ".direnvrc",   ".bashrc.d"};
  static constexpr std::string_view kGit[] = {".git", ".gitconfig", "hooks",
                                              "git"};
  static constexpr std::string_view kAgent[] = {
      ".claude",   ".claude.json", ".codex",          ".cursor",
      ".gemini",   ".opencode",    "opencode.json",   "opencode.jsonc",
      ".continue", ".windsurf",    ".aider.conf.yml", ".amp",
      ".mcp.json", ".gate"};
  static constexpr std::string_view kEditor[] = {
      ".vscode", ".idea",         ".zed",     ".helix",
      ".exrc",   ".devcontainer", ".nvimrc",  ".devcontainer.json",
      "_exrc",   ".nexrc",        ".vimrc",   "_vimrc",
      ".gvimrc", "_gvimrc",       ".nvim.lua"};
  static constexpr std::string_view kTool[] = {
      ".npmrc",    ".yarnrc", ".pypirc",      ".ripgreprc", ".gdbinit",
      ".lldbinit", ".ugrep",  ".lazygit.yml", "lazygit.yml"};
  size_t begin = 0;
  while (begin < path.size()) {
    size_t end = path.find('/', begin);
    if (end == std::string::npos) end = path.size();
    const std::string_view part(path.data() + begin, end - begin);
    const auto in = [&](const auto& names) {
      return std::find(std::begin(names), std::end(names), part) !=
             std::end(names);
    };
    if (part.starts_with('.') || end == path.size()) {
      if (in(kShell)) return "shell-startup";
      if (in(kAgent)) return "agent-settings";
      if (in(kGit)) return "git";
      if (in(kEditor)) return "editor";
      if (in(kTool)) return "tool-settings";
    }
    begin = end + 1;
  }
  return "path";
}

}  // namespace gate::backends
