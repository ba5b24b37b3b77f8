#include "gateway/lasting.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <set>
#include <utility>

#include "audit/redact.h"
#include "backends/protected_paths.h"
#include "backends/run_journal.h"
#include "base/paths.h"
#include "gateway/line.h"
#include "gateway/log.h"
#include "gateway/runs/left_running.h"
#include "lasting/lasting_runs.h"

namespace gate::app {
namespace {

using backends::Outcome;
using backends::OutcomeStatus;
using backends::Violation;

std::string RunsOf(const Gateway& gateway) {
  return gateway.facts().places.state + "/runs";
}

lasting::Entry EntryOf(const Authorization& authorization,
                       const backends::LastingRun& left,
                       const Outcome& outcome) {
  lasting::Entry entry;
  entry.id = authorization.id;
  entry.agent = authorization.request.agent;
  entry.session = authorization.request.session;
  entry.workspace = authorization.session.workspace;
  entry.cwd = authorization.request.cwd;
  entry.command = audit::Redact(LineOf(authorization.request), nullptr);
  entry.backend = authorization.plan.backend;
  entry.profile = authorization.plan.profile.name;
  entry.policy_revision = authorization.policy_revision;
  entry.network = authorization.plan.profile.session.key;
  entry.roots = authorization.plan.profile.write;
  entry.note = left.note();
  entry.process_one = left.process_one();
  entry.started_ms = NowMs();
  entry.status = Name(outcome.status);
  entry.exit_code = outcome.exit_code;
  entry.signal = outcome.signal;
  entry.duration_ms = outcome.duration_ms;
  for (const Violation& violation : outcome.violations)
    entry.violations.emplace_back(backends::Name(violation.kind),
                                  violation.detail);
  return entry;
}

// What the audit log needs of the line of an entry.
Authorization AuthorizationOf(const lasting::Entry& entry) {
  Authorization authorization;
  authorization.id = entry.id;
  authorization.request.agent = entry.agent;
  authorization.request.session = entry.session;
  authorization.request.command = entry.command;
  authorization.request.cwd = entry.cwd;
  authorization.policy_revision = entry.policy_revision;
  authorization.plan.backend = entry.backend;
  return authorization;
}

Outcome OutcomeOf(const lasting::Entry& entry) {
  Outcome outcome;
  outcome.status = entry.status == Name(OutcomeStatus::kExited)
                       ? OutcomeStatus::kExited
                   : entry.status == Name(OutcomeStatus::kViolation)
                       ? OutcomeStatus::kViolation
                       : OutcomeStatus::kSignalled;
  outcome.exit_code = entry.exit_code;
  outcome.signal = entry.signal;
  outcome.duration_ms = entry.duration_ms;
  for (const auto& [kind, detail] : entry.violations)
    outcome.violations.push_back({backends::ParseViolationKind(kind).value_or(
                                      backends::ViolationKind::kProtectedPath),
                                  detail});
  return outcome;
}

// A supervisor holds nothing of whoever called gate: no stream, and none of the
// descriptors that it was started with, which gate's own are told from by
// close-on-exec.
void LetGoOfCaller() {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < 3; ++fd)
    if (null < 0 || ::dup2(null, fd) < 0) ::_exit(1);
  DIR* list = ::opendir("/proc/self/fd");
  if (list == nullptr) ::_exit(1);
  std::vector<int> callers;
  while (const dirent* entry = ::readdir(list)) {
    const int fd = std::atoi(entry->d_name);
    if (fd < 3 || fd == ::dirfd(list)) continue;
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) callers.push_back(fd);
  }
  ::closedir(list);
  for (const int fd : callers) ::close(fd);
}

// As what a shell sends to the background: the keys of a terminal are not meant
// for it. It stays in the line's process group, so who ends that ends the run.
void BecomeSupervisor() {
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGQUIT, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  ::prctl(PR_SET_NAME, "gate-keeper", 0, 0, 0);
  if (::chdir("/") != 0) ::_exit(1);
  LetGoOfCaller();
}

[[noreturn]] void BeSupervisor(Gateway& gateway,
                               const Authorization& authorization, const Fd& go,
                               lasting::Holder* holder,
                               std::unique_ptr<backends::LastingRun> left,
                               Outcome outcome) {
  BecomeSupervisor();
  char word = 0;
  ssize_t got = 0;
  do {
    got = ::read(go.get(), &word, 1);
  } while (got < 0 && errno == EINTR);
  // Without its word gate was killed, or ends the run itself.
  if (got != 1) ::_exit(1);
  left->Keep(&outcome);
  const Status recorded =
      gateway.RecordOutcome(authorization.id, authorization, outcome, "run");
  gateway.CloseLog();
  left.reset();
  // One that is not on record stays for whoever comes next.
  if (recorded) holder->Remove(authorization.id);
  ::_exit(0);
}

}  // namespace

