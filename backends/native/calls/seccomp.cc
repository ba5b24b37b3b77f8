#include "backends/native/calls/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include "backends/native/calls/filter_writer.h"
#include "base/system_calls.h"

namespace gate::backends {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kX32Bit = 0x40000000;
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

constexpr auto kTracing = std::to_array<uint32_t>({
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
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
    SYS_fchownat,
    SYS_connect,
    SYS_bind,
#ifdef __x86_64__
    SYS_unlink,
    SYS_rmdir,
    SYS_mkdir,
    SYS_symlink,
    SYS_link,
    SYS_rename,
    SYS_chown,
    SYS_lchown,
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

// A bit of SOCK_DGRAM and of SOCK_RAW, which is the same for a local socket,
// and of no other type or flag.
constexpr uint32_t kSendsToAny = 2;
static_assert((SOCK_DGRAM & SOCK_RAW & kSendsToAny) != 0 &&
              ((SOCK_STREAM | SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC) &
               kSendsToAny) == 0);

// What an open does with a file counts by its flags.
void LookAtOpen(FilterWriter* w, FilterAsks asks, size_t flags) {
  const auto allow = w->Verdict(kAllow), refuse = w->Verdict(Errno(EPERM));
  const auto ask = w->Verdict(SECCOMP_RET_USER_NOTIF);
  const auto makes_none = asks.writes ? w->NewLabel() : allow;
  w->LoadArgument(flags);
  if (asks.reads) w->IfAny(kOpensToWrite | kMakesFiles, w->kNext, ask);
  // The mode counts only where a file may be made.
  w->IfAny(kMakesFiles, w->kNext, makes_none);
  w->LoadArgument(flags + 1);
  w->IfAny(S_ISUID, refuse, asks.writes ? w->kNext : allow);
  if (!asks.writes) return;
  w->LoadArgument(flags);
  w->Place(makes_none);
  w->IfAny(kOpensToWrite, ask, allow);
}

}  // namespace

Filter MakeFilter(FilterAsks asks, FilterRefuses refuses) {
  FilterWriter w;
  const auto next = w.kNext;
  const auto allow = w.Verdict(kAllow), refuse = w.Verdict(Errno(EPERM));
  const auto pretend = w.Verdict(Errno(0)), absent = w.Verdict(Errno(ENOSYS));
  const auto ask = w.Verdict(SECCOMP_RET_USER_NOTIF);
  const auto unsupported = w.Verdict(Errno(EOPNOTSUPP));
  w.Load(offsetof(seccomp_data, arch));
  w.IfEqual(kCallArchitecture, next, w.Verdict(SECCOMP_RET_KILL_PROCESS));
  w.LoadNumber();
  // Opening for reading comes first: of the calls whose arguments matter, which
  // the kernel cannot remember as allowed, it is by far the most frequent.
  // (Those of the x32 ABI have other numbers.)
  const auto other = w.NewLabel(), open = w.NewLabel();
  if (asks.reads) {
    w.IfEqual(SYS_openat, open, other);
  } else {
    w.IfEqual(SYS_openat, next, other);
    w.LoadArgument(2);
    w.IfAny(asks.writes ? kMakesFiles | kOpensToWrite : kMakesFiles, open,
            allow);
  }
  w.Place(other);

  struct {
    FilterWriter::Label clone, unshare, ioctl, setrlimit, prlimit, open, mode1,
        mode2, asked_mode1, asked_mode2, device1, device2, prctl, socket, pair,
        fallocate;
  } on;
  for (auto* label :
       {&on.clone, &on.unshare, &on.ioctl, &on.setrlimit, &on.prlimit, &on.open,
        &on.mode1, &on.mode2, &on.asked_mode1, &on.asked_mode2, &on.device1,
        &on.device2, &on.prctl, &on.socket, &on.pair, &on.fallocate})
    *label = w.NewLabel();
#ifdef __x86_64__
  w.OnCallsFrom(kX32Bit, refuse);
#endif
  for (const uint32_t number : kRefused) w.OnCall(number, refuse);
  if (refuses.tracing)
    for (const uint32_t number : kTracing) w.OnCall(number, refuse);
  // clone3 passes its flags in memory, where a filter cannot look: the C
  // library falls back to clone.
  w.OnCall(SYS_clone3, absent);
  w.OnCall(SYS_clone, on.clone);
  w.OnCall(SYS_unshare, on.unshare);
  w.OnCall(SYS_ioctl, on.ioctl);
  w.OnCall(SYS_setrlimit, on.setrlimit);
  w.OnCall(SYS_prlimit64, on.prlimit);
  // A set-user-id file in the workspace would hand the caller's identity to
  // whoever starts it outside. (Set-group-id is ordinary on directories.)
  // openat2 passes its mode in memory; the C library and others fall back to
  // openat without it. What changes a mode may also be asked about.
  w.OnCall(kOpenat2, absent);
#ifdef SYS_open
  w.OnCall(SYS_open, on.open);
  w.OnCall(SYS_creat, on.asked_mode1);
  w.OnCall(SYS_chmod, on.asked_mode1);
#endif
  w.OnCall(SYS_fchmod, on.mode1);
  w.OnCall(SYS_fchmodat, on.asked_mode2);
  w.OnCall(kFchmodat2, on.asked_mode2);
#ifdef SYS_mknod
  w.OnCall(SYS_mknod, on.device1);
#endif
  w.OnCall(SYS_mknodat, on.device2);
  if (asks.execs) {
    w.OnCall(SYS_execve, ask);
    w.OnCall(SYS_execveat, ask);
    // What a new program does first (backends/native/calls/start_check.h).
    w.OnCall(SYS_set_tid_address, ask);
    // What tells one program from the next
    // (backends/native/calls/process_image.h) is the kernel's to change.
    w.OnCall(SYS_prctl, on.prctl);
  }
  if (asks.writes)
    for (const uint32_t number : kWriting) w.OnCall(number, ask);
  if (asks.signals) w.OnCall(SYS_kill, ask);
  if (refuses.taking_room) w.OnCall(SYS_fallocate, on.fallocate);
  w.OnCall(SYS_socket, on.socket);
  const bool pairs_only = refuses.local == LocalSockets::kPairsOnly;
  if (pairs_only) w.OnCall(SYS_socketpair, on.pair);
  w.Dispatch(allow);

  w.Place(open);
  LookAtOpen(&w, asks, 2);
#ifdef SYS_open
  w.Place(on.open);
  LookAtOpen(&w, asks, 1);
#endif
  w.Place(on.clone);
  w.LoadArgument(0);
  w.IfAny(kNewNamespaces, refuse, allow);
  w.Place(on.unshare);
  w.LoadArgument(0);
  w.IfAny(kNewNamespaces | kNewTime, refuse, allow);

  // The kernel looks at the low 32 bits of an ioctl's number, and so must we.
  w.Place(on.ioctl);
  w.LoadArgument(1);
  for (uint32_t request : {kTiocsti, kTioclinux, kTioccons})
    w.IfEqual(request, refuse, next);
  if (refuses.taking_room)
    for (const uint32_t request : kTakesRoom)
      w.IfEqual(request, unsupported, next);
  w.IfEqual(kTiocsetd, refuse, allow);

  // The limit of core dumps is one byte, which alone keeps them from a program
  // of the host's (limits.cc). Whoever lowers it to none wants no dump either,
  // and is told that it has been done.
  w.Place(on.setrlimit);
  w.LoadArgument(0);
  w.IfEqual(RLIMIT_CORE, pretend, allow);
  w.Place(on.prlimit);
  w.LoadArgument(1);
  w.IfEqual(RLIMIT_CORE, next, allow);
  w.LoadArgument(2);
  w.IfAny(UINT32_MAX, pretend, next);
  w.LoadHigh(2);
  w.IfAny(UINT32_MAX, pretend, allow);

  const auto look_at_mode = [&](FilterWriter::Label label, size_t mode,
                                uint32_t mask, FilterWriter::Label otherwise) {
    w.Place(label);
    w.LoadArgument(mode);
    w.IfAny(mask, refuse, otherwise);
  };
  look_at_mode(on.mode1, 1, S_ISUID, allow);
  look_at_mode(on.mode2, 2, S_ISUID, allow);
  look_at_mode(on.asked_mode1, 1, S_ISUID, asks.writes ? ask : allow);
  look_at_mode(on.asked_mode2, 2, S_ISUID, asks.writes ? ask : allow);
  // Device nodes: without capabilities only 0:0 could be made, which is how an
  // overlay marks a deletion. The bit is common to the two device types.
  constexpr uint32_t kDeviceBit = S_IFCHR | S_ISUID;
  look_at_mode(on.device1, 1, kDeviceBit, asks.writes ? ask : allow);
  look_at_mode(on.device2, 2, kDeviceBit, asks.writes ? ask : allow);

  if (refuses.taking_room) {
    w.Place(on.fallocate);
    w.LoadArgument(1);
    w.IfAny(FALLOC_FL_PUNCH_HOLE, allow, unsupported);
  }
  if (asks.execs) {
    w.Place(on.prctl);
    w.LoadArgument(0);
    w.IfEqual(PR_SET_MM, refuse, allow);
  }

  // Local and internet sockets (the network namespace decides what they
  // reach), and of netlink only the routing tables, which libraries read.
  w.Place(on.socket);
  w.LoadArgument(0);
  const auto no_family = w.Verdict(Errno(EAFNOSUPPORT));
  w.IfEqual(AF_UNIX, pairs_only ? no_family : allow, next);
  for (uint32_t family : {AF_INET, AF_INET6}) w.IfEqual(family, allow, next);
  w.IfEqual(AF_NETLINK, next, no_family);
  w.LoadArgument(2);
  w.IfEqual(0, allow, no_family);
  if (pairs_only) {
    w.Place(on.pair);
    w.LoadArgument(1);
    w.IfAny(kSendsToAny, no_family, allow);
  }
  return w.Finish();
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
