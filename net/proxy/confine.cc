#include "net/proxy/confine.h"

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/system_calls.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GATE_NET_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GATE_NET_SANITIZED 1
#endif
#endif

namespace gate::net::proxy {
namespace {

// The sanitizers make system calls of their own.
#ifdef GATE_NET_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

constexpr uint32_t kCalls[] = {
// The loop.
#ifdef SYS_epoll_wait
    SYS_epoll_wait,
#endif
    SYS_epoll_pwait, SYS_epoll_ctl, SYS_timerfd_settime,
#ifdef SYS_poll
    SYS_poll,
#endif
    SYS_ppoll, SYS_clock_gettime, SYS_clock_nanosleep, SYS_nanosleep,
    // Sockets and pipes.
    SYS_accept4, SYS_connect, SYS_bind, SYS_getsockname, SYS_getsockopt,
    SYS_setsockopt, SYS_shutdown, SYS_recvfrom, SYS_recvmsg, SYS_sendto,
    SYS_sendmsg, SYS_splice, SYS_pipe2, SYS_read, SYS_readv, SYS_write,
    SYS_writev, SYS_pwrite64, SYS_close,
    // Memory.
    SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise, SYS_futex,
    // The rest.
    SYS_getrandom, SYS_getpid, SYS_gettid, SYS_rt_sigprocmask, SYS_rt_sigreturn,
    SYS_restart_syscall, SYS_exit, SYS_exit_group};

// Calls of which an argument decides.
struct Checked {
  uint32_t call;
  uint32_t argument;
  // Bits that must not be set; where there are none, the values that may be.
  uint32_t forbidden;
  std::vector<uint32_t> values;
};

std::vector<Checked> CheckedCalls() {
  return {
      // Netlink tells the addresses of the interfaces.
      {SYS_socket, 0, 0, {AF_INET, AF_INET6, AF_NETLINK}},
      {SYS_ioctl, 1, 0, {FIONBIO, FIONREAD}},
      {SYS_fcntl, 1, 0, {F_GETFL, F_SETFL, F_GETFD, F_SETFD, F_SETPIPE_SZ}},
      {SYS_mmap, 2, PROT_EXEC, {}},
      {SYS_mprotect, 2, PROT_EXEC, {}},
  };
}

uint32_t LowHalfOf(uint32_t argument) {
  // Both architectures are little-endian.
  return static_cast<uint32_t>(offsetof(seccomp_data, args)) + 8 * argument;
}

bool AllowOnlyTheLoop() {
  std::vector<sock_filter> code = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kCallArchitecture, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
  };
  for (const uint32_t call : kCalls) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  for (const Checked& checked : CheckedCalls()) {
    std::vector<sock_filter> body = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LowHalfOf(checked.argument))};
    if (checked.forbidden != 0) {
      body.push_back(
          BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, checked.forbidden, 1, 0));
      body.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    }
    for (const uint32_t value : checked.values) {
      body.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
      body.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    }
    body.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, checked.call, 0,
                            static_cast<uint8_t>(body.size())));
    code.insert(code.end(), body.begin(), body.end());
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  const sock_fprog program = {static_cast<unsigned short>(code.size()),
                              code.data()};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

// No file at all. True also where the kernel has no Landlock: the filter above
// lets no file be opened either.
bool CloseTheFileSystem() {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0,
                                 LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return true;
  struct {
    uint64_t files;
  } handled = {
      // Every right of the first version; later ones are about files that are
      // open already.
      (uint64_t{LANDLOCK_ACCESS_FS_MAKE_SYM} << 1) - 1};
  const int rules = static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0));
  if (rules < 0) return false;
  const bool done = ::syscall(SYS_landlock_restrict_self, rules, 0) == 0;
  ::close(rules);
  return done;
}

}  // namespace

bool Confine(size_t* descriptors) {
  ::signal(SIGPIPE, SIG_IGN);
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  const rlimit no_core = {0, 0};
  rlimit files = {};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return false;
  files.rlim_cur = files.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &files);
  *descriptors = files.rlim_cur == RLIM_INFINITY ? SIZE_MAX : files.rlim_cur;
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 &&
         ::syscall(SYS_capset, &header, none) == 0 &&
         ::setrlimit(RLIMIT_CORE, &no_core) == 0 &&
         ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && CloseTheFileSystem() &&
         (kSanitized || AllowOnlyTheLoop());
}

}  // namespace gate::net::proxy
