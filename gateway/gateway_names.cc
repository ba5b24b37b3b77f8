// What the decision makes of names that an engine was asked about.
#include "gateway/gateway.h"
#include "gateway/programs/engine_names.h"

namespace gate::app {

void Gateway::JudgeEngineNames(const rules::Policy& policy,
                               Authorization* authorization,
                               engine::Trace* trace) {
  if (authorization->decision.action != rules::Action::kAsk) return;
  const EngineNames names = FindEngineNames(
      authorization->analysis,
      authorization->request.is_argv ? "" : authorization->request.command);
  if (names.names.empty() && names.trouble.empty()) return;
  // No engine is disturbed for a line that is asked anyway.
  engine::Request inspected = authorization->engine_request;
  inspected.inspected = true;
  engine::Trace steps;
  engine::Decision decision = engine::Evaluate(
      policy, authorization->analysis, inspected, engine::ProgramVerification{},
      trace == nullptr ? nullptr : &steps);
  if (decision.action >= rules::Action::kAsk) return;
  std::string doubt =
      authorization->request.on_this_machine
          ? EngineDoubt(facts_, names, WritablePlaces(authorization->session),
                        engine_patience_ms_)
          : NotLookedAt(names, "the line is not run here and now");
  if (!doubt.empty()) {
    authorization->decision.reason = std::move(doubt);
    return;
  }
  authorization->engine_request.inspected = true;
  authorization->decision = std::move(decision);
  if (trace != nullptr) *trace = std::move(steps);
}

}  // namespace gate::app
