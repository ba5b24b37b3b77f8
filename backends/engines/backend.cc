#include "backends/engines/backend.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "backends/engine_image.h"
#include "backends/engines/account.h"
#include "backends/engines/container_seccomp.h"
#include "backends/file_count.h"
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
#include "base/hash.h"
#include "base/text.h"

namespace gate::backends {
namespace {

constexpr FeatureSet kFeatureSet = {
    Feature::kReadOnlyRoot,     Feature::kReadDeny,
    Feature::kProtectedPaths,   Feature::kPrivateTmp,
    Feature::kNetworkNone,      Feature::kNetworkLoopback,
    Feature::kProcessIsolation, Feature::kSeccomp,
    Feature::kCleanEnvironment, Feature::kLimits,
    Feature::kTreeLimits};
// Sockets come and go on the host between being listed and being covered.
constexpr int kMaxAttempts = 4;
// How long an engine may take to notice the end of a container.
constexpr int kMaxLooks = 100;
constexpr unsigned kLookAgainUs = 50000;

// A program for process 1, which passes signals on and reaps. The host's own,
// since the engine would put its own in a place that is bound read-only.
std::string FindInit() {
  for (const char* path : {"/usr/bin/docker-init", "/usr/bin/tini"})
    if (access(path, X_OK) == 0) return path;
  return "";
}

class EngineBackend : public Backend {
 public:
  explicit EngineBackend(Engine engine) : client_(std::move(engine)) {}
  const char* Name() const override { return client_.engine().name.c_str(); }
  Strength GetStrength() const override { return Strength::kContainer; }
  int Priority() const override { return client_.engine().priority; }
  Availability Probe() override;

