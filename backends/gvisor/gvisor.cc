#include "backends/gvisor/gvisor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "backends/file_count.h"
#include "backends/gvisor/account.h"
#include "backends/process/limits.h"
#include "backends/process/outcome.h"
#include "backends/process/program_search.h"
#include "backends/process/relay.h"
#include "backends/process/request.h"
#include "backends/process/spawn.h"
#include "backends/process/streams.h"
#include "backends/process/supervise.h"
#include "backends/process/sys.h"
#include "backends/protect/cleanup_watchdog.h"
#include "backends/protected_paths.h"
#include "base/file.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

constexpr FeatureSet kFeatureSet = {
    Feature::kReadOnlyRoot,     Feature::kReadDeny,
    Feature::kProtectedPaths,   Feature::kPrivateTmp,
    Feature::kNetworkNone,      Feature::kNetworkLoopback,
    Feature::kProcessIsolation, Feature::kSeccomp,
    Feature::kCleanEnvironment, Feature::kLimits};
constexpr size_t kMaxLog = 64 * 1024;
// What runsc exits with when it failed itself; a command may do so, too.
constexpr int kRunscFailed = 128;

// A container's id is its directory's name: runsc names an abstract socket
// after it, so that on this machine no two may be the same.
std::string ContainerId(const std::string& bundle) {
  return std::string(BaseName(bundle));
}

// Runs that ended without their gate and watchdog. $1 is runsc, $2 the place,
// $3 an option or nothing.
constexpr const char* kPrune =
    "for old in \"$2/gate-gvisor-$owner\"-*; do\n"
    "  [ -d \"$old\" ] && [ ! -L \"$old\" ] && [ -O \"$old\" ] || continue\n"
    "  pid=${old#\"$2/gate-gvisor-$owner-\"}; pid=${pid%%-*}\n"
    "  gone \"$pid\" || continue\n"
    "  \"$1\" --root=\"$old/state\" $3 delete --force \"${old##*/}\" "
    ">/dev/null 2>&1\n"
    "  rm -rf -- \"$old\"\n"
    "done";
// $4 is the run's own directory.
constexpr const char* kRemove =
    "\"$1\" --root=\"$4/state\" $3 delete --force \"${4##*/}\" >/dev/null "
    "2>&1\n"
    "rm -rf -- \"$4\"";

std::vector<std::string> RunscEnvironment() {
  return {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};
}

