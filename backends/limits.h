// Limits that the kernel keeps per process.
#pragma once

#include <sys/resource.h>

#include <vector>

#include "backends/backend.h"

namespace gate::backends {

struct Limit {
  int resource = 0;
  rlimit value = {};
};

// No core files, and what `limits` asks for. Memory is RLIMIT_DATA, which
// counts what a process may write, not address space that is only reserved
// (as runtimes do by the gigabyte).
std::vector<Limit> ProcessLimits(const Limits& limits);

// `wanted`, never above what holds for the caller. Async-signal-safe; 0 or -1.
int ApplyLimit(const Limit& wanted);

}  // namespace gate::backends