 private:
  Result<Outcome> TryRun(const Profile& profile, const Command& command,
                         const Io& io) override;
  // `again`: whether it may be tried again, and then whether it should be.
  Result<Outcome> RunOnce(const Profile& profile, const Command& command,
                          const Io& io, bool* again);
  // Why nothing can be run; empty when all that is asked for is there.
  std::string Refusal(const Profile& profile, const Command& command,
                      const Io& io) const;
  EngineClient client_;
};

// Whether this process may make a user namespace, as an engine without a daemon
// must for an ordinary user.
bool HasUserNamespaces() {
  int number = -1;
  const pid_t child = sys::Clone(CLONE_NEWUSER, &number);
  if (child == 0) _exit(0);
  const Fd pidfd(number);
  if (child < 0) return false;
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return true;
}

Availability EngineBackend::Probe() {
  Availability availability;
  if (availability.why = client_.Trouble(); !availability.why.empty())
    return availability;
  // A client that is there need not work for this user. It is asked only where
  // that is in doubt, as some leave a process of theirs behind.
  if (client_.IsPodman() && !HasUserNamespaces()) {
    if (const Result<std::string> said = client_.Ask({"ps", "--quiet"});
        !said) {
      availability.why =
          "it does not work for this user: " + said.error().message;
      return availability;
    }
  }
  availability.available = true;
  availability.why = "the client and its engine are there";
  availability.features = kFeatureSet;
  availability.lost = {
      "landlock: no second isolation layer behind the mounts",
      "whoever may use the engine may use it against the host; the command may "
      "not",
      "file systems mounted deep below the host's root look empty",
      "an open network shares abstract unix sockets",
      "an end by signal n is seen as exit code 128+n",
      "a start takes tenths of a second",
  };
  if (FindInit().empty())
    availability.lost.push_back(
        "without an init program (package tini) the command is process 1: "
        "signals "
        "it does not handle do nothing until it is killed");
  return availability;
}

Result<Outcome> EngineBackend::TryRun(const Profile& profile,
                                      const Command& command, const Io& io) {
  // Asked once, however often the start is tried.
  std::optional<Status> answer;
  Command once = command;
  once.permit = Permit([&] {
    if (!answer) answer = command.permit.Ask();
    return *answer;
  });
  for (int attempt = 1;; ++attempt) {
    bool again = attempt < kMaxAttempts;
    Result<Outcome> outcome = RunOnce(profile, once, io, &again);
    if (!again) return outcome;
  }
}

std::string EngineBackend::Refusal(const Profile& profile,
                                   const Command& command, const Io& io) const {
  if (std::string trouble = client_.Trouble(); !trouble.empty()) return trouble;
  if (std::string doubt = client_.Distrust(profile); !doubt.empty())
    return doubt;
  if (const Status checked =
          CheckRequest(Name(), kFeatureSet, profile, command, io);
      !checked)
    return checked.error().message;
  if (const Status checked = CheckDirectory(command); !checked)
    return checked.error().message;
  return "";
}

// What the engine says of a container at its end.
struct ContainerState {
  std::string word;  // exited, created, …; empty: it could not be asked
  int code = -1;
  bool out_of_memory = false;
  std::string trouble;
};

ContainerState AskStateOnce(const EngineClient& client,
                            const std::string& name) {
  ContainerState state;
  const Result<std::string> text = client.Ask(
      {"inspect",
       "--format={{.State.Status}} {{.State.ExitCode}} {{.State.OOMKilled}}",
       name});
  char word[32] = "";
  char killed[8] = "";
  if (!text)
    state.trouble = text.error().message;
  else if (sscanf(text->c_str(), "%31s %d %7s", word, &state.code, killed) == 3)
    state.word = word;
  else
    state.trouble = *text;
  state.out_of_memory = strcmp(killed, "true") == 0;
  return state;
}

// Asked again while the engine has not yet noticed the end.
ContainerState AskState(const EngineClient& client, const std::string& name) {
  ContainerState state = AskStateOnce(client, name);
  for (int i = 0; i < kMaxLooks; ++i) {
    if (state.word != "running" && state.word != "stopping" &&
        state.word != "removing")
      break;
    usleep(kLookAgainUs);
    state = AskStateOnce(client, name);
  }
  return state;
}

std::string OfTheCaller(__rlimit_resource resource) {
  rlimit now = {};
  const bool finite =
      getrlimit(resource, &now) == 0 && now.rlim_cur != RLIM_INFINITY;
  return finite ? std::to_string(now.rlim_cur) : std::string("-1");
}

// The engine, which root runs, would raise what the caller may not.
Limits AtMostTheCallers(Limits limits) {
  rlimit now = {};
  if (getrlimit(RLIMIT_NOFILE, &now) == 0 && limits.open_files > now.rlim_max)
    limits.open_files = now.rlim_max;
  return limits;
}

// The container's environment. A configured image knows where its programs are.
std::vector<std::string> Environment(const Profile& profile,
                                     const Command& command,
                                     const RunUser& user) {
  std::vector<std::string> all = CleanEnvironment(command.environment, profile);
  SwitchEnvironment(user, &all);
  if (!profile.image.empty())
    std::erase_if(all, [](const std::string& entry) {
      return entry.starts_with("PATH=");
    });
  return all;
}

// An engine takes no name with a line break. Somebody's socket that has one
// must not keep everything from running, so that sockets are refused instead.
void LeaveOutUnnamable(View* view) {
  const auto left = std::erase_if(view->mounts, [](const ViewMount& mount) {
    return mount.fleeting &&
           mount.target.find_first_of("\n\r") != std::string::npos;
  });
  if (left > 0 && view->unknown_sockets.empty())
    view->unknown_sockets =
        "a listening socket outside has a line break in its name";
}

Result<Outcome> EngineBackend::RunOnce(const Profile& profile,
                                       const Command& command, const Io& io,
                                       bool* again) {
  const bool may_try_again = std::exchange(*again, false);
  if (std::string refusal = Refusal(profile, command, io); !refusal.empty())
    return NotRun(std::move(refusal));
  const RunUser user = ChooseUser(profile);
  if (user.all_ids) return NotRun("the workspace's owner cannot walk to it");
  GATE_TRY(ProtectedPaths protected_paths,
           ProtectedPaths::Begin(profile, command.cwd));
  GATE_TRY(View view, MakeView(profile, protected_paths, user, command.cwd));
  LeaveOutUnnamable(&view);
  const bool configured = !profile.image.empty();
  if (configured) {
    GATE_TRY(view, FlatView(std::move(view), profile.workspace, command.cwd));
  }
  std::vector<std::string> covered;
  for (const ViewMount& mount : view.mounts)
    if (mount.kind == MountKind::kHidden) covered.push_back(mount.target);

  const HostRoot root = ReadHostRoot();
  GATE_TRY(const std::string image,
           configured ? ConfiguredImage(client_, profile.image)
                      : OwnImage(client_, root));
  ContainerInputs inputs;
  inputs.name = "gate-" + OwnerTag() + "-" + Hex(RandomBytes(16));
  inputs.image = image;
  inputs.configured = configured;
  inputs.init = FindInit();
  inputs.view = std::move(view);
  inputs.roots = root.directories;
  inputs.cwd = command.cwd;
  inputs.network = profile.network;
  inputs.limits = AtMostTheCallers(profile.limits);
  inputs.uid = user.uid;
  inputs.gid = user.gid;
  inputs.keep_id = client_.IsPodman() && geteuid() != 0;
  inputs.podman = client_.IsPodman();
  inputs.open_files = OfTheCaller(RLIMIT_NOFILE);
  // Well below what runc may not set again; the cgroup's bound is lower yet.
  inputs.processes = "16384";
  inputs.environment = Environment(profile, command, user);
  GATE_TRY(std::unique_ptr<OutputRelay> relay,
           OutputRelay::Make(io, profile.limits.output_bytes, may_try_again));
  FileCount files(profile);
  const Io& streams = relay->io();
  inputs.terminal = isatty(streams.in) == 1 && isatty(streams.out) == 1;
  const std::string unknown_sockets = inputs.view.unknown_sockets;
  const std::string filter = Dump(ContainerSeccomp(
      /*own_kernel=*/false,
      {.local = LocalSocketsOf(inputs.view),
       .taking_room = profile.limits.written_bytes != 0}));
  GATE_TRY(const Fd filter_file,
           MemoryFile("gate-filter", filter.data(), filter.size()));
  inputs.seccomp = "/proc/self/fd/" + std::to_string(filter_file.get());
  GATE_TRY(std::vector<std::string> words, ContainerArguments(inputs));
  words.insert(words.begin(), "run");
  words.insert(words.end(), command.argv.begin(), command.argv.end());
  // What a configured image holds is not known here.
  const int lacking = configured ? 0
                                 : MissingProgram(command.argv[0], command.cwd,
                                                  inputs.environment);

  GATE_CHECK(command.permit.Ask());
  const HeldSignals signals;
  GATE_TRY(CleanupWatchdog watchdog, client_.StartCleanupWatchdog(inputs.name));
  SpawnRequest request = client_.Call(std::move(words));
  request.io = streams;
  request.keep = {filter_file.get()};
  request.mask = signals.before();
  request.die_with_parent = true;
  request.own_session = !inputs.terminal;
  const Spawned child = Spawn(request);
  if (child.error != 0)
    return NotRun(std::string("cannot start ") + Name() + ": " +
                  strerror(child.error));
  Watch watch;
  watch.pidfd = child.pidfd.get();
  watch.wall_ms = profile.limits.wall_ms;
  watch.terminal = inputs.terminal;
  watch.kill = [&] {
    // The client first, which would else go on to start what is removed.
    sys::PidfdSignal(child.pidfd.get(), SIGKILL);
    watchdog.RemoveUnfinished();
  };
  ContainerSignals forwarded(client_, inputs.name);
  forwarded.Join(&watch);
  ContainerAccount account(client_, inputs.name, profile.limits,
                           inputs.init.empty());
  account.Join(&watch);
  relay->Started();
  relay->Join(&watch);
  files.Join(&watch);
  int status = 0;
  const bool timed_out = WatchUntilEnd(signals, watch, &status);
  relay->Drain(timed_out ? kGraceMs : -1);

  // The engine's word, not the client's exit code, which a command's may equal.
  ContainerState state;
  if (!watchdog.over()) state = AskState(client_, inputs.name);
  watchdog.Remove();
  Outcome outcome;
  if (timed_out) {
    SetTimedOut(profile.limits, &outcome);
  } else if (account.exceeded() != TreeLimit::kNone || state.out_of_memory) {
    SetLimit(
        LimitText(state.out_of_memory ? TreeLimit::kMemory : account.exceeded(),
                  SummedLimits(profile.limits)),
        &outcome);
  } else if (relay->exceeded()) {
    // Judge, below, says so.
  } else if (state.word == "exited" ||
             state.word == "stopped") {  // podman's, until it looked at the end
    SetExited(state.code, &outcome);
    outcome.not_found = state.code == 127 && lacking == ENOENT;
  } else if (!state.word.empty() && lacking != 0) {
    // Made, but its program could not be started.
    SetNotExecuted(command.argv[0], command.cwd, lacking, &outcome);
  } else {
    // A container that was not started has run nothing.
    *again =
        may_try_again && std::ranges::any_of(covered, [](const auto& path) {
          return access(path.c_str(), F_OK) != 0 && errno == ENOENT;
        });
    if (*again) relay->DropHeld();
    return NotRun(std::string(Name()) + " could not run the container (" +
                  (state.word.empty() ? state.trouble
                                      : state.word + ", exit code " +
                                            std::to_string(state.code)) +
                  ")");
  }
  relay->Judge(&outcome);
  files.Judge(&outcome);
  protected_paths.VerifyAndRestore(&outcome);
  ReportSockets(unknown_sockets, &outcome);
  return outcome;
}

}  // namespace

std::unique_ptr<Backend> MakeEngineBackend(Engine engine) {
  return std::make_unique<EngineBackend>(std::move(engine));
}

}  // namespace gate::backends
