// Adding up what all processes of the sandbox use.
//
// Native's process 1 does it, from its own /proc, which shows every process of
// the sandbox and nothing else: it cannot be signalled, stopped or read by the
// command. For a container gate does it, from the container's /proc. What ended
// processes used is in their parents' accounts, and of a parent that throws
// these away what was seen before is kept. A sample is some 20 us a process; it
// is taken at most every 20 ms, and takes at most a twentieth of the time. A
// command may exceed a limit by what it can use in that time.
//
// Async-signal-safe.
#pragma once

#include <cstdint>

namespace gate::backends {

enum class TreeLimit : uint32_t {
  kNone,
  kCpu,
  kMemory,
  kProcesses,
  kWritten,
  kHidden,       // a process hid its account of written bytes
  kMemoryAbove,  // a process was ended for the machine's, or a group's above
};

struct TreeLimits {
  uint64_t cpu_ms = 0;
  uint64_t memory_bytes = 0;
  uint64_t processes = 0;  // threads count; process 1 does not
  uint64_t written_bytes = 0;

  bool operator==(const TreeLimits&) const = default;
  bool Any() const {
    return (cpu_ms | memory_bytes | processes | written_bytes) != 0;
  }
};

class TreeAccount {
 public:
  TreeAccount() = default;
  // `first_counts`: process 1 is the command itself, not an init program.
  explicit TreeAccount(const TreeLimits& limits, bool first_counts = false)
      : limits_(limits), first_counts_(first_counts) {}

  // Opens /proc; 0, or -1 with errno. `own_io` is process 1's own io file,
  // opened while it still could be: those of a process that is not dumpable
  // belong to root. Read at offset 0, and not closed. `proc`: another /proc,
  // which is not closed either.
  int Open(int own_io, int proc = -1);
  // Takes a sample; which limit it exceeds. An account that cannot be read
  // exceeds.
  TreeLimit Check();
  // Milliseconds until the next sample should be taken; -1: never.
  int Wait() const { return wait_ms_; }

 private:
  struct Sums {
    uint64_t ticks = 0, resident = 0, tasks = 0, written = 0;
  };
  bool Add(int pid, Sums* sums);
  uint64_t ExactMemory();
  template <typename Each>
  bool ForEach(const Each& each);

  TreeLimits limits_;
  bool first_counts_ = false;
  int own_io_ = -1;
  int proc_ = -1;
  uint64_t page_ = 4096;
  int wait_ms_ = -1;
  uint64_t last_ticks_ = 0, ticks_ = 0;
  uint64_t last_written_ = 0, written_ = 0;
  int hidden_ = 0, hidden_samples_ = 0;
};

}  // namespace gate::backends
