#include "backends/bwrap/bwrap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "backends/exec_words.h"
#include "backends/file_count.h"
#include "backends/landlock.h"
#include "backends/native/calls/seccomp.h"
#include "backends/process/limits.h"
#include "backends/process/outcome.h"
#include "backends/process/program_search.h"
#include "backends/process/relay.h"
#include "backends/process/request.h"
#include "backends/process/spawn.h"
#include "backends/process/streams.h"
#include "backends/process/supervise.h"
#include "backends/process/sys.h"
#include "backends/process/terminal_job.h"
#include "backends/protected_paths.h"
#include "backends/view/private_way.h"
#include "base/file.h"

namespace gate::backends {
namespace {

constexpr std::array<int, 3> kFixedVersion = {0, 12, 0};
constexpr size_t kMaxStatusBytes = 4096;
// Sockets come and go on the host between being listed and being covered.
constexpr int kMaxAttempts = 4;

// The number after `key` in bwrap's status lines; -1 when it is not there.
long StatusNumber(const std::string& text, const char* key) {
  const size_t at = text.find(key);
  if (at == std::string::npos) return -1;
  const size_t digits = text.find_first_of("0123456789", at + strlen(key));
  if (digits == std::string::npos) return -1;
  return strtol(text.c_str() + digits, nullptr, 10);
}

// Processor time of all that this process and its children have waited for.
uint64_t CpuOfChildrenMs() {
  rusage used = {};
  if (getrusage(RUSAGE_CHILDREN, &used) != 0) return 0;
  const auto ms = [](const timeval& time) {
    return static_cast<uint64_t>(time.tv_sec) * 1000 +
           static_cast<uint64_t>(time.tv_usec) / 1000;
  };
  return ms(used.ru_utime) + ms(used.ru_stime);
}

// Process 1 of bwrap's namespace. Its number is certainly its while
// `supervisor`, which waits for it, has not ended; when that has ended, it has
// waited.
Fd OpenInit(const std::string& status, int supervisor) {
  const long init = StatusNumber(status, "\"child-pid\"");
  if (init <= 0) return Fd();
  Fd opened(
      static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(init), 0u)));
  pollfd fds = {supervisor, POLLIN, 0};
  if (poll(&fds, 1, 0) != 0) opened.reset();
  return opened;
}

// bwrap ends when the command does, or is killed; its process 1, and with it
// what the command left running, is killed by the kernel a moment later. Waits
// for that: what looks at files afterwards must be alone.
void AwaitEnd(const Fd& init) {
  if (!init) return;
  pollfd fds = {init.get(), POLLIN, 0};
  while (poll(&fds, 1, -1) < 0 && errno == EINTR) {
  }
}

// The first child of bwrap's process 1: the command. 0 when unknown.
FeatureSet BwrapFeatures() {
  return {Feature::kReadOnlyRoot,     Feature::kReadDeny,
          Feature::kProtectedPaths,   Feature::kPrivateTmp,
          Feature::kNetworkNone,      Feature::kNetworkLoopback,
          Feature::kProcessIsolation, Feature::kSeccomp,
          Feature::kCleanEnvironment, Feature::kLimits,
          Feature::kLending};
}

// Where `program` is on PATH, if not writable by others: its version decides
// what is said about it. Empty when there is none.
std::string FindBwrap() {
  for (const char* path :
       {"/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"})
    if (access(path, X_OK) == 0) return path;
  return "";
}

// bwrap has no word for a mount that may be left out.
void LeaveOut(const RunUser& user, View* view) {
  if (geteuid() != 0) return;  // saw only what it can reach
  std::erase_if(view->mounts, [&](const ViewMount& mount) {
    return (mount.optional || mount.fleeting) &&
           (IsClosedTo(user, mount.target) ||
            (mount.kind == MountKind::kLent && IsClosedTo(user, mount.source)));
  });
}

class Bwrap : public Backend {
 public:
  const char* Name() const override { return "bwrap"; }
  Strength GetStrength() const override { return Strength::kNamespace; }
  int Priority() const override { return 20; }
  Availability Probe() override;

 private:
  Result<Outcome> TryRun(const Profile& profile, const Command& command,
                         const Io& io) override;
  static Result<Outcome> RunOnce(const std::string& program,
                                 const Profile& profile, const Command& command,
                                 const Io& io, const RunUser& user, View view);
};

// Runs `argv` with its output caught. Empty when it did not exit with 0.
std::string Output(const std::vector<std::string>& argv) {
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) return "";
  const Fd read_end(pipes[0]);
  Fd write_end(pipes[1]);
  const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  SpawnRequest request;
  request.argv = argv;
  request.io = {null.get(), write_end.get(), null.get()};
  const Spawned child = Spawn(request);
  write_end.reset();
  if (child.error != 0) return "";
  const Result<std::string> text = ReadAll(read_end.get(), kMaxStatusBytes);
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  return text && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? *text : "";
}