// A pipe is needed for a stream that is a file, at whose start runsc would
// write; it may also be opened again by the command.
bool IsFile(int fd) {
  struct stat info = {};
  return fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

// The streams as open files of their own. runsc makes each non-blocking, and
// what shares its open file with one that it took before is non-blocking for
// the command too, whose writes then fail; a caller's terminal would stay so.
// A socket cannot be opened again and is passed on as it is.
struct OwnStreams {
  explicit OwnStreams(const Io& from) : io(from) {
    Open(&io.in, O_RDONLY);
    Open(&io.out, O_WRONLY);
    Open(&io.err, O_WRONLY);
  }
  Io io;
  std::vector<Fd> opened;  // to be closed once runsc has them

 private:
  void Open(int* stream, int flags) {
    const std::string path = "/proc/self/fd/" + std::to_string(*stream);
    // Opening a FIFO would else wait for its other end.
    Fd own(open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!own || fcntl(own.get(), F_SETFL, flags) != 0) return;
    *stream = own.get();
    opened.push_back(std::move(own));
  }
};

class GvisorBackend : public Backend {
 public:
  explicit GvisorBackend(Gvisor gvisor) : gvisor_(std::move(gvisor)) {}
  const char* Name() const override { return "gvisor"; }
  Strength GetStrength() const override { return Strength::kGvisor; }
  int Priority() const override { return 60; }
  Availability Probe() override;

 private:
  Result<Outcome> TryRun(const Profile& profile, const Command& command,
                         const Io& io) override;
  std::string Runsc() const {
    for (const std::string& path : gvisor_.paths)
      if (access(path.c_str(), X_OK) == 0) return path;
    return "";
  }
  // Only root writes to /run; elsewhere the owner of a directory is checked.
  std::string Place() const {
    if (!gvisor_.place.empty()) return gvisor_.place;
    return geteuid() == 0 && access("/run", W_OK) == 0 ? "/run" : "/tmp";
  }
  Gvisor gvisor_;
};

Availability GvisorBackend::Probe() {
  Availability availability;
  if (Runsc().empty()) {
    availability.why = "runsc is not installed";
    return availability;
  }
  if (geteuid() != 0) {
    const Result<std::string> most =
        ReadFile("/proc/sys/user/max_user_namespaces", 64);
    if (most && atol(most->c_str()) == 0) {
      availability.why = "an ordinary user has no user namespaces here";
      return availability;
    }
  }
  availability.available = true;
  availability.why = "runsc is there";
  availability.features = kFeatureSet;
  availability.lost = {
      "landlock: no second isolation layer behind gVisor's own file system",
      "the number of processes and written bytes are not limited; gVisor's own "
      "memory counts",
      "the command has no terminal, only streams",
      "an end by signal n is seen as exit code 128+n",
      "no refused write or program start is reported",
      "releases before 2023 (Debian 12's) refuse a flag that `ls` and `stat` "
      "of coreutils use",
      "what uses the file system or starts programs is several times slower",
  };
  if (geteuid() != 0)
    availability.lost.emplace_back("the command sees its user as uid 0");
  return availability;
}

// The directory of one run, and what must be in it.
Result<std::string> MakeBundle(const std::string& place) {
  std::string directory = place + "/gate-gvisor-" + OwnerTag() + "-XXXXXX";
  if (mkdtemp(directory.data()) == nullptr)
    return FailErrno("cannot make a directory in `" + place + "`");
  const Fd empty(open((directory + "/empty").c_str(),
                      O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0));
  if (!empty) return FailErrno("cannot make a file in `" + directory + "`");
  return directory;
}

// To the command itself; runsc run does not pass its own signals on.
bool Signal(const std::string& runsc, const std::string& bundle, bool rootless,
            int signal) {
  const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  SpawnRequest request;
  request.argv = {runsc, "--root=" + bundle + "/state"};
  if (rootless) request.argv.emplace_back("--rootless");
  for (const std::string& word :
       {std::string("kill"), ContainerId(bundle), std::to_string(signal)})
    request.argv.push_back(word);
  request.environment = RunscEnvironment();
  request.cwd = "/";
  request.io = {null.get(), null.get(), null.get()};
  request.own_session = true;
  const Spawned child = Spawn(request);
  if (child.error != 0) return false;
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

Result<Outcome> GvisorBackend::TryRun(const Profile& profile,
                                      const Command& command, const Io& io) {
  const std::string runsc = Runsc();
  if (runsc.empty()) return NotRun("runsc is not installed");
  GATE_CHECK(CheckRequest(Name(), kFeatureSet, profile, command, io));
  GATE_CHECK(CheckDirectory(command));
  const RunUser user = ChooseUser(profile);
  if (user.all_ids) return NotRun("the workspace's owner cannot walk to it");
  GATE_TRY(const Fd copy, CopyInput(io.in));
  Io streams = io;
  if (copy) streams.in = copy.get();
  GATE_TRY(ProtectedPaths protected_paths,
           ProtectedPaths::Begin(profile, command.cwd));
  GATE_TRY(View view, MakeView(profile, protected_paths, user, command.cwd));

  const bool rootless = geteuid() != 0;
  const std::string place = Place();
  GATE_TRY(const std::string bundle, MakeBundle(place));
  Result<CleanupWatchdog> watchdog = CleanupWatchdog::Start(
      kPrune, kRemove, {runsc, place, rootless ? "--rootless" : "", bundle},
      RunscEnvironment());
  if (!watchdog) {
    std::error_code ignored;
    std::filesystem::remove_all(bundle, ignored);
    return NotRun(watchdog.error().message);
  }
  BundleInputs inputs;
  inputs.view = std::move(view);
  inputs.empty = bundle + "/empty";
  inputs.argv = command.argv;
  inputs.environment = CleanEnvironment(command.environment, profile);
  SwitchEnvironment(user, &inputs.environment);
  inputs.cwd = command.cwd;
  inputs.uid = rootless ? 0 : user.uid;
  inputs.gid = rootless ? 0 : user.gid;
  inputs.network = profile.network;
  inputs.limits = profile.limits;
  GATE_TRY(const std::string config, GvisorBundle(inputs));
  GATE_CHECK(WriteFileAtomically(bundle + "/config.json", config, 0600));

  GATE_CHECK(command.permit.Ask());
  const HeldSignals signals;
  SpawnRequest request;
  request.argv = GvisorOptions(bundle, profile.network, rootless);
  request.argv.insert(request.argv.begin(), runsc);
  for (const std::string& word :
       {std::string("run"), "--bundle=" + bundle, ContainerId(bundle)})
    request.argv.push_back(word);
  request.environment = RunscEnvironment();
  request.cwd = "/";
  uint64_t output = profile.limits.output_bytes;
  if (output == 0 && (IsFile(io.out) || IsFile(io.err))) output = UINT64_MAX;
  GATE_TRY(std::unique_ptr<OutputRelay> relay,
           OutputRelay::Make(streams, output));
  FileCount files(profile);
  std::optional<OwnStreams> own(std::in_place, relay->io());
  request.io = own->io;
  request.mask = signals.before();
  request.die_with_parent = true;
  request.own_session = true;
  const Spawned child = Spawn(request);
  own.reset();
  if (child.error != 0)
    return NotRun("cannot start runsc: " + std::string(strerror(child.error)));
  Watch watch;
  watch.pidfd = child.pidfd.get();
  watch.wall_ms = profile.limits.wall_ms;
  watch.forward = [&](int signal) {
    if (!Signal(runsc, bundle, rootless, signal) &&
        !IsNotice(signal))  // not up yet, or gone
      sys::PidfdSignal(child.pidfd.get(), SIGTERM);
  };
  watch.expire = [&] { watch.forward(SIGTERM); };
  Result<std::string> log = std::string();
  const auto read_log = [&] { log = ReadFile(bundle + "/log", kMaxLog); };
  watch.kill = [&] {
    read_log();
    // The sandbox dies with its runsc; the watchdog cleans up.
    sys::PidfdSignal(child.pidfd.get(), SIGKILL);
    watchdog->Remove();
  };
  SandboxAccount account(child.pid, profile.limits);
  account.Join(&watch);
  relay->Started();
  relay->Join(&watch);
  files.Join(&watch);
  int status = 0;
  const bool timed_out = WatchUntilEnd(signals, watch, &status);
  relay->Drain(timed_out ? kGraceMs : -1);
  if (!watchdog->over()) read_log();
  // A clean end has removed the container; the watchdog sees to any other.
  if (WIFEXITED(status) && WEXITSTATUS(status) != kRunscFailed) {
    std::error_code ignored;
    std::filesystem::remove_all(bundle, ignored);
    watchdog->Dismiss();
  } else {
    watchdog->Remove();
  }

  Outcome outcome;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  // runsc writes to its log only when something went wrong, and the command
  // cannot write to it.
  const bool failed = code == kRunscFailed && (!log || !log->empty());
  if (timed_out) {
    SetTimedOut(profile.limits, &outcome);
  } else if (account.exceeded() != TreeLimit::kNone) {
    SetLimit(LimitText(account.exceeded(), SummedLimits(profile.limits)),
             &outcome);
  } else if (const int lacking =
                 failed ? MissingProgram(command.argv[0], command.cwd,
                                         inputs.environment)
                        : 0;
             lacking != 0) {
    SetNotExecuted(command.argv[0], command.cwd, lacking, &outcome);
  } else if (failed) {
    outcome.reason = "gvisor could not run the command" +
                     (log ? ": " + log->substr(0, log->find('\n')) : "");
  } else if (WIFSIGNALED(status)) {
    SetSignalled(WTERMSIG(status), "runsc was killed", &outcome);
  } else {
    SetExited(code, &outcome);
  }
  relay->Judge(&outcome);
  files.Judge(&outcome);
  // Also after a failure: how far it got is not known.
  protected_paths.VerifyAndRestore(&outcome);
  return outcome;
}

}  // namespace

std::unique_ptr<Backend> MakeGvisor(Gvisor gvisor) {
  return std::make_unique<GvisorBackend>(std::move(gvisor));
}

}  // namespace gate::backends
