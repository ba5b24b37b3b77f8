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

// The child of a started sandbox.
struct Started {
  Fd pidfd;
  Fd report;
  Fd control;
  Fd control_read;  // kept, so that writing to a dead child raises no SIGPIPE
};

Result<Started> Start(NativePlan* plan, const Io& io, const sigset_t& mask,
                      bool probe) {
  int report[2], control[2];
  // A pipe cannot carry the descriptor of the filter's questions.
  if ((plan->asks.Any()
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
  context.plan = plan;
  context.in = io.in;
  context.out = io.out;
  context.err = io.err;
  context.report = report_write.get();
  context.control = started.control_read.get();
  context.uid = geteuid();
  context.gid = getegid();
  context.mask = mask;
  context.probe = probe;
  if (getrlimit(RLIMIT_NOFILE, &context.open_files) != 0)
    return FailErrno("cannot read the limit of open files");
  uint64_t flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC |
                   CLONE_NEWUTS | CLONE_NEWCGROUP;
  if (plan->new_network) flags |= CLONE_NEWNET;
  int pidfd = -1;
  const pid_t child = sys::Clone(flags, &pidfd);
  if (child == 0) RunInit(context);
  if (child < 0) return FailErrno("the kernel refuses new namespaces");
  started.pidfd = Fd(pidfd);
  const RunUser& user = plan->user;
  if (user.switched || user.all_ids) {
    if (!WriteMap(child, "uid_map", user.uid, user.all_ids) ||
        !WriteMap(child, "gid_map", user.gid, user.all_ids) ||
        write(started.control.get(), "g", 1) != 1) {
      const auto failed = FailErrno("cannot map the workspace's owner");
      sys::PidfdSignal(pidfd, SIGKILL);
      siginfo_t info = {};
      waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED);
      return failed;
    }
  }
  return started;
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
  const Guard guard = Guard::Record(profile, "/");
  Result<NativePlan> plan = MakeNativePlan(profile, command, guard);
  if (!plan) {
    availability.why = plan.error().message;
    return availability;
  }
  const HeldSignals signals;
  const Result<Started> started = Start(&*plan, Io(), signals.before(), true);
  if (!started) {
    availability.why = started.error().message;
    return availability;
  }
  const InitReport report = ReadReport(started->report.get());
  siginfo_t info = {};
  waitid(P_PIDFD, static_cast<id_t>(started->pidfd.get()), &info, WEXITED);
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
  Guard guard = Guard::Record(profile, command.cwd);
  if (!guard.refusal().empty()) return Failed(guard.refusal());
  Result<NativePlan> plan = MakeNativePlan(profile, command, guard);
  if (!plan) return Failed(plan.error().message);
  FeatureSet given = NativeFeatures(plan->abi);
  given.Add(Feature::kOverlay);
  const std::vector<Feature> missing = profile.required.Without(given);
  if (!missing.empty())
    return Failed(
        std::string("this machine lacks what the profile requires: ") +
        backends::Name(missing.front()));
  plan->terminal = isatty(io.in) == 1;
  Result<std::unique_ptr<OutputRelay>> relay =
      OutputRelay::Make(io, profile.limits.output_bytes);
  if (!relay) return Failed(relay.error().message);
  Io streams = (*relay)->io();
  Result<Fd> copy = Fd();
  if (plan->abi == 0) {
    // As in bwrap: without Landlock the file itself could be opened again.
    copy = CopyInput(io.in);
    if (!copy) return Failed(copy.error().message);
    if (*copy) streams.in = copy->get();
  }

  const HeldSignals signals;
  const Result<Started> started =
      Start(&*plan, streams, signals.before(), false);
  if (!started) return Failed(started.error().message);
  InitReport report;
  bool reported = false, listening = !plan->asks.Any();
  CallWatch calls(profile, command, *plan, guard);
  Watch watch;
  watch.pidfd = started->pidfd.get();
  watch.wall_ms = profile.limits.wall_ms;
  watch.terminal = plan->terminal;
  const auto tell = [&](unsigned char byte) {
    (void)!write(started->control.get(), &byte, 1);
  };
  watch.forward = [&](int signal) { tell(static_cast<unsigned char>(signal)); };
  watch.expire = [&] { tell(kExpired); };
  watch.kill = [&] { sys::PidfdSignal(started->pidfd.get(), SIGKILL); };
  if (plan->asks.Any()) {
    watch.served.push_back(
        {[&] {
           return pollfd{listening ? -1 : started->report.get(), POLLIN, 0};
         },
         [&](short) {
           ssize_t got = 0;
           Result<Fd> listener = ReceiveListener(started->report.get(), &report,
                                                 sizeof(report), &got);
           listening = true;
           if (listener)
             calls.SetListener(std::move(*listener));
           else
             reported = true;  // it ended before
           if (reported && got != static_cast<ssize_t>(sizeof(report)))
             report = InitReport();
         }});
    calls.Join(&watch);
  }
  (*relay)->Started();
  (*relay)->Join(&watch);
  int status = 0;
  const bool timed_out = WatchUntilEnd(signals, watch, &status);
  (*relay)->Drain(timed_out ? kGraceMs : -1);
  if (!listening) {
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
  return outcome;
}

}  // namespace

std::unique_ptr<Backend> MakeNative() { return std::make_unique<Native>(); }

}  // namespace gate::backends
