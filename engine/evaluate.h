// Analysis + Policy + Request -> Decision. Pure: no files, no clock, no
// environment, no allocation that outlives the call.
#pragma once

#include <string>
#include <vector>

#include "engine/decision.h"
#include "engine/request.h"
#include "parser/analysis.h"
#include "rules/policy.h"

namespace gate::engine {

// What was tried, for `--explain`. Costs nothing when absent.
struct Trace {
  struct Step {
    uint32_t invocation = UINT32_MAX;
    std::string rule;
    std::string outcome;  // "matched", "possible", "excepted by X", "missed"
    // For a rule that missed: how many of its conditions hold, and which do
    // not.
    Action action = Action::kDeny;
    uint32_t held = 0, parts = 0;
    std::string failed;
  };
  std::vector<Step> steps;
  // What engine/stages.h made of it: each stage that changed the decision, in
  // order, the rules first.
  struct StageStep {
    const char* stage = "";  // Name(Stage)
    Action before = Action::kDeny, after = Action::kDeny;
    ReasonCode code = ReasonCode::kInternalError;
    std::string reason;
  };
  std::vector<StageStep> stages;
};

// What the caller found out about the programs of a line, since looking at
// files is not this folder's to do.
struct ProgramVerification {
  // False when some program of the line does not resolve to a file outside
  // every place a sandbox may write, or git's configuration names programs;
  // `why` then says which.
  bool verified = true;
  std::string why;
};

// The decision for `analysis` under `policy`. Strictest wins over invocations,
// effects, flows and rules, whatever their order. Never throws.
Decision Evaluate(const rules::Policy& policy, const parser::Analysis& analysis,
                  const Request& request, const ProgramVerification& trust,
                  Trace* trace = nullptr);

}  // namespace gate::engine
