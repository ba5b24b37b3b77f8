#include "gateway/redeem_ticket.h"

#include <utility>

#include "base/hash.h"
#include "engine/tool_access.h"
#include "gateway/client_record.h"
#include "gateway/plan_json.h"
#include "hooks/ticket.h"

namespace gate::app {
namespace {

using rules::Action;
using Redeemed = RedeemedTicket::Result;

RedeemedTicket No(Redeemed result, std::string said) {
  return {result, std::move(said), {}};
}

// The plan of `ticket` and what the caller asks for besides, joined as without
// a ticket. The yes that the ticket stands for holds.
Authorization JoinTicket(Gateway& gateway, Request request,
                         const router::Plan& ticket, bool asked) {
  const bool contained = ticket.mode == router::Mode::kSandbox;
  request.approved = asked || contained;
  // Contained, as the ticket says, whatever the caller asks for.
  if (contained && request.profile == rules::ProfileKind::kUnsaid)
    request.profile = router::KindOf(ticket.profile);
  router::Settings held = router::Unasked(), asked_for = router::Unasked();
  held.network = ticket.profile.network;
  if (held.network == backends::Network::kDomains)
    held.hosts = ticket.profile.domains.allow;
  asked_for.network = request.network.value_or(backends::Network::kOpen);
  asked_for.hosts = request.hosts;
  const router::Settings joined = router::Join(held, asked_for);
  request.network = joined.network;
  request.hosts = joined.hosts;
  return gateway.Authorize(request, /*pin=*/true);
}

// Whether a line would be allowed raw here as well, or by the yes that was
// `asked`. What its programs are and
// what they obey is a matter of the environment (PATH, HOME, XDG_CONFIG_HOME),
// and the shell of a client has another one than the hook.
bool IsAllowedHere(Gateway& gateway, const Request& request, bool asked) {
  const Authorization here = gateway.Authorize(request, /*pin=*/true);
  if (asked && here.decision.action == Action::kAsk)
    return here.grants.kind == engine::GrantKind::kAsIs;
  return here.decision.action == Action::kAllow &&
         here.plan.mode == router::Mode::kDirect;
}

// A line that is lent credentials gets them where it runs, if it would get them
// here as well: by this environment and these files.
std::optional<Authorization> JudgeToolHere(Gateway& gateway, Request request,
                                           bool asked) {
  request.approved = asked;
  Authorization here = gateway.Authorize(request, /*pin=*/true);
  if (!here.lending || here.plan.mode != router::Mode::kSandbox ||
      router::KindOf(here.plan.profile) != rules::ProfileKind::kTool ||
      (here.decision.action > Action::kSandbox && !asked))
    return std::nullopt;
  return here;
}

// Whether a line that may reach a container engine would still run without a
// request: what its names stand for there can have changed.
bool IsContainedHere(Gateway& gateway, const Request& request) {
  return gateway.Authorize(request, /*pin=*/true).decision.action <=
         Action::kSandbox;
}

}  // namespace

bool IsBoundHere(Gateway& gateway, const Request& request,
                 const std::string& bound,
                 std::set<credentials::SshTarget>* remotes) {
  Authorization here = gateway.Authorize(request, /*pin=*/true);
  if (remotes != nullptr) *remotes = std::move(here.remotes);
  return here.binding.mark == bound;
}

RedeemedTicket RedeemTicket(Gateway& gateway, const RunArguments& arguments,
                            Request* request) {
  auto ticket = hooks::RedeemTicket(gateway.facts().places.state,
                                    arguments.ticket, NowMs());
  if (!ticket && ticket.error().code == ErrorCode::kIo) {
    return No(
        Redeemed::kUnusable,
        "the ticket cannot be used up, so nothing runs (" +
            ticket.error().message +
            "). Most likely this is inside another sandbox, the client's own. "
            "gate's state must be writable here; but a sandbox that may write "
            "it can forge tickets, so let only one of the two contain "
            "(docs/hooks.md, \"The client's own sandbox\")");
  }
  // By this very process: the client has run what gate had put in place.
  if (ticket && ticket->trial)
    (void)NoteApplied(gateway.facts().places.state, ticket->client);
  const bool ticket_only = !request->is_argv && request->command.empty();
  if (!ticket && ticket_only) {
    return No(Redeemed::kRefused,
              "the ticket is not valid (" + ticket.error().message +
                  "), and there is no command beside it; nothing runs");
  }
  if (!ticket) {
    return No(Redeemed::kAfresh, "the ticket is not valid (" +
                                     ticket.error().message +
                                     "); deciding afresh");
  }
  if (ticket_only) request->command = ticket->command;
  auto plan = PlanFromJson(ticket->plan);
  if (!plan || request->is_argv || ticket->command != request->command ||
      plan->mode == router::Mode::kRefused ||
      (!request->agent.empty() && request->agent != ticket->agent) ||
      (!request->session.empty() && request->session != ticket->session)) {
    return No(Redeemed::kAfresh,
              "the ticket is for something else; deciding afresh");
  }
  request->agent = ticket->agent;
  request->session = ticket->session;
  request->hooked = true;
  // A client need not tell a hook where a line will run.
  request->directory = IdOf(request->cwd);
  if (ticket->cwd != request->cwd || ticket->place.empty() ||
      ticket->place != BoundPlace(request->cwd, request->directory)) {
    return No(Redeemed::kAfresh, "judged again in " + request->cwd);
  }
  const rules::Policy& policy = gateway.PolicyFor(plan->profile.workspace);
  if (policy.revision() != ticket->policy_revision) {
    return No(Redeemed::kAfresh,
              "the policy has changed since; deciding afresh");
  }
  Authorization authorization;
  authorization.request = *request;
  const bool joins = arguments.profile != rules::ProfileKind::kUnsaid ||
                     !arguments.backend.empty() || arguments.network ||
                     arguments.timeout_ms != 0;
  if (joins && !ticket->asked &&
      router::KindOf(plan->profile) == rules::ProfileKind::kTool &&
      !IsContainedHere(gateway, *request)) {
    return No(Redeemed::kAfresh, "judged again in this environment");
  }
  std::set<credentials::SshTarget> remotes;
  if (ticket->asked &&
      !IsBoundHere(gateway, *request, ticket->bound, &remotes)) {
    return No(Redeemed::kAfresh,
              "what the yes was given to has changed; deciding afresh");
  }
  if (joins) {
    authorization =
        JoinTicket(gateway, authorization.request, *plan, ticket->asked);
  } else if (plan->mode == router::Mode::kDirect &&
             !IsAllowedHere(gateway, *request, ticket->asked)) {
    return No(Redeemed::kAfresh, "judged again in this environment");
  } else if (router::KindOf(plan->profile) == rules::ProfileKind::kTool) {
    auto here = JudgeToolHere(gateway, *request, ticket->asked);
    if (!here) {
      return No(Redeemed::kAfresh, "judged again in this environment");
    }
    authorization = std::move(*here);
  } else {
    // What a person has approved keeps more of its variables.
    authorization.decision.action =
        ticket->asked ? Action::kAsk : Action::kAllow;
    authorization.policy_revision = ticket->policy_revision;
    authorization.plan = std::move(*plan);
    authorization.session.workspace = authorization.plan.profile.workspace;
  }
  authorization.id = ticket->decision_id;
  authorization.remotes = std::move(remotes);
  return {Redeemed::kRun, "", std::move(authorization)};
}

}  // namespace gate::app
