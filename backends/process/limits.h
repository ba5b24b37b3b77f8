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

// One byte is less than any core file. A handler that the host pipes core dumps
// to is started whatever the limit, except when it is exactly this (Linux's
// fs/coredump.c): none of the host's root programs reads what a contained
// process has in memory.
inline constexpr Limit kNoCoreDump = {RLIMIT_CORE, {1, 1}};

// No core dumps, neither to files nor to a program of the host, and what
// `limits` asks for. Memory is RLIMIT_DATA, which counts what a process may
// write, not address space that is only reserved (as runtimes do by the
// gigabyte).
std::vector<Limit> ProcessLimits(const Limits& limits);

// `wanted`, never above what holds for the caller. Async-signal-safe; 0 or -1.
int ApplyLimit(const Limit& wanted);

// The limits that are summed over the run's processes.
TreeLimits SummedLimits(const Limits& limits);

// What `limit` is called, with its number.
std::string LimitText(TreeLimit limit, const TreeLimits& limits);

}  // namespace gate::backends
