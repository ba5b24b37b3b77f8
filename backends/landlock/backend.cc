#include "backends/landlock/backend.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "backends/environment.h"
#include "backends/file_count.h"
#include "backends/landlock/supervisor.h"
#include "backends/process/outcome.h"
#include "backends/process/program_search.h"
#include "backends/process/relay.h"
#include "backends/process/request.h"
#include "backends/process/streams.h"
#include "backends/process/supervise.h"
#include "backends/process/sys.h"
#include "backends/protected_paths.h"
#include "base/file.h"

namespace gate::backends {
namespace {

constexpr FeatureSet kFeatureSet = {
    Feature::kReadDeny, Feature::kNetworkNone,      Feature::kSeccomp,
    Feature::kLandlock, Feature::kCleanEnvironment, Feature::kLimits};

// A directory for temporary files, gone with the object.
class OwnTmp {
 public:
  static Result<OwnTmp> Make(const Profile& profile, const RunUser& user) {
    OwnTmp tmp;
    // The session's directory may be out of a switched user's reach.
    if (!profile.private_tmp.empty() && !user.switched) {
      tmp.path_ = profile.private_tmp + "/tmp";
      if (mkdir(tmp.path_.c_str(), 0700) != 0 && errno != EEXIST)
        return FailErrno("cannot make `" + tmp.path_ + "`");
      struct stat info = {};
      if (lstat(tmp.path_.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
        return Fail(ErrorCode::kInvalid,
                    "`" + tmp.path_ + "` is not a directory");
      return tmp;
    }
    char pattern[] = "/tmp/gate-run-XXXXXX";
    if (mkdtemp(pattern) == nullptr)
      return FailErrno("cannot make a directory for temporary files");
    tmp.path_ = pattern;
    tmp.owned_ = true;
    if (user.switched && chown(pattern, user.uid, user.gid) != 0)
      return FailErrno("cannot give the temporary directory to its user");
    return tmp;
  }
  OwnTmp(OwnTmp&& other) noexcept
      : path_(std::move(other.path_)), owned_(other.owned_) {
    other.owned_ = false;
  }
  OwnTmp& operator=(OwnTmp&&) = delete;
  ~OwnTmp() {
    std::error_code ignored;
    if (owned_) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  OwnTmp() = default;
  std::string path_;
  bool owned_ = false;
};

// How many tasks of `uid` run now: its limit counts all of them, and no
// namespace keeps those of the run apart.
uint64_t TasksOf(uid_t uid) {
  uint64_t count = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc", error), end;
       !error && at != end; at.increment(error)) {
    struct stat info = {};
    const std::string tasks = at->path().string() + "/task";
    if (stat(tasks.c_str(), &info) == 0 && info.st_uid == uid)
      count += info.st_nlink > 2 ? info.st_nlink - 2 : 1;
  }
  return count;
}

// What a plan's pointers point into.
struct Kept {
  LandlockView view;
  Command command;
  std::vector<std::string> environment, programs;
};

SupervisorPlan MakePlan(const Profile& profile, const Kept& kept,
                        const RunUser& user) {
  SupervisorPlan plan;
  plan.user = user;
  plan.abi = LandlockAbi();
  plan.no_tcp = profile.network == Network::kNone;
  plan.cwd = kept.command.cwd.c_str();
  plan.filter =
      MakeFilter({}, {.local = LocalSockets::kPairsOnly,
                      .taking_room = profile.limits.written_bytes != 0});
  plan.more = MakeLandlockFilter(profile.network == Network::kOpen,
                                 /*freeze=*/profile.write.empty());
  for (const std::string& root : kept.view.write)
    plan.write.push_back({root.c_str(), false});
  for (const std::string& device : kept.view.devices)
    plan.write.push_back({device.c_str(), true});
  for (const std::string& path : kept.view.read)
    plan.read.push_back(path.c_str());
  for (const std::string& program : kept.programs)
    plan.programs.push_back(program.c_str());
  for (const std::string& word : kept.command.argv)
    plan.argv.push_back(const_cast<char*>(word.c_str()));
  plan.argv.push_back(nullptr);
  for (const std::string& entry : kept.environment)
    plan.envp.push_back(const_cast<char*>(entry.c_str()));
  plan.envp.push_back(nullptr);
  Limits limits = profile.limits;
  if (limits.processes > 0) limits.processes += TasksOf(user.uid);
  plan.limits = ProcessLimits(limits);
  return plan;
}

class Landlock : public Backend {
 public:
  const char* Name() const override { return "landlock"; }
  Strength GetStrength() const override { return Strength::kLandlock; }
  int Priority() const override { return 30; }
  Availability Probe() override;

 private:
  Result<Outcome> TryRun(const Profile& profile, const Command& command,
                         const Io& io) override;
};

Availability Landlock::Probe() {
  Availability availability;
  const int abi = LandlockAbi();
  if (abi < kMinLandlockAbi) {
    availability.why = abi == 0 ? "the kernel has no Landlock"
                                : "Landlock ABI " + std::to_string(abi) +
                                      " does not stop truncating; ABI 3 (Linux "
                                      "6.2) is needed";
    return availability;
  }
  // A file that this user can write must be neither written nor read inside,
  // and no socket made.
  char escape_probe[] = "/tmp/gate-canary-XXXXXX";
  const Fd file(mkstemp(escape_probe));
  if (!file || !WriteAll(file.get(), "canary")) {
    availability.why = "cannot make a file to try it with";
    return availability;
  }
  Profile profile;
  Command command;
  command.permit = Permit::Given();
  command.argv = {"/bin/sh", "-c",
                  "(: >\"$0\") 2>/dev/null && exit 1; read -r x <\"$0\" && "
                  "exit 2; : >\"$TMPDIR/x\" && exit 42",
                  escape_probe};
  command.cwd = "/";
  command.environment = {"PATH=/usr/bin:/bin"};
  const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  const Outcome outcome =
      Run(profile, command, {null.get(), null.get(), null.get()});
  struct stat info = {};
  const bool kept = fstat(file.get(), &info) == 0 && info.st_size == 6;
  unlink(escape_probe);
  if (outcome.status != OutcomeStatus::kExited || outcome.exit_code != 42 ||
      !kept) {
    availability.why = outcome.status == OutcomeStatus::kExited
                           ? "an isolation layer does not hold on this machine"
                           : outcome.reason;
    return availability;
  }
  availability.available = true;
  availability.why =
      "Landlock ABI " + std::to_string(abi) + ", seccomp, no namespaces";
  availability.features = kFeatureSet;
  availability.lost = {
      "existing protected paths inside a writable root can be changed; what is "
      "new or changed is taken afterwards",
      "modes, times and attributes of the user's own files outside can be "
      "changed where something is writable",
      "no view of its own: names in hidden directories can be listed, and "
      "command lines of other processes seen",
      "temporary files go to TMPDIR; /tmp, /var/tmp, /dev/shm and /run are out "
      "of reach, new terminals cannot be opened",
      "no unix sockets but pairs, no kernel IPC; no network of its own: the "
      "host's, or none without a loopback",
      "memory is limited per process, the number of processes per user",
  };
  if (abi < 6)
    availability.lost.push_back(
        "other processes of the user, and the one that cleans up, can be "
        "signalled (needs Landlock ABI 6, Linux 6.12)");
  return availability;
}

Result<Outcome> Landlock::TryRun(const Profile& profile, const Command& command,
                                 const Io& io) {
  if (LandlockAbi() < kMinLandlockAbi)
    return NotRun("Landlock ABI 3 (Linux 6.2) is needed");
  if (profile.network != Network::kNone && profile.network != Network::kOpen)
    return NotRun("without namespaces the network is the host's or none");
  GATE_CHECK(CheckRequest(Name(), kFeatureSet, profile, command, io));
  const RunUser user = ChooseUser(profile);
  if (user.all_ids)
    return NotRun(
        "the workspace's owner cannot walk to it, and without a user namespace "
        "nobody else may write there");
  GATE_TRY(const OwnTmp tmp, OwnTmp::Make(profile, user));
  GATE_TRY(LandlockView view, MakeLandlockView(profile, tmp.path()));
  Kept kept;
  kept.view = std::move(view);
  kept.command = command;
  kept.environment = CleanEnvironment(command.environment, profile);
  SwitchEnvironment(user, &kept.environment);
  kept.environment.push_back("PWD=" + command.cwd);
  SetTemporaryPlace(tmp.path(), &kept.environment);
  kept.programs = ProgramCandidates(command.argv[0], kept.environment);
  const SupervisorPlan plan = [&] {
    SupervisorPlan made = MakePlan(profile, kept, user);
    made.terminal = isatty(io.in) == 1;
    return made;
  }();
  GATE_TRY(ProtectedPaths protected_paths,
           ProtectedPaths::Begin(profile, command.cwd, /*held=*/false));
  GATE_TRY(std::unique_ptr<OutputRelay> relay,
           OutputRelay::Make(io, profile.limits.output_bytes));
  FileCount files(profile);
  GATE_CHECK(command.permit.Ask());

  int report[2], control[2];
  if (pipe2(report, O_CLOEXEC) != 0) return NotRun("cannot make a pipe");
  const Fd report_read(report[0]);
  Fd report_write(report[1]);
  if (pipe2(control, O_CLOEXEC) != 0) return NotRun("cannot make a pipe");
  // Kept, so that writing to a dead supervisor raises no SIGPIPE.
  const Fd control_read(control[0]);
  const Fd control_write(control[1]);
  const HeldSignals signals;
  SupervisorContext context;
  context.plan = &plan;
  context.in = relay->io().in;
  context.out = relay->io().out;
  context.err = relay->io().err;
  context.report = report_write.get();
  context.control = control_read.get();
  context.gate = getpid();
  context.mask = signals.before();
  int number = -1;
  const pid_t supervisor = sys::Clone(0, &number);
  if (supervisor == 0) RunSupervisor(context);
  if (supervisor < 0) return NotRun("cannot start a process");
  const Fd pidfd(number);
  report_write.reset();

  const auto tell = [&](unsigned char byte) {
    (void)!write(control_write.get(), &byte, 1);
  };
  Watch watch;
  watch.pidfd = pidfd.get();
  watch.wall_ms = profile.limits.wall_ms;
  watch.terminal = plan.terminal;
  watch.forward = [&](int signal) { tell(static_cast<unsigned char>(signal)); };
  watch.expire = [&] { tell(kTerminateAll); };
  watch.kill = [&] { tell(kKillAll); };
  relay->Started();
  relay->Join(&watch);
  files.Join(&watch);
  int status = 0;
  const bool timed_out = WatchUntilEnd(signals, watch, &status);
  SupervisorReport said;
  ssize_t got = 0;
  do {
    got = read(report_read.get(), &said, sizeof(said));
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof(said))) said = SupervisorReport();
  // Where the supervisor was killed something may still write.
  relay->Drain(!timed_out && WIFEXITED(status) ? -1 : kGraceMs);

  Outcome outcome;
  switch (said.kind) {
    case SupervisorReport::kFailed:
      return NotRun(
          std::string("the sandbox could not be built: ") + said.step +
          (said.error == 0 ? "" : std::string(": ") + strerror(said.error)));
    case SupervisorReport::kNotExecuted:
      SetNotExecuted(command.argv[0], command.cwd, said.error, &outcome);
      break;
    case SupervisorReport::kEnded:
      SetEnd(said.wait_status, &outcome);
      break;
    default:
      SetSignalled(SIGKILL, "the sandbox was killed", &outcome);
      break;
  }
  if (timed_out) {
    SetTimedOut(profile.limits, &outcome);
  }
  relay->Judge(&outcome);
  files.Judge(&outcome);
  protected_paths.VerifyAndRestore(&outcome);
  return outcome;
}

}  // namespace

std::unique_ptr<Backend> MakeLandlock() { return std::make_unique<Landlock>(); }

}  // namespace gate::backends
