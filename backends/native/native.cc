#include "backends/native/native.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "backends/guard.h"
#include "backends/native/calls.h"
#include "backends/native/init.h"
#include "backends/native/plan.h"
#include "backends/native/sys.h"
#include "backends/relay.h"
#include "backends/streams.h"
#include "backends/supervise.h"
#include "base/file.h"

namespace gate::backends {
namespace {

// What of the second wall a kernel lacks, by Landlock ABI.
struct AbiLoss {
  int abi;
  const char* lost;
};
constexpr AbiLoss kAbiLosses[] = {
    {1,
     "landlock: the kernel has none; the mounts are the only wall against "
     "writing"},
    {3, "landlock: truncating is not covered (ABI 3, Linux 6.2)"},
    {4, "landlock: TCP is not covered (ABI 4, Linux 6.7)"},
    {6,
     "landlock: abstract unix sockets are not covered where the network is "
     "open (ABI 6, Linux 6.12)"},
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
                         Feature::kReportBlocked};
  if (abi > 0) features.Add(Feature::kLandlock);
  return features;
}

// Writes a map of the child in which `id` (or, for the whole range, every id)
// stays what it is. Only root needs this.
bool WriteMap(pid_t pid, const char* name, unsigned id, bool all) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  const Fd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  const std::string map =
      all ? "0 0 4294967295"
          : std::to_string(id) + " " + std::to_string(id) + " 1";
  return fd && write(fd.get(), map.data(), map.size()) ==
                   static_cast<ssize_t>(map.size());
}

std::string Describe(const NativePlan& plan, const SetupError& error) {
  std::string text = "the sandbox could not be built: ";
  text += Name(error.stage);
  const auto index = static_cast<size_t>(error.index);
  if (error.index >= 0 && index < plan.mounts.size())
    text += std::string(" (") + plan.mounts[index].target + ")";
  if (error.stage == Stage::kWorkingDirectory)
    text += std::string(" (") + plan.cwd + ")";
  if (error.error != 0) text += std::string(": ") + strerror(error.error);
  return text;
}

// The child of a started sandbox. Going away it takes the child along.
class Started {
 public:
  Started() = default;
  Started(Started&&) = default;
  Started& operator=(Started&&) = delete;
  ~Started() {
    if (!pidfd) return;
    sys::PidfdSignal(pidfd.get(), SIGKILL);
    Wait();
  }

  // One word of gate's; whether it could be said.
  bool Tell(unsigned char byte) const {
    return write(control.get(), &byte, 1) == 1;
  }
  // Blocks until process 1 and with it its namespace is gone.
  void Wait() {
    siginfo_t info = {};
    while (waitid(P_PIDFD, static_cast<id_t>(pidfd.get()), &info, WEXITED) !=
               0 &&
           errno == EINTR) {
    }
    pidfd.reset();
  }
  // Somebody else has waited.
  void Forget() { pidfd.reset(); }

  pid_t pid = -1;
  Fd pidfd;
  Fd report;
  Fd control;
  Fd control_read;  // kept, so that writing to a dead child raises no SIGPIPE
};

struct Beginning {
  RunUser user;
  Network network = Network::kNone;
  bool asks = false;  // the filter has a listener
  bool probe = false;
};

// Starts process 1, which makes its namespaces and waits for the plan.
Result<Started> Start(const PlanSpace& space, const Beginning& beginning,
                      const Io& io, const sigset_t& mask) {
  int report[2], control[2];
  // A pipe cannot carry the descriptor of the filter's questions.
  if ((beginning.asks
           ? socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, report)
           : pipe2(report, O_CLOEXEC)) != 0)
    return FailErrno("cannot make a pipe");
  Started started;
  started.report = Fd(report[0]);
  const Fd report_write(report[1]);
  if (pipe2(control, O_CLOEXEC) != 0) return FailErrno("cannot make a pipe");
  started.control_read = Fd(control[0]);
  started.control = Fd(control[1]);

  InitContext context;
  context.space = &space;
  context.user = beginning.user;
  context.new_network = beginning.network != Network::kOpen;
  context.loopback = beginning.network == Network::kLoopback;
  context.in = io.in;
  context.out = io.out;
  context.err = io.err;
  context.report = report_write.get();
  context.control = started.control_read.get();
  context.uid = geteuid();
  context.gid = getegid();
  context.mask = mask;
  context.probe = beginning.probe;
  if (getrlimit(RLIMIT_NOFILE, &context.open_files) != 0)
    return FailErrno("cannot read the limit of open files");
  int pidfd = -1;
  const pid_t child = sys::Clone(CLONE_NEWUSER | CLONE_NEWPID, &pidfd);
  if (child == 0) RunInit(context);
  if (child < 0) return FailErrno("the kernel refuses new namespaces");
  started.pid = child;
  started.pidfd = Fd(pidfd);
  return started;
}

