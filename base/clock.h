// Clocks as numbers. Async-signal-safe, and allowed between clone and exec.
#pragma once

#include <time.h>

#include <cstdint>

namespace gate {

inline uint64_t ClockNs(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(now.tv_nsec);
}

// For deadlines: a clock that nobody sets.
inline uint64_t MonotonicUs() { return ClockNs(CLOCK_MONOTONIC) / 1000; }
inline uint64_t MonotonicMs() { return ClockNs(CLOCK_MONOTONIC) / 1'000'000; }

}  // namespace gate
