// All findings about a policy: those of rules/lint.h, and those that need a
// decision. A witness is a command that was really decided with this policy,
// in the circumstances of examples (engine/examples.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "rules/lint.h"
#include "rules/policy.h"

namespace gate::engine {

struct LintOptions {
  uint64_t now_ms = 0;
  bool shipped = true;  // false: nothing of the shipped rules is evaluated
  // Called now and then with what is done of what is to do; may be empty.
  std::function<void(size_t done, size_t total)> progress;
};

// Sorted by place. About 60 us an example, 3 ms an allow rule.
std::vector<rules::Finding> LintPolicy(const rules::Policy& policy,
                                       const LintOptions& options);

// --- lint_probes.cc: what is tried behind a command that an allow covers. ---

// Arguments that make some program write, run or send something.
std::span<const std::string_view> RiskyTails(std::string_view program);

// Ordinary commands that have nothing in common.
std::span<const std::string_view> UnlikeCommands();

}  // namespace gate::engine
