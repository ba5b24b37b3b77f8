// gate run, gate sandbox.
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "approvals/prompt_text.h"
#include "approvals/terminal.h"
#include "base/hash.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/output/decision_json.h"
#include "cli/output/render.h"
#include "cli/output/report.h"
#include "cli/preview_run.h"
#include "engine/tool_access.h"
#include "gateway/answers.h"
#include "gateway/client_record.h"
#include "gateway/execute.h"
#include "gateway/gateway.h"
#include "gateway/line.h"
#include "gateway/plan_json.h"
#include "gateway/run_arguments.h"
#include "gateway/settings.h"
#include "hooks/person.h"
#include "hooks/ticket.h"

namespace gate::app {
namespace {

// The exit code of gate::app::Become, which returned.
int Became(const Status& failed) {
  Complain(failed.error().message);
  return kExitGateFailed;
}

using rules::Action;

constexpr const char* kRunHelp =
    "usage: gate run [OPTIONS] (COMMAND | -c COMMAND | -- ARGV…)\n\n"
    "Decides on the command, records the decision, runs the command as "
    "decided\n"
    "and passes its exit code on. gate's own: 124 timeout, 125 gate failed,\n"
    "126 refused, 127 not found. On a person's terminal an `ask` is asked.\n\n"
    "  --profile NAME        read-only, workspace-write or full-access\n"
    "  --backend NAME        where it is contained (gate backends)\n"
    "  --network NAME        none, loopback or open\n"
    "  --timeout SECONDS     end it after so long\n"
    "  --preview[=auto]      run on a copy of the workspace and list what\n"
    "                        changed: you commit all, some or nothing of it;\n"
    "                        without a person's terminal it is kept for a day\n"
    "                        (gate pending). auto: commit what the policy\n"
    "                        would have let run anyway\n"
    "  --json                the decision and how it ended on stderr, an "
    "object\n"
    "                        a line\n"
    "  --cwd DIR             the directory it runs in\n"
    "  --agent NAME          the agent that asks\n"
    "  --session ID          the agent's session\n"
    "  --ticket T            what a hook decided (from the hook's rewrite)\n"
    "  -h, --help            show this help\n";
constexpr const char* kSandboxHelp =
    "usage: gate sandbox [OPTIONS] (COMMAND | -c COMMAND | -- ARGV…)\n\n"
    "Runs the command contained, without asking the policy.\n\n"
    "  --profile NAME        read-only, workspace-write (default) or "
    "full-access;\n"
    "                        tool, which lends credentials, is for the policy\n"
    "                        to give\n"
    "  --backend NAME        where it is contained (gate backends)\n"
    "  --network NAME        none (default) or loopback: the run's own "
    "loopback\n"
    "                        alone, or that of its session\n"
    "  --timeout SECONDS     end it after so long\n"
    "  --session ID          share the loopback with other lines of this ID\n"
    "  -h, --help            show this help\n";

constexpr const char* kNotRecorded =
    "the decision could not be recorded, so nothing runs: ";

Request ToRequest(const RunArguments& arguments, const ProcessFacts& facts) {
  Request question;
  question.command = arguments.command;
  question.argv = arguments.argv;
  question.is_argv = arguments.is_argv;
  question.cwd = DirectoryFor(facts, arguments.cwd);
  question.agent = arguments.agent;
  question.session = arguments.session;
  question.profile = arguments.profile;
  question.backend = arguments.backend;
  question.network = arguments.network;
  question.preview = arguments.preview;
  question.timeout_ms = arguments.timeout_ms;
  return question;
}

// A directory that was asked for and is none is an error of the usage, found
// before anything is decided or recorded.
bool IsDirectory(const RunArguments& arguments, const ProcessFacts& facts) {
  const Status found = CheckDirectory(facts, arguments.cwd);
  if (!found) Complain("did not start: " + found.error().message);
  return found.has_value();
}

// A backend that is not called so on any machine is one, too.
bool IsBackend(const RunArguments& arguments, Gateway& gateway) {
  if (arguments.backend.empty() ||
      gateway.FindBackend(arguments.backend) != nullptr)
    return true;
  Complain("no backend is called `" + Visible(arguments.backend) +
           "`; `gate backends` lists them");
  return false;
}

int Refuse(const Authorization& authorization, bool json) {
  std::fprintf(stderr, "%s\n", RefusalText(authorization).c_str());
  if (json) std::fprintf(stderr, "%s\n", DecisionToJson(authorization).c_str());
  return authorization.policy_broken ? kExitPolicy : kExitRefused;
}

int Fail(const std::string& message) {
  Complain(message);
  return kExitGateFailed;
}

std::string WhyNoPlan(const Authorization& authorization) {
  return authorization.plan_error.empty() ? "there is no sandbox for this"
                                          : authorization.plan_error;
}

// For a decision that let something run: that nothing was started. `code` is
// gate's own already.
int TellNotStarted(Gateway& gateway, const Authorization& authorization,
                   const std::string& parent, const std::string& mode,
                   const std::string& why, int code) {
  const Status stored =
      RecordNotStarted(gateway, authorization, parent, mode, why);
  if (stored) return code;
  return Fail("the outcome could not be recorded: " + stored.error().message);
}

int Preview(Gateway& gateway, Authorization* authorization,
            const std::string& parent, const PreviewOptions& options) {
  const int code = RunPreview(gateway, authorization, parent, options);
  // Set before the outcome of a preview that was run is recorded.
  if (!authorization->preview.empty()) return code;
  return TellNotStarted(gateway, *authorization, parent, "run",
                        "the preview could not be made", code);
}

// A shell ends its loop at Ctrl-C only if what it waited for died of it, too.
// Whoever is process 1 of a namespace does not die so, and exits with `code`.
int EndAs(const backends::Outcome& outcome, int code) {
  if (outcome.status == backends::OutcomeStatus::kSignalled &&
      outcome.signal == SIGINT && code == 128 + SIGINT &&
      ::isatty(STDIN_FILENO) == 1) {
    std::fflush(nullptr);
    ::signal(SIGINT, SIG_DFL);
    ::raise(SIGINT);
  }
  return code;
}

// The plan of `ticket` and what the caller asks for besides, joined as without
// a ticket. The yes that the ticket stands for holds.
Authorization JoinTicket(Gateway& gateway, Request question,
                         const router::Plan& ticket, bool asked) {
  const bool contained = ticket.mode == router::Mode::kSandbox;
  question.approved = asked || contained;
  // Contained, as the ticket says, whatever the caller asks for.
  if (contained && question.profile.empty())
    question.profile = ticket.profile.name;
  question.network = backends::Name(router::JoinNetworks(
      ticket.profile.network, backends::ParseNetwork(question.network)
                                  .value_or(backends::Network::kOpen)));
  return gateway.Authorize(question, /*pin=*/true);
}

// Whether a line would be allowed raw here as well, or by the yes that was
// `asked`. What its programs are and
// what they obey is a matter of the environment (PATH, HOME, XDG_CONFIG_HOME),
// and the shell of a client has another one than the hook.
bool IsAllowedHere(Gateway& gateway, const Request& question, bool asked) {
  const Authorization here = gateway.Authorize(question, /*pin=*/true);
  if (asked && here.decision.action == Action::kAsk)
    return here.grants.kind == engine::GrantKind::kAsIs;
  return here.decision.action == Action::kAllow &&
         here.plan.mode == router::Mode::kDirect;
}

// A line that is lent credentials gets them where it runs, if it would get them
// here as well: by this environment and these files.
std::optional<Authorization> JudgeToolHere(Gateway& gateway, Request question,
                                           bool asked) {
  question.approved = asked;
  Authorization here = gateway.Authorize(question, /*pin=*/true);
  if (!here.lending || here.plan.mode != router::Mode::kSandbox ||
      here.plan.profile.name != engine::kToolProfile ||
      (here.decision.action > Action::kSandbox && !asked))
    return std::nullopt;
  return here;
}

// Whether a line that may reach a container engine would still run without a
// question: what its names stand for there can have changed.
bool IsContainedHere(Gateway& gateway, const Request& question) {
  return gateway.Authorize(question, /*pin=*/true).decision.action <=
         Action::kSandbox;
}

// Whether a yes to `question` would hold here for what it was given to;
// `*remotes` are then those that it lends the ssh login for.
bool IsBoundHere(Gateway& gateway, const Request& question,
                 const std::string& bound,
                 std::set<credentials::SshTarget>* remotes = nullptr) {
  Authorization here = gateway.Authorize(question, /*pin=*/true);
  if (remotes != nullptr) *remotes = std::move(here.remotes);
  return here.binding.mark == bound;
}

// A ticket is enforced exactly as the hook planned it, or as the caller makes
// that stricter. Nothing when it does not hold for this command, directory,
// agent and policy, or lets run raw, without a person's yes, what would not be
// let run so in this environment: then it is judged afresh, for the agent and
// the session of the ticket where only directory or environment are others.
std::optional<int> RunTicket(Gateway& gateway, const RunArguments& arguments,
                             Request* asked) {
  Request& question = *asked;
  auto ticket = hooks::RedeemTicket(gateway.facts().places.state,
                                    arguments.ticket, NowMs());
  if (!ticket && ticket.error().code == ErrorCode::kIo) {
    Complain("the ticket cannot be used up, so nothing runs (" +
             ticket.error().message +
             "). Most likely this is inside another sandbox, the client's own. "
             "gate's state must be writable here; but a sandbox that may write "
             "it can forge tickets, so let only one of the two contain "
             "(docs/hooks.md, \"The client's own sandbox\")");
    return kExitGateFailed;
  }
  // By this very process: the client has run what gate had put in place.
  if (ticket && ticket->trial)
    (void)NoteApplied(gateway.facts().places.state, ticket->client);
  const bool ticket_only = !question.is_argv && question.command.empty();
  if (!ticket && ticket_only) {
    Complain("the ticket is not valid (" + ticket.error().message +
             "), and there is no command beside it; nothing runs");
    return kExitRefused;
  }
  if (!ticket) {
    Complain("the ticket is not valid (" + ticket.error().message +
             "); deciding afresh");
    return std::nullopt;
  }
  if (ticket_only) question.command = ticket->command;
  auto plan = PlanFromJson(ticket->plan);
  if (!plan || question.is_argv || ticket->command != question.command ||
      plan->mode == router::Mode::kRefused ||
      (!question.agent.empty() && question.agent != ticket->agent) ||
      (!question.session.empty() && question.session != ticket->session)) {
    Complain("the ticket is for something else; deciding afresh");
    return std::nullopt;
  }
  question.agent = ticket->agent;
  question.session = ticket->session;
  question.hooked = true;
  // A client need not tell a hook where a line will run.
  question.directory = IdOf(question.cwd);
  if (ticket->cwd != question.cwd || ticket->place.empty() ||
      ticket->place != BoundPlace(question.cwd, question.directory)) {
    Complain("judged again in " + question.cwd);
    return std::nullopt;
  }
  const rules::Policy& policy = gateway.PolicyFor(plan->profile.workspace);
  if (policy.revision() != ticket->policy_revision) {
    Complain("the policy has changed since; deciding afresh");
    return std::nullopt;
  }
  Authorization authorization;
  authorization.request = question;
  const bool joins = !arguments.profile.empty() || !arguments.backend.empty() ||
                     !arguments.network.empty() || arguments.timeout_ms != 0;
  if (joins && !ticket->asked && plan->profile.name == engine::kToolProfile &&
      !IsContainedHere(gateway, question)) {
    Complain("judged again in this environment");
    return std::nullopt;
  }
  std::set<credentials::SshTarget> remotes;
  if (ticket->asked &&
      !IsBoundHere(gateway, question, ticket->bound, &remotes)) {
    Complain("what the yes was given to has changed; deciding afresh");
    return std::nullopt;
  }
  if (joins) {
    authorization =
        JoinTicket(gateway, authorization.request, *plan, ticket->asked);
  } else if (plan->mode == router::Mode::kDirect &&
             !IsAllowedHere(gateway, question, ticket->asked)) {
    Complain("judged again in this environment");
    return std::nullopt;
  } else if (plan->profile.name == engine::kToolProfile) {
    auto here = JudgeToolHere(gateway, question, ticket->asked);
    if (!here) {
      Complain("judged again in this environment");
      return std::nullopt;
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
  if (authorization.plan.mode == router::Mode::kRefused)
    return TellNotStarted(gateway, authorization, ticket->decision_id, "run",
                          WhyNoPlan(authorization),
                          Refuse(authorization, arguments.json));
  if (!arguments.preview.empty()) {
    if (authorization.plan.mode != router::Mode::kSandbox) {
      Complain("the ticket is not for a preview; deciding afresh");
      return std::nullopt;
    }
    // The ticket does not say whether a person was asked: a person commits.
    authorization.decision.action = Action::kAsk;
    PreviewOptions options;
    options.json = arguments.json;
    return Preview(gateway, &authorization, ticket->decision_id, options);
  }
  if (CanBecome(authorization.plan) && !arguments.json)
    return Became(Become(gateway, authorization, ticket->decision_id));
  return Report(Execute(gateway, &authorization, ticket->decision_id, "run",
                        Leftovers::kLast));
}

// The person's answer to an ask. True when the command may run as
// `authorization->plan` now says.
bool AskAndReplan(Gateway& gateway, Authorization* authorization) {
  const Reply reply =
      AskPerson(RenderAsked(*authorization, WantsColour(STDERR_FILENO),
                            PersonsScreen().columns),
                authorization->grants.kind > engine::GrantKind::kSandbox);
  if (reply == Reply::kNo) return false;
  if (reply == Reply::kPreview) authorization->request.preview = "ask";
  authorization->in_sandbox =
      reply != Reply::kOnce &&
      authorization->grants.kind > engine::GrantKind::kSandbox;
  const Request& question = authorization->request;
  if (IdOf(question.cwd) != question.directory) {
    Complain("not started: " + Visible(question.cwd) +
             " is another directory than when it was asked about");
    return false;
  }
  if (authorization->grants.kind != engine::GrantKind::kByHand &&
      !authorization->in_sandbox &&
      !IsBoundHere(gateway, question, authorization->binding.mark)) {
    Complain("not started: what the line reads changed while it was asked");
    return false;
  }
  gateway.Replan(authorization, /*approved=*/true);
  return true;
}

}  // namespace

int RunCommand(const GlobalOptions& globals, const Arguments& words) {
  if (WantsHelp(words)) {
    std::fputs(WithExamples(kRunHelp, "run").c_str(), stdout);
    return 0;
  }
  const auto arguments = ParseRunArguments(words);
  if (!arguments) {
    Complain(arguments.error().message);
    std::fputs("help: `gate run --help` shows the usage\n", stderr);
    return kExitUsage;
  }
  Gateway gateway(ReadProcessFacts(globals));
  gateway.TellFound([](const auto& found) { TellViolations(found, ""); });
  if (!IsDirectory(*arguments, gateway.facts()) ||
      !IsBackend(*arguments, gateway))
    return kExitUsage;
  Request question = ToRequest(*arguments, gateway.facts());
  if (!arguments->ticket.empty())
    if (auto code = RunTicket(gateway, *arguments, &question)) return *code;

  // A ticket says that an agent sent this; it gets no prompt.
  const bool person = arguments->ticket.empty() &&
                      hooks::FindUserTerminal(PersonsTerminals).yes;
  question.interactive = person;
  Authorization authorization = gateway.Authorize(question, /*pin=*/true);
  bool approved = false;
  // Of a longer line not all would be read where it was typed.
  const size_t length = LineOf(authorization.request).size();
  const bool answerable =
      authorization.decision.action != Action::kAsk ||
      authorization.grants.kind != engine::GrantKind::kByHand;
  const bool asked_here = person && length <= kMaxAnsweredBytes && answerable;
  if (authorization.decision.action == Action::kAsk) {
    if (ApplyApproval(gateway.facts(), &authorization, NowMs())) {
      approved = true;
      gateway.Replan(&authorization, true);
    } else if (asked_here) {
      approved = AskAndReplan(gateway, &authorization);
    }
  }
  const bool may_run =
      (authorization.decision.action <= Action::kSandbox || approved) &&
      authorization.plan.mode != router::Mode::kRefused;
  if (may_run && !arguments->ticket.empty() && !arguments->json &&
      CanBecome(authorization.plan)) {
    if (auto stored = gateway.Record(&authorization, "run", true); !stored)
      return Fail(kNotRecorded + stored.error().message);
    return Became(Become(gateway, authorization, authorization.id));
  }
  if (may_run && authorization.request.preview.empty()) {
    const auto executed =
        RecordAndExecute(gateway, &authorization, "run", Leftovers::kLast);
    if (!executed) return Fail(kNotRecorded + executed.error().message);
    if (arguments->json)
      std::fprintf(stderr, "%s\n%s\n", DecisionToJson(authorization).c_str(),
                   OutcomeToJson(*executed).c_str());
    const int code = Report(*executed);
    gateway.Maintain();
    return EndAs(executed->outcome, code);
  }
  if (auto stored = gateway.Record(&authorization, "run", true); !stored)
    return Fail(kNotRecorded + stored.error().message);
  if (!may_run) {
    if (authorization.decision.action == Action::kAsk && !asked_here &&
        answerable) {
      if (person)
        Complain("the line has " + std::to_string(length) +
                 " bytes; one of more than " +
                 std::to_string(kMaxAnsweredBytes) +
                 " is not asked about here. `gate pending` shows it");
      if (KeepQuestion(gateway.facts().places.state,
                       QuestionOf(authorization, NowMs())))
        Complain("a person can say yes with: gate approve " + authorization.id);
    }
    int code = Refuse(authorization, arguments->json);
    if (authorization.decision.action <= Action::kSandbox || approved)
      code = TellNotStarted(gateway, authorization, authorization.id, "run",
                            WhyNoPlan(authorization), code);
    gateway.Maintain();
    return code;
  }
  PreviewOptions options;
  options.person = person;
  options.automatic = authorization.request.preview == "auto" &&
                      authorization.decision.action <= Action::kSandbox;
  options.json = arguments->json;
  const int code = Preview(gateway, &authorization, authorization.id, options);
  gateway.Maintain();
  return code;
}

int SandboxCommand(const GlobalOptions& globals, const Arguments& words) {
  if (WantsHelp(words)) {
    std::fputs(WithExamples(kSandboxHelp, "sandbox").c_str(), stdout);
    return 0;
  }
  const auto arguments = ParseRunArguments(words);
  const bool open = arguments && arguments->network == "open";
  const bool ticket = arguments && !arguments->ticket.empty();
  if (!arguments || !arguments->preview.empty() || open || ticket) {
    Complain(!arguments ? arguments.error().message
             : ticket   ? "`--ticket` belongs to gate run"
             : open     ? "`gate sandbox` gives no open network; a rule can"
                        : "`--preview` belongs to gate run");
    std::fputs("help: `gate sandbox --help` shows the usage\n", stderr);
    return kExitUsage;
  }
  Gateway gateway(ReadProcessFacts(globals));
  gateway.TellFound([](const auto& found) { TellViolations(found, ""); });
  if (!IsDirectory(*arguments, gateway.facts()) ||
      !IsBackend(*arguments, gateway))
    return kExitUsage;
  // What a file that does not load would have asked for is not known.
  if (const std::string trouble = SettingsTrouble(gateway.settings());
      !trouble.empty()) {
    Complain(Visible(trouble));
    return kExitPolicy;
  }
  Authorization authorization;
  authorization.request = ToRequest(*arguments, gateway.facts());
  if (authorization.request.cwd.empty()) return Fail(kNoDirectory);
  // The sandbox is most likely this one, for the owner of this directory; its
  // namespaces are made meanwhile. Whose network it shares is not known yet.
  if (arguments->session.empty() &&
      (arguments->backend.empty() || arguments->backend == "native")) {
    backends::Profile likely;
    likely.workspace = authorization.request.cwd;
    if (backends::Backend* native = gateway.FindBackend("native"))
      native->Prepare(likely);
  }
  authorization.id = NewUuid(NowMs());
  auto session = OpenSession(gateway.facts(), arguments->session, "",
                             authorization.request.cwd, /*write=*/true);
  if (!session) return Fail(session.error().message);
  authorization.session = std::move(*session);
  engine::Decision& decision = authorization.decision;
  decision.action = Action::kSandbox;
  decision.contain = true;
  decision.code = engine::ReasonCode::kDefault;
  decision.reason = "asked for by gate sandbox";
  // The profile asked for is the profile; there is no decision to join with.
  if (!arguments->profile.empty()) decision.profile = arguments->profile;
  authorization.request.profile.clear();
  if (!arguments->network.empty()) decision.network = arguments->network;
  gateway.NoteGitOnly(&authorization);
  gateway.Replan(&authorization, /*approved=*/false);
  if (authorization.plan.mode != router::Mode::kSandbox) {
    if (auto stored = gateway.Record(&authorization, "sandbox", true); !stored)
      return Fail(kNotRecorded + stored.error().message);
    const std::string why = WhyNoPlan(authorization);
    Complain(why);
    return TellNotStarted(gateway, authorization, authorization.id, "sandbox",
                          why, kExitGateFailed);
  }
  const auto executed =
      RecordAndExecute(gateway, &authorization, "sandbox", Leftovers::kEnd);
  if (!executed) return Fail(kNotRecorded + executed.error().message);
  const int code = Report(*executed);
  gateway.Maintain();
  return EndAs(executed->outcome, code);
}

}  // namespace gate::app
