#include "backends/engine_backend.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "backends/container_seccomp.h"
#include "backends/guard.h"
#include "backends/guardian.h"
#include "backends/native/sys.h"
#include "backends/outcome.h"
#include "backends/program_search.h"
#include "backends/spawn.h"
#include "backends/streams.h"
#include "backends/supervise.h"
#include "base/file.h"
#include "base/hash.h"

namespace gate::backends {
namespace {

constexpr FeatureSet kFeatureSet = {
    Feature::kReadOnlyRoot,     Feature::kReadDeny,
    Feature::kProtectedPaths,   Feature::kPrivateTmp,
    Feature::kNetworkNone,      Feature::kNetworkLoopback,
    Feature::kProcessIsolation, Feature::kSeccomp,
    Feature::kCleanEnvironment, Feature::kLimits};
constexpr size_t kMaxAnswer = 64 * 1024;
// Sockets come and go on the host between being listed and being covered.
constexpr int kMaxAttempts = 4;

// What stands in the host's root directory.
struct HostRoot {
  std::vector<std::string> directories;
  std::vector<std::pair<std::string, std::string>> links;
};

HostRoot ReadHostRoot() {
  HostRoot root;
  DIR* list = opendir("/");
  if (list == nullptr) return root;
  while (const dirent* entry = readdir(list)) {
    const std::string name = std::string("/") + entry->d_name;
    struct stat info = {};
    if (name == "/." || name == "/.." || lstat(name.c_str(), &info) != 0)
      continue;
    if (S_ISLNK(info.st_mode)) {
      char target[256];
      const ssize_t size = readlink(name.c_str(), target, sizeof(target) - 1);
      if (size > 0 && size < 100)
        root.links.emplace_back(name, std::string(target, size));
    } else if (S_ISDIR(info.st_mode) && name.size() < 90 && name != "/proc" &&
               name != "/sys" && name != "/dev" && name != "/run" &&
               name != "/tmp" && name != "/lost+found") {
      root.directories.push_back(name);
    }
  }
  closedir(list);
  std::sort(root.directories.begin(), root.directories.end());
  std::sort(root.links.begin(), root.links.end());
  return root;
}

std::string RandomHex() {
  std::string hex;
  for (const char c : RandomBytes(16)) {
    constexpr const char* kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    hex += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return hex;
}

// A program for process 1, which passes signals on and reaps. The host's own,
// since the engine would put its own in a place that is bound read-only.
std::string FindInit() {
  for (const char* path : {"/usr/bin/docker-init", "/usr/bin/tini"})
    if (access(path, X_OK) == 0) return path;
  return "";
}

bool Answers(const std::string& path) {
  const Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (!fd || path.size() >= sizeof(address.sun_path)) return false;
  memcpy(address.sun_path, path.c_str(), path.size());
  return connect(fd.get(), reinterpret_cast<sockaddr*>(&address),
                 sizeof(address)) == 0;
}

int WaitFor(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

class EngineBackend : public Backend {
 public:
  explicit EngineBackend(Engine engine) : engine_(std::move(engine)) {}
  const char* Name() const override { return engine_.name.c_str(); }
  Strength GetStrength() const override { return Strength::kContainer; }
  int Priority() const override { return engine_.priority; }
  Availability Probe() override;
  Outcome Run(const Profile& profile, const Command& command,
              const Io& io) override;

 private:
  // `covered`: the hidden paths of this try.
  Outcome RunOnce(const Profile& profile, const Command& command, const Io& io,
                  std::vector<std::string>* covered);
  std::string Client() const {
    for (const std::string& path : engine_.paths)
      if (access(path.c_str(), X_OK) == 0) return path;
    return "";
  }
  SpawnRequest Call(std::vector<std::string> words) const {
    SpawnRequest request;
    request.argv = {Client()};
    request.argv.insert(request.argv.end(), engine_.options.begin(),
                        engine_.options.end());
    request.argv.insert(request.argv.end(),
                        std::make_move_iterator(words.begin()),
                        std::make_move_iterator(words.end()));
    request.environment = engine_.environment;
    request.cwd = "/";
    return request;
  }
  // The client's output; an error with its message when it fails.
  Result<std::string> Ask(std::vector<std::string> words, int in) const;
  Result<std::string> Image(const HostRoot& root) const;
  // Removes the container when its pipe ends, which gate's death does too.
  Result<Guardian> StartGuardian(const std::string& name) const;
  Engine engine_;
};

Result<std::string> EngineBackend::Ask(std::vector<std::string> words,
                                       int in) const {
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) return FailErrno("cannot make a pipe");
  const Fd read_end(pipes[0]);
  Fd write_end(pipes[1]);
  const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  SpawnRequest request = Call(std::move(words));
  request.io = {in >= 0 ? in : null.get(), write_end.get(), write_end.get()};
  request.die_with_parent = true;
  request.own_session = true;
  const Spawned child = Spawn(request);
  write_end.reset();
  if (child.error != 0)
    return Fail(ErrorCode::kUnavailable,
                engine_.name + ": " + strerror(child.error));
  const Result<std::string> text = ReadAll(read_end.get(), kMaxAnswer);
  const int status = WaitFor(child.pid);
  if (!text) return std::unexpected(text.error());
  std::string answer = *text;
  while (answer.ends_with('\n')) answer.pop_back();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return Fail(ErrorCode::kUnavailable, engine_.name + ": " + answer);
  return answer;
}

Result<std::string> EngineBackend::Image(const HostRoot& root) const {
  const std::string tar = BaseImage(root.directories, root.links);
  // The name says the content, so that another root makes another image.
  const std::string image =
      "localhost/gate-base:" + Hex(Sha256(tar)).substr(0, 16);
  if (Ask({"image", "inspect", "--format={{.Id}}", image}, -1)) return image;
  GATE_TRY(const Fd file, MemoryFile("gate-image", tar.data(), tar.size()));
  GATE_TRY(const std::string ignored, Ask({"import", "-", image}, file.get()));
  (void)ignored;
  return image;
}

Result<Guardian> EngineBackend::StartGuardian(const std::string& name) const {
  // Names say whose a container is; $1 is its name, the rest the client.
  constexpr const char* kPrune =
      "shift\n"
      "\"$@\" ps --all --no-trunc --filter label=gate.run "
      "--format '{{.Names}}' | while IFS= read -r name; do\n"
      "  case $name in gate-\"$owner\"-*) ;; *) continue;; esac\n"
      "  pid=${name#gate-\"$owner\"-}; pid=${pid%%-*}\n"
      "  gone \"$pid\" && \"$@\" rm --force --volumes \"$name\"\n"
      "done";
  const std::string remove =
      std::string("name=$1; shift\n\"$@\" rm --force --volumes ") +
      (engine_.name == "podman" ? "--time=0 " : "") + "\"$name\"";
  std::vector<std::string> words = Call({}).argv;
  words.insert(words.begin(), name);
  return Guardian::Start(
      "prune() {\n" + std::string(kPrune) + "\n}\nprune \"$@\"", remove, words,
      engine_.environment);
}

Availability EngineBackend::Probe() {
  Availability availability;
  if (Client().empty()) {
    availability.why = engine_.name + " is not installed";
    return availability;
  }
  if (!engine_.socket.empty() && !Answers(engine_.socket)) {
    availability.why = "no engine answers at " + engine_.socket;
    return availability;
  }
  availability.available = true;
  availability.why = "the client and its engine are there";
  availability.features = kFeatureSet;
  availability.lost = {
      "landlock: no second wall behind the mounts",
      "whoever may use the engine may use it against the host; the command may "
      "not",
      "file systems mounted deep below the host's root look empty",
      "without network there is still a loopback interface; an open network "
      "shares abstract unix sockets",
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

Outcome EngineBackend::Run(const Profile& profile, const Command& command,
                           const Io& io) {
  // Asked once, however often the start is tried.
  std::optional<Status> answer;
  Command once = command;
  once.permit = Permit([&] {
    if (!answer) answer = command.permit.Ask();
    return *answer;
  });
  for (int attempt = 1;; ++attempt) {
    std::vector<std::string> covered;
    Outcome outcome = RunOnce(profile, once, io, &covered);
    const bool vanished = std::ranges::any_of(covered, [](const auto& path) {
      return access(path.c_str(), F_OK) != 0 && errno == ENOENT;
    });
    // A container that was not started has run nothing.
    if (outcome.status != OutcomeStatus::kSetupFailed || !vanished ||
        attempt == kMaxAttempts)
      return outcome;
  }
}

Outcome EngineBackend::RunOnce(const Profile& profile, const Command& command,
                               const Io& io,
                               std::vector<std::string>* covered) {
  const uint64_t begin = MonotonicMs();
  if (command.argv.empty() || command.argv[0].empty())
    return Failed("there is no program to run");
  if (Client().empty()) return Failed(engine_.name + " is not installed");
  if (profile.network == Network::kDomains)
    return Failed("a network limited to domains is not available here");
  if (!profile.overlays.empty())
    return Failed(engine_.name + " has no previews (required feature overlay)");
  if (const auto missing = profile.required.Without(kFeatureSet);
      !missing.empty())
    return Failed(engine_.name + " lacks what the profile requires: " +
                  backends::Name(missing.front()));
  if (const Status checked = CheckStreams(io); !checked)
    return Failed(checked.error().message);
  struct stat info = {};
  if (stat(command.cwd.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return Failed("no working directory `" + command.cwd + "`");
  const RunUser user = ChooseUser(profile);
  if (user.all_ids) return Failed("the workspace's owner cannot walk to it");
  Guard guard = Guard::Record(profile, command.cwd);
  if (!guard.refusal().empty()) return Failed(guard.refusal());
  Result<View> view = MakeView(profile, guard, user);
  if (!view) return Failed(view.error().message);
  for (const ViewMount& mount : view->mounts)
    if (mount.kind == MountKind::kHidden) covered->push_back(mount.target);

  const HostRoot root = ReadHostRoot();
  const Result<std::string> image = Image(root);
  if (!image) return Failed(image.error().message);
  ContainerInputs inputs;
  inputs.name = "gate-" + OwnerTag() + "-" + RandomHex();
  inputs.image = *image;
  inputs.view = std::move(*view);
  inputs.roots = root.directories;
  inputs.cwd = command.cwd;
  inputs.network = profile.network;
  inputs.limits = profile.limits;
  inputs.uid = user.uid;
  inputs.gid = user.gid;
  inputs.keep_id = engine_.name == "podman" && geteuid() != 0;
  inputs.terminal = isatty(io.in) == 1 && isatty(io.out) == 1;
  inputs.podman = engine_.name == "podman";
  const auto limit = [](__rlimit_resource resource) {
    rlimit now = {};
    const bool finite =
        getrlimit(resource, &now) == 0 && now.rlim_cur != RLIM_INFINITY;
    return finite ? std::to_string(now.rlim_cur) : std::string("-1");
  };
  inputs.open_files = limit(RLIMIT_NOFILE);
  // Well below what runc may not set again; the cgroup's bound is lower yet.
  inputs.processes = "16384";
  inputs.environment = CleanEnvironment(command.environment, profile);
  SwitchEnvironment(user, &inputs.environment);
  const std::string filter = Dump(ContainerSeccomp(/*own_kernel=*/false));
  const Result<Fd> filter_file =
      MemoryFile("gate-filter", filter.data(), filter.size());
  if (!filter_file) return Failed(filter_file.error().message);
  inputs.seccomp = "/proc/self/fd/" + std::to_string(filter_file->get());
  Result<std::vector<std::string>> words = ContainerArguments(inputs);
  if (!words) return Failed(words.error().message);
  words->insert(words->begin(), "run");
  if (const std::string init = FindInit(); !init.empty())
    words->insert(words->end(), {init, "-g", "--"});
  words->insert(words->end(), command.argv.begin(), command.argv.end());
  const int lacking =
      MissingProgram(command.argv[0], command.cwd, inputs.environment);

  if (const Status permitted = command.permit.Ask(); !permitted)
    return Failed(permitted.error().message);
  const HeldSignals signals;
  Result<Guardian> guardian = StartGuardian(inputs.name);
  if (!guardian) return Failed(guardian.error().message);
  SpawnRequest request = Call(std::move(*words));
  request.io = io;
  request.keep = {filter_file->get()};
  request.mask = signals.before();
  request.die_with_parent = true;
  request.own_session = !inputs.terminal;
  const Spawned child = Spawn(request);
  if (child.error != 0)
    return Failed("cannot start " + engine_.name + ": " +
                  strerror(child.error));
  Watch watch;
  watch.pidfd = child.pidfd.get();
  watch.wall_ms = profile.limits.wall_ms;
  watch.terminal = inputs.terminal;
  // The client passes signals on.
  watch.forward = [&](int signal) {
    sys::PidfdSignal(child.pidfd.get(), signal);
  };
  watch.expire = [&] { sys::PidfdSignal(child.pidfd.get(), SIGTERM); };
  watch.kill = [&] {
    guardian->Remove();
    sys::PidfdSignal(child.pidfd.get(), SIGKILL);
  };
  int status = 0;
  const bool timed_out = WatchUntilEnd(signals, watch, &status);

  // The engine's word, not the client's exit code, which a command's may equal.
  const Result<std::string> state =
      guardian->over() ? Result<std::string>(std::string("removed"))
                       : Ask({"inspect",
                              "--format={{.State.Status}} {{.State.ExitCode}} "
                              "{{.State.OOMKilled}}",
                              inputs.name},
                             -1);
  guardian->Remove();
  Outcome outcome;
  char word[32] = "";
  char killed[8] = "";
  int code = -1;
  const bool told =
      state && sscanf(state->c_str(), "%31s %d %7s", word, &code, killed) == 3;
  if (timed_out) {
    outcome.status = OutcomeStatus::kTimeout;
    outcome.reason = "the wall clock limit of " +
                     std::to_string(profile.limits.wall_ms) + " ms";
  } else if (told && strcmp(killed, "true") == 0) {
    outcome.status = OutcomeStatus::kLimit;
    outcome.reason = "the memory limit";
  } else if (told &&
             // podman's, until its own process has looked at the end
             (strcmp(word, "exited") == 0 || strcmp(word, "stopped") == 0)) {
    outcome.status = OutcomeStatus::kExited;
    outcome.exit_code = code;
    outcome.not_found = code == 127 && lacking == ENOENT;
    outcome.reason = "exited";
  } else if (told && lacking != 0) {
    // Made, but its program could not be started.
    outcome.status = OutcomeStatus::kExited;
    outcome.not_found = lacking == ENOENT;
    outcome.exit_code = outcome.not_found ? 127 : 126;
    outcome.reason = command.argv[0] + ": " + strerror(lacking);
  } else {
    return Failed(engine_.name + " could not run the container (" +
                  (state ? *state : state.error().message) + ")");
  }
  guard.Sweep(&outcome);
  outcome.duration_ms = MonotonicMs() - begin;
  return outcome;
}

// What a client needs of gate's environment; nothing else reaches it.
std::vector<std::string> ClientEnvironment() {
  std::vector<std::string> out = {
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/"
      "sbin:/usr/bin:/sbin:/bin"};
  for (const char* name : {"HOME", "XDG_RUNTIME_DIR"})
    if (const char* value = getenv(name); value != nullptr)
      out.push_back(std::string(name) + "=" + value);
  return out;
}

}  // namespace

Engine Docker() {
  Engine engine;
  engine.name = "docker";
  engine.paths = {"/usr/bin/docker", "/usr/local/bin/docker"};
  engine.environment = ClientEnvironment();
  engine.socket = "/var/run/docker.sock";
  // Only a local socket: what lies elsewhere does not have these files.
  const char* host = getenv("DOCKER_HOST");
  if (host != nullptr && *host != '\0') {
    const std::string_view place = host;
    engine.socket = place.starts_with("unix://")
                        ? std::string(place.substr(strlen("unix://")))
                        : "another machine (" + std::string(place) +
                              "), which does not have these files";
  }
  engine.options = {"--host=unix://" + engine.socket};
  return engine;
}

Engine Podman() {
  Engine engine;
  engine.name = "podman";
  engine.paths = {"/usr/bin/podman", "/usr/local/bin/podman"};
  engine.environment = ClientEnvironment();
  engine.priority = 55;
  return engine;
}

std::unique_ptr<Backend> MakeEngineBackend(Engine engine) {
  return std::make_unique<EngineBackend>(std::move(engine));
}

}  // namespace gate::backends
