#include "cli/answers.h"

#include <algorithm>

#include "approvals/pause.h"
#include "approvals/remembered.h"
#include "cli/output/duration.h"
#include "cli/output/render.h"
#include "gateway/line.h"

namespace gate::app {
namespace {

// The rules that ask, or the reason's code when no rule does.
std::vector<std::string> AskingRules(const Judgement& judgement) {
  std::vector<std::string> rules;
  for (const engine::Match& match : judgement.decision.matches)
    if (!match.observed_only && match.action == rules::Action::kAsk)
      rules.push_back(match.rule.id);
  const engine::ReasonCode code = judgement.decision.code;
  if (code != engine::ReasonCode::kRule) {
    rules.push_back(engine::Name(code));
  }
  // Other settings, or the same ones changed, are another question.
  if (!judgement.untrusted.empty())
    rules.push_back("untrusted:" + judgement.untrusted);
  if (!judgement.binding.mark.empty())
    rules.push_back("bound:" + judgement.binding.mark);
  if (!judgement.left_to.empty()) rules.push_back("left:" + judgement.left_to);
  std::sort(rules.begin(), rules.end());
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  return rules;
}

// An approval for once holds for the policy, for the settings of the project,
// for git's remotes and for the files that were there when it was asked.
std::string RevisionToApprove(const Judgement& judgement) {
  std::string revision = judgement.policy_revision;
  if (!judgement.untrusted.empty()) revision += "+" + judgement.untrusted;
  if (!judgement.binding.mark.empty())
    revision += "+bound:" + judgement.binding.mark;
  // A yes to another sandbox than gate's is none to gate's, nor the reverse.
  if (!judgement.left_to.empty()) revision += "+left:" + judgement.left_to;
  return revision;
}

}  // namespace

bool TakeAnswer(const ProcessFacts& facts, Judgement* judgement,
                uint64_t now_ms) {
  using engine::GrantKind;
  const std::string& state = facts.places.state;
  engine::Decision& decision = judgement->decision;
  const Question& question = judgement->question;
  if (decision.action != rules::Action::kAsk ||
      judgement->grants.kind == GrantKind::kByHand)
    return false;
  // No more than was shown, and no more than a yes gives now.
  const auto granted = [judgement](GrantKind kind) {
    judgement->in_sandbox |=
        kind == GrantKind::kSandbox || kind < judgement->grants.kind;
  };
  const std::string place = BoundPlace(question.cwd, question.directory);
  if (const auto once = TakeApproval(state, LineOf(question), place,
                                     RevisionToApprove(*judgement), now_ms)) {
    granted(*once);
    decision.reason += "; a person approved it once";
    return true;
  }
  const auto approval =
      FindRemembered(state,
                     {LineOf(question), place, judgement->session.workspace,
                      question.session, AskingRules(*judgement)},
                     now_ms);
  if (approval) {
    granted(approval->grant);
    decision.reason += "; approved before (" + approval->id + ")";
    return true;
  }
  // A pause says nothing of single lines, so that it lets none out of the
  // sandbox, which is gate's own, nor reach what runs outside.
  if (judgement->grants.kind != GrantKind::kSandbox ||
      !judgement->services.mark.empty() || !judgement->remotes.empty() ||
      !judgement->left_to.empty())
    return false;
  const auto pause = FindPause(state, now_ms);
  if (!pause || (!pause->workspace.empty() &&
                 pause->workspace != judgement->session.workspace))
    return false;
  decision.reason += "; not asked, since a person paused the questions for " +
                     ShowDuration(pause->until_ms - now_ms) + " more";
  return true;
}

PendingQuestion QuestionOf(const Judgement& judgement, uint64_t now_ms) {
  PendingQuestion question;
  question.id = judgement.id;
  question.command = LineOf(judgement.question);
  const Question& asked = judgement.question;
  question.cwd = RealDirectory(asked.cwd, asked.directory);
  if (question.cwd.empty()) question.cwd = asked.cwd;
  question.place = BoundPlace(question.cwd, asked.directory);
  question.policy_revision = RevisionToApprove(judgement);
  question.agent = judgement.question.agent;
  question.reason = judgement.decision.reason;
  question.runs = AfterYes(judgement);
  question.grant = judgement.left_to.empty() ? judgement.grants.kind
                                             : engine::GrantKind::kSandbox;
  question.session = judgement.question.session;
  question.workspace = judgement.session.workspace;
  question.rules = AskingRules(judgement);
  question.asked_ms = now_ms;
  return question;
}

}  // namespace gate::app
