#include "gateway/execute.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "approvals/trust.h"
#include "backends/environment.h"
#include "backends/lending.h"
#include "backends/none.h"
#include "backends/run_journal.h"
#include "base/paths.h"
#include "base/text.h"
#include "credentials/gpg_stub.h"
#include "credentials/ssh_stub.h"
#include "gateway/git_transport.h"
#include "gateway/grants/named_hosts.h"
#include "gateway/grants/opened_places.h"
#include "gateway/grants/signing.h"
#include "gateway/grants/tool_caches.h"
#include "gateway/line.h"
#include "gateway/log.h"
#include "gateway/programs/program_verification.h"
#include "gateway/runs/left_running.h"
#include "gateway/runs/terminal_state.h"
#include "gateway/settings_copies.h"
#include "gateway/withheld.h"

namespace gate::app {
namespace {

using backends::Outcome;
using backends::OutcomeStatus;

// After a longer run the log is opened anew: it may have been moved meanwhile.
constexpr uint64_t kKeepLogMs = 1000;

Outcome NotStarted(std::string why) {
  Outcome outcome;
  outcome.reason = std::move(why);
  return outcome;
}

backends::Command ToCommand(const Gateway& gateway, const Request& request) {
  // After `--` a line that begins with a dash is no option of bash.
  backends::Command command;
  command.argv =
      request.is_argv
          ? request.argv
          : std::vector<std::string>{"/bin/bash", "-c", "--", request.command};
  const ProcessFacts& facts = gateway.facts();
  command.cwd = request.cwd;
  if (request.cwd == facts.cwd) {
    command.cwd_device = facts.cwd_device;
    command.cwd_inode = facts.cwd_inode;
  }
  command.directory = request.directory;
  command.environment = facts.environment;
  backends::MakeLocaleSafe(&command.environment);
  return command;
}

// Whether the file is the one that the word means: itself, or what the search
// finds that the line was judged with.
bool IsMeantBy(const std::string& word, const backends::ExecEvent& event,
               const std::vector<std::string>& environment) {
  if (word.find('/') != std::string::npos)
    return Normalise(word, event.cwd) == Normalise(event.path, "/");
  if (BaseName(event.path) != word) return false;
  const std::string directory(DirName(event.path));
  std::string_view search = "/usr/local/bin:/usr/bin:/bin";
  for (const std::string& entry : environment)
    if (entry.starts_with("PATH=")) search = std::string_view(entry).substr(5);
  for (size_t begin = 0; begin <= search.size();) {
    const size_t end = std::min(search.find(':', begin), search.size());
    if (search.substr(begin, end - begin) == directory) return true;
    begin = end + 1;
  }
  return false;
}

// Whether the line that was judged names exactly this program start. A process
// can call any file by any name.
bool IsPartOf(const parser::Analysis& analysis,
              const backends::ExecEvent& event,
              const std::vector<std::string>& environment) {
  const std::vector<std::string>& argv = event.argv;
  if (argv.empty() || !IsMeantBy(argv[0], event, environment)) return false;
  return std::any_of(
      analysis.invocations.begin(), analysis.invocations.end(),
      [&](const parser::Invocation& invocation) {
        return std::equal(
            invocation.argv.begin(), invocation.argv.end(), argv.begin(),
            argv.end(), [](const parser::Argument& word, const std::string& s) {
              return word.known && !word.splits && !word.glob && word.text == s;
            });
      });
}

// A program start as the policy can judge it: what the kernel starts, once by
// each of its names. The name is the caller's to choose, the file is not; of
// programs that act by their name (busybox) all are judged, and of a link the
// file that it leads to.
std::vector<std::vector<std::string>> StartsOf(
    const backends::ExecEvent& event) {
  std::vector<std::vector<std::string>> starts;
  const auto add = [&](const std::vector<std::string>& names,
                       std::vector<std::string> argv) {
    std::vector<std::string_view> known;
    if (argv.empty()) argv.resize(1);
    for (const std::string& name : names) {
      const std::string_view base = BaseName(name);
      if (name.empty() || std::ranges::find(known, base) != known.end())
        continue;
      known.push_back(base);
      argv[0] = name;
      starts.push_back(argv);
    }
  };
  add({event.path, event.file, event.argv.empty() ? "" : event.argv[0]},
      event.argv);
  for (const backends::ExecInterpreter& next : event.interpreters)
    add({next.path, next.file}, next.argv);
  return starts;
}

// A program start inside, by the policy of the line. What the line itself says
// was decided with it; of what that leads to only a no counts where a person
// has approved the line. Else nobody can be asked by now, so an ask is a no.
backends::ExecVerdict JudgeStart(Gateway& gateway, const Authorization& line,
                                 const backends::ExecEvent& event) {
  if (!event.complete) return {false, "its arguments cannot be read"};
  // What git starts as its ssh or gpg, and what that may is judged outside.
  if (event.file == gateway.facts().executable && event.interpreters.empty() &&
      event.argv.size() > 1 &&
      (event.argv[1] == credentials::kGitSshCommand ||
       credentials::IsGpgCall(event.argv[1])))
    return {true, ""};
  const bool named =
      IsPartOf(line.analysis, event, gateway.facts().environment);
  const bool approved = named && line.decision.action == rules::Action::kAsk;
  Request request;
  request.is_argv = true;
  request.inside_run = true;
  request.cwd = event.cwd;
  request.agent = line.request.agent;
  request.session = line.request.session;
  request.project = line.request.project.empty() ? line.session.workspace
                                                 : line.request.project;
  bool first = true;
  for (std::vector<std::string>& argv : StartsOf(event)) {
    if (std::exchange(first, false) && named) continue;
    request.argv = std::move(argv);
    const engine::Decision decision =
        gateway.Authorize(request, /*pin=*/false).decision;
    if (decision.action == rules::Action::kAllow ||
        decision.action == rules::Action::kSandbox ||
        (approved && decision.action == rules::Action::kAsk))
      continue;
    return {false, decision.reason};
  }
  return {true, ""};
}

// Whether libraries are searched only where no sandboxed command can have put
// one.
bool AreOutOfReach(std::string_view directories,
                   const std::vector<std::string>& writable) {
  for (size_t begin = 0; begin <= directories.size();) {
    const size_t end =
        std::min(directories.find(':', begin), directories.size());
    const std::string place(directories.substr(begin, end - begin));
    const std::string real = RealPath(place);
    if (!place.starts_with('/') || place.find('$') != std::string::npos ||
        IsWritablePlace(Normalise(place, "/"), writable) ||
        (!real.empty() && IsWritablePlace(real, writable)))
      return false;
    begin = end + 1;
  }
  return true;
}

// What a command gets that runs as it is. An agent may have set any of it.
std::vector<std::string> DirectEnvironment(Gateway& gateway,
                                           const Authorization& authorization) {
  std::vector<std::string> all = gateway.facts().environment;
  backends::MakeLocaleSafe(&all);
  const bool approved = authorization.decision.action == rules::Action::kAsk;
  std::vector<std::string> kept = backends::RawEnvironment(all, approved);
  if (approved) return kept;
  // Programs of clusters and of package managers do not start without it.
  constexpr std::string_view kLibraries = "LD_LIBRARY_PATH=";
  for (const std::string& entry : all)
    if (entry.starts_with(kLibraries) &&
        AreOutOfReach(std::string_view(entry).substr(kLibraries.size()),
                      gateway.WritablePlaces(authorization.session)))
      kept.push_back(entry);
  return kept;
}

// What runs that go on did to what a raw line would obey.
Status LookBeforeRaw(Gateway& gateway) {
  Outcome found;
  Status looked = LookAtLastingRuns(gateway, &found.violations);
  if (!looked)
    return Fail(looked.error().code,
                "what earlier lines left running cannot be looked at: " +
                    looked.error().message);
  if (gateway.told()) gateway.told()(found.violations);
  return {};
}

// Whether a line signals what an earlier one of its session left running. What
// does that has gate stand by, and so leaves nothing itself.
bool RelaysSignals(const Gateway& gateway, const Authorization& authorization) {
  const ProcessFacts& facts = gateway.facts();
  const Request& request = authorization.request;
  if (!HasEarlierRuns(facts.places.state, request,
                      authorization.plan.profile.workspace))
    return false;
  std::optional<parser::Analysis> again;
  const parser::Analysis& analysis = AnalysisOf(facts, authorization, &again);
  const Background background = FindBackground(LineOf(request));
  return SignalsProcesses(analysis) &&
         (!background.any || IsEndedByLine(analysis, background));
}

}  // namespace

Outcome RunPlanned(Gateway& gateway, Authorization* authorization,
                   backends::Permit permit, Leftovers leftovers,
                   std::function<void(const Outcome&)> ended) {
  backends::Command command = ToCommand(gateway, authorization->request);
  command.permit = std::move(permit);
  command.ended = std::move(ended);
  if (authorization->plan.profile.watch_execs)
    command.judge_exec = [&](const backends::ExecEvent& event) {
      return JudgeStart(gateway, *authorization, event);
    };
  const router::Plan& plan = authorization->plan;
  switch (plan.mode) {
    case router::Mode::kRefused:
      return NotStarted("refused: " + plan.why);
    case router::Mode::kDirect:
      if (const Status looked = LookBeforeRaw(gateway); !looked)
        return NotStarted(looked.error().message);
      // The policy allowed exactly this, or a person did.
      command.environment = DirectEnvironment(gateway, *authorization);
      return backends::MakeNone(backends::unsafe::NoSandbox())
          ->Run(plan.profile, command, {});
    case router::Mode::kSandbox:
      break;
  }
  backends::Backend* backend = gateway.FindBackend(plan.backend);
  if (backend == nullptr)
    return NotStarted("there is no backend `" + plan.backend + "`");
  ShowSettings(gateway.facts(), CanShow(gateway, plan.backend),
               &authorization->plan.profile);
  GiveToolCaches(gateway, *authorization, &authorization->plan.profile);
  MadePlaces made;
  if (const Status opened = made.Make(plan.opened); !opened)
    return NotStarted(opened.error().message);
  Result<std::optional<services::Forwarder>> forwarder =
      OfferLocalServices(gateway, authorization);
  ShowPasswords(gateway.facts(), CanShow(gateway, plan.backend),
                &authorization->plan.profile);
  Result<std::optional<net::NetworkFilter>> filter =
      OfferNamedHosts(gateway, authorization);
  if (!filter)
    return NotStarted(
        "its network cannot be limited to the hosts it may "
        "reach: " +
        filter.error().message);
  std::string unfiltered;
  if (*filter)
    command.take_filter_socket = [&](backends::FilterSocket kind, Fd socket) {
      if (const Status given = (*filter)->Give(KindOf(kind), std::move(socket));
          !given && unfiltered.empty())
        unfiltered = given.error().message;
    };
  if (forwarder && *forwarder)
    command.take_listeners = [&](uint16_t port, std::vector<Fd> listeners) {
      // Where it is gone, nothing listens inside any more.
      (void)(*forwarder)->Give(port, listeners);
    };
  backend->Prepare(plan.profile);
  std::vector<backends::Violation> finished;
  FinishLastingRuns(gateway, &finished);
  for (backends::Violation& violation :
       backends::RecoverKilledRuns(gateway.facts().places.state + "/runs"))
    finished.push_back(std::move(violation));
  if (const Status noted =
          NoteRemotes(gateway.facts(), authorization->session.workspace,
                      authorization->plan.profile);
      !noted)
    return NotStarted("the remotes of its repository cannot be noted: " +
                      noted.error().message);
  Result<std::optional<credentials::SshBroker>> broker =
      OfferGitTransport(gateway, authorization);
  Result<std::optional<credentials::SigningAgent>> signing =
      OfferSigning(gateway, authorization);
  const auto with_finished = [&](Outcome outcome) {
    if (broker && *broker)
      for (credentials::Transport& transport : (*broker)->Finish())
        authorization->transports.push_back(std::move(transport));
    else if (!broker)
      authorization->transports.emplace_back().refused =
          "git over ssh has no broker: " + broker.error().message;
    if (forwarder && *forwarder)
      for (const services::Forwarded& one : (*forwarder)->Finish())
        authorization->forwarded.push_back(one);
    if (!forwarder) {
      outcome.withheld.push_back(
          "ports of this machine, which could not be forwarded: " +
          forwarder.error().message);
      outcome.instead = "send the line again, or tell the person";
    }
    if (*filter) {
      if (!authorization->reached) authorization->reached = (*filter)->Finish();
      TellUnreached(*authorization->reached, &outcome);
      if (!unfiltered.empty())
        outcome.withheld.push_back("the network: " + unfiltered);
    }
    if (signing && *signing && !(*signing)->finished())
      authorization->signed_for = (*signing)->Finish();
    else if (!signing)
      authorization->signing.withheld =
          "the key that signs commits (" + signing.error().message + ")";
    FillWithheld(gateway.facts(), *authorization, &outcome);
    outcome.violations.insert(outcome.violations.begin(), finished.begin(),
                              finished.end());
    return outcome;
  };
  if (command.ended)
    command.ended = [&with_finished,
                     tell = std::move(command.ended)](const Outcome& outcome) {
      tell(with_finished(outcome));
    };
  if (plan.profile.git_only)
    if (auto trust =
            LoadTrust(gateway.facts().places.state, plan.profile.workspace))
      authorization->plan.profile.trusted = std::move(trust->files);
  Result<Fd> in_use = Fd();
  if (!plan.profile.private_tmp.empty()) {
    in_use =
        PrepareSessionTmp(gateway.facts(), plan.profile.private_tmp, NowMs());
    if (!in_use)
      return NotStarted("the private /tmp cannot be made: " +
                        in_use.error().message);
  }
  const auto copies = backends::StageCopies(&authorization->plan.profile);
  if (!copies)
    return NotStarted("what is lent cannot be copied: " +
                      copies.error().message);
  if (RelaysSignals(gateway, *authorization))
    command.relay_signal = [&](pid_t number, int signal) {
      return SignalEarlierRun(
          gateway.facts().places.state, authorization->request,
          authorization->plan.profile.workspace, number, signal);
    };
  const TerminalState terminal;
  LogDebug("runs in " + plan.backend + ", profile " + plan.profile.name);
  std::unique_ptr<backends::LastingRun> left;
  if (leftovers == Leftovers::kLast &&
      MayLast(*authorization, broker && broker->has_value()))
    command.lasting = &left;
  Outcome outcome = with_finished(backend->Run(plan.profile, command, {}));
  if (left == nullptr) return outcome;
  KeepLasting(gateway, *authorization, std::move(left), &outcome);
  if (!outcome.lasts)
    FillWithheld(gateway.facts(), *authorization, &outcome);
  else
    FillNotForwarded(*authorization, &outcome);
  return outcome;
}

Result<Executed> RecordAndExecute(Gateway& gateway,
                                  Authorization* authorization,
                                  const std::string& mode,
                                  Leftovers leftovers) {
  // No connection of SQLite's is carried into what is started. native starts
  // its process before the record is made, so that there the connection that
  // wrote it can write the outcome as well.
  gateway.CloseLog();
  const bool keep_log = authorization->plan.mode == router::Mode::kSandbox &&
                        authorization->plan.backend == "native";
  std::optional<Status> decided;
  const auto record_decision = [&]() -> Status {
    if (decided) return *decided;
    decided = gateway.Record(authorization, mode, true);
    if (!keep_log) gateway.CloseLog();
    return *decided;
  };
  Status recorded;
  bool told = false;
  const auto record_outcome = [&](const Outcome& outcome) {
    told = true;
    if (outcome.duration_ms > kKeepLogMs) gateway.CloseLog();
    recorded =
        gateway.RecordOutcome(authorization->id, *authorization, outcome, mode);
    gateway.CloseIdleLog();
  };
  Executed executed;
  executed.id = authorization->id;
  Outcome& outcome = executed.outcome;
  outcome =
      RunPlanned(gateway, authorization, backends::Permit(record_decision),
                 leftovers, record_outcome);
  if (outcome.lasts) return executed;  // its supervisor records it
  // What failed before its start was decided as well.
  if (const Status stored = record_decision(); !stored)
    return std::unexpected(stored.error());
  // The sandbox and what only it held is gone by now, so that there may be room
  // where there was none before.
  if (told && !recorded) gateway.CloseLog();
  if (!told || !recorded) record_outcome(outcome);
  executed.recorded = std::move(recorded);
  return executed;
}

Executed Execute(Gateway& gateway, Authorization* authorization,
                 const std::string& parent, const std::string& mode,
                 Leftovers leftovers) {
  gateway.CloseLog();
  Executed executed;
  executed.id = parent;
  executed.outcome =
      RunPlanned(gateway, authorization, backends::Permit::Given(), leftovers);
  if (executed.outcome.lasts) return executed;  // its supervisor records it
  executed.recorded =
      gateway.RecordOutcome(parent, *authorization, executed.outcome, mode);
  return executed;
}

bool CanBecome(const router::Plan& plan) {
  const backends::Limits& limits = plan.profile.limits;
  return plan.mode == router::Mode::kDirect && limits.wall_ms == 0 &&
         limits.output_bytes == 0;
}

Status Become(Gateway& gateway, const Authorization& authorization,
              const std::string& parent) {
  backends::Command command = ToCommand(gateway, authorization.request);
  command.environment = DirectEnvironment(gateway, authorization);
  if (const Status looked = LookBeforeRaw(gateway); !looked)
    return Fail(looked.error().code, "nothing runs: " + looked.error().message);
  Outcome outcome;
  outcome.status = OutcomeStatus::kUnobserved;
  outcome.reason = "runs raw in the client's place";
  if (const Status recorded =
          gateway.RecordOutcome(parent, authorization, outcome, "run");
      !recorded) {
    return Fail(recorded.error().code,
                "that it runs could not be recorded, so nothing runs: " +
                    recorded.error().message);
  }
  gateway.CloseLog();
  if (::chdir(command.cwd.c_str()) != 0 || IdOf(".") != command.directory) {
    return Fail(ErrorCode::kUnavailable,
                "did not start: " + Visible(command.cwd) +
                    " is another directory than the one that was judged");
  }
  std::vector<char*> argv;
  for (std::string& word : command.argv) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<char*> environment;
  for (std::string& entry : command.environment)
    environment.push_back(entry.data());
  environment.push_back(nullptr);
  ::execve(argv[0], argv.data(), environment.data());
  return FailErrno("did not start: " + command.argv[0]);
}

Status RecordNotStarted(Gateway& gateway, const Authorization& authorization,
                        const std::string& parent, const std::string& mode,
                        const std::string& why) {
  return gateway.RecordOutcome(parent, authorization, NotStarted(why), mode);
}

}  // namespace gate::app
