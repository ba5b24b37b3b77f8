// The program is assembled from a table of numbers, as a binary search. When a
// filter is installed the kernel runs it once for every number, to remember
// those that are always allowed: afterwards these cost nothing, but a linear
// chain would make the installing itself cost 0.1 ms.
#include "backends/native/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "backends/native/assembler.h"

namespace gate::backends {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
constexpr uint32_t kX32Bit = 0x40000000;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "no system call table for this architecture"
#endif

// Numbers that are the same on every architecture since 5.1 and that older
// headers lack.
enum : uint32_t {
  kOpenat2 = 437,
  kFchmodat2 = 452,
  kOpenTreeAttr = 467,
};

// Linux 5.19: an ordinary signal does not take a question back.
constexpr unsigned kWaitKillable = 1u << 5;

constexpr auto kRefused = std::to_array<uint32_t>({
    // Other processes.
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_pidfd_getfd,
    SYS_kcmp,
    // Large kernel interfaces that ordinary programs do without.
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    // Kernel keys: the session's keyring belongs to the caller.
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    // Mounts and roots.
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_mount_setattr,
    kOpenTreeAttr,
    SYS_setns,
    // Files by number, around every path.
    SYS_open_by_handle_at,
    // The machine.
    SYS_kexec_load,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_acct,
    SYS_swapon,
    SYS_swapoff,
    SYS_reboot,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_syslog,
    SYS_quotactl,
    SYS_vhangup,
    SYS_sethostname,
    SYS_setdomainname,
#ifdef SYS_quotactl_fd
    SYS_quotactl_fd,
#endif
#ifdef __x86_64__
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
    SYS_uselib,
#endif
    SYS_lookup_dcookie,
    SYS_nfsservctl,
});

// What changes a directory or a file by its name, and connections.
constexpr auto kWriting = std::to_array<uint32_t>({
    SYS_unlinkat,
    SYS_mkdirat,
    SYS_symlinkat,
    SYS_linkat,
    SYS_renameat2,
#ifdef SYS_renameat
    SYS_renameat,
#endif
    SYS_truncate,
    SYS_connect,
    SYS_bind,
#ifdef __x86_64__
    SYS_unlink,
    SYS_rmdir,
    SYS_mkdir,
    SYS_symlink,
    SYS_link,
    SYS_rename,
#endif
});
// Where an open's third argument, the mode, counts.
constexpr uint32_t kMakesFiles = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);
constexpr uint32_t kOpensToWrite = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;

constexpr uint32_t kNewNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP |
                                    CLONE_NEWUTS | CLONE_NEWIPC |
                                    CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
constexpr uint32_t kNewTime = 0x80;  // CLONE_NEWTIME, valid for unshare only

constexpr uint32_t kTiocsti = 0x5412;
constexpr uint32_t kTioclinux = 0x541C;
constexpr uint32_t kTioccons = 0x541D;
constexpr uint32_t kTiocsetd = 0x5423;

}  // namespace

