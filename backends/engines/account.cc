#include "backends/engines/account.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace gate::backends {
namespace {

constexpr int kAskAgainMs = 50;
constexpr uint64_t kPatienceMs = 2000;  // for a look that is refused

// The control group of `pid` where `controller` is, as a directory; empty when
// there is none to be found.
std::string ControlGroup(pid_t pid, const std::string& controller) {
  const Result<std::string> text =
      ReadFile("/proc/" + std::to_string(pid) + "/cgroup", 8192);
  if (!text) return "";
  std::string unified;
  for (size_t at = 0; at < text->size();) {
    const size_t end = std::min(text->find('\n', at), text->size());
    const std::string line = text->substr(at, end - at);
    at = end + 1;
    const size_t path = line.find('/');
    if (path == std::string::npos) continue;
    if (line.find(":" + controller + ":") != std::string::npos)
      return "/sys/fs/cgroup/" + controller + line.substr(path);
    if (line.starts_with("0::")) unified = "/sys/fs/cgroup" + line.substr(path);
  }
  return unified;
}

// The number that follows `label` at the start of a line of `file`; 0 without.
uint64_t Count(const Fd& file, const std::string& label) {
  char text[1024];
  const ssize_t got = file ? pread(file.get(), text, sizeof(text) - 1, 0) : 0;
  if (got <= 0) return 0;
  const std::string lines = "\n" + std::string(text, static_cast<size_t>(got));
  const size_t at = lines.find("\n" + label + " ");
  return at == std::string::npos
             ? 0
             : strtoull(lines.c_str() + at + label.size() + 2, nullptr, 10);
}

}  // namespace

ContainerAccount::ContainerAccount(const EngineClient& client,
                                   std::string container, const Limits& limits,
                                   bool first_counts)
    : client_(client),
      container_(std::move(container)),
      limits_(SummedLimits(limits)),
      first_counts_(first_counts) {}

void ContainerAccount::Join(Watch* watch) {
  if (!limits_.Any()) return;
  kill_ = watch->kill;
  AddTick(watch, [this] { return Tick(); });
  watch->served.push_back({[this] { return call_.Want(); },
                           [this](short) {
                             if (call_.Read()) Answered();
                           }});
}

int ContainerAccount::Tick() {
  switch (state_) {
    case State::kIdle: {
      const uint64_t now = MonotonicMs();
      if (now < next_ms_) return static_cast<int>(next_ms_ - now);
      next_ms_ = now + kAskAgainMs;
      if (!call_.Start(client_,
                       {"inspect", "--format={{.State.Pid}}", container_}))
        return kAskAgainMs;
      state_ = State::kAsking;
      return -1;
    }
    case State::kWatching:
      break;
    case State::kAsking:
    case State::kOver:
      return -1;
  }
  // What the kernel has refused, or ended, counts as well.
  const TreeLimit limit = Count(refused_, "max") > 0 ? TreeLimit::kProcesses
                          : Count(killed_, "oom_kill") > 0 ? TreeLimit::kMemory
                                                           : account_.Check();
  if (limit == TreeLimit::kHidden && !Alive()) {
    state_ = State::kOver;  // there is nothing to look at any more
    return -1;
  }
  if (limit == TreeLimit::kNone) return account_.Wait();
  Exceed(limit);
  return -1;
}

void ContainerAccount::Exceed(TreeLimit limit) {
  exceeded_ = limit;
  state_ = State::kOver;
  kill_();
}

void ContainerAccount::Answered() {
  // Not a number, or 0, until it runs.
  const long pid = strtol(call_.answer().c_str(), nullptr, 10);
  state_ = State::kIdle;
  next_ms_ = MonotonicMs() + kAskAgainMs;
  if (pid <= 0) return;
  if (Open(static_cast<pid_t>(pid))) {
    state_ = State::kWatching;
    return;
  }
  // It may be on its way between the engine and the command.
  if (failing_since_ms_ == 0) failing_since_ms_ = MonotonicMs();
  if (MonotonicMs() - failing_since_ms_ > kPatienceMs && Alive())
    Exceed(TreeLimit::kHidden);
}

bool ContainerAccount::Alive() const {
  pollfd end = {first_.get(), POLLIN, 0};
  return first_ && poll(&end, 1, 0) == 0;
}

bool ContainerAccount::Open(pid_t pid) {
  const std::string place = "/proc/" + std::to_string(pid);
  first_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  proc_ = Fd(
      open((place + "/root/proc").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (limits_.written_bytes != 0)
    own_io_ = Fd(open((place + "/io").c_str(), O_RDONLY | O_CLOEXEC));
  struct stat ours = {}, theirs = {};
  // A number that another process got meanwhile leads to this machine's.
  if (!first_ || !proc_ || (limits_.written_bytes != 0 && !own_io_) ||
      stat("/proc", &ours) != 0 || fstat(proc_.get(), &theirs) != 0 ||
      ours.st_dev == theirs.st_dev || !Alive())
    return false;
  OpenEvents(pid);
  account_ = TreeAccount(limits_, first_counts_);
  return account_.Open(own_io_ ? own_io_.get() : -1, proc_.get()) == 0;
}

// Where the kernel counts what it refuses; where it does not, the sums do.
void ContainerAccount::OpenEvents(pid_t pid) {
  const auto open_one = [](const std::string& path) {
    return Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  };
  if (limits_.processes != 0)
    refused_ = open_one(ControlGroup(pid, "pids") + "/pids.events");
  if (limits_.memory_bytes == 0) return;
  const std::string group = ControlGroup(pid, "memory");
  killed_ = open_one(group + "/memory.events");
  if (!killed_) killed_ = open_one(group + "/memory.oom_control");
}

}  // namespace gate::backends
