// The system calls a contained command may not make.
//
// A deny list: an ordinary program must not notice it. It takes away what
// breaks other isolation layers, makes set-user-id files or widens the kernel's
// attack surface without serving ordinary work: the mount family, namespaces,
// kernel keys, io_uring, bpf, perf, userfaultfd, modules, clocks, handles of
// files by number, terminal injection, exotic socket families; and tracing,
// where it is not given (FilterRefuses). Calls of another architecture kill the
// process, those of the x32 ABI are refused. The same program is used by native
// and bwrap.
//
// Not in it: what ordinary programs need (socketpair, memfd_create, prctl,
// nested seccomp and Landlock, AF_UNIX, AF_INET).
#pragma once

#include <linux/filter.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace gate::backends {

inline constexpr size_t kMaxFilter = 512;

struct Filter {
  std::array<sock_filter, kMaxFilter> code = {};
  unsigned short size = 0;
};

// What gate looks at before it happens (backends/native/calls/calls.h). Both
// are only asked for with InstallAskingFilter.
struct FilterAsks {
  bool execs = false;
  bool writes = false;   // opens for writing, changed directories, connecting,
                         // listening
  bool reads = false;    // opens for reading
  bool signals = false;  // to one process, by its number
  bool Any() const { return execs || writes || reads || signals; }
};

// Which local sockets can be made: all, or only pairs that connect to nothing
// else: no datagram pairs, which can send to any path.
enum class LocalSockets : uint8_t { kAll, kPairsOnly };

// What takes room on a disk without writing, and so in nobody's account of
// written bytes: fallocate, and these requests of ioctl (FS_IOC_RESVSP,
// FS_IOC_RESVSP64, FS_IOC_ZERO_RANGE, XFS_IOC_ALLOCSP, XFS_IOC_ALLOCSP64).
inline constexpr uint32_t kTakesRoom[] = {0x40305828, 0x4030582a, 0x40305839,
                                          0x4030580a, 0x40305824};

// What one run is refused beyond what every run is.
struct FilterRefuses {
  LocalSockets local = LocalSockets::kAll;
  // ptrace, and what reads or writes the memory of another process. Where it is
  // not refused, a process traces those of its own PID namespace that run as
  // the same user and are dumpable (ptrace(2), "Ptrace access mode checking"),
  // whose memory it has by /proc/PID/mem anyway. The filter looks at a call
  // after its tracer has (Linux 4.8), so that a tracer makes none that is
  // refused.
  bool tracing = true;
  // "Not supported", as on file systems that cannot, where programs (and
  // posix_fallocate) write instead.
  bool taking_room = false;
};

// The program for this machine's architecture. Pure; microseconds.
Filter MakeFilter(FilterAsks asks = {}, FilterRefuses refuses = {});

// Installs it for the calling thread, which must have no_new_privs set.
// 0, or -1 with errno. Async-signal-safe.
int InstallFilter(const Filter& filter);
// Installs it likewise, with questions: a descriptor from which these are read,
// or -1.
int InstallAskingFilter(const Filter& filter);

}  // namespace gate::backends
