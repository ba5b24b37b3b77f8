#include "backends/seatbelt/seatbelt.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "backends/environment.h"
#include "backends/file_count.h"
#include "backends/identity.h"
#include "backends/process/limits.h"
#include "backends/process/outcome.h"
#include "backends/process/program_search.h"
#include "backends/process/relay.h"
#include "backends/process/request.h"
#include "backends/process/spawn.h"
#include "backends/process/supervise.h"
#include "backends/process/sys.h"
#include "backends/protected_paths.h"

namespace gate::backends {
namespace {

constexpr FeatureSet kFeatureSet = {
    Feature::kReadOnlyRoot,     Feature::kReadDeny,
    Feature::kProtectedPaths,   Feature::kNetworkNone,
    Feature::kCleanEnvironment, Feature::kLimits};

// As the kernel sees it (/tmp is a link on macOS). What is not there keeps its
// name below what is.
std::string Canonical(const std::string& path) {
  std::error_code error;
  const std::filesystem::path found =
      std::filesystem::weakly_canonical(path, error);
  return error ? path : found.string();
}

std::vector<std::string> Canonical(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  out.reserve(paths.size());
  for (const std::string& path : paths) out.push_back(Canonical(path));
  return out;
}

// TMPDIR of the run; removed with it when it is the run's own.
class Temporary {
 public:
  explicit Temporary(const std::string& given) : path_(given) {
    if (!given.empty()) return;
    char pattern[] = "/tmp/gate-run-XXXXXX";
    if (mkdtemp(pattern) != nullptr) path_ = pattern;
    own_ = true;
  }
  ~Temporary() {
    std::error_code ignored;
    if (own_ && !path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Temporary(const Temporary&) = delete;  // removes once
  Temporary& operator=(const Temporary&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool own_ = false;
};

class SeatbeltBackend : public Backend {
 public:
  explicit SeatbeltBackend(Seatbelt seatbelt)
      : seatbelt_(std::move(seatbelt)) {}
  const char* Name() const override { return "seatbelt"; }
  Strength GetStrength() const override { return Strength::kLandlock; }
  int Priority() const override { return 40; }
  Availability Probe() override;

 private:
  Result<Outcome> TryRun(const Profile& profile, const Command& command,
                         const Io& io) override;
  Seatbelt seatbelt_;
};

Availability SeatbeltBackend::Probe() {
  Availability availability;
  if (!seatbelt_.here) {
    availability.why = "this is not macOS";
    return availability;
  }
  if (access(seatbelt_.program.c_str(), X_OK) != 0) {
    availability.why = seatbelt_.program + " is not there";
    return availability;
  }
  availability.available = true;
  availability.why = "sandbox-exec is there";
  availability.features = kFeatureSet;
  availability.lost = {
      "no view of its own: names of hidden paths can be found, temporary files "
      "go to TMPDIR, /tmp is out of reach",
      "processes that leave the command's process group outlive it",
      "no network of its own: the host's, or none without a loopback",
      "memory is limited per process, the number of processes per user",
  };
  return availability;
}

Result<Outcome> SeatbeltBackend::TryRun(const Profile& profile,
                                        const Command& command, const Io& io) {
  if (!seatbelt_.here) return NotRun("this is not macOS");
  if (profile.network != Network::kNone && profile.network != Network::kOpen)
    return NotRun("the network is the host's or none on macOS");
  GATE_CHECK(CheckRequest(Name(), kFeatureSet, profile, command, io));
  GATE_CHECK(CheckDirectory(command));
  const RunUser user = ChooseUser(profile);
  if (user.all_ids) return NotRun("the workspace's owner cannot walk to it");
  const Temporary tmp(profile.private_tmp);
  if (tmp.path().empty()) return NotRun("no directory for temporary files");
  if (user.switched && chown(tmp.path().c_str(), user.uid, user.gid) != 0)
    return NotRun("cannot give `" + tmp.path() + "` to its user");
  GATE_TRY(ProtectedPaths protected_paths,
           ProtectedPaths::Begin(profile, command.cwd));

  SeatbeltInputs inputs;
  inputs.write = Canonical(profile.write);
  inputs.write.push_back(Canonical(tmp.path()));
  inputs.hidden = Canonical(profile.deny_read);
  for (const char* place :
       {"/private/tmp", "/private/var/tmp", "/private/var/folders"})
    inputs.hidden.emplace_back(place);
  if (!profile.workspace.empty())
    inputs.shown.push_back(Canonical(profile.workspace));
  inputs.protect = Canonical(profile.protect);
  for (const Bind& bind : protected_paths.binds())
    if (bind.read_only) inputs.protect.push_back(bind.path);
  inputs.names = profile.protect_names;
  inputs.network = profile.network;
  GATE_TRY(const std::string text, SeatbeltProfile(inputs));

  GATE_CHECK(command.permit.Ask());
  const HeldSignals signals;
  SpawnRequest request;
  request.argv = {seatbelt_.program, "-p", text, "--"};
  request.argv.insert(request.argv.end(), command.argv.begin(),
                      command.argv.end());
  request.environment = CleanEnvironment(command.environment, profile);
  SwitchEnvironment(user, &request.environment);
  SetTemporaryPlace(tmp.path(), &request.environment);
  request.cwd = command.cwd;
  GATE_TRY(std::unique_ptr<OutputRelay> relay,
           OutputRelay::Make(io, profile.limits.output_bytes));
  FileCount files(profile);
  request.io = relay->io();
  request.mask = signals.before();
  request.die_with_parent = true;
  const bool terminal = isatty(io.in) == 1;
  request.own_session = !terminal;
  request.switch_user = user.switched;
  request.uid = user.uid;
  request.gid = user.gid;
  request.limits = ProcessLimits(profile.limits);
  const Spawned child = Spawn(request);
  if (child.error != 0)
    return NotRun("cannot start sandbox-exec: " +
                  std::string(strerror(child.error)));
  Watch watch;
  watch.pidfd = child.pidfd.get();
  watch.wall_ms = profile.limits.wall_ms;
  watch.terminal = terminal;
  const auto tell = [&](int signal) {
    if (terminal || IsNotice(signal))
      sys::PidfdSignal(child.pidfd.get(), signal);
    else
      kill(-child.pid, signal);  // its own session's group
  };
  watch.forward = tell;
  watch.expire = [&] { tell(SIGTERM); };
  watch.kill = [&] { tell(SIGKILL); };
  relay->Started();
  relay->Join(&watch);
  files.Join(&watch);
  int status = 0;
  const bool timed_out = WatchUntilEnd(signals, watch, &status);
  if (!terminal) kill(-child.pid, SIGKILL);
  relay->Drain(timed_out ? kGraceMs : -1);

  Outcome outcome;
  const int lacking =
      MissingProgram(command.argv[0], command.cwd, request.environment);
  if (timed_out) {
    SetTimedOut(profile.limits, &outcome);
  } else {
    SetPlainEnd(status, &outcome);
    // sandbox-exec's own codes, of a command that cannot have run.
    if (lacking != 0 && WIFEXITED(status) && outcome.exit_code != 0)
      SetNotExecuted(command.argv[0], command.cwd, lacking, &outcome);
  }
  relay->Judge(&outcome);
  files.Judge(&outcome);
  protected_paths.VerifyAndRestore(&outcome);
  return outcome;
}

}  // namespace

std::unique_ptr<Backend> MakeSeatbelt(Seatbelt seatbelt) {
  return std::make_unique<SeatbeltBackend>(std::move(seatbelt));
}

}  // namespace gate::backends
