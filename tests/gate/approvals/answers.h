// The question that a line asked, and a person's yes to it.
#pragma once

#include <string>

#include "approvals/approvals.h"
#include "approvals/standing_approvals.h"
#include "facts/process_facts.h"
#include "tests/support/machine.h"

namespace gate::app {

// The one question that waits; empty where there is none, or another beside it.
inline PendingQuestion WaitingQuestion(const test::Machine& machine) {
  const auto waiting = ListQuestions(machine.state(), NowMs());
  if (!waiting || waiting->size() != 1) return {};
  return waiting->front();
}

// A yes to `question` for an hour, without a grant.
inline StandingApproval YesForAnHour(const PendingQuestion& question) {
  StandingApproval yes;
  yes.id = question.id;
  yes.scope = "time";
  yes.command = question.command;
  yes.cwd = question.cwd;
  yes.place = question.place;
  yes.workspace = question.workspace;
  yes.rules = question.rules;
  yes.approved_ms = NowMs();
  yes.expires_ms = yes.approved_ms + 3600 * 1000;
  return yes;
}

}  // namespace gate::app
