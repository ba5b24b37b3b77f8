// gate hook CLIENT: the agent's JSON in, one answer out.
//
// Most clients run the command when a hook fails, so every way out of here is
// an exit code of 0 or 2, and 2 always has a reason on stderr and nothing on
// stdout. The whole answer is built first and printed once.
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "backends/environment.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/answers.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/gateway.h"
#include "cli/hook_reads.h"
#include "cli/line.h"
#include "cli/plan_json.h"
#include "cli/render.h"
#include "cli/written_places.h"
#include "hooks/adapter.h"
#include "hooks/plain_line.h"
#include "hooks/ticket.h"

namespace gate::cli {
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
      "gate: no decision within 2 s, so the command is refused\n";
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
int Print(hooks::Output output, bool framed) {
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

// What the kernel takes for one argument, its NUL included (MAX_ARG_STRLEN, 32
// pages of 4 KiB: execve(2)).
constexpr size_t kMaxArgument = 128 << 10;
// What clients put around a line that they hand to a shell.
constexpr size_t kClientsOwn = 4 << 10;

// Whether a client can start `line`. Claude Code quotes it once more, for eval,
// and a quote becomes five characters by that.
bool FitsAnArgument(const std::string& line) {
  const auto quotes = std::ranges::count(line, '\'');
  return line.size() + 4 * static_cast<size_t>(quotes) + kClientsOwn <
         kMaxArgument;
}

// The line that the client is to run instead. Of one that could not be started
// the ticket alone knows the command. `after`: where the client's shell is to
// stand then, if elsewhere than in `cwd`.
std::string RewrittenLine(const ProcessFacts& facts,
                          const GlobalOptions& globals,
                          const std::string& preview, const std::string& ticket,
                          const std::string& command, const std::string& cwd,
                          const std::string& after) {
  std::string line = ShellQuote(facts.executable);
  if (!globals.config_dir.empty())
    line += " --config-dir " + ShellQuote(globals.config_dir);
  if (!globals.state_dir.empty())
    line += " --state-dir " + ShellQuote(globals.state_dir);
  line += " run" + preview + " --ticket " + ticket;
  if (!after.empty()) {
    line.insert(0, "cd " + ShellQuote(after) + " && ");
    line += " --cwd " + ShellQuote(cwd);
  }
  std::string whole = line + " -c " + ShellQuote(command);
  return FitsAnArgument(whole) ? whole : line;
}

// Where the client's next command starts after a line that runs in a shell of
// gate's: there the line ends for certain, or goes first of all, and otherwise
// only stays. Empty: where this one starts, as far as can be told.
std::string DirectoryAfter(const hooks::Event& event,
                           const Judgement& judgement) {
  const std::string& here = judgement.question.cwd;
  const parser::Analysis& analysis = judgement.analysis;
  if (!event.keeps_directory || analysis.invocations.empty()) return "";
  std::string there;
  bool may_stay = false;
  for (const std::string& end : analysis.leaves_cwds) {
    if (end == here)
      may_stay = true;
    else if (there.empty())
      there = end;
    else
      return "";
  }
  const parser::Invocation& first = analysis.invocations.front();
  const auto goes = std::ranges::count_if(
      analysis.invocations, [](const parser::Invocation& one) {
        return one.builtin && (one.program == "cd" || one.program == "pushd" ||
                               one.program == "popd");
      });
  if (may_stay &&
      !(first.program == "cd" && goes == 1 && first.certain &&
        first.via.empty() && first.argv.size() == 2 && first.argv[1].known &&
        Normalise(first.argv[1].text, here) == there))
    return "";
  struct stat info = {};
  return !there.empty() && stat(there.c_str(), &info) == 0 &&
                 S_ISDIR(info.st_mode)
             ? there
             : "";
}

Result<std::string> Rewrite(const Gateway& gateway,
                            const GlobalOptions& globals,
                            const hooks::Event& event,
                            const Judgement& judgement, bool needs_a_yes) {
  hooks::Ticket ticket;
  ticket.command = LineOf(judgement.question);
  if (ticket.command.size() >= kMaxArgument)
    return Fail(ErrorCode::kTooLarge,
                "the line is longer than a program's argument may be (128 "
                "KiB); write what it holds into a file, with the tool that "
                "writes files");
  ticket.cwd = judgement.question.cwd;
  ticket.place = BoundPlace(ticket.cwd, judgement.question.directory);
  ticket.policy_revision = judgement.policy_revision;
  router::Plan plan = judgement.plan;
  if (plan.mode == router::Mode::kDirect) {
    // The policy's revision belongs to a workspace, and a direct plan has none.
    plan.profile.workspace = judgement.session.workspace;
    // By the name that the process which redeems it will see.
    if (std::string real = RealPath(ticket.cwd); !real.empty())
      ticket.cwd = std::move(real);
  }
  ticket.plan = PlanToJson(plan);
  ticket.decision_id = judgement.id;
  ticket.agent = judgement.question.agent;
  ticket.session = judgement.question.session;
  ticket.asked = needs_a_yes;
  ticket.expires_ms = NowMs() + (ticket.asked ? hooks::kAskedTicketLifetimeMs
                                              : hooks::kTicketLifetimeMs);
  GATE_TRY(const std::string name,
           hooks::IssueTicket(gateway.facts().places.state, ticket));
  const std::string& asked = judgement.question.preview;
  const std::string preview = asked.empty()     ? ""
                              : asked == "auto" ? " --preview=auto"
                                                : " --preview";
  return RewrittenLine(gateway.facts(), globals, preview, name, ticket.command,
                       ticket.cwd, DirectoryAfter(event, judgement));
}

// Whether a contained line can change anything, as far as its profile tells.
bool ChangesThings(const router::Plan& plan) {
  return plan.profile.name != "read-only" ||
         plan.profile.network == backends::Network::kOpen;
}

// Whether the client's shell is bash, as far as its environment tells:
// CLAUDE_CODE_SHELL overrides what Claude Code finds by itself
// (anthropics/claude-code issue 24573). `sh` may be dash, whose echo is
// another.
bool IsBash(const ProcessFacts& facts) {
  std::string chosen;
  for (const std::string& entry : facts.environment)
    if (entry.starts_with("CLAUDE_CODE_SHELL=")) chosen = entry.substr(18);
  return BaseName(facts.shell) == "bash" &&
         (chosen.empty() || BaseName(chosen) == "bash");
}

// Whether silence lets run what was judged: there, and as bash reads it, in a
// locale that leaves it the line that gate has read.
bool MaySayNothing(const Gateway& gateway, const hooks::Event& event,
                   const Judgement& judgement) {
  return event.cwd_is_sure &&
         backends::HasSafeLocale(gateway.facts().environment) &&
         (!event.persons_shell || IsBash(gateway.facts()) ||
          hooks::MeansTheSameInEveryShell(LineOf(judgement.question)));
}

// The answer to a judgement that lets the command run, raw or contained.
Result<Answer> LetRun(const Gateway& gateway, const GlobalOptions& globals,
                      const hooks::Event& event, const Judgement& judgement) {
  Answer answer;
  answer.id = judgement.id;
  answer.reason = judgement.decision.reason;
  answer.direct = judgement.plan.mode == router::Mode::kDirect;
  // Silence, unless the line was gate's own wrapper with the agent's flags, or
  // would not run where or as it was judged.
  if (answer.direct && MaySayNothing(gateway, event, judgement)) {
    answer.kind =
        judgement.unwrapped ? AnswerKind::kRewrite : AnswerKind::kAllow;
    answer.command = LineOf(judgement.question);
    return answer;
  }
  const bool asked = judgement.decision.action == Action::kAsk;
  answer.confirm = event.planning && !answer.direct && !asked &&
                   ChangesThings(judgement.plan);
  if (answer.confirm)
    answer.reason =
        "in plan mode a person confirms what could change the workspace: " +
        answer.reason;
  GATE_TRY(answer.command, Rewrite(gateway, globals, event, judgement,
                                   asked || answer.confirm));
  answer.kind = AnswerKind::kRewrite;
  return answer;
}

Answer Deny(const Judgement& judgement, const std::string& more = "") {
  Answer answer;
  answer.kind = AnswerKind::kDeny;
  answer.id = judgement.id;
  answer.reason = RefusalText(judgement) + more;
  return answer;
}

// What to say to an ask.
Result<Answer> Ask(Gateway& gateway, const GlobalOptions& globals,
                   const hooks::Event& event, Judgement* judgement) {
  const std::string& state = gateway.facts().places.state;
  const bool is_command = event.kind == hooks::EventKind::kCommand;
  if (TakeAnswer(gateway.facts(), judgement, NowMs())) {
    if (!is_command) return Answer{AnswerKind::kAllow, "", "", judgement->id};
    gateway.Replan(judgement, /*approved=*/true);
    if (judgement->plan.mode == router::Mode::kRefused) return Deny(*judgement);
    return LetRun(gateway, globals, event, *judgement);
  }
  if (event.can_ask) {
    Answer answer;
    answer.id = judgement->id;
    if (is_command) {
      // The person's yes in the client counts as given: what runs then is
      // exactly this plan.
      gateway.Replan(judgement, /*approved=*/true);
      if (judgement->plan.mode == router::Mode::kRefused)
        return Deny(*judgement);
      GATE_TRY(answer, LetRun(gateway, globals, event, *judgement));
      if (answer.kind == AnswerKind::kAllow) answer.command.clear();
    }
    answer.kind = AnswerKind::kAsk;
    answer.reason = RefusalText(*judgement);
    if (is_command)
      answer.reason += ". After a yes it runs " + AfterYes(*judgement);
    return answer;
  }
  if (!KeepQuestion(state, QuestionOf(*judgement, NowMs())))
    return Deny(*judgement);
  return Deny(*judgement,
              ". Do not reach it another way; ask the user, who can allow this "
              "exact command with: gate approve " +
                  judgement->id);
}

Result<Answer> AnswerTo(Gateway& gateway, const GlobalOptions& globals,
                        const hooks::Event& event, Judgement* judgement) {
  const bool is_command = event.kind == hooks::EventKind::kCommand;
  switch (judgement->decision.action) {
    case Action::kAllow:
    case Action::kSandbox:
      if (!is_command) return Answer{AnswerKind::kAllow, "", "", judgement->id};
      if (judgement->plan.mode == router::Mode::kRefused)
        return Deny(*judgement);
      return LetRun(gateway, globals, event, *judgement);
    case Action::kAsk:
      return Ask(gateway, globals, event, judgement);
    case Action::kDeny:
      break;
  }
  return Deny(*judgement);
}

}  // namespace

int HookCommand(const GlobalOptions& globals, const Arguments& arguments) {
  if (arguments.size() == 1 &&
      (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::fputs(
        "usage: gate hook CLIENT [--framed]\n\n"
        "Answers one event of the client, which is read from stdin, and exits\n"
        "with 0 or 2. Clients: claude, codex, generic. --framed: for the line\n"
        "that `gate install` writes, which takes the answer out of its "
        "marks.\n",
        stdout);
    return 0;
  }
  ArmDeadline();
  // A client that does not read the answer: to be said by the exit code.
  ::signal(SIGPIPE, SIG_IGN);
  const bool framed = arguments.size() == 2 && arguments[1] == "--framed";
  const auto refuse = [&](const std::string& reason) {
    return Print(hooks::Refuse("gate: " + reason), framed);
  };
  if (arguments.size() != 1 && !framed)
    return refuse("usage: gate hook CLIENT, with the event on stdin");
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
    return Print(hooks::Output{"", "", 0}, framed);

  Gateway gateway(ReadProcessFacts(globals));
  Question question;
  question.command = event->command;
  question.cwd = event->cwd.starts_with('/') ? Normalise(event->cwd, "/")
                                             : gateway.facts().cwd;
  question.agent = event->agent;
  question.session = event->session;
  question.project = event->project.starts_with('/') ? event->project : "";
  question.interactive = event->can_ask;
  for (const std::string& path : event->paths)
    for (std::string& place :
         WrittenPlaces(path, question.cwd, gateway.facts().home))
      question.file_writes.push_back(std::move(place));
  if (event->kind == hooks::EventKind::kFileWrite &&
      question.file_writes.empty())
    return refuse("a tool that writes files names no file");

  const bool reads = event->kind == hooks::EventKind::kFileRead;
  Judgement judgement = reads ? JudgeReads(gateway, *event, question)
                              : gateway.Judge(question, /*pin=*/true);
  // Of what a tool may read nothing is kept, as of other tools.
  if (reads && judgement.decision.action == Action::kAllow)
    return Print(hooks::Output{"", "", 0}, framed);
  auto answer = AnswerTo(gateway, globals, *event, &judgement);
  if (!answer)
    return refuse("the answer cannot be prepared: " + answer.error().message);
  judgement.unobserved = answer->kind == AnswerKind::kAllow &&
                         judgement.decision.action == Action::kAllow;
  if (auto stored = gateway.Record(&judgement, "hook", true, kBusyTimeoutMs);
      !stored)
    return refuse(
        "the decision could not be recorded, so the command "
        "is refused: " +
        stored.error().message);
  const int code = Print(adapter->Format(*event, *answer), framed);
  gateway.Maintain();
  return code;
}

}  // namespace gate::cli
