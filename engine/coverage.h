// Which rules the examples of a policy reach.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rules/policy.h"

namespace gate::engine {

struct RuleCoverage {
  std::string rule;
  std::string source;     // FILE:LINE
  uint32_t matched = 0;   // examples, of any rule, that it matched
  uint32_t decisive = 0;  // of them, those whose decision it made
};

// Every rule that can apply, in the order of `rules list`. Runs each example.
std::vector<RuleCoverage> MeasureCoverage(
    const rules::Policy& policy,
    const std::function<void(size_t done, size_t total)>& progress = {});

// The commands that stand in the examples of all rules, each once, sorted:
// what `rules diff` and `rules suggest` try policies with.
std::vector<std::string> ExampleCommands(const rules::Policy& policy);

// ExampleCommands, and commands made to match the rules that are not shipped,
// whose files need not have examples: where two policies may be compared.
std::vector<std::string> WitnessCommands(const rules::Policy& policy);

}  // namespace gate::engine
