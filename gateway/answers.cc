#include "gateway/answers.h"

#include <algorithm>

#include "approvals/pause.h"
#include "approvals/standing_approvals.h"
#include "base/duration.h"
#include "gateway/answer_texts.h"
#include "gateway/line.h"

namespace gate::app {
namespace {

// The rules that ask, or the reason's code when no rule does.
std::vector<std::string> AskingRules(const Authorization& authorization) {
  std::vector<std::string> rules;
  for (const engine::Match& match : authorization.decision.matches)
    if (!match.observed_only && match.action == rules::Action::kAsk)
      rules.push_back(match.rule.id);
  const engine::ReasonCode code = authorization.decision.code;
  if (code != engine::ReasonCode::kRule) {
    rules.push_back(engine::Name(code));
  }
  // Other settings, or the same ones changed, are another question.
  if (!authorization.untrusted.empty())
    rules.push_back("untrusted:" + authorization.untrusted);
  if (!authorization.binding.mark.empty())
    rules.push_back("bound:" + authorization.binding.mark);
  if (!authorization.left_to.empty())
    rules.push_back("left:" + authorization.left_to);
  std::sort(rules.begin(), rules.end());
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  return rules;
}

// An approval for once holds for the policy, for the settings of the project,
// for git's remotes and for the files that were there when it was asked.
std::string RevisionToApprove(const Authorization& authorization) {
  std::string revision = authorization.policy_revision;
  if (!authorization.untrusted.empty())
    revision += "+" + authorization.untrusted;
  if (!authorization.binding.mark.empty())
    revision += "+bound:" + authorization.binding.mark;
  // A yes to another sandbox than gate's is none to gate's, nor the reverse.
  if (!authorization.left_to.empty())
    revision += "+left:" + authorization.left_to;
  return revision;
}

}  // namespace

bool ApplyApproval(const ProcessFacts& facts, Authorization* authorization,
                   uint64_t now_ms) {
  using engine::GrantKind;
  const std::string& state = facts.places.state;
  engine::Decision& decision = authorization->decision;
  const Request& request = authorization->request;
  if (decision.action != rules::Action::kAsk ||
      authorization->grants.kind == GrantKind::kByHand)
    return false;
  // No more than was shown, and no more than a yes gives now.
  const auto granted = [authorization](GrantKind kind) {
    authorization->in_sandbox |=
        kind == GrantKind::kSandbox || kind < authorization->grants.kind;
  };
  const std::string place = BoundPlace(request.cwd, request.directory);
  if (const auto once =
          TakeApproval(state, LineOf(request), place,
                       RevisionToApprove(*authorization), now_ms)) {
    granted(*once);
    decision.reason += "; a person approved it once";
    return true;
  }
  const auto approval = FindStandingApproval(
      state,
      {LineOf(request), place, authorization->session.workspace,
       request.session, AskingRules(*authorization)},
      now_ms);
  if (approval) {
    granted(approval->grant);
    decision.reason += "; approved before (" + approval->id + ")";
    return true;
  }
  // A pause says nothing of single lines, so that it lets none out of the
  // sandbox, which is gate's own, nor reach what runs outside.
  if (authorization->grants.kind != GrantKind::kSandbox ||
      !authorization->services.mark.empty() ||
      !authorization->remotes.empty() || !authorization->left_to.empty())
    return false;
  const auto pause = FindPause(state, now_ms);
  if (!pause || (!pause->workspace.empty() &&
                 pause->workspace != authorization->session.workspace))
    return false;
  decision.reason += "; not asked, since a person paused the questions for " +
                     ShowDuration(pause->until_ms - now_ms) + " more";
  return true;
}

PendingQuestion QuestionOf(const Authorization& authorization,
                           uint64_t now_ms) {
  PendingQuestion question;
  question.id = authorization.id;
  question.command = LineOf(authorization.request);
  const Request& asked = authorization.request;
  question.cwd = RealDirectory(asked.cwd, asked.directory);
  if (question.cwd.empty()) question.cwd = asked.cwd;
  question.place = BoundPlace(question.cwd, asked.directory);
  question.policy_revision = RevisionToApprove(authorization);
  question.agent = authorization.request.agent;
  question.reason = authorization.decision.reason;
  question.runs = AfterYes(authorization);
  question.grant = authorization.left_to.empty() ? authorization.grants.kind
                                                 : engine::GrantKind::kSandbox;
  question.session = authorization.request.session;
  question.workspace = authorization.session.workspace;
  question.rules = AskingRules(authorization);
  question.asked_ms = now_ms;
  return question;
}

}  // namespace gate::app
