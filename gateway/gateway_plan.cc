// What a yes to a decision gives, and where the line then runs.
#include <algorithm>
#include <array>
#include <string_view>

#include "backends/file_count.h"
#include "base/hash.h"
#include "credentials/transport_wire.h"
#include "engine/stages.h"
#include "engine/tool_access.h"
#include "gateway/gateway.h"
#include "gateway/grants/host_tmp_binds.h"
#include "gateway/grants/signing.h"
#include "gateway/session_network.h"
#include "gateway/stage_facts.h"
#include "git/doubts.h"

namespace gate::app {
namespace {

using engine::Decision;
using rules::Action;

// The decision of a question that was answered yes: it runs in no more than
// what the yes gives.
Decision AsGranted(const Authorization& authorization) {
  Decision decision = authorization.decision;
  const bool as_is = authorization.grants.kind == engine::GrantKind::kAsIs &&
                     !authorization.in_sandbox &&
                     authorization.request.preview.empty();
  decision.contain = !as_is;
  if (authorization.in_sandbox && decision.profile != rules::ProfileKind::kTool)
    decision.profile = router::JoinProfiles(
        decision.profile, rules::ProfileKind::kWorkspaceWrite);
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

}  // namespace

bool ForwardsPorts(const router::Plan& plan) {
  return plan.mode == router::Mode::kSandbox && plan.backend == "native" &&
         plan.profile.network != backends::Network::kOpen;
}

void JoinWithPlan(Authorization* authorization, engine::Trace* trace) {
  const router::Plan& plan = authorization->plan;
  std::string why;
  engine::Planned planned = engine::Planned::kRaw;
  if (plan.mode == router::Mode::kRefused) {
    planned = engine::Planned::kRefused;
    why = authorization->plan_error.empty()
              ? plan.why
              : "cannot be contained: " + authorization->plan_error;
  } else if (plan.mode == router::Mode::kSandbox) {
    planned = engine::Planned::kContained;
  }
  engine::ApplyPlan(planned, why, &authorization->decision, trace);
}

void Gateway::JudgeServices(Authorization* authorization,
                            engine::Trace* trace) {
  const Request& request = authorization->request;
  Decision& decision = authorization->decision;
  const router::Plan& plan = authorization->plan;
  const bool asks = decision.action == Action::kAsk;
  if (!request.on_this_machine || request.inside_run ||
      !request.preview.empty() ||
      !(asks || (decision.action == Action::kSandbox &&
                 (ForwardsPorts(plan) || SharesLoopback(plan)))))
    return;
  LocalServices found = FindLocalServices(
      facts_, authorization->analysis, settings().local_services,
      authorization->session.workspace, plan.profile.private_tmp,
      WritablePlaces(authorization->session));
  const bool none =
      settings().local_services.mode == LocalServicesSetting::Mode::kNone;
  if ((none && ForwardsPorts(plan)) || found.ports.empty()) return;
  const engine::Preset preset =
      settings().preset.value_or(engine::Preset::kStandard);
  const bool made_question =
      engine::ApplyLocalServices(found.why, preset, &decision, trace);
  if (preset == engine::Preset::kAutonomous) {
    // What would be asked is not there.
    std::erase_if(found.ports, &backends::LocalService::asked);
    found.why.clear();
    found.mark.clear();
  }
  authorization->services = std::move(found);
  if (made_question) JudgeYes(authorization);
  // A yes is to those who listen now.
  if (!authorization->services.why.empty())
    authorization->binding.mark += " services " + authorization->services.mark;
  Replan(authorization, request.approved);
}

void Gateway::JudgeYes(Authorization* authorization) {
  const Request& request = authorization->request;
  if (authorization->decision.action != Action::kAsk) return;
  if (!request.file_writes.empty()) {
    authorization->grants = {engine::GrantKind::kAsIs, "", ""};
    return;
  }
  engine::GrantFacts facts;
  if (engine::NeedsGrantFacts(authorization->decision)) {
    facts.names = VerifyPrograms(
        facts_, authorization->analysis, WritablePlaces(authorization->session),
        request.on_this_machine ? nullptr : &verification_cache_,
        authorization->decision.yes == engine::YesNeeds::kPlaces
            ? Shims::kSettled
            : Shims::kDoubted);
    facts.hooks = HookDoubt(authorization->analysis, authorization->decision);
  }
  engine::Grants& grants = authorization->grants;
  grants = engine::JudgeGrants(authorization->analysis, authorization->decision,
                               facts);
  if (grants.kind == engine::GrantKind::kPlaces) {
    OpenedPlaces& opened = authorization->opened;
    opened = FindOpened(facts_, authorization->decision,
                        authorization->session.workspace);
    if (!opened.why.empty()) {
      grants = {engine::GrantKind::kByHand, opened.why, ""};
      return;
    }
    authorization->binding =
        BindPlaces(opened.places, facts_.home, opened.auto_executed);
    return;
  }
  if (!authorization->remotes.empty() &&
      grants.kind == engine::GrantKind::kSandbox) {
    const std::string text = RemotesText(authorization->remotes);
    authorization->binding.text =
        "; with your ssh login for " + text + ", for this run";
    authorization->binding.mark = MarkOf(authorization->remotes);
    return;
  }
  // A sandbox without credentials does no more with another file.
  if (grants.kind == engine::GrantKind::kByHand ||
      (grants.kind == engine::GrantKind::kSandbox &&
       authorization->decision.profile != rules::ProfileKind::kTool))
    return;
  authorization->binding =
      BindYes(authorization->analysis, authorization->decision,
              WritablePlaces(authorization->session));
  if (!authorization->binding.doubt.empty())
    grants = {engine::GrantKind::kByHand, authorization->binding.doubt, ""};
}

void Gateway::Replan(Authorization* authorization, bool approved) {
  const uint64_t start = MonotonicUs();
  authorization->plan = router::Plan{};
  authorization->plan_error.clear();
  const Request& request = authorization->request;
  const bool answered =
      approved && authorization->decision.action == Action::kAsk;
  if (answered && authorization->grants.kind == engine::GrantKind::kByHand) {
    authorization->plan.why =
        "not run by gate even after a yes: " + authorization->grants.why;
    authorization->timing.plan_us += MonotonicUs() - start;
    return;
  }
  const Decision yes = answered ? AsGranted(*authorization) : Decision{};
  const Decision& decision = answered ? yes : authorization->decision;
  router::Settings asked = router::Unasked();
  asked.profile = request.profile;
  asked.backend = request.backend;
  asked.network = request.network.value_or(backends::Network::kOpen);
  asked.hosts = request.hosts;
  asked.limits.wall_ms = request.timeout_ms;
  router::Settings wanted = router::Join(settings().router, asked);
  const auto agent = settings().agents.find(request.agent);
  if (agent != settings().agents.end())
    wanted = router::Join(agent->second, wanted);
  router::Programs programs;
  for (const parser::Invocation& invocation :
       authorization->analysis.invocations)
    programs.names.push_back(invocation.program);
  programs.complete = !authorization->analysis.hides_commands;
  // What a name computed at run time stands for is known when it starts.
  wanted.watch_execs |= authorization->analysis.hides_commands;
  const bool needs_backend =
      decision.contain || wanted.profile != rules::ProfileKind::kUnsaid ||
      !wanted.backend.empty() || !wanted.always_sandbox.empty();
  static const std::vector<router::Candidate> kNoCandidates;
  router::ProfileInputs inputs;
  if (needs_backend)
    inputs = MakeProfileInputs(authorization->session, request.on_this_machine);
  inputs.lending = authorization->lending;
  if (answered && authorization->grants.kind == engine::GrantKind::kPlaces &&
      !authorization->in_sandbox && request.preview.empty()) {
    inputs.opened = authorization->opened.places;
    inputs.made = authorization->opened.made;
    inputs.opened_variables = authorization->opened.variables;
  }
  auto plan = router::MakePlan(decision, approved,
                               needs_backend ? candidates() : kNoCandidates,
                               wanted, inputs, programs);
  if (plan) {
    authorization->plan = std::move(*plan);
    if (authorization->plan.mode == router::Mode::kSandbox) {
      authorization->plan.profile.git_only = authorization->git_only;
      authorization->plan.profile.host_tmp_binds = HostTmpBinds(
          authorization->analysis, authorization->session.workspace);
      backends::NameUncounted(authorization->plan.profile,
                              &authorization->plan.lost);
      const bool yes_to_all =
          answered && authorization->grants.kind == engine::GrantKind::kSandbox;
      if (ForwardsPorts(authorization->plan))
        for (const backends::LocalService& service :
             authorization->services.ports)
          if (!service.asked || yes_to_all)
            authorization->plan.profile.services.push_back(service);
      authorization->signing =
          FindSigning(*this, *authorization, authorization->analysis);
      authorization->plan.profile.session =
          SessionNetworkOf(facts_, *authorization);
    }
  } else {
    authorization->plan.why = plan.error().message;
    authorization->plan_error = plan.error().message;
    authorization->plan_unavailable =
        plan.error().code == ErrorCode::kUnavailable;
  }
  authorization->timing.plan_us += MonotonicUs() - start;
}

}  // namespace gate::app
