// System calls and constants newer than the C library's headers.
//
// All functions return as the system call does: -1 and errno. They allocate
// nothing and may be called between clone and exec.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace gate::backends::sys {

// linux/mount.h, which cannot stand beside the C library's header.
inline constexpr unsigned kFsSetFlag = 0, kFsSetString = 1, kFsCreate = 6;
inline constexpr unsigned kFsopenCloexec = 1, kFsmountCloexec = 1;

// A fork with namespaces; the parent gets a pidfd. Containers' filters refuse
// clone3 as if the kernel had none, because they cannot look into its
// arguments (docker's default profile); clone(2) can do the same.
inline pid_t Clone(uint64_t flags, int* pidfd, int cgroup = -1) {
  clone_args args = {};
  args.flags = flags | CLONE_PIDFD;
  if (cgroup >= 0) {  // of version 2, where the child starts; clone3 only
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<uint64_t>(cgroup);
  }
  args.pidfd = reinterpret_cast<uint64_t>(pidfd);
  args.exit_signal = SIGCHLD;
  const long child = syscall(SYS_clone3, &args, sizeof(args));
  if (child >= 0 || errno != ENOSYS || cgroup >= 0)
    return static_cast<pid_t>(child);
  return static_cast<pid_t>(
      syscall(SYS_clone, args.flags | SIGCHLD, nullptr, pidfd, nullptr, 0));
}

// Makes a process that is not the caller's child but its sibling.
inline pid_t CloneSibling(uint64_t flags, int cgroup = -1) {
  clone_args args = {};
  args.flags = flags | CLONE_PARENT;  // which decides on the signal at its end
  if (cgroup >= 0) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<uint64_t>(cgroup);
  }
  const long child = syscall(SYS_clone3, &args, sizeof(args));
  if (child >= 0 || errno != ENOSYS || cgroup >= 0)
    return static_cast<pid_t>(child);
  return static_cast<pid_t>(
      syscall(SYS_clone, args.flags, nullptr, nullptr, nullptr, 0));
}

inline int OpenAt2(int directory, const char* path, uint64_t flags,
                   uint64_t resolve) {
  open_how how = {};
  how.flags = flags | O_CLOEXEC;
  how.resolve = resolve;
  return static_cast<int>(
      syscall(SYS_openat2, directory, path, &how, sizeof(how)));
}

// A handle on `path` that no symbolic link had a part in.
inline int OpenExact(const char* path, unsigned flags = O_PATH) {
  return OpenAt2(AT_FDCWD, path, flags | O_NOFOLLOW,
                 RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

inline int OpenTree(int directory, const char* path, unsigned flags) {
  return static_cast<int>(syscall(SYS_open_tree, directory, path, flags));
}

inline int MoveMount(int from, int to, const char* path, unsigned flags) {
  return static_cast<int>(syscall(SYS_move_mount, from, "", to, path, flags));
}

struct MountAttributes {
  uint64_t set = 0;
  uint64_t clear = 0;
  uint64_t propagation = 0;
  uint64_t userns = 0;
};

inline int MountSetAttributes(int directory, const char* path, unsigned flags,
                              MountAttributes attributes) {
  return static_cast<int>(syscall(SYS_mount_setattr, directory, path, flags,
                                  &attributes, sizeof(attributes)));
}

// A detached copy with these attributes; `flags`: AT_EMPTY_PATH, AT_RECURSIVE.
// One call since Linux 6.15, which containers' filters may not know.
inline int CloneTree(int directory, const char* path, unsigned flags,
                     MountAttributes attributes) {
  constexpr long kOpenTreeAttr = 467;
  const unsigned open = flags | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
  const int at_once = static_cast<int>(syscall(
      kOpenTreeAttr, directory, path, open, &attributes, sizeof(attributes)));
  if (at_once >= 0 || (errno != ENOSYS && errno != EPERM)) return at_once;
  const int tree = OpenTree(directory, path, open);
  if (tree < 0) return -1;
  const unsigned whole = flags & static_cast<unsigned>(AT_RECURSIVE);
  if (MountSetAttributes(tree, "", AT_EMPTY_PATH | whole, attributes) != 0) {
    const int saved = errno;
    close(tree);
    errno = saved;
    return -1;
  }
  return tree;
}

inline int PidfdSignal(int pidfd, int signal) {
  return static_cast<int>(
      syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0));
}

// Puts the five descriptors at 0 to 4 and closes every other one. The last two,
// which are the caller's own, do not survive an exec.
inline bool ArrangeDescriptors(const std::array<int, 5>& from) {
  std::array<int, 5> high = {};
  // First out of each other's way.
  for (size_t i = 0; i < from.size(); ++i) {
    high[i] = fcntl(from[i], F_DUPFD, 5);
    if (high[i] < 0) return false;
  }
  for (size_t i = 0; i < high.size(); ++i)
    if (dup2(high[i], static_cast<int>(i)) < 0) return false;
  if (syscall(SYS_close_range, 5u, ~0u, 0u) != 0) return false;
  return fcntl(3, F_SETFD, FD_CLOEXEC) == 0 &&
         fcntl(4, F_SETFD, FD_CLOEXEC) == 0;
}

}  // namespace gate::backends::sys
