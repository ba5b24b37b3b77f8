// Processor time and memory of a gVisor sandbox, summed by gate from outside:
// over runsc and everything it has started on this machine, which does all that
// the command does. gVisor's own use counts with it, some 30 MiB of memory.
// What runs inside is no process of this machine, so that their number and what
// they write are not seen.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "backends/process/limits.h"
#include "backends/process/supervise.h"

namespace gate::backends {

class SandboxAccount {
 public:
  SandboxAccount(pid_t runsc, const Limits& limits)
      : runsc_(runsc), cpu_s_(limits.cpu_s), memory_(limits.memory_bytes) {}
  SandboxAccount(const SandboxAccount&) = delete;  // the watch points to it
  SandboxAccount& operator=(const SandboxAccount&) = delete;

  // Adds itself to `watch`, whose `kill` is called at a limit.
  void Join(Watch* watch);
  TreeLimit exceeded() const { return exceeded_; }

 private:
  struct Process {
    pid_t pid = 0, parent = 0;
    uint64_t ticks = 0, resident = 0;
  };
  int Tick();
  TreeLimit Check();
  // runsc and its descendants; empty when /proc cannot be read.
  std::vector<Process> Tree() const;

  const pid_t runsc_;
  const uint64_t cpu_s_, memory_;
  uint64_t next_ms_ = 0;
  TreeLimit exceeded_ = TreeLimit::kNone;
  std::function<void()> kill_;
};

}  // namespace gate::backends
