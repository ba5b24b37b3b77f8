// gate hook CLIENT: the agent's JSON in, one answer out.
//
// Most clients run the command when a hook fails, so every way out of here is
// an exit code of 0 or 2, and 2 always has a reason on stderr and nothing on
// stdout. The whole answer is built first and printed once.
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "backends/environment.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/output/render.h"
#include "gateway/answers.h"
#include "gateway/gateway.h"
#include "gateway/hook_reads.h"
#include "gateway/hook_rewrite.h"
#include "gateway/lasting.h"
#include "gateway/left_to_client.h"
#include "gateway/line.h"
#include "gateway/tool_write_paths.h"
#include "hooks/adapter.h"
#include "hooks/capabilities.h"
#include "hooks/plain_line.h"

namespace gate::app {
namespace {

using hooks::Answer;
using hooks::AnswerKind;
using rules::Action;

// Below the inner `timeout` of the guard line and every client's own limit.
constexpr int kDeadlineSeconds = 2;
// The database gives up early enough for a refusal to be said.
constexpr int kBusyTimeoutMs = 1500;

void OnDeadline(int) {
  static constexpr char kMessage[] =
      "gate: no decision within 2 s, so the command is refused. Do not try "
      "another way; tell the person\n";
  [[maybe_unused]] const ssize_t ignored =
      ::write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
  ::_exit(kExitHookRefused);
}

void ArmDeadline() {
  struct sigaction action{};
  action.sa_handler = OnDeadline;
  ::sigaction(SIGALRM, &action, nullptr);
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  ::sigprocmask(SIG_UNBLOCK, &alarm, nullptr);
  const itimerval timer{{0, 0}, {kDeadlineSeconds, 0}};
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

void DisarmDeadline() {
  const itimerval off{{0, 0}, {0, 0}};
  ::setitimer(ITIMER_REAL, &off, nullptr);
}

// `framed`: the guard line reads the answer (hooks::Framed).
int PrintAnswer(hooks::Output output, bool framed) {
  DisarmDeadline();
  if (!output.err.empty() && !WriteAll(STDERR_FILENO, output.err))
    return kExitHookRefused;
  if (framed) output.out = hooks::Framed(output);
  if (!output.out.empty() && !WriteAll(STDOUT_FILENO, output.out)) {
    (void)WriteAll(STDERR_FILENO, "gate: the answer could not be written\n");
    return kExitHookRefused;
  }
  return output.exit_code == 0 ? 0 : kExitHookRefused;
}

// gate could not decide about what the agent wants.
hooks::Output Undecided(const std::string& reason) {
  return hooks::Refuse("gate: " + reason +
                       ". Do not try another way; tell the person");
}

hooks::Output Refused(const std::string& reason) {
  return hooks::Refuse("gate: " + reason);
}

std::string ClientNames() {
  std::string names;
  for (const std::string& name : hooks::AdapterNames())
    names += (names.empty() ? "" : ", ") + name;
  return names;
}

// Whether a contained line can change anything, as far as its profile tells.
bool ChangesThings(const router::Plan& plan) {
  return router::KindOf(plan.profile) != rules::ProfileKind::kReadOnly ||
         plan.profile.network > backends::Network::kLoopback;
}

// Whether the client's shell is bash, as far as its environment tells:
// a variable of the client's may override what it finds by itself. `sh` may be
// dash, whose echo is another.
bool IsBash(const ProcessFacts& facts) {
  const std::string chosen = hooks::ChosenShell(facts.environment);
  return BaseName(facts.shell) == "bash" &&
         (chosen.empty() || BaseName(chosen) == "bash");
}

// Whether silence lets run what was judged: there, and as bash reads it, in a
// locale that leaves it the line that gate has read.
bool MaySayNothing(const Gateway& gateway, const hooks::Event& event,
                   const Authorization& authorization) {
  return event.cwd_is_sure &&
         backends::HasSafeLocale(gateway.facts().environment) &&
         (!event.persons_shell || IsBash(gateway.facts()) ||
          hooks::MeansTheSameInEveryShell(LineOf(authorization.request)));
}

// The answer to an authorization that lets the command run, raw or contained.
Result<Answer> LetRun(const Gateway& gateway, const GlobalOptions& globals,
                      const hooks::Event& event,
                      const Authorization& authorization) {
  if (!authorization.left_to.empty())
    return AnswerLeft(gateway, event, authorization);
  Answer answer;
  answer.id = authorization.id;
  answer.reason = authorization.decision.reason;
  answer.direct = authorization.plan.mode == router::Mode::kDirect;
  const bool asked = authorization.decision.action == Action::kAsk;
  // Silence, unless the line was gate's own wrapper with the agent's flags, or
  // would not run where or as it was judged.
  const bool silent =
      answer.direct && MaySayNothing(gateway, event, authorization);
  const auto say_nothing = [&] {
    answer.kind =
        authorization.unwrapped ? AnswerKind::kRewrite : AnswerKind::kAllow;
    answer.command = LineOf(authorization.request);
    return answer;
  };
  if (silent && !asked) return say_nothing();
  const RewriteWay way = FindRewriteWay(gateway.facts(), event);
  // What a person said yes to is seen through to its end where that can be.
  if (silent && !way.rewrites) return say_nothing();
  if (!way.rewrites)
    return RefuseWithLine(gateway, globals, authorization, way, asked);
  answer.confirm = event.planning && !answer.direct && !asked &&
                   ChangesThings(authorization.plan);
  if (answer.confirm)
    answer.reason =
        "in plan mode a person confirms what could change the workspace: " +
        answer.reason + CommandAsked(authorization);
  GATE_TRY(answer.command, Rewrite(gateway, globals, event, authorization, way,
                                   asked || answer.confirm));
  answer.kind = AnswerKind::kRewrite;
  return answer;
}

Answer Deny(const Authorization& authorization, std::string_view yes_id = "") {
  Answer answer;
  answer.kind = AnswerKind::kDeny;
  answer.id = authorization.id;
  answer.reason = RefusalText(authorization, yes_id);
  return answer;
}

// What to say to an ask.
Result<Answer> Ask(Gateway& gateway, const GlobalOptions& globals,
                   const hooks::Event& event, Authorization* authorization) {
  const std::string& state = gateway.facts().places.state;
  const bool is_command = event.kind == hooks::EventKind::kCommand;
  if (authorization->grants.kind == engine::GrantKind::kByHand)
    return Deny(*authorization);
  if (ApplyApproval(gateway.facts(), authorization, NowMs())) {
    if (!is_command)
      return Answer{AnswerKind::kAllow, "", "", authorization->id};
    gateway.Replan(authorization, /*approved=*/true);
    if (authorization->plan.mode == router::Mode::kRefused)
      return Deny(*authorization);
    return LetRun(gateway, globals, event, *authorization);
  }
  // A client that does not rewrite would run the command as it is after a yes.
  if (event.can_ask &&
      (!is_command || FindRewriteWay(gateway.facts(), event).rewrites)) {
    Answer answer;
    answer.id = authorization->id;
    if (is_command) {
      // The person's yes in the client counts as given: what runs then is
      // exactly this plan.
      gateway.Replan(authorization, /*approved=*/true);
      if (authorization->plan.mode == router::Mode::kRefused)
        return Deny(*authorization);
      GATE_TRY(answer, LetRun(gateway, globals, event, *authorization));
      if (answer.kind == AnswerKind::kAllow) answer.command.clear();
    }
    answer.kind = AnswerKind::kAsk;
    answer.reason = QuestionText(*authorization, is_command);
    return answer;
  }
  if (!KeepQuestion(state, QuestionOf(*authorization, NowMs())))
    return Deny(*authorization);
  return Deny(*authorization, authorization->id);
}

// The answer to the line that an earlier refusal told the agent to run.
std::optional<Answer> AnswerToLineGiven(const Gateway& gateway,
                                        const GlobalOptions& globals,
                                        const hooks::Event& event,
                                        Authorization* authorization) {
  const auto given = FindLineGiven(gateway, globals, event, *authorization);
  if (!given) return std::nullopt;
  authorization->decision.action = Action::kAllow;
  authorization->decision.rule = {};
  authorization->decision.reason =
      "it is the line that gate gave in place of " + given->id;
  Answer answer;
  answer.kind = AnswerKind::kRewrite;
  answer.id = authorization->id;
  answer.reason = authorization->decision.reason;
  // Dropped or not, it is the same line.
  answer.command = event.command;
  answer.direct = given->plan.mode == router::Mode::kDirect;
  answer.confirm =
      event.planning && !answer.direct && ChangesThings(given->plan);
  return answer;
}

Result<Answer> AnswerTo(Gateway& gateway, const GlobalOptions& globals,
                        const hooks::Event& event,
                        Authorization* authorization) {
  const bool is_command = event.kind == hooks::EventKind::kCommand;
  switch (authorization->decision.action) {
    case Action::kAllow:
    case Action::kSandbox:
      if (!is_command)
        return Answer{AnswerKind::kAllow, "", "", authorization->id};
      if (authorization->plan.mode == router::Mode::kRefused)
        return Deny(*authorization);
      return LetRun(gateway, globals, event, *authorization);
    case Action::kAsk:
      return Ask(gateway, globals, event, authorization);
    case Action::kDeny:
      break;
  }
  return Deny(*authorization);
}

// What is asked about `event`, but for what it runs or touches.
Request RequestAbout(const Gateway& gateway, const hooks::Event& event) {
  Request request;
  request.command = event.command;
  request.cwd = event.cwd.starts_with('/') ? Normalise(event.cwd, "/")
                                           : gateway.facts().cwd;
  request.agent = event.agent;
  request.session = event.session;
  request.hooked = true;
  request.project = event.project.starts_with('/') ? event.project : "";
  request.interactive = event.can_ask;
  return request;
}

hooks::Output AnswerDone(Gateway& gateway, const hooks::Adapter& adapter,
                         const hooks::Event& event) {
  const auto message = FindDroppedRewrite(gateway, event, kBusyTimeoutMs);
  return message ? adapter.Tell(*message) : hooks::Output{"", "", 0};
}

// `intent`: what gate would contain is left to the client's own sandbox.
hooks::Output AnswerEvent(Gateway& gateway, const GlobalOptions& globals,
                          const hooks::Adapter& adapter,
                          const hooks::Event& event, bool intent) {
  Request request = RequestAbout(gateway, event);
  for (const std::string& path : event.paths)
    for (std::string& place :
         WrittenPlaces(path, request.cwd, gateway.facts().home))
      request.file_writes.push_back(std::move(place));
  if (event.kind == hooks::EventKind::kFileWrite && request.file_writes.empty())
    return Undecided("a tool that writes files names no file");

  const bool reads = event.kind == hooks::EventKind::kFileRead;
  Authorization authorization = reads
                                    ? JudgeReads(gateway, event, request)
                                    : gateway.Authorize(request, /*pin=*/true);
  if (intent) LeaveToClient(gateway, event, &authorization);
  // What a tool writes may be what it has read elsewhere.
  if (!reads && !event.reads.empty()) {
    Request bare = RequestAbout(gateway, event);
    Authorization read = JudgeReads(gateway, event, bare);
    if (read.decision.action > authorization.decision.action &&
        read.decision.action >= Action::kAsk)
      authorization = std::move(read);
  }
  // Of what a tool may read nothing is kept, as of other tools.
  if (reads && authorization.decision.action == Action::kAllow)
    return hooks::Output{"", "", 0};
  Result<Answer> answer = Answer{};
  if (auto given = AnswerToLineGiven(gateway, globals, event, &authorization))
    answer = std::move(*given);
  else
    answer = AnswerTo(gateway, globals, event, &authorization);
  if (!answer)
    return Undecided("the answer cannot be prepared: " +
                     answer.error().message);
  authorization.unobserved = answer->kind == AnswerKind::kAllow &&
                             authorization.plan.mode == router::Mode::kDirect;
  // What earlier lines left running may have changed what it obeys.
  if (std::vector<backends::Violation> found;
      authorization.unobserved && event.kind == hooks::EventKind::kCommand)
    if (const Status looked = LookAtLastingRuns(gateway, &found); !looked)
      return Undecided("what earlier lines left running cannot be looked at: " +
                       looked.error().message);
  const bool runs = answer->kind == AnswerKind::kAllow ||
                    answer->kind == AnswerKind::kRewrite;
  if (runs && !authorization.left_to.empty()) RecordAsLeft(&authorization);
  if (auto stored =
          gateway.Record(&authorization, "hook", true, kBusyTimeoutMs);
      !stored)
    return Undecided(
        "the decision could not be recorded, so the command is refused: " +
        stored.error().message);
  // Other clients that run this hook know the exit code alone.
  answer->by_object = answer->kind == AnswerKind::kDeny &&
                      FindRewriteWay(gateway.facts(), event).rewrites;
  return adapter.Format(event, *answer);
}

}  // namespace

int HookCommand(const GlobalOptions& globals, const Arguments& arguments) {
  if (arguments.size() == 1 &&
      (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::fputs(
        WithExamples(
            "usage: gate hook CLIENT [OPTIONS]\n\n"
            "Answers one event of the client, which is read from stdin, and "
            "exits\n"
            "with 0 or 2. Clients: " +
                ClientNames() +
                ".\n\n"
                "  --framed              for the line that `gate install` "
                "writes, which\n"
                "                        takes the answer out of its marks\n"
                "  --mode contain|intent " +
                hooks::ClientsWithOwnSandbox() +
                ": intent denies and asks as ever,\n"
                "                        and leaves to the client's own "
                "sandbox what gate\n"
                "                        would contain\n"
                "  -h, --help            show this help\n",
            "hook")
            .c_str(),
        stdout);
    return 0;
  }
  ArmDeadline();
  // A client that does not read the answer: to be said by the exit code.
  ::signal(SIGPIPE, SIG_IGN);
  bool framed = false;
  bool understood = !arguments.empty();
  std::string mode = "contain";
  for (size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == "--framed")
      framed = true;
    else if (arguments[i] == "--mode" && i + 1 < arguments.size())
      mode = arguments[++i];
    else
      understood = false;
  }
  const auto refuse = [&](const std::string& reason) {
    return PrintAnswer(Refused(reason), framed);
  };
  if (!understood)
    return refuse("usage: gate hook CLIENT, with the event on stdin");
  const bool intent = mode == "intent";
  const hooks::Capabilities* can = hooks::CapabilitiesOf(arguments[0]);
  if (mode != "contain" && (!intent || can == nullptr || !can->has_own_sandbox))
    return refuse("`" + Visible(mode) + "` is no mode of " +
                  Visible(arguments[0]) + ": contain, and intent for " +
                  hooks::ClientsWithOwnSandbox() + " alone");
  const hooks::Adapter* adapter = hooks::FindAdapter(arguments[0]);
  if (adapter == nullptr)
    return refuse("`" + Visible(arguments[0]) +
                  "` is not a client gate knows; usage: gate hook CLIENT, with "
                  "the event on stdin");
  auto text = ReadAll(STDIN_FILENO, hooks::kMaxInputBytes);
  if (!text) return refuse("the event cannot be read: " + text.error().message);
  const auto event = adapter->Parse(*text);
  if (!event)
    return refuse("the event is not understood: " +
                  Visible(event.error().message));
  if (event->kind == hooks::EventKind::kNothing)
    return PrintAnswer(hooks::Output{"", "", 0}, framed);

  Gateway gateway(ReadProcessFacts(globals));
  const int code =
      PrintAnswer(event->kind == hooks::EventKind::kCommandDone
                      ? AnswerDone(gateway, *adapter, *event)
                      : AnswerEvent(gateway, globals, *adapter, *event, intent),
                  framed);
  gateway.Maintain();
  return code;
}

}  // namespace gate::app
