// Limits that the kernel keeps per process, and those of the run as a whole.
#pragma once

#include <sys/resource.h>

#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/native/account.h"

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

// Those that are summed over the run's processes.
TreeLimits SummedLimits(const Limits& limits);

// What `limit` is called, with its number.
std::string LimitText(TreeLimit limit, const Limits& limits);

}  // namespace gate::backends
