// What a client's hook is told before a tool of its own runs.
#pragma once

#include <string>
#include <utility>

#include "base/json.h"

namespace gate::test {

// As Claude Code says it: `tool` with `input`, in `cwd`.
inline std::string ToolEvent(const std::string& cwd, const std::string& tool,
                             Json input, const std::string& mode = "default") {
  return Dump({{"session_id", "s-1"},
               {"cwd", cwd},
               {"permission_mode", mode},
               {"hook_event_name", "PreToolUse"},
               {"tool_name", tool},
               {"tool_input", std::move(input)},
               {"tool_use_id", "toolu_1"}});
}

inline std::string BashEvent(const std::string& cwd, const std::string& command,
                             const std::string& mode = "default") {
  return ToolEvent(cwd, "Bash", {{"command", command}}, mode);
}

}  // namespace gate::test