Filter MakeFilter(FilterAsks asks) {
  Filter filter;
  Assembler a(&filter);
  a.Load(offsetof(seccomp_data, arch));
  a.SkipIf(kArchitecture, 1);
  a.Return(SECCOMP_RET_KILL_PROCESS);
  a.Load(offsetof(seccomp_data, nr));
  // Opening for reading comes first: of the calls whose arguments matter, which
  // the kernel cannot remember as allowed, it is by far the most frequent.
  // (Those of the x32 ABI have other numbers.)
  if (!asks.reads) {
    a.Unless(SYS_openat, 4);
    a.LoadArgument(2);
    a.SkipIfAny(asks.writes ? kMakesFiles | kOpensToWrite : kMakesFiles, 1);
    a.Return(kAllow);
    a.Load(offsetof(seccomp_data, nr));
  }
#ifdef __x86_64__
  a.ReturnIfAtLeast(kX32Bit, Errno(EPERM));
#endif
  if (asks.reads) {
    const auto look_at_reading = [&](uint32_t number, size_t flags) {
      a.Unless(number, 4);
      a.LoadArgument(flags);
      a.SkipIfAny(kOpensToWrite | (O_TMPFILE & ~O_DIRECTORY), 1);
      a.Return(SECCOMP_RET_USER_NOTIF);
      a.Load(offsetof(seccomp_data, nr));
    };
    look_at_reading(SYS_openat, 2);
#ifdef SYS_open
    look_at_reading(SYS_open, 1);
#endif
  }
  auto numbers = kRefused;
  std::sort(numbers.begin(), numbers.end());
  a.ReturnIfIn(numbers, Errno(EPERM));

  // clone3 passes its flags in memory, where a filter cannot look: the C
  // library falls back to clone.
  a.ReturnIf(SYS_clone3, Errno(ENOSYS));
  a.Unless(SYS_clone, 4);
  a.LoadArgument(0);
  a.ReturnIfAny(kNewNamespaces, Errno(EPERM));
  a.Return(kAllow);
  a.Unless(SYS_unshare, 4);
  a.LoadArgument(0);
  a.ReturnIfAny(kNewNamespaces | kNewTime, Errno(EPERM));
  a.Return(kAllow);

  // The kernel looks at the low 32 bits of an ioctl's number, and so must we.
  a.Unless(SYS_ioctl, 10);
  a.LoadArgument(1);
  for (uint32_t request : {kTiocsti, kTioclinux, kTioccons, kTiocsetd})
    a.ReturnIf(request, Errno(EPERM));
  a.Return(kAllow);

  // The limit of core dumps is one byte, which alone keeps them from a program
  // of the host's (limits.cc). Whoever lowers it to none wants no dump either,
  // and is told that it has been done.
  a.Unless(SYS_setrlimit, 4);
  a.LoadArgument(0);
  a.ReturnIf(RLIMIT_CORE, Errno(0));
  a.Return(kAllow);
  a.Unless(SYS_prlimit64, 9);
  a.LoadArgument(1);
  a.Unless(RLIMIT_CORE, 6);
  a.LoadArgument(2);
  a.ReturnIfAny(UINT32_MAX, Errno(0));
  a.Load(offsetof(seccomp_data, args) + 2 * sizeof(uint64_t) +
         sizeof(uint32_t));
  a.ReturnIfAny(UINT32_MAX, Errno(0));
  a.Return(kAllow);

  // A set-user-id file in the workspace would hand the caller's identity to
  // whoever starts it outside. (Set-group-id is ordinary on directories.)
  // openat2 passes its mode in memory; the C library and others fall back to
  // openat without it.
  a.ReturnIf(kOpenat2, Errno(ENOSYS));
  const auto refuse_setuid = [&a](uint32_t number, size_t mode) {
    a.Unless(number, 4);
    a.LoadArgument(mode);
    a.ReturnIfAny(S_ISUID, Errno(EPERM));
    a.Return(kAllow);
  };
  // As above, but what asks for it may also be looked at first.
  const auto look_at = [&](uint32_t number, size_t mode) {
    if (!asks.writes) return refuse_setuid(number, mode);
    a.Unless(number, 4);
    a.LoadArgument(mode);
    a.ReturnIfAny(S_ISUID, Errno(EPERM));
    a.Return(SECCOMP_RET_USER_NOTIF);
  };
  // The mode counts only where a file may be made.
  const auto refuse_open = [&](uint32_t number, size_t flags) {
    a.Unless(number, asks.writes ? 9 : 6);
    a.LoadArgument(flags);
    a.SkipUnlessAny(kMakesFiles, 3);
    a.LoadArgument(flags + 1);
    a.ReturnIfAny(S_ISUID, Errno(EPERM));
    if (asks.writes) {
      a.LoadArgument(flags);
      a.ReturnIfAny(kOpensToWrite, SECCOMP_RET_USER_NOTIF);
    }
    a.Return(kAllow);
  };
  refuse_open(SYS_openat, 2);
#ifdef SYS_open
  refuse_open(SYS_open, 1);
  look_at(SYS_creat, 1);
  look_at(SYS_chmod, 1);
#endif
  refuse_setuid(SYS_fchmod, 1);
  look_at(SYS_fchmodat, 2);
  look_at(kFchmodat2, 2);

  // Device nodes: without capabilities only 0:0 could be made, which is how an
  // overlay marks a deletion. The bit is common to the two device types.
  constexpr uint32_t kDeviceBit = S_IFCHR | S_ISUID;
#ifdef SYS_mknod
  a.Unless(SYS_mknod, 4);
  a.LoadArgument(1);
  a.ReturnIfAny(kDeviceBit, Errno(EPERM));
  a.Return(kAllow);
#endif
  a.Unless(SYS_mknodat, 4);
  a.LoadArgument(2);
  a.ReturnIfAny(kDeviceBit, Errno(EPERM));
  a.Return(kAllow);

  if (asks.execs) {
    a.ReturnIf(SYS_execve, SECCOMP_RET_USER_NOTIF);
    a.ReturnIf(SYS_execveat, SECCOMP_RET_USER_NOTIF);
    // What a new program does first (native/start_check.h).
    a.ReturnIf(SYS_set_tid_address, SECCOMP_RET_USER_NOTIF);
  }
  if (asks.writes) {
    auto writing = kWriting;
    std::sort(writing.begin(), writing.end());
    a.ReturnIfIn(writing, SECCOMP_RET_USER_NOTIF);
  }

  // Local and internet sockets (the network namespace decides what they
  // reach), and of netlink only the routing tables, which libraries read.
  a.Unless(SYS_socket, 12);
  a.LoadArgument(0);
  for (uint32_t family : {AF_UNIX, AF_INET, AF_INET6})
    a.ReturnIf(family, kAllow);
  a.Unless(AF_NETLINK, 3);
  a.LoadArgument(2);
  a.ReturnIf(0, kAllow);
  a.Return(Errno(EAFNOSUPPORT));

  a.Return(kAllow);
  return filter;
}

int InstallFilter(const Filter& filter) {
  const sock_fprog program = {filter.size,
                              const_cast<sock_filter*>(filter.code.data())};
  return static_cast<int>(
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
}

int InstallAskingFilter(const Filter& filter) {
  const sock_fprog program = {filter.size,
                              const_cast<sock_filter*>(filter.code.data())};
  const auto install = [&](unsigned flags) {
    return static_cast<int>(
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
  };
  const int fd = install(SECCOMP_FILTER_FLAG_NEW_LISTENER | kWaitKillable);
  if (fd >= 0 || errno != EINVAL) return fd;
  return install(SECCOMP_FILTER_FLAG_NEW_LISTENER);
}

}  // namespace gate::backends
