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
#include "gateway/execute.h"
#include "gateway/gateway.h"
#include "gateway/line.h"
#include "gateway/redeem_ticket.h"
#include "gateway/run_arguments.h"
#include "gateway/settings.h"
#include "hooks/person.h"

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
    "  --network NAME        none, loopback, domains or open\n"
    "  --host HOST           with domains: at most HOST, HOST:PORT, *.HOST;\n"
    "                        as often as there are hosts\n"
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
  Request request;
  request.command = arguments.command;
  request.argv = arguments.argv;
  request.is_argv = arguments.is_argv;
  request.cwd = DirectoryFor(facts, arguments.cwd);
  request.agent = arguments.agent;
  request.session = arguments.session;
  request.profile = arguments.profile;
  request.backend = arguments.backend;
  request.network = arguments.network;
  request.hosts = arguments.hosts;
  request.preview = arguments.preview;
  request.timeout_ms = arguments.timeout_ms;
  return request;
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
  const int code = PreviewAndTell(gateway, authorization, parent, options);
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

// Runs what a ticket holds for. Nothing where the line is to be judged afresh.
std::optional<int> RunTicket(Gateway& gateway, const RunArguments& arguments,
                             Request* request) {
  using Result = RedeemedTicket::Result;
  RedeemedTicket redeemed = RedeemTicket(gateway, arguments, request);
  if (redeemed.result != Result::kRun) {
    Complain(redeemed.said);
    if (redeemed.result == Result::kAfresh) return std::nullopt;
    return redeemed.result == Result::kUnusable ? kExitGateFailed
                                                : kExitRefused;
  }
  Authorization& authorization = redeemed.authorization;
  if (authorization.plan.mode == router::Mode::kRefused)
    return TellNotStarted(gateway, authorization, authorization.id, "run",
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
    return Preview(gateway, &authorization, authorization.id, options);
  }
  if (CanBecome(authorization.plan) && !arguments.json)
    return Became(Become(gateway, authorization, authorization.id));
  return Report(Execute(gateway, &authorization, authorization.id, "run",
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
  const Request& request = authorization->request;
  if (IdOf(request.cwd) != request.directory) {
    Complain("not started: " + Visible(request.cwd) +
             " is another directory than when it was asked about");
    return false;
  }
  if (authorization->grants.kind != engine::GrantKind::kByHand &&
      !authorization->in_sandbox &&
      !IsBoundHere(gateway, request, authorization->binding.mark)) {
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
  Request request = ToRequest(*arguments, gateway.facts());
  if (!arguments->ticket.empty())
    if (auto code = RunTicket(gateway, *arguments, &request)) return *code;

  // A ticket says that an agent sent this; it gets no prompt.
  const bool person = arguments->ticket.empty() &&
                      hooks::FindUserTerminal(PersonsTerminals).yes;
  request.interactive = person;
  Authorization authorization = gateway.Authorize(request, /*pin=*/true);
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
  const bool open = arguments && arguments->network &&
                    *arguments->network > backends::Network::kLoopback;
  const bool ticket = arguments && !arguments->ticket.empty();
  if (!arguments || !arguments->preview.empty() || open || ticket) {
    Complain(!arguments ? arguments.error().message
             : ticket   ? "`--ticket` belongs to gate run"
             : open     ? "`gate sandbox` gives no network that leads out; a "
                          "rule can"
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
  if (arguments->profile != rules::ProfileKind::kUnsaid)
    decision.profile = arguments->profile;
  authorization.request.profile = rules::ProfileKind::kUnsaid;
  if (arguments->network == backends::Network::kLoopback)
    decision.network = rules::NetworkAccess::kLoopback;
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
