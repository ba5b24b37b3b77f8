#include "backends/engines/client.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

constexpr size_t kMaxAnswer = 64 * 1024;
constexpr int kAgainMs = 50;

// 0, or why the socket does not take a connection.
int TryConnect(const std::string& path) {
  const Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (!fd || path.size() >= sizeof(address.sun_path)) return ENAMETOOLONG;
  memcpy(address.sun_path, path.c_str(), path.size());
  return connect(fd.get(), reinterpret_cast<sockaddr*>(&address),
                 sizeof(address)) == 0
             ? 0
             : errno;
}

int WaitFor(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Engine Docker() {
  Engine engine;
  engine.name = "docker";
  engine.paths = {"/usr/bin/docker", "/usr/local/bin/docker"};
  engine.socket = "/var/run/docker.sock";
  const char* host = getenv("DOCKER_HOST");
  constexpr std::string_view kLocal = "unix://";
  if (host != nullptr && std::string_view(host).starts_with(kLocal)) {
    engine.socket = host + kLocal.size();
  } else if (host != nullptr && *host != '\0') {
    // Only a local one: what lies elsewhere does not have these files.
    engine.refusal = "DOCKER_HOST names another machine (" + std::string(host) +
                     "), which does not have these files; unset it, or let it "
                     "name a unix:// socket";
  }
  // Of the user's own configuration, too, as it may add variables.
  engine.options = {"--config=/nonexistent", "--host=unix://" + engine.socket};
  return engine;
}

Engine Podman() {
  Engine engine;
  engine.name = "podman";
  engine.paths = {"/usr/bin/podman", "/usr/local/bin/podman"};
  engine.priority = 55;
  return engine;
}

std::vector<std::string> ClientEnvironment() {
  std::vector<std::string> out = {
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/"
      "sbin:/usr/bin:/sbin:/bin"};
  const std::optional<std::string> name = UserName(geteuid());
  const std::optional<std::string> home =
      name ? HomeOf(*name) : std::optional<std::string>();
  if (home) out.push_back("HOME=" + *home);
  const std::string runtime = "/run/user/" + std::to_string(geteuid());
  struct stat info = {};
  if (lstat(runtime.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
      info.st_uid == geteuid())
    out.push_back("XDG_RUNTIME_DIR=" + runtime);
  return out;
}

std::string EngineClient::Path() const {
  for (const std::string& path : engine_.paths)
    if (access(path.c_str(), X_OK) == 0) return path;
  return "";
}

std::string EngineClient::Trouble() const {
  if (Path().empty()) return engine_.name + " is not installed";
  if (!engine_.refusal.empty()) return engine_.refusal;
  if (engine_.socket.empty()) return "";
  const int error = TryConnect(engine_.socket);
  if (error == 0) return "";
  std::string text = "no engine answers at " + engine_.socket + ": ";
  if (error == ENOENT || error == ECONNREFUSED)
    text += "its daemon does not run (DOCKER_HOST names another socket)";
  else if (error == EACCES)
    text += "this user may not (the socket's group may)";
  else
    text += strerror(error);
  return text;
}

std::string EngineClient::Distrust(const Profile& profile) const {
  if (engine_.socket.empty()) return "";
  char resolved[PATH_MAX];
  struct stat info = {};
  if (realpath(engine_.socket.c_str(), resolved) == nullptr ||
      lstat(resolved, &info) != 0)
    return "no engine answers at " + engine_.socket;
  if (info.st_uid != 0 && info.st_uid != geteuid())
    return "the engine's socket " + engine_.socket + " belongs to another user";
  std::vector<std::string> places = profile.write;
  places.push_back(profile.workspace);
  places.push_back(profile.private_tmp);
  for (const std::string& place : places) {
    char real[PATH_MAX];
    // Whoever may write everywhere is not contained anyway.
    if (place.empty() || place == "/" ||
        realpath(place.c_str(), real) == nullptr)
      continue;
    if (IsWithin(resolved, real))
      return "the engine's socket " + engine_.socket +
             " lies where the command may write: it could be its own";
  }
  return "";
}

SpawnRequest EngineClient::Call(std::vector<std::string> words) const {
  SpawnRequest request;
  request.argv = {Path()};
  request.argv.insert(request.argv.end(), engine_.options.begin(),
                      engine_.options.end());
  request.argv.insert(request.argv.end(),
                      std::make_move_iterator(words.begin()),
                      std::make_move_iterator(words.end()));
  request.environment = ClientEnvironment();
  request.cwd = "/";
  return request;
}

Result<Spawned> EngineClient::Start(std::vector<std::string> words, int in,
                                    Fd* out) const {
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) return FailErrno("cannot make a pipe");
  *out = Fd(pipes[0]);
  const Fd write_end(pipes[1]);
  const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  SpawnRequest request = Call(std::move(words));
  request.io = {in >= 0 ? in : null.get(), write_end.get(), write_end.get()};
  request.die_with_parent = true;
  request.own_session = true;
  Spawned child = Spawn(request);
  if (child.error != 0)
    return Fail(ErrorCode::kUnavailable,
                engine_.name + ": " + strerror(child.error));
  return child;
}

Result<std::string> EngineClient::Ask(std::vector<std::string> words,
                                      int in) const {
  Fd read_end;
  GATE_TRY(const Spawned child, Start(std::move(words), in, &read_end));
  const Result<std::string> text = ReadAll(read_end.get(), kMaxAnswer);
  read_end.reset();
  const int status = WaitFor(child.pid);
  if (!text) return std::unexpected(text.error());
  std::string answer = *text;
  while (answer.ends_with('\n')) answer.pop_back();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return Fail(ErrorCode::kUnavailable, engine_.name + ": " + answer);
  return answer;
}

Result<CleanupWatchdog> EngineClient::StartCleanupWatchdog(
    const std::string& container) const {
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
      (IsPodman() ? "--time=0 " : "") + "\"$name\"";
  std::vector<std::string> words = Call({}).argv;
  words.insert(words.begin(), container);
  return CleanupWatchdog::Start(
      "prune() {\n" + std::string(kPrune) + "\n}\nprune \"$@\"", remove, words,
      ClientEnvironment());
}

ClientCall::~ClientCall() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  WaitFor(pid_);
}

