#include "backends/process/limits.h"

#include <algorithm>

namespace gate::backends {
namespace {

// More of anything there is none, and sums and products of it fit.
constexpr uint64_t kLargest = uint64_t{1} << 40;

}  // namespace

std::vector<Limit> ProcessLimits(const Limits& limits) {
  std::vector<Limit> all;
  const auto add = [&all](int resource, uint64_t soft, uint64_t hard) {
    all.push_back({resource, {soft, hard}});
  };
  all.push_back(kNoCoreDump);
  // Over the soft limit comes SIGXCPU, a second later SIGKILL.
  const uint64_t cpu_s = std::min(limits.cpu_s, kLargest);
  if (cpu_s > 0) add(RLIMIT_CPU, cpu_s, cpu_s + 1);
  if (limits.memory_bytes > 0)
    add(RLIMIT_DATA, limits.memory_bytes, limits.memory_bytes);
  const uint64_t processes = std::min(limits.processes, kLargest);
  if (processes > 0)  // process 1 of the sandbox counts
    add(RLIMIT_NPROC, processes + 1, processes + 1);
  if (limits.open_files > 0)
    add(RLIMIT_NOFILE, limits.open_files, limits.open_files);
  if (limits.file_bytes > 0)
    add(RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes);
  return all;
}

int ApplyLimit(const Limit& wanted) {
  const auto resource = static_cast<__rlimit_resource>(wanted.resource);
  rlimit value = wanted.value;
  rlimit now = {};
  if (getrlimit(resource, &now) != 0) return -1;
  if (value.rlim_max > now.rlim_max) value.rlim_max = now.rlim_max;
  if (value.rlim_cur > value.rlim_max) value.rlim_cur = value.rlim_max;
  return setrlimit(resource, &value);
}

TreeLimits SummedLimits(const Limits& limits) {
  return {std::min(limits.cpu_s, kLargest) * 1000, limits.memory_bytes,
          std::min(limits.processes, kLargest), limits.written_bytes};
}

std::string LimitText(TreeLimit limit, const TreeLimits& limits) {
  switch (limit) {
    case TreeLimit::kCpu:
      return "the processor time limit of " +
             std::to_string(limits.cpu_ms / 1000) + " s";
    case TreeLimit::kMemory:
      return "the memory limit of " + std::to_string(limits.memory_bytes) +
             " bytes";
    case TreeLimit::kProcesses:
      return "the limit of " + std::to_string(limits.processes) + " processes";
    case TreeLimit::kWritten:
      return "the limit of " + std::to_string(limits.written_bytes) +
             " written bytes";
    case TreeLimit::kHidden:
      return "a process whose use of a limited resource cannot be read";
    case TreeLimit::kMemoryAbove:
      return "the memory of the machine, or of a control group above this run";
    case TreeLimit::kNone:
      break;
  }
  return "a limit";
}

}  // namespace gate::backends