// The plan is complete: process 1 may follow it.
Status HandPlanOver(const Started& started, const RunUser& user) {
  if (user.switched || user.all_ids) {
    if (!WriteMap(started.pid, "uid_map", user.uid, user.all_ids) ||
        !WriteMap(started.pid, "gid_map", user.gid, user.all_ids))
      return FailErrno("cannot map the workspace's owner");
  }
  if (!started.Tell(kPlanReady)) return FailErrno("process 1 cannot be told");
  return {};
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

void SetEnd(int status, Outcome* outcome) {
  if (WIFEXITED(status)) {
    outcome->status = OutcomeStatus::kExited;
    outcome->exit_code = WEXITSTATUS(status);
    outcome->reason = "exited";
    return;
  }
  outcome->status = OutcomeStatus::kSignalled;
  outcome->signal = WTERMSIG(status);
  outcome->reason = std::string("ended by ") + strsignal(outcome->signal);
  if (outcome->signal == SIGXCPU || outcome->signal == SIGXFSZ) {
    outcome->status = OutcomeStatus::kLimit;
    outcome->reason = outcome->signal == SIGXCPU ? "the processor time limit"
                                                 : "the file size limit";
  } else if (outcome->signal == SIGSYS) {
    outcome->status = OutcomeStatus::kViolation;
    outcome->reason = "a system call of another architecture";
    outcome->violations.push_back({"system-call", outcome->reason});
  }
}

// What `limit` is called, with its number.
std::string LimitText(TreeLimit limit, const Limits& limits) {
  switch (limit) {
    case TreeLimit::kCpu:
      return "the processor time limit of " + std::to_string(limits.cpu_s) +
             " s";
    case TreeLimit::kMemory:
      return "the memory limit of " + std::to_string(limits.memory_bytes) +
             " bytes";
    case TreeLimit::kProcesses:
      return "the limit of " + std::to_string(limits.processes) + " processes";
    case TreeLimit::kWritten:
      return "the limit of " + std::to_string(limits.written_bytes) +
             " written bytes";
    case TreeLimit::kHidden:
      return "a process whose use of a limited resource cannot be read";
    case TreeLimit::kNone:
      break;
  }
  return "a limit";
}

Outcome Failed(std::string reason) {
  Outcome outcome;
  outcome.reason = std::move(reason);
  return outcome;
}

class Native : public Backend {
 public:
  const char* Name() const override { return "native"; }
  Strength GetStrength() const override { return Strength::kNamespace; }
  int Priority() const override { return 10; }
  Availability Probe() override;
  Outcome Run(const Profile& profile, const Command& command,
              const Io& io) override;
};

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
  const Result<PlanSpace> space = PlanSpace::Make();
  if (!space) {
    availability.why = space.error().message;
    return availability;
  }
  NativePlan* plan = space->plan();
  Result<Started> started = Start(*space, beginning, Io(), signals.before());
  if (!started) {
    availability.why = started.error().message;
    return availability;
  }
  const Guard guard = Guard::Record(profile, "/");
  Status ready = MakeNativePlan(profile, command, guard, beginning.user, plan);
  if (ready) ready = HandPlanOver(*started, beginning.user);
  if (!ready) {
    availability.why = ready.error().message;
    return availability;
  }
  const InitReport report = ReadReport(started->report.get());
  started->Wait();
  constexpr uint32_t kAll = kWorksReadOnly | kWorksProcessOne | kWorksFilter |
                            kWorksTmp | kWorksNoNetwork;
  if (report.kind == InitReport::kSetupFailed) {
    availability.why = Describe(*plan, report.setup);
  } else if (report.kind != InitReport::kProbed ||
             (report.works & kAll) != kAll) {
    availability.why = "a wall does not hold on this machine";
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

Outcome Native::Run(const Profile& profile, const Command& command,
                    const Io& io) {
  const uint64_t begin = MonotonicMs();
  if (const Status streams = CheckStreams(io); !streams)
    return Failed(streams.error().message);
  if (profile.network == Network::kDomains)
    return Failed("a network limited to domains is not available here");
  const int abi = LandlockAbi();
  FeatureSet given = NativeFeatures(abi);
  given.Add(Feature::kOverlay);
  const std::vector<Feature> missing = profile.required.Without(given);
  if (!missing.empty())
    return Failed(
        std::string("this machine lacks what the profile requires: ") +
        backends::Name(missing.front()));
  Result<std::unique_ptr<OutputRelay>> relay =
      OutputRelay::Make(io, profile.limits.output_bytes);
  if (!relay) return Failed(relay.error().message);
  Io streams = (*relay)->io();
  Result<Fd> copy = Fd();
  if (abi == 0) {
    // As in bwrap: without Landlock the file itself could be opened again.
    copy = CopyInput(io.in);
    if (!copy) return Failed(copy.error().message);
    if (*copy) streams.in = copy->get();
  }

  const HeldSignals signals;
  const Result<PlanSpace> space = PlanSpace::Make();
  if (!space) return Failed(space.error().message);
  Beginning beginning;
  beginning.user = ChooseUser(profile);
  beginning.network = profile.network;
  beginning.asks = profile.watch_execs || profile.report_blocked;
  Result<Started> started = Start(*space, beginning, streams, signals.before());
  if (!started) return Failed(started.error().message);
  // From here on process 1 works at the same time.
  Guard guard = Guard::Record(profile, command.cwd);
  if (!guard.refusal().empty()) return Failed(guard.refusal());
  NativePlan* plan = space->plan();
  plan->terminal = isatty(io.in) == 1;
  if (Status ready =
          MakeNativePlan(profile, command, guard, beginning.user, plan);
      !ready)
    return Failed(ready.error().message);
  if (Status handed = HandPlanOver(*started, beginning.user); !handed)
    return Failed(handed.error().message);
  if (const Status permitted = command.permit.Ask(); !permitted)
    return Failed(permitted.error().message);
  (void)started->Tell(kMayStart);  // a dead process 1 is seen below

  InitReport report;
  bool reported = false, over = false, listening = !plan->asks.Any();
  CallWatch calls(profile, command, *plan, guard);
  Watch watch;
  watch.pidfd = started->pidfd.get();
  watch.wall_ms = profile.limits.wall_ms;
  watch.terminal = plan->terminal;
  watch.forward = [&](int signal) {
    (void)started->Tell(static_cast<unsigned char>(signal));
  };
  watch.expire = [&] { (void)started->Tell(kExpired); };
  watch.kill = [&] { sys::PidfdSignal(started->pidfd.get(), SIGKILL); };
  watch.over = &over;
  if (plan->asks.Any()) calls.Join(&watch);
  watch.served.push_back(
      {[&] { return pollfd{reported ? -1 : started->report.get(), POLLIN, 0}; },
       [&](short) {
         if (!listening) {
           ssize_t got = 0;
           Result<Fd> listener = ReceiveListener(started->report.get(), &report,
                                                 sizeof(report), &got);
           listening = true;
           if (listener) {
             calls.SetListener(std::move(*listener));
             return;
           }
           if (got != static_cast<ssize_t>(sizeof(report)))
             report = InitReport();
         } else {
           report = ReadReport(started->report.get());
         }
         reported = true;
         over = report.alone;
       }});
  (*relay)->Started();
  (*relay)->Join(&watch);
  int status = 0;
  const bool timed_out = WatchUntilEnd(signals, watch, &status);
  if (!over) started->Forget();
  (*relay)->Drain(timed_out ? kGraceMs : -1);
  if (!reported && !listening) {
    ssize_t got = 0;
    const Result<Fd> listener =
        ReceiveListener(started->report.get(), &report, sizeof(report), &got);
    reported = !listener && got == static_cast<ssize_t>(sizeof(report));
  }
  if (!reported) report = ReadReport(started->report.get());

  Outcome outcome;
  switch (report.kind) {
    case InitReport::kSetupFailed:
      return Failed(Describe(*plan, report.setup));
    case InitReport::kNotExecuted:
      outcome.status = OutcomeStatus::kExited;
      outcome.not_found = report.error == ENOENT;
      outcome.exit_code = outcome.not_found ? 127 : 126;
      outcome.reason = command.argv[0] + ": " + strerror(report.error);
      break;
    case InitReport::kEnded:
      SetEnd(report.wait_status, &outcome);
      break;
    case InitReport::kLimit:
      outcome.status = OutcomeStatus::kLimit;
      outcome.signal = SIGKILL;
      outcome.reason = LimitText(report.limit, profile.limits);
      break;
    default:
      outcome.status = OutcomeStatus::kSignalled;
      outcome.signal = SIGKILL;
      outcome.reason = "the sandbox was killed";
      break;
  }
  if (timed_out) {
    outcome.status = OutcomeStatus::kTimeout;
    outcome.reason = "the wall clock limit of " +
                     std::to_string(profile.limits.wall_ms) + " ms";
  }
  if (plan->asks.Any()) calls.Finish(&outcome);
  (*relay)->Judge(&outcome);
  guard.Sweep(&outcome);
  outcome.duration_ms = MonotonicMs() - begin;
  if (over) {
    if (command.ended) command.ended(outcome);
    started->Wait();
  }
  return outcome;
}

}  // namespace

std::unique_ptr<Backend> MakeNative() { return std::make_unique<Native>(); }

}  // namespace gate::backends
