#include "backends/native/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "backends/process/sys.h"
#include "backends/view/mounts.h"
#include "base/text.h"

namespace gate::backends {
namespace {

constexpr std::string_view kPrefix = "gate-";
constexpr size_t kDigits = 16;
constexpr int kControlSampleMs = 20;  // version 1 gives no notice
constexpr int kUnguardedMs = 20;      // how long a run goes without a watchdog
constexpr size_t kMaxText = 4096;

std::string_view NextLine(std::string_view* text) {
  const size_t end = text->find('\n');
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return line;
}

std::vector<std::string_view> Fields(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  while (true) {
    const size_t end = line.find(separator);
    fields.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return fields;
    line.remove_prefix(end + 1);
  }
}

bool HasWord(std::string_view list, std::string_view word, char separator) {
  const std::vector<std::string_view> words = Fields(list, separator);
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The directory of group `path` where the mount at `point` shows `root`.
std::string Inside(std::string_view point, std::string_view root,
                   std::string_view path) {
  if (path.find("/..") != std::string_view::npos || !path.starts_with('/'))
    return "";  // outside of what this process may see
  if (root != "/") {
    if (!path.starts_with(root)) return "";
    path.remove_prefix(root.size());
    if (!path.empty() && path[0] != '/') return "";
  }
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::string(point) + std::string(path);
}

std::optional<std::string> ReadControl(int fd) {
  char buffer[kMaxText];
  ssize_t got = 0;
  do {
    got = pread(fd, buffer, sizeof(buffer), 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return std::nullopt;
  return std::string(buffer, static_cast<size_t>(got));
}

std::string SlurpPath(const std::string& path) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return "";
  std::string text = ReadControl(fd.get()).value_or("");
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

uint64_t CounterOf(std::string_view text) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Fd OpenIn(const Fd& directory, const char* name, int flags) {
  return Fd(openat(directory.get(), name, flags | O_CLOEXEC | O_NOFOLLOW));
}

bool Put(const Fd& directory, const char* name, const std::string& value) {
  const Fd fd = OpenIn(directory, name, O_WRONLY);
  return fd && write(fd.get(), value.data(), value.size()) ==
                   static_cast<ssize_t>(value.size());
}

bool IsOurs(std::string_view name) {
  return name.size() == kPrefix.size() + kDigits && name.starts_with(kPrefix) &&
         name.find_first_not_of("0123456789abcdef", kPrefix.size()) ==
             std::string_view::npos;
}

std::string NewName() {
  uint64_t random = 0;
  if (getrandom(&random, sizeof(random), 0) != sizeof(random)) return "";
  std::string name(kPrefix);
  for (size_t i = 0; i < kDigits; ++i, random >>= 4)
    name += "0123456789abcdef"[random & 15];
  return name;
}

Fd OpenLocked(const std::string& path) {
  Fd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd && flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.reset();
  return fd;
}

// Groups of gates that were killed. One that still holds a process cannot be
// removed, and one that a gate holds is locked.
void RemoveStale(const std::string& parent) {
  DIR* directory = opendir(parent.c_str());
  if (directory == nullptr) return;
  while (const dirent* entry = readdir(directory)) {
    if (!IsOurs(entry->d_name)) continue;
    const std::string path = parent + "/" + entry->d_name;
    if (const Fd locked = OpenLocked(path)) rmdir(path.c_str());
  }
  closedir(directory);
}

// Whether a group has a bound that one beside it would not have.
bool HasOtherBounds(const std::string& group) {
  for (const char* name :
       {"memory.max", "memory.high", "memory.swap.max", "cpu.max"}) {
    const std::string value = SlurpPath(group + "/" + name);
    if (!value.empty() && !value.starts_with("max")) return true;
  }
  return !SlurpPath(group + "/io.max").empty() ||
         !SlurpPath(group + "/cpuset.cpus").empty();
}

void Nap(int milliseconds) {
  timespec time = {0, milliseconds * 1000000L};
  nanosleep(&time, nullptr);
}

// The watchdog: waits for gate's end and removes what it left. Paths are
// null-terminated strings of gate's, of which this process is a copy.
[[noreturn]] void RemoveAfterGate(int leash, const char* const* paths,
                                  size_t count) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  setsid();
  prctl(PR_SET_NAME, "gate-guard", 0, 0, 0);
  if (dup2(leash, 0) != 0) _exit(1);
  syscall(SYS_close_range, 1u, ~0u, 0u);
  char word = 0;
  ssize_t got = 0;
  do {
    got = read(0, &word, 1);
  } while (got < 0 && errno == EINTR);
  // The kernel is still ending the run.
  for (int attempt = 0; attempt < 2000; ++attempt) {
    bool gone = true;
    for (size_t i = 0; i < count; ++i)
      gone &= rmdir(paths[i]) == 0 || errno == ENOENT;
    if (gone) break;
    Nap(5);
  }
  _exit(0);
}

}  // namespace

CgroupPlaces ParseCgroupPlaces(std::string_view mountinfo,
                               std::string_view own) {
  CgroupPlaces places;
  struct Wanted {
    const char* controller;
    std::string* place;
  };
  const Wanted wanted[] = {{"memory", &places.memory},
                           {"pids", &places.pids},
                           {"cpuacct", &places.cpuacct}};
  // "4:memory:/a/group", of version 2 "0::/a/group".
  const auto own_path = [own](std::string_view controller) {
    for (std::string_view rest = own; !rest.empty();) {
      const std::string_view line = NextLine(&rest);
      const size_t first = line.find(':');
      const size_t second = line.find(':', first + 1);
      if (second == std::string_view::npos) continue;
      const std::string_view names = line.substr(first + 1, second - first - 1);
      if (controller.empty() ? names.empty() && line.starts_with("0:")
                             : HasWord(names, controller, ','))
        return line.substr(second + 1);
    }
    return std::string_view();
  };
  while (!mountinfo.empty()) {
    const std::string_view line = NextLine(&mountinfo);
    const size_t separator = line.find(" - ");
    if (separator == std::string_view::npos) continue;
    const auto head = Fields(line.substr(0, separator), ' ');
    const auto tail = Fields(line.substr(separator + 3), ' ');
    if (head.size() < 6 || tail.size() < 3) continue;
    const std::string root = UnescapeMount(head[3]),
                      point = UnescapeMount(head[4]);
    if (tail[0] == "cgroup2") {
      const std::string place = Inside(point, root, own_path(""));
      if (place.empty() || !places.unified.empty()) continue;
      places.unified = place;
      places.unified_mount = point;
    } else if (tail[0] == "cgroup") {
      for (const auto& [controller, place] : wanted)
        if (place->empty() && HasWord(tail[2], controller, ','))
          *place = Inside(point, root, own_path(controller));
    }
  }
  return places;
}

UnifiedParent ChooseUnifiedParent(const CgroupPlaces& places, bool memory,
                                  bool pids) {
  UnifiedParent chosen;
  std::string at = places.unified;
  while (!at.empty()) {
    const std::string handed = SlurpPath(at + "/cgroup.subtree_control");
    if ((!memory || HasWord(handed, "memory", ' ')) &&
        (!(pids || chosen.processes != 0) || HasWord(handed, "pids", ' ')) &&
        access(at.c_str(), W_OK) == 0 &&
        access((at + "/cgroup.procs").c_str(), W_OK) == 0) {
      chosen.directory = at;
      return chosen;
    }
    // Up: out of this level and its bounds.
    if (at.size() <= places.unified_mount.size() || HasOtherBounds(at)) break;
    const uint64_t bound = CounterOf(SlurpPath(at + "/pids.max"));
    if (bound != 0 && (chosen.processes == 0 || bound < chosen.processes))
      chosen.processes = bound;
    at.resize(at.rfind('/'));
  }
  return {};
}

uint64_t KeyedNumber(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = NextLine(&text);
    if (line.starts_with(name) && line.size() > name.size() &&
        line[name.size()] == ' ')
      return CounterOf(line.substr(name.size() + 1));
  }
  return 0;
}

bool Cgroup::Add(const std::string& parent, bool version2,
                 const MakeDirectory& make) {
  if (parent.empty() || access(parent.c_str(), W_OK) != 0) return false;
  // Another run may sweep it away before it is locked.
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::string name = NewName();
    if (name.empty()) return false;
    Group group;
    group.parent = parent;
    group.path = parent + "/" + name;
    if ((make ? make(group.path.c_str(), 0700)
              : mkdir(group.path.c_str(), 0700)) != 0)
      return false;
    group.directory = OpenLocked(group.path);
    if (group.directory) {
      group.entry_file = version2
                             ? OpenIn(group.directory, "cgroup.procs", O_RDONLY)
                             : OpenIn(group.directory, "tasks", O_WRONLY);
      if (group.entry_file) {
        if (version2) {
          group.entry_file.reset();
          unified_ = group.directory.get();
        }
        groups_.push_back(std::move(group));
        return true;
      }
    }
    rmdir(group.path.c_str());
  }
  return false;
}

void Cgroup::HoldProcesses(uint64_t processes) {
  const Fd& group = groups_.back().directory;
  // Process 1 of the sandbox is one of them.
  if (!Put(group, "pids.max", std::to_string(processes + 1))) return;
  pids_ = OpenIn(group, "pids.events", O_RDONLY);
  pids_peak_ = OpenIn(group, "pids.peak", O_RDONLY);
  if (pids_) held_.processes = processes;
}

void Cgroup::HoldUnified(const TreeLimits& wanted, const UnifiedParent& parent,
                         const MakeDirectory& make) {
  if (parent.directory.empty() || !Add(parent.directory, true, make)) return;
  const Fd& group = groups_.back().directory;
  if (wanted.memory_bytes != 0 &&
      Put(group, "memory.max", std::to_string(wanted.memory_bytes)) &&
      Put(group, "memory.oom.group", "1")) {
    Put(group, "memory.swap.max", "0");  // absent without swap
    memory_ = OpenIn(group, "memory.events", O_RDONLY);
    memory2_ = true;
    if (memory_) held_.memory_bytes = wanted.memory_bytes;
  }
  uint64_t processes = wanted.processes;
  if (parent.processes != 0 && (processes == 0 || parent.processes < processes))
    processes = parent.processes;
  if (processes != 0) HoldProcesses(processes);
  pids2_ = held_.processes != 0;
  if (parent.processes != 0 && held_.processes == 0) return DropLast();
  if (wanted.cpu_ms != 0) {
    cpu_ = OpenIn(group, "cpu.stat", O_RDONLY);
    cpu2_ = true;
    if (cpu_) held_.cpu_ms = wanted.cpu_ms;
  }
}

void Cgroup::DropLast() {
  rmdir(groups_.back().path.c_str());
  groups_.pop_back();
  unified_ = -1;
  held_ = {};
  memory_.reset();
  memory2_ = false;
}

void Cgroup::HoldMemory(uint64_t bytes, const std::string& parent,
                        const MakeDirectory& make) {
  if (!Add(parent, false, make)) return;
  const Fd& group = groups_.back().directory;
  const std::string text = std::to_string(bytes);
  if (!Put(group, "memory.limit_in_bytes", text)) return;
  // With swap, which not every kernel counts.
  Put(group, "memory.memsw.limit_in_bytes", text);
  memory_ = OpenIn(group, "memory.oom_control", O_RDONLY);
  if (!memory_) return;
  memory1_ = static_cast<int>(groups_.size()) - 1;
  // A group inherits that its processes are halted instead of ended.
  const std::string control = ReadControl(memory_.get()).value_or("");
  if (KeyedNumber(control, "oom_kill_disable") != 0 &&
      !Put(group, "memory.oom_control", "0"))
    return;
  held_.memory_bytes = bytes;
}

Cgroup Cgroup::Make(const TreeLimits& wanted, const CgroupPlaces& places,
                    const MakeDirectory& make) {
  Cgroup made;
  const bool memory = wanted.memory_bytes != 0, pids = wanted.processes != 0;
  // All of it in one group, else what version 1 has, and the rest in one.
  UnifiedParent all;
  if (memory || pids) all = ChooseUnifiedParent(places, memory, pids);
  if (!all.directory.empty()) made.HoldUnified(wanted, all, make);
  if (memory && made.held_.memory_bytes == 0)
    made.HoldMemory(wanted.memory_bytes, places.memory, make);
  if (pids && made.held_.processes == 0 && made.Add(places.pids, false, make))
    made.HoldProcesses(wanted.processes);
  if (wanted.cpu_ms == 0 || made.held_.cpu_ms != 0) return made;
  if (made.Add(places.cpuacct, false, make)) {
    made.cpu_ =
        OpenIn(made.groups_.back().directory, "cpuacct.usage", O_RDONLY);
    if (made.cpu_) made.held_.cpu_ms = wanted.cpu_ms;
  } else if (made.unified_ < 0) {
    // Every group of version 2 counts processor time.
    TreeLimits cpu;
    cpu.cpu_ms = wanted.cpu_ms;
    made.HoldUnified(cpu, ChooseUnifiedParent(places, false, false), make);
  }
  return made;
}

Cgroup Cgroup::MakeHere(const TreeLimits& wanted) {
  if ((wanted.memory_bytes | wanted.processes | wanted.cpu_ms) == 0) return {};
  constexpr size_t kMost = size_t{4} << 20;
  // Not ReadFile: the size of these is not known beforehand.
  const Fd mounts(open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
  const Fd own(open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC));
  if (!mounts || !own) return {};
  const Result<std::string> mount_text = ReadAll(mounts.get(), kMost);
  const Result<std::string> own_text = ReadAll(own.get(), kMost);
  if (!mount_text || !own_text) return {};
  return Make(wanted, ParseCgroupPlaces(*mount_text, *own_text));
}

Cgroup::~Cgroup() {
  if (groups_.empty()) return;
  for (const Group& group : groups_) {
    // Its last process has ended, which the kernel may be about to notice.
    for (int attempt = 0; attempt < 20; ++attempt) {
      if (rmdir(group.path.c_str()) == 0 || errno != EBUSY) break;
      Nap(1);
    }
    RemoveStale(group.parent);
  }
}

void Cgroup::Leave() {
  groups_.clear();
  watchdog_.pidfd.reset();
}

Cgroup::EntryFiles Cgroup::entry_files() const {
  EntryFiles entry_files;
  for (const Group& group : groups_)
    if (group.entry_file && entry_files.count < 3)
      entry_files.file[entry_files.count++] = group.entry_file.get();
  return entry_files;
}

void Cgroup::StartCleanupWatchdog() {
  guarded_ = true;
  int leash[2];
  if (pipe2(leash, O_CLOEXEC) != 0) return;  // the next run removes them
  watchdog_.reader = Fd(leash[0]);
  watchdog_.leash = Fd(leash[1]);
  std::vector<const char*> paths;
  for (const Group& group : groups_) paths.push_back(group.path.c_str());
  int pidfd = -1;
  const pid_t child = sys::Clone(0, &pidfd);
  if (child == 0) RemoveAfterGate(leash[0], paths.data(), paths.size());
  if (child > 0) watchdog_.pidfd = Fd(pidfd);
}

Cgroup::CleanupWatchdog::~CleanupWatchdog() {
  if (!pidfd) return;
  sys::PidfdSignal(pidfd.get(), SIGKILL);
  siginfo_t info = {};
  while (waitid(P_PIDFD, static_cast<id_t>(pidfd.get()), &info, WEXITED) != 0 &&
         errno == EINTR) {
  }
}

void Cgroup::Join(Watch* watch) {
  if (groups_.empty()) return;
  kill_ = watch->kill;
  joined_ms_ = MonotonicMs();
  const auto judge = [this] {
    if (kill_ && Exceeded() != TreeLimit::kNone) std::exchange(kill_, {})();
  };
  // The kernel gives notice when one of these changes.
  const auto notice = [&](const Fd& file) {
    if (!file) return;
    watch->served.push_back({[this, fd = file.get()] {
                               return pollfd{kill_ ? fd : -1, POLLPRI, 0};
                             },
                             [judge](short) { judge(); }});
  };
  if (pids2_) notice(pids_);
  if (memory2_) notice(memory_);
  watch->tick = [this, judge, before = watch->tick] {
    judge();
    int mine = kill_ ? Wait() : -1;
    if (!guarded_) {
      const auto age = static_cast<int>(MonotonicMs() - joined_ms_);
      if (age >= kUnguardedMs)
        StartCleanupWatchdog();
      else
        mine =
            mine < 0 ? kUnguardedMs - age : std::min(mine, kUnguardedMs - age);
    }
    const int other = before ? before() : -1;
    return mine < 0 ? other : (other < 0 ? mine : std::min(mine, other));
  };
}

namespace {

// Eight pages at once, and one that a limit is rounded by. For more the kernel
// ends nobody.
uint64_t LargestKillingRequest() {
  return 9 * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

TreeLimit Cgroup::MemoryExceeded() const {
  const std::optional<std::string> events = ReadControl(memory_.get());
  if (!events) return TreeLimit::kHidden;
  if (memory2_) {
    // Met here and nothing could be freed; or a process was ended for a group
    // above this one.
    if (KeyedNumber(*events, "oom") != 0) return TreeLimit::kMemory;
    return KeyedNumber(*events, "oom_kill") != 0 ? TreeLimit::kMemoryAbove
                                                 : TreeLimit::kNone;
  }
  if (KeyedNumber(*events, "oom_kill") == 0) return TreeLimit::kNone;
  // Opened only now: most runs never come here. Without swap the second ones
  // are absent; what is there and cannot be read counts as met.
  const Fd& group = groups_[static_cast<size_t>(memory1_)].directory;
  const auto number = [&](const char* name) {
    const Fd file = OpenIn(group, name, O_RDONLY);
    if (!file) return errno == ENOENT ? 0 : ~uint64_t{0};
    const std::optional<std::string> text = ReadControl(file.get());
    return text ? CounterOf(*text) : ~uint64_t{0};
  };
  if (number("memory.failcnt") != 0 || number("memory.memsw.failcnt") != 0)
    return TreeLimit::kMemory;
  // Not every kernel counts a failure for which it ended a process (6.18 does
  // not). The largest request for which one is ended did not fit then.
  const uint64_t nearly = held_.memory_bytes -
                          std::min(held_.memory_bytes, LargestKillingRequest());
  return number("memory.max_usage_in_bytes") >= nearly ||
                 number("memory.memsw.max_usage_in_bytes") >= nearly
             ? TreeLimit::kMemory
             : TreeLimit::kMemoryAbove;
}

TreeLimit Cgroup::Exceeded() const {
  if (held_.memory_bytes != 0)
    if (const TreeLimit met = MemoryExceeded(); met != TreeLimit::kNone)
      return met;
  if (held_.processes != 0) {
    const std::optional<std::string> events = ReadControl(pids_.get());
    if (!events) return TreeLimit::kHidden;
    // A start can be refused for a group above this one too: then this one
    // was never full.
    const uint64_t peak =
        pids_peak_ ? CounterOf(ReadControl(pids_peak_.get()).value_or(""))
                   : ~uint64_t{0};
    if (KeyedNumber(*events, "max") != 0 && peak > held_.processes)
      return TreeLimit::kProcesses;
  }
  if (held_.cpu_ms != 0) {
    const std::optional<std::string> used = ReadControl(cpu_.get());
    if (!used) return TreeLimit::kHidden;
    const uint64_t microseconds =
        cpu2_ ? KeyedNumber(*used, "usage_usec") : CounterOf(*used) / 1000;
    if (microseconds > held_.cpu_ms * 1000) return TreeLimit::kCpu;
  }
  return TreeLimit::kNone;
}

int Cgroup::Wait() const {
  int64_t wait = -1;
  if ((held_.memory_bytes != 0 && !memory2_) ||
      (held_.processes != 0 && !pids2_))
    wait = kControlSampleMs;
  if (held_.cpu_ms != 0) {
    const std::string used = ReadControl(cpu_.get()).value_or("");
    const uint64_t microseconds =
        cpu2_ ? KeyedNumber(used, "usage_usec") : CounterOf(used) / 1000;
    const auto left = static_cast<int64_t>(held_.cpu_ms) -
                      static_cast<int64_t>(microseconds / 1000);
    // Sooner than this all processors together cannot use up what is left.
    const int64_t soonest = std::clamp<int64_t>(
        left / std::max<int64_t>(1, sysconf(_SC_NPROCESSORS_ONLN)), 2, 1 << 30);
    wait = wait < 0 ? soonest : std::min(wait, soonest);
  }
  return static_cast<int>(wait);
}

}  // namespace gate::backends
