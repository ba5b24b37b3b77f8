// How an ask is answered without asking: by an approval that a person gave
// before, or by a pause.
#pragma once

#include "approvals/approvals.h"
#include "gateway/gateway.h"

namespace gate::app {

// True when the ask of `authorization` is answered yes; its reason then says by
// what, and `in_sandbox` whether the yes was to less than what it would give
// now. An approval for one run is used up. A pause answers only what a sandbox
// can do.
bool ApplyApproval(const ProcessFacts& facts, Authorization* authorization,
                   uint64_t now_ms);

// The question that a person finds by `gate pending`.
PendingQuestion QuestionOf(const Authorization& authorization, uint64_t now_ms);

}  // namespace gate::app
