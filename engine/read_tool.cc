#include "engine/read_tool.h"

#include <utility>

#include "base/text.h"
#include "engine/stages.h"

namespace gate::engine {
namespace {

// Whether a rule about secrets, or gate's own files, may be met: then the
// sandbox would have hidden them.
const Match* HiddenSecret(const Decision& decision) {
  for (const Match& match : decision.matches)
    if (!match.observed_only && match.action >= Action::kSandbox &&
        (match.rule.id.starts_with("secrets.") ||
         match.rule.id.starts_with("self.")))
      return &match;
  return nullptr;
}

bool IsShipped(const RuleReference& rule) {
  return rule.id.empty() || rule.layer == "builtin";
}

void TakeRule(const Match& match, Action action, Decision* decision) {
  decision->action = action;
  decision->code = ReasonCode::kRule;
  decision->reason = match.reason;
  decision->suggestion = match.suggestion;
  decision->severity = match.severity;
  decision->rule = match.rule;
}

// Takes a decision that a rule of the person's made back to the shipped rules,
// unless that rule is about what is read.
void LeaveProgramRules(const ReadToolFacts& facts, Decision* decision) {
  if (decision->action <= Action::kSandbox || IsShipped(decision->rule)) return;
  if (facts.by_effects) {
    Decision by_effects = facts.by_effects();
    if (by_effects.action > Action::kSandbox) {
      *decision = std::move(by_effects);
      return;
    }
  }
  std::erase_if(decision->matches,
                [](const Match& match) { return !IsShipped(match.rule); });
  decision->action = Action::kAllow;
  for (const Match& match : decision->matches)
    if (!match.observed_only && match.action > decision->action)
      TakeRule(match, match.action, decision);
}

}  // namespace

void ApplyReadTool(const ReadToolFacts& facts, Decision* decision,
                   Trace* trace) {
  const Decision before = trace != nullptr ? *decision : Decision{};
  LeaveProgramRules(facts, decision);
  if (!facts.in_gates_directory.empty()) {
    decision->action = Action::kDeny;
    decision->code = ReasonCode::kRule;
    decision->reason =
        Visible(facts.in_gates_directory) + " is one of gate's own directories";
    decision->suggestion =
        "`gate rules list` and `gate audit list` show what an agent may see";
    decision->rule = {};
    NoteStage(Stage::kReadTool, before, *decision, trace);
    return;
  }
  if (decision->action == Action::kSandbox) {
    if (const Match* secret = HiddenSecret(*decision)) {
      TakeRule(Match(*secret), Action::kAsk, decision);
      decision->reason = "no sandbox hides secrets from this tool: possibly " +
                         decision->reason;
    } else {
      decision->action = Action::kAllow;
    }
  }
  if (facts.unknown && decision->action < Action::kAsk) {
    decision->action = Action::kAsk;
    decision->code = ReasonCode::kUnknown;
    decision->reason =
        "which files it searches is not known: the glob has "
        "braces that do not close, or too many of them";
    decision->suggestion = "search with one glob at a time";
    decision->rule = {};
  }
  NoteStage(Stage::kReadTool, before, *decision, trace);
}

}  // namespace gate::engine
