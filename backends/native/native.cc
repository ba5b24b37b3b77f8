#include "backends/native/native.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "backends/file_count.h"
#include "backends/native/calls/calls.h"
#include "backends/native/init.h"
#include "backends/native/lasting.h"
#include "backends/native/listen.h"
#include "backends/native/plan.h"
#include "backends/native/process_one.h"
#include "backends/process/limits.h"
#include "backends/process/outcome.h"
#include "backends/process/relay.h"
#include "backends/process/request.h"
#include "backends/process/streams.h"
#include "backends/process/supervise.h"
#include "backends/process/terminal_job.h"
#include "backends/protected_paths.h"
#include "backends/view/mounts.h"
#include "backends/view/view.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"

namespace gate::backends {
namespace {

constexpr int kMaxAttempts = 4;
constexpr int kScopesAbstractSockets = 6;  // Landlock's ABI, Linux 6.12

// What of the second isolation layer a kernel lacks, by Landlock ABI.
struct AbiLoss {
  int abi;
  const char* lost;
};
constexpr AbiLoss kAbiLosses[] = {
    {1,
     "landlock: the kernel has none; the mounts are the only layer against "
     "writing"},
    {3, "landlock: truncating is not covered (ABI 3, Linux 6.2)"},
    {4, "landlock: TCP is not covered (ABI 4, Linux 6.7)"},
    {kScopesAbstractSockets,
     "landlock: abstract unix sockets are not covered where the network is "
     "open, and no network is shared by the lines of a session (ABI 6, Linux "
     "6.12)"},
};

// What every kernel that runs this gives. An overlay is tried by the probe, and
// by each preview, which fails without it.
FeatureSet NativeFeatures(int abi) {
  FeatureSet features = {Feature::kReadOnlyRoot,     Feature::kReadDeny,
                         Feature::kProtectedPaths,   Feature::kPrivateTmp,
                         Feature::kNetworkNone,      Feature::kNetworkLoopback,
                         Feature::kProcessIsolation, Feature::kSeccomp,
                         Feature::kCleanEnvironment, Feature::kLimits,
                         Feature::kTreeLimits,       Feature::kWatchExecs,
                         Feature::kReportBlocked,    Feature::kLending,
                         Feature::kNetworkDomains};
  if (abi > 0) features.Add(Feature::kLandlock);
  return features;
}

std::string Describe(const NativePlan& plan, const SetupError& error) {
  std::string text = "the sandbox could not be built: ";
  text += Name(error.stage);
  const auto index = static_cast<size_t>(error.index);
  if (error.index >= 0 && index < plan.mounts.size())
    text += std::string(" (") + plan.mounts[index].target + ")";
  if (error.stage == Stage::kWorkingDirectory)
    text += std::string(" (") + plan.cwd + ")";
  if (error.stage == Stage::kWorkingDirectory && error.error == ESTALE)
    text += ": inside, this is another directory than the caller's";
  else if (error.error != 0)
    text += std::string(": ") + strerror(error.error);
  if (error.stage == Stage::kOverlay && error.index >= 0 &&
      index < plan.mounts.size()) {
    const auto mounts = ReadMounts();
    const std::string below =
        mounts ? MountBelow(*mounts, plan.mounts[index].target) : "";
    if (!below.empty())
      text += "; something is mounted below it, at " + Visible(below) +
              ", and there is no preview of that";
  }
  return text;
}

// Whether `fd` is a file that ProtectedPaths keeps as it is. The command would
// hold it by the host's own mount, around the read-only one.
bool IsProtected(const Profile& profile, const std::string& cwd, int fd) {
  struct stat info = {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return false;
  char path[PATH_MAX] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  if (readlink(link.c_str(), path, sizeof(path) - 1) < 0) return true;
  const ProtectedPaths protected_paths = ProtectedPaths::Snapshot(profile, cwd);
  return std::any_of(protected_paths.binds().begin(),
                     protected_paths.binds().end(), [&](const Bind& bind) {
                       return bind.read_only && (IsWithin(path, bind.path) ||
                                                 (bind.inode == info.st_ino &&
                                                  bind.device == info.st_dev));
                     });
}

// Whether a path was exchanged or removed while the sandbox was built. Nothing
// of the command has been started then.
bool MayGoNextTime(const SetupError& error) {
  return error.index >= 0 && (error.error == ESTALE || error.error == ENOENT);
}

InitReport ReadReport(int fd) {
  InitReport report;
  ssize_t got = 0;
  do {
    got = read(fd, &report, sizeof(report));
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof(report))) return InitReport();
  return report;
}

class Native : public Backend {
 public:
  const char* Name() const override { return "native"; }
  Strength GetStrength() const override { return Strength::kNamespace; }
  int Priority() const override { return 10; }
  Availability Probe() override;
  void Prepare(const Profile& likely) override;

