// Runs the examples that stand in rules.
//
// An example of `match` holds when its rule is among the decision's matches,
// or was and an allow, exception, `disable` or date took it back; one of
// `no_match` when it is not. Examples are read as a line typed by a developer
// in a project (ExampleRequest), not on this machine: no file is looked at.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "engine/decision.h"
#include "engine/request.h"
#include "rules/policy.h"

namespace gate::engine {

struct ExampleResult {
  std::string rule;
  std::string command;
  uint32_t line = 0;  // of the rule file
  std::string file;
  bool expected = true;  // must match
  bool passed = false;
  Action action = Action::kDeny;  // what the whole policy says
};

// The circumstances of examples: home /home/dev, workspace and cwd
// /home/dev/project.
Request ExampleRequest();

// What `command` does in these circumstances.
parser::Analysis ReadExample(std::string_view command);

// The decision for `command` in these circumstances.
Decision DecideExample(const rules::Policy& policy, std::string_view command);

// Every example of every rule; of the rule `id` only, when it is not empty;
// without those of the builtin layer when not `shipped`. About 30 us an
// example.
std::vector<ExampleResult> RunExamples(
    const rules::Policy& policy, std::string_view id = {}, bool shipped = true,
    const std::function<void(size_t done, size_t total)>& progress = {});

// The failures as diagnostics with code lint-example.
std::vector<Diagnostic> ExampleDiagnostics(
    const std::vector<ExampleResult>& results);

}  // namespace gate::engine
