#include "backends/gvisor/account.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include "base/file.h"

namespace gate::backends {
namespace {

constexpr uint64_t kSampleMs = 100;
constexpr uint64_t kShare = 20;  // a sample takes at most 1/20 of the time

// Pages that processes share count once; 0 where that is not told.
uint64_t ExactMemory(pid_t pid) {
  const Result<std::string> text =
      ReadFile("/proc/" + std::to_string(pid) + "/smaps_rollup", 4096);
  uint64_t kilobytes = 0;
  for (const char* label : {"\nPss_Anon:", "\nPss_Shmem:", "\nSwapPss:"}) {
    const size_t at = text ? text->find(label) : std::string::npos;
    if (at != std::string::npos)
      kilobytes += strtoull(text->c_str() + at + strlen(label), nullptr, 10);
  }
  return kilobytes * 1024;
}

}  // namespace

void SandboxAccount::Join(Watch* watch) {
  if (cpu_s_ == 0 && memory_ == 0) return;
  kill_ = watch->kill;
  watch->tick = [this] { return Tick(); };
}

int SandboxAccount::Tick() {
  if (exceeded_ != TreeLimit::kNone) return -1;
  const uint64_t now = MonotonicMs();
  if (now < next_ms_) return static_cast<int>(next_ms_ - now);
  exceeded_ = Check();
  const uint64_t wait = std::max(kSampleMs, (MonotonicMs() - now) * kShare);
  next_ms_ = now + wait;
  if (exceeded_ == TreeLimit::kNone) return static_cast<int>(wait);
  kill_();
  return -1;
}

std::vector<SandboxAccount::Process> SandboxAccount::Tree() const {
  std::vector<Process> all;
  DIR* list = opendir("/proc");
  if (list == nullptr) return all;
  while (const dirent* entry = readdir(list)) {
    const pid_t pid = atoi(entry->d_name);
    // What runsc starts is younger, but for numbers that began anew.
    if (pid <= 0) continue;
    const Result<std::string> text =
        ReadFile("/proc/" + std::to_string(pid) + "/stat", 2048);
    const size_t end = text ? text->rfind(") ") : std::string::npos;
    if (end == std::string::npos) continue;  // it has ended meanwhile
    Process process;
    process.pid = pid;
    unsigned long ticks[4] = {};
    long resident = 0;
    // Fields 3, 4, 14 to 17 and 24 of proc(5).
    if (sscanf(text->c_str() + end + 2,
               "%*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu "
               "%*d %*d %*d %*d %*u %*u %ld",
               &process.parent, &ticks[0], &ticks[1], &ticks[2], &ticks[3],
               &resident) != 6)
      continue;
    process.ticks = ticks[0] + ticks[1] + ticks[2] + ticks[3];
    process.resident = static_cast<uint64_t>(resident);
    all.push_back(process);
  }
  closedir(list);
  std::set<pid_t> known = {runsc_};
  for (size_t before = 0; before != known.size();) {
    before = known.size();
    for (const Process& process : all)
      if (known.contains(process.parent)) known.insert(process.pid);
  }
  std::erase_if(all, [&](const Process& process) {
    return !known.contains(process.pid);
  });
  return all;
}

TreeLimit SandboxAccount::Check() {
  const std::vector<Process> tree = Tree();
  if (tree.empty()) return TreeLimit::kHidden;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t ticks = 0, resident = 0;
  for (const Process& process : tree) {
    ticks += process.ticks;
    resident += process.resident * page;
  }
  if (cpu_s_ != 0 &&
      ticks > cpu_s_ * static_cast<uint64_t>(sysconf(_SC_CLK_TCK)))
    return TreeLimit::kCpu;
  if (memory_ == 0 || resident <= memory_) return TreeLimit::kNone;
  uint64_t exact = 0;
  for (const Process& process : tree) {
    const uint64_t told = ExactMemory(process.pid);
    exact += told != 0 ? told : process.resident * page;
  }
  return exact > memory_ ? TreeLimit::kMemory : TreeLimit::kNone;
}

}  // namespace gate::backends
