#include "backends/limits.h"

namespace gate::backends {

std::vector<Limit> ProcessLimits(const Limits& limits) {
  std::vector<Limit> all;
  const auto add = [&all](int resource, uint64_t soft, uint64_t hard) {
    all.push_back({resource, {soft, hard}});
  };
  all.push_back(kNoCoreDump);
  // Over the soft limit comes SIGXCPU, a second later SIGKILL.
  if (limits.cpu_s > 0) add(RLIMIT_CPU, limits.cpu_s, limits.cpu_s + 1);
  if (limits.memory_bytes > 0)
    add(RLIMIT_DATA, limits.memory_bytes, limits.memory_bytes);
  if (limits.processes > 0)  // process 1 of the sandbox counts
    add(RLIMIT_NPROC, limits.processes + 1, limits.processes + 1);
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

}  // namespace gate::backends