 private:
  Result<Outcome> TryRun(const Profile& profile, const Command& command,
                         const Io& io) override;
  // `changed`: what was to be shown became something else before the command
  // was started.
  Result<Outcome> RunOnce(const Profile& profile, const Command& command,
                          const Permit& permit, const Io& io, bool* changed);
  // Process 1 in its control group: the prepared one where it fits.
  Result<ProcessOne> Ready(const Beginning& beginning, const sigset_t& mask);

  std::optional<ProcessOne> prepared_;
};

// What the kernel keeps in a control group needs no counting, and what one
// process alone may not exceed would end it before that could be told from any
// other failure.
void LeaveToGroup(const TreeLimits& held, NativePlan* plan) {
  TreeLimits* counted = &plan->tree_limits;
  if (held.cpu_ms != 0) counted->cpu_ms = 0;
  if (held.processes != 0) counted->processes = 0;
  if (held.memory_bytes == 0) return;
  counted->memory_bytes = 0;
  std::erase_if(plan->limits, [](const Limit& limit) {
    return limit.resource == RLIMIT_DATA;
  });
}

Beginning BeginningOf(const Profile& profile, const Io& io) {
  Beginning beginning;
  beginning.user = ChooseUser(profile);
  beginning.new_network = profile.network != Network::kOpen;
  // Where Landlock does not keep the abstract sockets of one run from another,
  // only the network does. Which hosts may be reached is the line's alone.
  if (beginning.new_network && profile.network != Network::kDomains &&
      !profile.session.key.empty() && !profile.state_dir.empty() &&
      profile.overlays.empty() && profile.lend.empty() &&
      profile.environment_lend.empty() && profile.services.empty() &&
      LandlockAbi() >= kScopesAbstractSockets) {
    beginning.session = profile.session;
    beginning.networks_dir = profile.state_dir + "/" + kSessionNetworks;
  }
  beginning.limits = SummedLimits(profile.limits);
  beginning.io = io;
  return beginning;
}

// Whether what the command leaves may go on when gate's process has ended. Not
// where that must stand between: at a terminal, to count what is written to its
// streams, to answer what the filter asks, to keep the network by name, and for
// what is taken away or looked at when the run ends.
bool CanLast(const Profile& profile, const Command& command,
             const NativePlan& plan) {
  return command.lasting != nullptr && !plan.terminal && !plan.asks.Any() &&
         profile.limits.output_bytes == 0 && profile.overlays.empty() &&
         profile.lend.empty() && profile.network != Network::kDomains;
}

void Native::Prepare(const Profile& likely) {
  const Beginning beginning = BeginningOf(likely, Io());
  if (prepared_ && prepared_->beginning() == beginning) return;
  if (!CheckStreams(beginning.io)) return;  // Run says so
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  Result<ProcessOne> started = Ready(beginning, mask);
  if (started) prepared_.emplace(std::move(*started));
}

Result<ProcessOne> Native::Ready(const Beginning& beginning,
                                 const sigset_t& mask) {
  std::optional<ProcessOne> one = std::exchange(prepared_, std::nullopt);
  if (one && one->Become(beginning)) return std::move(*one);
  one.reset();
  return ProcessOne::Start(beginning, mask);
}

Availability Native::Probe() {
  Availability availability;
  Profile profile;
  Command command;
  command.argv = {"probe"};
  command.cwd = "/";
  const HeldSignals signals;
  Beginning beginning;
  beginning.user = ChooseUser(profile);
  beginning.probe = true;
  Result<ProcessOne> one = ProcessOne::Start(beginning, signals.before());
  if (!one) {
    availability.why = one.error().message;
    return availability;
  }
  NativePlan* plan = one->plan();
  const ProtectedPaths protected_paths = ProtectedPaths::Snapshot(profile, "/");
  MountPlaceholders none;
  Status ready = MakeNativePlan(profile, command, protected_paths,
                                beginning.user, plan, &none);
  if (ready) ready = one->HandPlanOver();
  if (!ready) {
    availability.why = ready.error().message;
    return availability;
  }
  const InitReport report = ReadReport(one->report());
  one->Wait();
  constexpr uint32_t kAll = kWorksReadOnly | kWorksProcessOne | kWorksFilter |
                            kWorksTmp | kWorksOwnNetwork;
  if (report.kind == InitReport::kSetupFailed) {
    availability.why = Describe(*plan, report.setup);
  } else if (report.kind != InitReport::kProbed ||
             (report.works & kAll) != kAll) {
    availability.why = "an isolation layer does not hold on this machine";
  } else {
    availability.available = true;
    availability.why =
        "namespaces, seccomp, Landlock ABI " + std::to_string(plan->abi);
    availability.features = NativeFeatures(plan->abi);
    if ((report.works & kWorksOverlay) != 0)
      availability.features.Add(Feature::kOverlay);
    else
      availability.lost.push_back(
          "overlay: the kernel makes none for this user, so there are no "
          "previews");
    for (const AbiLoss& loss : kAbiLosses)
      if (plan->abi < loss.abi) availability.lost.push_back(loss.lost);
  }
  return availability;
}

Result<Outcome> Native::TryRun(const Profile& profile, const Command& command,
                               const Io& io) {
  const int abi = LandlockAbi();
  FeatureSet given = NativeFeatures(abi);
  given.Add(Feature::kOverlay);
  GATE_CHECK(CheckRequest("this machine", given, profile, command, io));
  Io streams = io;
  Fd copy;
  if (abi == 0 || IsProtected(profile, command.cwd, io.in)) {
    // As in bwrap: the file itself could be opened again, for writing. Landlock
    // refuses that outside the writable roots only.
    GATE_TRY(copy, CopyInput(io.in));
    if (copy) streams.in = copy.get();
  }
  bool permitted = false;
  const Permit once([&] {
    Status status = permitted ? Status() : command.permit.Ask();
    permitted = status.has_value();
    return status;
  });
  Result<Outcome> outcome;
  bool changed = true;
  for (int attempt = 0; changed && attempt < kMaxAttempts; ++attempt) {
    changed = false;
    outcome = RunOnce(profile, command, once, streams, &changed);
  }
  return outcome;
}

Result<Outcome> Native::RunOnce(const Profile& profile, const Command& command,
                                const Permit& permit, const Io& io,
                                bool* changed) {
  const uint64_t begin = MonotonicMs();
  GATE_TRY(std::unique_ptr<OutputRelay> relay,
           OutputRelay::Make(io, profile.limits.output_bytes));
  auto files = std::make_unique<FileCount>(profile);
  const Io streams = relay->io();

  auto places = std::make_unique<MountPlaceholders>();
  const HeldSignals signals;
  const Beginning beginning = BeginningOf(profile, streams);
  GATE_TRY(ProcessOne one, Ready(beginning, signals.before()));
  const std::string not_joined = one.not_joined();
  // From here on process 1 works at the same time.
  ProtectedPaths protected_paths = ProtectedPaths::Snapshot(
      profile, command.cwd, [&](const Bind& bind) { one.CloneEarly(bind); });
  if (!protected_paths.refusal().empty())
    return NotRun(protected_paths.refusal());
  NativePlan* plan = one.plan();
  plan->terminal = isatty(io.in) == 1;
  char terminal[PATH_MAX];
  if (plan->terminal && ttyname_r(io.in, terminal, sizeof(terminal)) == 0)
    plan->terminal_path = plan->Keep(terminal);
  GATE_CHECK(MakeNativePlan(profile, command, protected_paths, beginning.user,
                            plan, places.get()));
  plan->lasts = CanLast(profile, command, *plan);
  const TreeLimits held = one.group().held();
  LeaveToGroup(held, plan);
  GATE_CHECK(one.HandPlanOver());
  GATE_CHECK(PlanCommand(profile, command, plan));
  GATE_CHECK(protected_paths.Note(profile, one.pid()));
  GATE_CHECK(permit.Ask());
  one.GiveProcessor();
  one.Tell(kMayStart);

  InitReport report;
  bool reported = false, over = false, interrupted = false;
  bool listening = !plan->asks.Any();
  size_t ports_left = plan->ports.size();
  // What listens for the next port; false for anything else, which is then
  // the report.
  const auto take_port = [&] {
    std::vector<Fd> listeners;
    ssize_t got = 0;
    const size_t index = plan->ports.size() - ports_left;
    if (ReceivePortListeners(one.report(), &listeners, &report, sizeof(report),
                             &got)) {
      --ports_left;
      if (index >= plan->filter_ports)
        command.take_listeners(plan->ports[index].number, std::move(listeners));
      else if (!listeners.empty())
        command.take_filter_socket(kFilterPorts[index].socket,
                                   std::move(listeners.front()));
      return true;
    }
    ports_left = 0;
    listening = true;
    if (got != static_cast<ssize_t>(sizeof(report))) report = InitReport();
    return false;
  };
  CallWatch calls(profile, command, *plan, protected_paths);
  Watch watch;
  watch.pidfd = one.pidfd();
  watch.wall_ms = profile.limits.wall_ms;
  watch.terminal = plan->terminal;
  watch.forward = [&](int signal) {
    one.Tell(static_cast<unsigned char>(signal));
  };
  watch.expire = [&] { one.Tell(kExpired); };
  watch.kill = [&] { one.Kill(); };
  watch.over = &over;
  watch.signalled = &interrupted;
  if (plan->asks.Any()) calls.Join(&watch);
  one.group().Join(&watch);
  watch.served.push_back(
      {[&] { return pollfd{reported ? -1 : one.report(), POLLIN, 0}; },
       [&](short) {
         if (ports_left > 0) {
           if (take_port()) return;
         } else if (!listening) {
           ssize_t got = 0;
           Result<Fd> listener =
               ReceiveListener(one.report(), &report, sizeof(report), &got);
           listening = true;
           if (listener) {
             calls.SetListener(std::move(*listener));
             return;
           }
           if (got != static_cast<ssize_t>(sizeof(report)))
             report = InitReport();
         } else {
           report = ReadReport(one.report());
         }
         reported = true;
         over = report.alone || report.stays;
       }});
  FollowTerminalJob(io.in, [&] { return FirstChildOf(one.pid()); }, &watch);
  relay->Started();
  relay->Join(&watch);
  files->Join(&watch);
  int status = 0;
  const bool timed_out = WatchUntilEnd(signals, watch, &status);
  if (reported && report.stays) {
    Outcome outcome;
    SetEnd(report.wait_status, &outcome);
    outcome.tried_to_leave = report.tried_to_leave;
    outcome.left_listening = report.listening;
    files->Judge(&outcome);
    if (!timed_out && !interrupted && outcome.status != OutcomeStatus::kLimit &&
        one.group().Exceeded() == TreeLimit::kNone) {
      protected_paths.SweepMeanwhile(&outcome);
      ReportSockets(plan->unknown_sockets, &outcome);
      outcome.duration_ms = MonotonicMs() - begin;
      outcome.lasts = true;
      *command.lasting = MakeNativeLasting(
          {std::move(one), std::move(protected_paths), std::move(files),
           std::move(places), begin, profile.limits.wall_ms});
      return outcome;
    }
    // A limit, or who waits for the line, ends all of it at the same time.
    one.Kill();
    one.Wait();
    over = false;
  }
  if (!over) one.Forget();
  places->Remove();
  relay->Drain(timed_out ? kGraceMs : -1);
  while (!reported && ports_left > 0) reported = !take_port();
  if (!reported && !listening) {
    ssize_t got = 0;
    const Result<Fd> listener =
        ReceiveListener(one.report(), &report, sizeof(report), &got);
    reported = !listener && got == static_cast<ssize_t>(sizeof(report));
  }
  if (!reported) report = ReadReport(one.report());

  Outcome outcome;
  outcome.interrupted = interrupted;
  switch (report.kind) {
    case InitReport::kSetupFailed:
      *changed = !interrupted && !timed_out && MayGoNextTime(report.setup);
      return NotRun(Describe(*plan, report.setup));
    case InitReport::kNotExecuted:
      SetNotExecuted(command.argv[0], command.cwd, report.error, &outcome);
      break;
    case InitReport::kEnded:
      SetEnd(report.wait_status, &outcome);
      outcome.tried_to_leave = report.tried_to_leave;
      // What a signal ends together is not left behind.
      if (outcome.status == OutcomeStatus::kExited) {
        outcome.left_running = report.left;
        outcome.left_listening = report.listening;
      }
      break;
    case InitReport::kLimit:
      SetLimit(LimitText(report.limit, beginning.limits), &outcome);
      break;
    default:
      SetSignalled(SIGKILL, "the sandbox was killed", &outcome);
      break;
  }
  const TreeLimit met = one.group().Exceeded();
  if (met != TreeLimit::kNone) {
    TreeLimits bounds = beginning.limits;
    bounds.processes = held.processes;  // of a group above, where that is less
    SetLimit(LimitText(met, bounds), &outcome);
  }
  if (timed_out) {
    outcome.left_running = outcome.left_listening = 0;
    SetTimedOut(profile.limits, &outcome);
  }
  if (plan->asks.Any()) calls.Finish(&outcome);
  relay->Judge(&outcome);
  files->Judge(&outcome);
  protected_paths.VerifyAndRestore(&outcome);
  ReportSockets(plan->unknown_sockets, &outcome);
  // Only then may it have missed a server that another line has started.
  if (!not_joined.empty() && outcome.status == OutcomeStatus::kExited &&
      outcome.exit_code != 0)
    outcome.hints.push_back(
        "probably it reached no server of another line of this session, whose "
        "network it could not join: " +
        not_joined);
  outcome.duration_ms = MonotonicMs() - begin;
  if (over) {
    if (command.ended) command.ended(outcome);
    one.LetGo();
    one.Wait();
  }
  return outcome;
}

}  // namespace

std::unique_ptr<Backend> MakeNative() { return std::make_unique<Native>(); }

}  // namespace gate::backends
