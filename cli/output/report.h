// What a run came to, told to whoever called gate.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "gateway/execute.h"

namespace gate::app {

// The exit code that stands for `outcome` (docs/decisions.md), after telling
// on stderr what the command itself cannot: failed set-up, time-out, limits,
// violations (the first kMaxToldViolations), a search that ended early. `id`:
// where the rest of it is on record.
inline constexpr size_t kMaxToldViolations = 20;
int Report(const backends::Outcome& outcome, const std::string& id);
// Violations alone, as that tells them.
void TellViolations(const std::vector<backends::Violation>& violations,
                    const std::string& id);
// Reports what was executed. An outcome that is not on record is gate's
// failure, whatever the command returned: it must not be able to hide it by
// filling the disk.
int Report(const Executed& executed);

// `gate run --json`: how the command ended, one object (gate.outcome/1).
std::string OutcomeToJson(const Executed& executed);

}  // namespace gate::app