Availability Bwrap::Probe() {
  Availability availability;
  const std::string program = FindBwrap();
  if (program.empty()) {
    availability.why = "bwrap is not installed";
    return availability;
  }
  const std::string version = Output({program, "--version"});
  // "bubblewrap 0.8.0"
  std::array<int, 3> numbers = {};
  if (sscanf(version.c_str(), "bubblewrap %d.%d.%d", &numbers[0], &numbers[1],
             &numbers[2]) < 2) {
    availability.why = program + " does not say its version";
    return availability;
  }
  // A tiny run that writes where it must not, with the real options.
  Profile profile;
  Command command;
  command.permit = Permit::Given();
  command.argv = {"/bin/sh", "-c", "! (: >/.gate-probe) 2>/dev/null"};
  command.cwd = "/";
  command.environment = {"PATH=/usr/bin:/bin"};
  const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  const Outcome outcome =
      Run(profile, command, {null.get(), null.get(), null.get()});
  if (outcome.status != OutcomeStatus::kExited || outcome.exit_code != 0) {
    availability.why = outcome.status == OutcomeStatus::kExited
                           ? "an isolation layer does not hold on this machine"
                           : outcome.reason;
    return availability;
  }
  availability.available = true;
  availability.why = version.substr(0, version.find('\n'));
  availability.features = BwrapFeatures();
  availability.lost = {
      "landlock: no second isolation layer behind the mounts",
      "an end by signal n is seen as exit code 128+n",
      "on a terminal an interrupt ends bwrap even if the command handles it",
      "memory is limited per process, not in sum; files made in a fresh /tmp "
      "are not counted",
      "files of the host's below /tmp are not seen by their names",
  };
  if (LandlockAbi() < 6)
    availability.lost.push_back(
        "abstract unix sockets are reachable where the network is open (needs "
        "Landlock ABI 6, Linux 6.12)");
  if (numbers < kFixedVersion)
    availability.lost.push_back(
        "bwrap before 0.12.0 follows links while making mount points "
        "(CVE-2026-87766)");
  return availability;
}

Result<Outcome> Bwrap::TryRun(const Profile& profile, const Command& command,
                              const Io& io) {
  const std::string program = FindBwrap();
  if (program.empty()) return NotRun("bwrap is not installed");
  GATE_CHECK(CheckRequest(Name(), BwrapFeatures(), profile, command, io));
  const RunUser user = ChooseUser(profile);
  // Without Landlock a file that was opened for reading could be opened again
  // for writing through /proc/self/fd, around the read-only mounts.
  GATE_TRY(const Fd copy, CopyInput(io.in));
  Io streams = io;
  if (copy) streams.in = copy.get();
  GATE_TRY(ProtectedPaths protected_paths,
           ProtectedPaths::Begin(profile, command.cwd));
  GATE_CHECK(command.permit.Ask());
  Profile reached = profile;
  if (geteuid() == 0 && IsClosedTo(user, profile.private_tmp + "/"))
    reached.private_tmp.clear();  // fresh ones, for this run only
  for (int attempt = 1;; ++attempt) {
    GATE_TRY(View view, MakeView(reached, protected_paths, user, command.cwd));
    if (view.cwd_inode != 0 && command.cwd_inode != 0 &&
        (view.cwd_inode != command.cwd_inode ||
         view.cwd_device != command.cwd_device))
      return NotRun("the working directory `" + command.cwd +
                    "` is now another one");
    LeaveOut(user, &view);
    ClearPrivateWays(view);
    std::vector<std::string> covered;
    for (const ViewMount& mount : view.mounts)
      if (mount.kind == MountKind::kHidden) covered.push_back(mount.target);
    const std::string unknown_sockets = view.unknown_sockets;
    Outcome outcome = OutcomeOf(
        RunOnce(program, profile, command, streams, user, std::move(view)));
    ReportSockets(unknown_sockets, &outcome);
    const bool vanished = std::ranges::any_of(covered, [](const auto& path) {
      return access(path.c_str(), F_OK) != 0 && errno == ENOENT;
    });
    // A failed set-up has run nothing, so that trying again is safe.
    if (outcome.status == OutcomeStatus::kSetupFailed && vanished &&
        attempt < kMaxAttempts)
      continue;
    if (outcome.status != OutcomeStatus::kSetupFailed)
      protected_paths.VerifyAndRestore(&outcome);
    return outcome;
  }
}