bool ClientCall::Start(const EngineClient& client,
                       std::vector<std::string> words) {
  answer_.clear();
  succeeded_ = false;
  const Result<Spawned> started = client.Start(std::move(words), -1, &pipe_);
  if (!started) {
    pipe_.reset();
    return false;
  }
  pid_ = started->pid;
  return true;
}

pollfd ClientCall::Want() const {
  return {pipe_ ? pipe_.get() : -1, POLLIN, 0};
}

bool ClientCall::Read() {
  char text[256];
  const ssize_t got = read(pipe_.get(), text, sizeof(text));
  if (got < 0 && errno == EINTR) return false;
  if (got > 0) {
    if (answer_.size() < kMaxAnswer)
      answer_.append(text, static_cast<size_t>(got));
    return false;
  }
  pipe_.reset();
  const int status = WaitFor(pid_);
  pid_ = -1;
  succeeded_ = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return true;
}

void ContainerSignals::Join(Watch* watch) {
  watch->forward = [this](int signal) { waiting_.push_back(signal); };
  watch->expire = [this] { waiting_.push_back(SIGTERM); };
  watch->served.push_back({[this] { return call_.Want(); },
                           [this](short) {
                             if (!call_.Read()) return;
                             // Not up yet, or gone, which ends the watch.
                             if (call_.succeeded()) waiting_.pop_front();
                             next_ms_ = MonotonicMs() +
                                        (call_.succeeded() ? 0 : kAgainMs);
                           }});
  AddTick(watch, [this] { return Tick(); });
}

int ContainerSignals::Tick() {
  if (waiting_.empty() || call_.running()) return -1;
  const uint64_t now = MonotonicMs();
  if (now < next_ms_) return static_cast<int>(next_ms_ - now);
  if (call_.Start(
          client_,
          {"kill", "--signal=" + std::to_string(waiting_.front()), container_}))
    return -1;
  next_ms_ = now + kAgainMs;
  return kAgainMs;
}

}  // namespace gate::backends
