// Which backends work here, remembered for this boot.
//
// Probing runs a tiny sandbox and costs milliseconds; a decision may cost one.
// The answer is kept in <state>/backends for this boot, this user and
// this binary. A stale answer cannot weaken anything: a backend that does not
// work any more fails to set up, and the command does not run.
#pragma once

#include <memory>
#include <vector>

#include "backends/backend.h"
#include "facts/process_facts.h"
#include "router/plan.h"

namespace gate::app {

// `refresh`: probe again. Never fails: without a usable store it just probes.
std::vector<router::Candidate> FindCandidates(
    const ProcessFacts& facts,
    const std::vector<std::unique_ptr<backends::Backend>>& backends,
    bool refresh = false);

// Remembers `candidates` as what works here.
void StoreCandidates(const ProcessFacts& facts,
                     const std::vector<router::Candidate>& candidates);

// The one that contains commands here: of those that work and are as strong as
// `settings` ask, the first. Null where there is none.
const router::Candidate* ContainsHere(
    const std::vector<router::Candidate>& candidates,
    const router::Settings& settings);

}  // namespace gate::app