bool MayLast(const Authorization& authorization, bool transport) {
  const router::Plan& plan = authorization.plan;
  const backends::Profile& profile = plan.profile;
  if (profile.network == backends::Network::kOpen &&
      !FindBackground(LineOf(authorization.request)).any)
    return false;
  return plan.mode == router::Mode::kSandbox && !transport &&
         authorization.signing.keys.empty() && plan.opened.empty() &&
         profile.services.empty() && profile.lend.empty() &&
         profile.environment_lend.empty() && profile.overlays.empty() &&
         std::find(profile.write.begin(), profile.write.end(), "/") ==
             profile.write.end();
}

void KeepLasting(Gateway& gateway, const Authorization& authorization,
                 std::unique_ptr<backends::LastingRun> left, Outcome* outcome) {
  gateway.CloseLog();
  const auto give_up = [&](const std::string& why) {
    LogDebug("what the line left in the background ends with it: " + why);
    left->End(outcome);
  };
  Result<lasting::Holder> holder =
      lasting::Holder::Begin(gateway.facts().places.state);
  if (!holder) return give_up(holder.error().message);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return give_up("there is no pipe");
  Fd go(ends[0]), word(ends[1]);
  // Who finds the supervisor may tell it to end before it listens.
  sigset_t ending, before;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGHUP);
  ::pthread_sigmask(SIG_BLOCK, &ending, &before);
  const pid_t supervisor = ::fork();
  if (supervisor != 0) ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (supervisor == 0) {
    word.reset();
    BeSupervisor(gateway, authorization, go, &*holder, std::move(left),
                 *outcome);
  }
  if (supervisor < 0) return give_up("there is no process for its keeper");
  lasting::Entry entry = EntryOf(authorization, *left, *outcome);
  entry.supervisor = supervisor;
  Status kept = holder->Publish(std::move(entry));
  // What the line came to is on record before anybody hears of it.
  if (kept)
    kept =
        gateway.RecordNote(authorization.id, authorization, *outcome, "lasts");
  gateway.CloseLog();
  if (kept) kept = WriteAll(word.get(), "g");
  if (!kept) {
    word.reset();
    while (::waitpid(supervisor, nullptr, 0) < 0 && errno == EINTR) {
    }
    return give_up(kept.error().message);
  }
  left->Leave();
  holder->Leave();
}

void FinishLastingRuns(Gateway& gateway, std::vector<Violation>* found) {
  for (const lasting::Dead& dead :
       lasting::TakeDead(gateway.facts().places.state)) {
    Outcome outcome = OutcomeOf(dead.entry);
    outcome.left_end = "ended: its keeper was killed";
    const std::string note(BaseName(dead.entry.note));
    // Killed while it looked at what the run left, it had renamed the note.
    for (const std::string& name :
         {note, note + std::string(backends::kEnding)}) {
      if (note.empty()) break;
      const std::vector<Violation> swept =
          backends::FinishKilledRun(RunsOf(gateway), name);
      found->insert(found->end(), swept.begin(), swept.end());
      outcome.violations.insert(outcome.violations.end(), swept.begin(),
                                swept.end());
    }
    if (gateway.RecordOutcome(dead.entry.id, AuthorizationOf(dead.entry),
                              outcome, "run"))
      lasting::Remove(dead);
  }
  gateway.CloseLog();
}

Status LookAtLastingRuns(Gateway& gateway, std::vector<Violation>* found) {
  FinishLastingRuns(gateway, found);
  GATE_TRY(const std::vector<lasting::Entry> running,
           lasting::ListRunning(gateway.facts().places.state));
  if (running.empty()) return {};
  // Of several that see the same the oldest answers for all.
  std::set<std::pair<std::string, std::vector<std::string>>> seen;
  for (const lasting::Entry& run : running) {
    if (run.note.empty() ||
        !seen.emplace(run.workspace + '\n' + run.cwd, run.roots).second)
      continue;
    Outcome outcome;
    {
      const Fd turn = backends::TakeTurn(RunsOf(gateway));
      // Where there is no note it has just ended, and was looked at then.
      if (!backends::ProtectedPaths::SweepRunning(run.note, &outcome))
        backends::ProtectedPaths::SweepRunning(
            run.note + std::string(backends::kEnding), &outcome);
    }
    if (outcome.violations.empty()) continue;
    for (Violation& violation : outcome.violations)
      violation.detail += " (of run " + run.id + ", which goes on)";
    outcome.status = OutcomeStatus::kViolation;
    outcome.reason = "found before a line that runs raw";
    GATE_CHECK(gateway.RecordNote(run.id, AuthorizationOf(run), outcome,
                                  Name(OutcomeStatus::kViolation)));
    found->insert(found->end(), outcome.violations.begin(),
                  outcome.violations.end());
  }
  gateway.CloseLog();
  return {};
}

}  // namespace gate::app
