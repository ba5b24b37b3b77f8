// What the decision makes of names that an engine was asked about.
#include "gateway/gateway.h"
#include "gateway/programs/engine_names.h"

namespace gate::app {

void Gateway::JudgeEngineNames(const rules::Policy& policy,
                               Judgement* judgement, engine::Trace* trace) {
  if (judgement->decision.action != rules::Action::kAsk) return;
  const EngineNames names = FindEngineNames(
      judgement->analysis,
      judgement->question.is_argv ? "" : judgement->question.command);
  if (names.names.empty() && names.trouble.empty()) return;
  // No engine is disturbed for a line that is asked anyway.
  engine::Request inspected = judgement->request;
  inspected.inspected = true;
  engine::Trace steps;
  engine::Decision decision =
      engine::Evaluate(policy, judgement->analysis, inspected, engine::Trust{},
                       trace == nullptr ? nullptr : &steps);
  if (decision.action >= rules::Action::kAsk) return;
  std::string doubt =
      judgement->question.on_this_machine
          ? EngineDoubt(facts_, names, WritablePlaces(judgement->session),
                        engine_patience_ms_)
          : NotLookedAt(names, "the line is not run here and now");
  if (!doubt.empty()) {
    judgement->decision.reason = std::move(doubt);
    return;
  }
  judgement->request.inspected = true;
  judgement->decision = std::move(decision);
  if (trace != nullptr) *trace = std::move(steps);
}

}  // namespace gate::app
