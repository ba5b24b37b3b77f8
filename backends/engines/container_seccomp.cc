#include "backends/engines/container_seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backends/native/calls/seccomp.h"

namespace gate::backends {
namespace {

// By name, since engines have their own table; unknown names are passed over.
const char* const kRefused[] = {
    // As in backends/native/calls/seccomp.cc.
    "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp",
    "io_uring_setup", "io_uring_enter", "io_uring_register", "bpf",
    "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key",
    "mount", "umount", "umount2", "pivot_root", "chroot", "open_tree",
    "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr",
    "open_tree_attr", "setns", "open_by_handle_at", "kexec_load",
    "kexec_file_load", "init_module", "finit_module", "delete_module", "acct",
    "swapon", "swapoff", "reboot", "settimeofday", "clock_settime",
    "clock_settime64", "clock_adjtime", "clock_adjtime64", "adjtimex", "stime",
    "syslog", "quotactl", "quotactl_fd", "vhangup", "sethostname",
    "setdomainname", "iopl", "ioperm", "modify_ldt", "uselib", "lookup_dcookie",
    "nfsservctl",
    // As engines' own filters do.
    "create_module", "get_kernel_syms", "query_module", "sysfs", "_sysctl",
    "ustat", "vm86", "vm86old", "name_to_handle_at", "fanotify_init",
    "migrate_pages", "move_pages"};

struct Condition {
  unsigned index;
  uint64_t value;
  const char* op;
  uint64_t second = 0;  // of SCMP_CMP_MASKED_EQ
};

Condition HasBits(unsigned index, uint64_t bits) {
  return {index, bits, "SCMP_CMP_MASKED_EQ", bits};
}

class Rules {
 public:
  void Refuse(std::vector<std::string> names,
              const std::vector<Condition>& conditions = {},
              int error = EPERM) {
    Json args = Json::array();
    for (const Condition& one : conditions)
      args.push_back({{"index", one.index},
                      {"value", one.value},
                      {"valueTwo", one.second},
                      {"op", one.op}});
    Json rule = {{"names", std::move(names)},
                 {"action", "SCMP_ACT_ERRNO"},
                 {"errnoRet", error}};
    if (!args.empty()) rule["args"] = std::move(args);
    rules_.push_back(std::move(rule));
  }
  Json Take() { return std::move(rules_); }

 private:
  Json rules_ = Json::array();
};

// Set-user-id files and devices, which would be there outside as well.
void RefuseModes(Rules* rules) {
  rules->Refuse({"chmod", "fchmod", "creat"}, {HasBits(1, S_ISUID)});
  rules->Refuse({"fchmodat", "fchmodat2"}, {HasBits(2, S_ISUID)});
  for (const uint64_t made : {O_CREAT, O_TMPFILE & ~O_DIRECTORY}) {
    rules->Refuse({"open"}, {HasBits(1, made), HasBits(2, S_ISUID)});
    rules->Refuse({"openat"}, {HasBits(2, made), HasBits(3, S_ISUID)});
  }
  for (const uint64_t bits : {S_IFCHR, S_ISUID}) {
    rules->Refuse({"mknod"}, {HasBits(1, bits)});
    rules->Refuse({"mknodat"}, {HasBits(2, bits)});
  }
  // Its mode is in memory, where a filter cannot look.
  rules->Refuse({"openat2"}, {}, ENOSYS);
}

void RefuseDoors(Rules* rules) {
  rules->Refuse({std::begin(kRefused), std::end(kRefused)});
  rules->Refuse({"clone3"}, {}, ENOSYS);
  constexpr uint64_t kNewTime = 0x80;
  for (const uint64_t space :
       {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER,
        CLONE_NEWPID, CLONE_NEWNET})
    rules->Refuse({"clone", "unshare"}, {HasBits(0, space)});
  rules->Refuse({"unshare"}, {HasBits(0, kNewTime)});
  // TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD, by the low half of the number.
  for (const uint64_t request : {0x5412, 0x541C, 0x541D, 0x5423})
    rules->Refuse({"ioctl"}, {{1, 0xffffffff, "SCMP_CMP_MASKED_EQ", request}});
  // The limit of core dumps stays (backends/native/calls/seccomp.cc); whoever
  // lowers it is told that it did.
  rules->Refuse({"setrlimit"}, {{0, RLIMIT_CORE, "SCMP_CMP_EQ"}}, 0);
  rules->Refuse({"prlimit64"},
                {{1, RLIMIT_CORE, "SCMP_CMP_EQ"}, {2, 0, "SCMP_CMP_NE"}}, 0);
  // Local and internet sockets, and of netlink the routing tables.
  for (uint64_t family = AF_INET + 1; family < AF_NETLINK; ++family)
    if (family != AF_INET6)
      rules->Refuse({"socket"}, {{0, family, "SCMP_CMP_EQ"}}, EAFNOSUPPORT);
  rules->Refuse({"socket"}, {{0, AF_NETLINK + 1, "SCMP_CMP_GE"}}, EAFNOSUPPORT);
  rules->Refuse({"socket"},
                {{0, AF_NETLINK, "SCMP_CMP_EQ"}, {2, 0, "SCMP_CMP_NE"}},
                EAFNOSUPPORT);
}

void RefuseTakingRoom(Rules* rules) {
  rules->Refuse({"fallocate"},
                {{1, FALLOC_FL_PUNCH_HOLE, "SCMP_CMP_MASKED_EQ", 0}},
                EOPNOTSUPP);
  for (const uint64_t request : kTakesRoom)
    rules->Refuse({"ioctl"}, {{1, 0xffffffff, "SCMP_CMP_MASKED_EQ", request}},
                  EOPNOTSUPP);
}

}  // namespace

Json ContainerSeccomp(bool own_kernel, FilterRefuses refuses) {
  Rules rules;
  RefuseModes(&rules);
  if (!own_kernel) RefuseDoors(&rules);
  if (refuses.taking_room) RefuseTakingRoom(&rules);
  if (refuses.local == LocalSockets::kPairsOnly) {
    rules.Refuse({"socket"}, {{0, AF_UNIX, "SCMP_CMP_EQ"}}, EAFNOSUPPORT);
    // Of datagrams, which can be sent to any path
    // (backends/native/calls/seccomp.cc).
    rules.Refuse({"socketpair"}, {HasBits(1, SOCK_DGRAM)}, EAFNOSUPPORT);
  }
#if defined(__x86_64__)
  const char* const architecture = "SCMP_ARCH_X86_64";
#else
  const char* const architecture = "SCMP_ARCH_AARCH64";
#endif
  return {{"defaultAction", "SCMP_ACT_ALLOW"},
          {"architectures", {architecture}},
          {"syscalls", rules.Take()}};
}

}  // namespace gate::backends
