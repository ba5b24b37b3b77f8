#include "backends/process/descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backends/process/supervise.h"
#include "backends/process/sys.h"
#include "base/file.h"

namespace gate::backends {
namespace {

constexpr uint64_t kMaxMs = 500;
constexpr long kPauseNs = 2000000;

struct Process {
  pid_t parent = 0;
  char state = '?';
};

// By its stat file; no parent when it is gone.
Process LookAt(const std::string& pid) {
  const Fd file(open(("/proc/" + pid + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  char text[512];
  const ssize_t got = file ? read(file.get(), text, sizeof(text) - 1) : -1;
  if (got <= 0) return {};
  text[got] = '\0';
  // "PID (NAME) STATE PARENT …", and a name may hold anything.
  const char* name_end = strrchr(text, ')');
  if (name_end == nullptr || name_end[1] == '\0' || name_end[2] == '\0')
    return {};
  return {static_cast<pid_t>(strtol(name_end + 3, nullptr, 10)), name_end[2]};
}

std::map<pid_t, Process> LookAtAll() {
  std::map<pid_t, Process> all;
  DIR* list = opendir("/proc");
  if (list == nullptr) return all;
  while (const dirent* entry = readdir(list)) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    const Process process = LookAt(entry->d_name);
    if (process.parent > 0)
      all[static_cast<pid_t>(strtol(entry->d_name, nullptr, 10))] = process;
  }
  closedir(list);
  return all;
}

std::set<pid_t> ChildrenOf(pid_t parent) {
  std::set<pid_t> children;
  for (const auto& [pid, process] : LookAtAll())
    if (process.parent == parent) children.insert(pid);
  return children;
}

// Sends `signal` to what was seen as `pid`, a child of one of `parents`: the
// number may be another process's by now.
void SendTo(pid_t pid, const std::set<pid_t>& parents, int signal) {
  const Fd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0u)));
  if (process && parents.contains(LookAt(std::to_string(pid)).parent))
    sys::PidfdSignal(process.get(), signal);
}

void Pause() {
  const timespec pause = {0, kPauseNs};
  nanosleep(&pause, nullptr);
}

}  // namespace

Descendants::Descendants() : others_(ChildrenOf(getpid())) {
  int set = 0;
  mine_ = prctl(PR_GET_CHILD_SUBREAPER, &set, 0, 0, 0) == 0 && set == 0 &&
          prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

Descendants::~Descendants() {
  if (mine_) prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

Descendants::Family Descendants::All() const {
  const std::map<pid_t, Process> all = LookAtAll();
  std::multimap<pid_t, pid_t> children;
  for (const auto& [pid, process] : all) children.emplace(process.parent, pid);
  Family found;
  std::vector<pid_t> open = {getpid()};
  while (!open.empty()) {
    const pid_t parent = open.back();
    open.pop_back();
    found.parents.insert(parent);
    const auto [from, to] = children.equal_range(parent);
    for (auto child = from; child != to; ++child) {
      if (parent == getpid() && others_.contains(child->second)) continue;
      // A zombie may be the first thread of what goes on.
      open.push_back(child->second);
      if (all.at(child->second).state != 'Z')
        found.running.insert(child->second);
    }
  }
  return found;
}

void Descendants::Signal(int signal) const {
  const Family all = All();
  for (const pid_t pid : all.running) SendTo(pid, all.parents, signal);
}

void Descendants::End() const {
  const uint64_t deadline = MonotonicMs() + kMaxMs;
  std::set<pid_t> halted;
  for (bool grown = true; grown && MonotonicMs() < deadline;) {
    grown = false;
    const Family all = All();
    for (const pid_t pid : all.running) grown |= halted.insert(pid).second;
    if (grown) Signal(SIGSTOP);
  }
  do {
    Signal(SIGKILL);
    if (All().running.empty()) return;
    Pause();
  } while (MonotonicMs() < deadline);
}

void Descendants::Reap(pid_t own) const {
  while (true) {
    siginfo_t info = {};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0 || info.si_pid == own || others_.contains(info.si_pid))
      return;
    if (waitpid(info.si_pid, nullptr, WNOHANG) <= 0) return;
  }
}

}  // namespace gate::backends
