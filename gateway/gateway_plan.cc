// What a yes to a decision gives, and where the line then runs.
#include <algorithm>
#include <array>
#include <string_view>

#include "backends/file_count.h"
#include "base/hash.h"
#include "credentials/transport_wire.h"
#include "engine/tool_access.h"
#include "gateway/gateway.h"
#include "gateway/grants/asked_remotes.h"
#include "gateway/grants/shown_places.h"
#include "gateway/grants/signing.h"
#include "gateway/session_network.h"
#include "git/doubts.h"

namespace gate::app {
namespace {

using engine::Decision;
using rules::Action;

// The decision of a question that was answered yes: it runs in no more than
// what the yes gives.
Decision AsGranted(const Judgement& judgement) {
  Decision decision = judgement.decision;
  const bool as_is = judgement.grants.kind == engine::GrantKind::kAsIs &&
                     !judgement.in_sandbox &&
                     judgement.question.preview.empty();
  decision.contain = !as_is;
  if (judgement.in_sandbox && decision.profile != engine::kToolProfile)
    decision.profile =
        router::JoinProfiles(decision.profile, "workspace-write");
  return decision;
}

// Whether a line with the network of this machine has its loopback as well.
bool SharesLoopback(const router::Plan& plan) {
  constexpr auto kShare =
      std::to_array<std::string_view>({"native", "bwrap", "landlock"});
  return plan.profile.network == backends::Network::kOpen &&
         std::ranges::find(kShare, plan.backend) != kShare.end();
}

// Two sets have two marks.
std::string MarkOf(const std::set<credentials::SshTarget>& remotes) {
  std::vector<std::string> parts = {"remotes"};
  for (const credentials::SshTarget& target : remotes)
    parts.insert(parts.end(), {target.user, target.host,
                               std::to_string(target.port), target.path});
  return Hex(Sha256(credentials::EncodeWords(parts)));
}

std::string RemotesText(const std::set<credentials::SshTarget>& remotes) {
  std::string text;
  for (const credentials::SshTarget& target : remotes)
    text += (text.empty() ? "" : ", ") + credentials::Describe(target);
  return text;
}

}  // namespace

bool ForwardsPorts(const router::Plan& plan) {
  return plan.mode == router::Mode::kSandbox && plan.backend == "native" &&
         plan.profile.network != backends::Network::kOpen;
}

void JoinWithPlan(Judgement* judgement) {
  Decision& decision = judgement->decision;
  const router::Plan& plan = judgement->plan;
  if (decision.action > Action::kSandbox) return;
  if (plan.mode == router::Mode::kRefused) {
    decision.action = Action::kDeny;
    decision.reason = judgement->plan_error.empty()
                          ? plan.why
                          : "it cannot be contained: " + judgement->plan_error;
    decision.suggestion = "ask the person to look at gate doctor";
  } else if (plan.mode == router::Mode::kSandbox &&
             decision.action == Action::kAllow) {
    decision.action = Action::kSandbox;
    decision.reason = "the settings contain what would be allowed: " +
                      std::move(decision.reason);
  } else {
    return;
  }
  decision.contain = true;
  decision.code = engine::ReasonCode::kPlan;
  decision.rule = {};
}

void Gateway::JudgeServices(Judgement* judgement) {
  const Question& question = judgement->question;
  Decision& decision = judgement->decision;
  const router::Plan& plan = judgement->plan;
  const bool asks = decision.action == Action::kAsk;
  if (!question.on_this_machine || question.inside_run ||
      !question.preview.empty() ||
      !(asks || (decision.action == Action::kSandbox &&
                 (ForwardsPorts(plan) || SharesLoopback(plan)))))
    return;
  LocalServices found =
      FindLocalServices(facts_, judgement->analysis, settings().local_services,
                        judgement->session.workspace, plan.profile.private_tmp,
                        WritablePlaces(judgement->session));
  const bool none =
      settings().local_services.mode == LocalServicesSetting::Mode::kNone;
  const bool nobody = settings().preset == engine::Preset::kAutonomous;
  if ((none && ForwardsPorts(plan)) || found.ports.empty()) return;
  if (nobody) {
    // What would be asked is not there.
    std::erase_if(found.ports, &backends::LocalService::asked);
    if (!found.why.empty() && !asks) decision.network = "none";
    found.why.clear();
    found.mark.clear();
  }
  judgement->services = std::move(found);
  const std::string& why = judgement->services.why;
  if (!why.empty() && asks) {
    decision.reason += "; and " + why;
  } else if (!why.empty()) {
    decision.action = Action::kAsk;
    decision.contain = true;
    decision.code = engine::ReasonCode::kNotAsItSeems;
    decision.reason = why;
    decision.suggestion =
        "start a server of the line's own, in the same line, and ask that";
    decision.rule = {};
    JudgeYes(judgement);
  }
  // A yes is to those who listen now.
  if (!why.empty())
    judgement->binding.mark += " services " + judgement->services.mark;
  Replan(judgement, question.approved);
}

void Gateway::JudgeRemotes(Judgement* judgement) {
  Decision& decision = judgement->decision;
  // Nothing is lent to a line without an open network, and a line that is asked
  // about for another reason says what it gives.
  if (decision.action != Action::kSandbox || decision.network != "open" ||
      decision.profile == engine::kToolProfile)
    return;
  std::set<credentials::SshTarget> remotes =
      UnpinnedRemotes(facts_, judgement->session.workspace,
                      WritablePlaces(judgement->session), judgement->analysis);
  if (remotes.empty() ||
      std::ranges::none_of(candidates(), [](const router::Candidate& each) {
        return each.availability.features.Has(backends::Feature::kLending);
      }))
    return;
  judgement->remotes = std::move(remotes);
  decision.action = Action::kAsk;
  decision.yes = engine::YesNeeds::kSandbox;
  decision.code = engine::ReasonCode::kNotAsItSeems;
  decision.rule = {};
  decision.reason = "git would use your ssh login for " +
                    RemotesText(judgement->remotes) +
                    ", which this repository did not have when gate first saw "
                    "it";
  decision.suggestion =
      "use a remote that the repository had, or its https URL; a person may "
      "add one for good: gate trust --remote URL";
}

void Gateway::JudgeYes(Judgement* judgement) {
  const Question& question = judgement->question;
  if (judgement->decision.action != Action::kAsk) return;
  if (!question.file_writes.empty()) {
    judgement->grants = {engine::GrantKind::kAsIs, "", ""};
    return;
  }
  engine::GrantFacts facts;
  if (engine::NeedsGrantFacts(judgement->decision)) {
    facts.names = CheckNames(
        facts_, judgement->analysis, WritablePlaces(judgement->session),
        question.on_this_machine ? nullptr : &looks_,
        judgement->decision.yes == engine::YesNeeds::kPlaces
            ? StandIns::kSettled
            : StandIns::kDoubted);
    facts.hooks = HookDoubt(judgement->analysis, judgement->decision);
  }
  engine::Grants& grants = judgement->grants;
  grants = engine::JudgeGrants(judgement->analysis, judgement->decision, facts);
  if (grants.kind == engine::GrantKind::kPlaces) {
    OpenedPlaces& opened = judgement->opened;
    opened =
        FindOpened(facts_, judgement->decision, judgement->session.workspace);
    if (!opened.why.empty()) {
      grants = {engine::GrantKind::kByHand, opened.why, ""};
      return;
    }
    judgement->binding = BindPlaces(opened.places, facts_.home, opened.obeyed);
    return;
  }
  if (!judgement->remotes.empty() &&
      grants.kind == engine::GrantKind::kSandbox) {
    const std::string text = RemotesText(judgement->remotes);
    judgement->binding.text =
        "; with your ssh login for " + text + ", for this run";
    judgement->binding.mark = MarkOf(judgement->remotes);
    return;
  }
  // A sandbox without credentials does no more with another file.
  if (grants.kind == engine::GrantKind::kByHand ||
      (grants.kind == engine::GrantKind::kSandbox &&
       judgement->decision.profile != engine::kToolProfile))
    return;
  judgement->binding = BindYes(judgement->analysis, judgement->decision,
                               WritablePlaces(judgement->session));
  if (!judgement->binding.doubt.empty())
    grants = {engine::GrantKind::kByHand, judgement->binding.doubt, ""};
}

void Gateway::Replan(Judgement* judgement, bool approved) {
  const uint64_t start = MonotonicUs();
  judgement->plan = router::Plan{};
  judgement->plan_error.clear();
  const Question& question = judgement->question;
  const bool answered = approved && judgement->decision.action == Action::kAsk;
  if (answered && judgement->grants.kind == engine::GrantKind::kByHand) {
    judgement->plan.why = "no yes lets it run: " + judgement->grants.why;
    judgement->timing.plan_us += MonotonicUs() - start;
    return;
  }
  const Decision yes = answered ? AsGranted(*judgement) : Decision{};
  const Decision& decision = answered ? yes : judgement->decision;
  router::Settings asked = router::Unasked();
  asked.profile = question.profile;
  asked.backend = question.backend;
  asked.network = backends::ParseNetwork(question.network)
                      .value_or(backends::Network::kOpen);
  asked.limits.wall_ms = question.timeout_ms;
  router::Settings wanted = router::Join(settings().router, asked);
  const auto agent = settings().agents.find(question.agent);
  if (agent != settings().agents.end())
    wanted = router::Join(agent->second, wanted);
  router::Programs programs;
  for (const parser::Invocation& invocation : judgement->analysis.invocations)
    programs.names.push_back(invocation.program);
  programs.complete = !judgement->analysis.hides_commands;
  // What a name computed at run time stands for is known when it starts.
  wanted.watch_execs |= judgement->analysis.hides_commands;
  const bool needs_backend = decision.contain || !wanted.profile.empty() ||
                             !wanted.backend.empty() ||
                             !wanted.always_sandbox.empty();
  static const std::vector<router::Candidate> kNoCandidates;
  router::ProfileInputs inputs;
  if (needs_backend)
    inputs = MakeProfileInputs(judgement->session, question.on_this_machine);
  inputs.lending = judgement->lending;
  if (answered && judgement->grants.kind == engine::GrantKind::kPlaces &&
      !judgement->in_sandbox && question.preview.empty()) {
    inputs.opened = judgement->opened.places;
    inputs.made = judgement->opened.made;
    inputs.opened_variables = judgement->opened.variables;
  }
  auto plan = router::MakePlan(decision, approved,
                               needs_backend ? candidates() : kNoCandidates,
                               wanted, inputs, programs);
  if (plan) {
    judgement->plan = std::move(*plan);
    if (judgement->plan.mode == router::Mode::kSandbox) {
      judgement->plan.profile.git_line = judgement->git_line;
      judgement->plan.profile.show =
          PlacesToShow(judgement->analysis, judgement->session.workspace);
      backends::NameUncounted(judgement->plan.profile, &judgement->plan.lost);
      const bool yes_to_all =
          answered && judgement->grants.kind == engine::GrantKind::kSandbox;
      if (ForwardsPorts(judgement->plan))
        for (const backends::LocalService& service : judgement->services.ports)
          if (!service.asked || yes_to_all)
            judgement->plan.profile.services.push_back(service);
      judgement->signing = FindSigning(*this, *judgement, judgement->analysis);
      judgement->plan.profile.session = SessionNetworkOf(facts_, *judgement);
    }
  } else {
    judgement->plan.why = plan.error().message;
    judgement->plan_error = plan.error().message;
    judgement->plan_unavailable = plan.error().code == ErrorCode::kUnavailable;
  }
  judgement->timing.plan_us += MonotonicUs() - start;
}

}  // namespace gate::app
