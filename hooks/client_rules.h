// The client's own permission rules, which see the line that gate has
// rewritten.
#pragma once

#include <string_view>

namespace gate::hooks {

// Whether `settings` (Claude Code's settings.json) forbid commands, or have
// them asked about, by rules such as `Bash(make deploy:*)`. False for what is
// not JSON or has another shape.
bool HasCommandRules(std::string_view settings);

}  // namespace gate::hooks