Result<Outcome> Bwrap::RunOnce(const std::string& program,
                               const Profile& profile, const Command& command,
                               const Io& io, const RunUser& user, View view) {
  const Filter filter =
      MakeFilter({}, {.local = LocalSocketsOf(view),
                      .taking_room = profile.limits.written_bytes != 0});
  const Result<Fd> seccomp = MemoryFile("gate-filter", filter.code.data(),
                                        filter.size * sizeof(filter.code[0]));
  int status_pipe[2];
  if (!seccomp || pipe2(status_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
    return NotRun("cannot make a descriptor for bwrap");
  const Fd status_read(status_pipe[0]);
  Fd status_write(status_pipe[1]);
  BwrapInputs inputs;
  inputs.cwd = view.cwd;
  inputs.view = std::move(view);
  inputs.network = profile.network;
  inputs.terminal = isatty(io.in) == 1;
  inputs.seccomp_fd = seccomp->get();
  inputs.status_fd = status_write.get();
  inputs.tmpfs_bytes = profile.limits.memory_bytes;
  // Through a file, since an argument vector has a limit and a mount each
  // takes three words.
  std::string words;
  const std::vector<std::string> options = BwrapArguments(inputs);
  for (const std::string& word : options) words.append(word).push_back('\0');
  const Result<Fd> arguments =
      MemoryFile("gate-arguments", words.data(), words.size());
  if (!arguments) return NotRun("cannot make a descriptor for bwrap");

  const HeldSignals signals;
  SpawnRequest request;
  request.argv = {program, "--args", std::to_string(arguments->get()), "--"};
  ExecWords indirect;
  if (options.size() + command.argv.size() > kMaxBwrapWords) {
    GATE_TRY(indirect, MakeExecWords(command.argv));
  }
  const std::vector<std::string>& start =
      indirect.argv.empty() ? command.argv : indirect.argv;
  request.argv.insert(request.argv.end(), start.begin(), start.end());
  request.environment = CleanEnvironment(command.environment, profile);
  SwitchEnvironment(user, &request.environment);
  request.cwd = "/";
  GATE_TRY(std::unique_ptr<OutputRelay> relay,
           OutputRelay::Make(io, profile.limits.output_bytes));
  FileCount files(profile);
  request.io = relay->io();
  request.scope = true;
  request.mask = signals.before();
  request.keep = {arguments->get(), seccomp->get(), status_write.get()};
  if (indirect.words)
    request.keep.insert(request.keep.end(),
                        {indirect.words.get(), indirect.program.get()});
  // bwrap that is killed while it sets up leaves its command running.
  request.supervisor = true;
  request.own_session = !inputs.terminal;
  request.switch_user = user.switched;
  request.uid = user.uid;
  request.gid = user.gid;
  request.limits = ProcessLimits(profile.limits);
  const uint64_t used_before_ms = CpuOfChildrenMs();
  const Spawned child = Spawn(request);
  status_write.reset();
  if (child.error != 0)
    return NotRun("cannot start bwrap: " + std::string(strerror(child.error)));

  std::string status_text;
  const auto read_status = [&] {
    char buffer[512];
    ssize_t got = 0;
    while (status_text.size() < kMaxStatusBytes &&
           (got = read(status_read.get(), buffer, sizeof(buffer))) > 0)
      status_text.append(buffer, static_cast<size_t>(got));
  };
  Watch watch;
  Fd process_one;
  bool asked = false;
  watch.served.push_back(
      {[&] { return pollfd{asked ? -1 : status_read.get(), POLLIN, 0}; },
       [&](short) {
         asked = true;
         read_status();
         process_one = OpenInit(status_text, child.pidfd.get());
       }});
  watch.pidfd = child.pidfd.get();
  watch.wall_ms = profile.limits.wall_ms;
  watch.terminal = inputs.terminal;
  const auto command_now = [&] {
    read_status();
    const long init = StatusNumber(status_text, "\"child-pid\"");
    return init > 0 ? FirstChildOf(static_cast<pid_t>(init)) : 0;
  };
  watch.forward = [&](int signal) {
    const pid_t target = command_now();
    // One that has just ended has no group; -1 would be everybody's.
    const pid_t group = target > 0 ? getpgid(target) : -1;
    // Before the command runs there is only bwrap to tell.
    if (group > 1) {
      const pid_t told = inputs.terminal || IsNotice(signal) ? target : -group;
      kill(told, signal);
      if (IsEnding(signal)) kill(told, SIGCONT);
    } else if (!IsNotice(signal)) {
      sys::PidfdSignal(child.pidfd.get(), SIGTERM);
    }
  };
  watch.expire = [&] { watch.forward(SIGTERM); };
  watch.kill = [&] { sys::PidfdSignal(child.pidfd.get(), SIGKILL); };
  FollowTerminalJob(io.in, command_now, &watch);
  relay->Started();
  relay->Join(&watch);
  files.Join(&watch);
  int status = 0;
  const bool timed_out = WatchUntilEnd(signals, watch, &status);
  read_status();
  AwaitEnd(process_one);
  relay->Drain(timed_out ? kGraceMs : -1);

  Outcome outcome;
  const long code = StatusNumber(status_text, "\"exit-code\"");
  if (timed_out) {
    SetTimedOut(profile.limits, &outcome);
  } else if (WIFSIGNALED(status)) {
    SetSignalled(WTERMSIG(status), "bwrap was killed", &outcome);
  } else if (const int lacking = MissingProgram(command.argv[0], command.cwd,
                                                request.environment);
             lacking != 0 &&
             (code < 0 || (indirect.words && (code == 126 || code == 127)))) {
    SetNotExecuted(command.argv[0], command.cwd, lacking, &outcome);
  } else if (code < 0) {
    return NotRun("bwrap could not build the sandbox (exit code " +
                  std::to_string(WEXITSTATUS(status)) +
                  "; its message is on the error stream)");
  } else {
    SetExited(static_cast<int>(code), &outcome);
    // A signal comes as such a code, which a command may also choose. The
    // kernel sends this one to a process that has used what it may, counted in
    // ticks (check_process_timers() in kernel/time/posix-cpu-timers.c); what is
    // told here is exact, and was up to a tenth less.
    const TreeLimits limits = SummedLimits(profile.limits);
    if (code == 128 + SIGXCPU && limits.cpu_ms != 0 &&
        CpuOfChildrenMs() - used_before_ms >= limits.cpu_ms / 4 * 3) {
      outcome.status = OutcomeStatus::kLimit;
      outcome.signal = SIGXCPU;
      outcome.reason = LimitText(TreeLimit::kCpu, limits);
    }
  }
  relay->Judge(&outcome);
  files.Judge(&outcome);
  return outcome;
}

}  // namespace

std::vector<std::string> BwrapArguments(const BwrapInputs& inputs) {
  std::vector<std::string> out = {"--unshare-user",       "--unshare-pid",
                                  "--unshare-ipc",        "--unshare-uts",
                                  "--unshare-cgroup-try", "--die-with-parent",
                                  "--cap-drop",           "ALL"};
  const auto add = [&out](std::initializer_list<std::string> words) {
    out.insert(out.end(), words);
  };
  if (inputs.network != Network::kOpen) add({"--unshare-net"});
  if (!inputs.terminal) add({"--new-session"});
  if (inputs.view.write_everything)
    add({"--bind", "/", "/"});
  else
    add({"--ro-bind", "/", "/"});
  // uid 0 owns most of /proc/sys even without any capability.
  add({"--proc", "/proc", "--remount-ro", "/proc"});
  std::vector<std::string> seal;
  const auto tmpfs = [&](const std::string& mode, const std::string& target) {
    add({"--perms", mode});
    if (inputs.tmpfs_bytes > 0)
      add({"--size", std::to_string(inputs.tmpfs_bytes)});
    add({"--tmpfs", target});
  };
  for (const ViewMount& mount : inputs.view.mounts) {
    switch (mount.kind) {
      case MountKind::kDevices:
        add({"--dev", mount.target});
        break;
      case MountKind::kFresh:
        tmpfs(mount.mode == 01777 ? "1777" : "0755", mount.target);
        break;
      case MountKind::kBacked:
        add({"--bind", mount.source, mount.target});
        break;
      case MountKind::kLent:
        add({mount.read_only ? "--ro-bind" : "--bind", mount.source,
             mount.target});
        break;
      case MountKind::kShown:
      case MountKind::kBind:
        add({mount.read_only ? "--ro-bind" : "--bind", mount.target,
             mount.target});
        break;
      case MountKind::kResolver:
        break;  // it gives no network by name
      case MountKind::kHidden:
        if (mount.directory) {
          tmpfs(mount.holds_others ? "0711" : "0000", mount.target);
          seal.push_back(mount.target);
        } else {
          // A device on a mount without devices: it cannot be opened.
          add({"--ro-bind", "/dev/null", mount.target});
        }
        break;
    }
  }
  for (const std::string& target : seal) add({"--remount-ro", target});
  if (inputs.seccomp_fd >= 0)
    add({"--seccomp", std::to_string(inputs.seccomp_fd)});
  if (inputs.status_fd >= 0)
    add({"--json-status-fd", std::to_string(inputs.status_fd)});
  add({"--chdir", inputs.cwd});
  return out;
}

std::unique_ptr<Backend> MakeBwrap() { return std::make_unique<Bwrap>(); }

}  // namespace gate::backends
