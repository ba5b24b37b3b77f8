// probe WHAT ARGS…: one attempt at getting out, for the escape tests. Exits
// with 0 when the attempt worked, with its errno when it was refused.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/vm_sockets.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

int Done(long result) { return result >= 0 ? 0 : (errno == 0 ? 1 : errno); }

// Traces a process of its own. With `call`: has that make this call in place of
// another one, and says what came of it.
int Trace(long call) {
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(2);
    raise(SIGSTOP);
    const long result = syscall(SYS_getppid);
    _exit(result == -1 && errno == EPERM ? 1 : 0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) < 0) return Done(-1);
  if (!WIFSTOPPED(status)) return EPERM;
#ifdef __x86_64__
  for (bool entry = true; call != 0; entry = !entry) {
    if (ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) != 0) return Done(-1);
    if (waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status)) break;
    user_regs_struct registers = {};
    if (ptrace(PTRACE_GETREGS, child, nullptr, &registers) != 0)
      return Done(-1);
    if (!entry || registers.orig_rax != SYS_getppid) continue;
    registers.orig_rax = static_cast<unsigned long long>(call);
    if (ptrace(PTRACE_SETREGS, child, nullptr, &registers) != 0)
      return Done(-1);
    call = 0;
  }
#endif
  if (ptrace(PTRACE_CONT, child, nullptr, nullptr) != 0) return Done(-1);
  if (waitpid(child, &status, 0) < 0) return Done(-1);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : EPERM;
}

int ConnectUnix(const std::string& name) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0) return Done(-1);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, name.data(), name.size());
  const auto size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  return Done(connect(fd, reinterpret_cast<sockaddr*>(&address), size));
}

int SendInet(int type, int port) {
  const int fd = socket(AF_INET, type, 0);
  if (fd < 0) return Done(-1);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
    return Done(-1);
  return Done(send(fd, "x", 1, MSG_NOSIGNAL));
}

int SendInet6(int port) {
  const int fd = socket(AF_INET6, SOCK_STREAM, 0);
  if (fd < 0) return Done(-1);
  sockaddr_in6 address = {};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET6, "::ffff:127.0.0.1", &address.sin6_addr);
  return Done(
      connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)));
}

int OpenByHandle(const char* path) {
  struct {
    file_handle handle;
    unsigned char bytes[128];
  } buffer = {};
  buffer.handle.handle_bytes = sizeof(buffer.bytes);
  int mount_id = 0;
  if (name_to_handle_at(AT_FDCWD, path, &buffer.handle, &mount_id, 0) != 0)
    return Done(-1);
  const int root = open("/", O_RDONLY | O_DIRECTORY);
  return Done(open_by_handle_at(root, &buffer.handle, O_RDONLY));
}

// Calls of the mount family on `path`; 0 if any of them worked.
int TryMounts(const char* path) {
  if (mount("none", path, "tmpfs", 0, nullptr) == 0) return 0;
  if (mount(nullptr, path, nullptr, MS_REMOUNT | MS_BIND, nullptr) == 0)
    return 0;
  if (umount2(path, MNT_DETACH) == 0) return 0;
  if (syscall(SYS_open_tree, AT_FDCWD, path, 1u) >= 0) return 0;
  if (syscall(SYS_fsopen, "tmpfs", 0u) >= 0) return 0;
  uint64_t attributes[4] = {0, 1, 0, 0};  // clear read-only
  if (syscall(SYS_mount_setattr, AT_FDCWD, path, 0u, attributes,
              sizeof(attributes)) == 0)
    return 0;
  if (chroot(path) == 0) return 0;
  return Done(-1);
}

int TryUserNamespace() {
  if (unshare(CLONE_NEWUSER) == 0) return 0;
  const long child =
      syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, 0);
  if (child == 0) _exit(0);
  if (child > 0) return 0;
  unsigned long arguments[11] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
  const long other = syscall(SYS_clone3, arguments, sizeof(arguments));
  if (other == 0) _exit(0);
  return Done(other);
}

// The attempts in a loop, while the file changes under the same name.
int RaceLink(const char* link, const char* inside, const char* outside) {
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 20000; ++i) {
      unlink(link);
      (void)!symlink(i % 2 == 0 ? inside : outside, link);
    }
    _exit(0);
  }
  for (int i = 0; i < 20000; ++i) {
    const int fd = open(link, O_WRONLY | O_TRUNC);
    if (fd >= 0) {
      (void)!write(fd, "raced", 5);
      close(fd);
    }
  }
  waitpid(child, nullptr, 0);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 255;
  const std::string what = argv[1];
  const char* one = argc > 2 ? argv[2] : "";
  const char* two = argc > 3 ? argv[3] : "";
  if (what == "unix") return ConnectUnix(one);
  if (what == "abstract") return ConnectUnix(std::string(1, '\0') + one);
  if (what == "tcp") return SendInet(SOCK_STREAM, atoi(one));
  if (what == "udp") return SendInet(SOCK_DGRAM, atoi(one));
  if (what == "tcp6") return SendInet6(atoi(one));
  if (what == "vsock") return Done(socket(AF_VSOCK, SOCK_STREAM, 0));
  if (what == "packet") return Done(socket(AF_PACKET, SOCK_RAW, 0));
  if (what == "netlink") return Done(socket(AF_NETLINK, SOCK_RAW, atoi(one)));
  if (what == "socketpair") {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return Done(-1);
    return Done(send(pair[0], "x", 1, 0));
  }
  if (what == "bind") {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", one);
    if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
        listen(fd, 1) != 0)
      return Done(-1);
    return ConnectUnix(one);
  }
  // Made and left, by key or name.
  constexpr int kNew = IPC_CREAT | IPC_EXCL | 0666;
  if (what == "shm") return Done(shmget(atoi(one), 1 << 20, kNew));
  if (what == "sem") return Done(semget(atoi(one), 8, kNew));
  if (what == "msg") return Done(msgget(atoi(one), kNew));
  if (what == "mq")
    return Done(mq_open(one, O_CREAT | O_EXCL | O_RDWR, 0666, nullptr));
  if (what == "kill") return Done(kill(atoi(one), SIGTERM));
  if (what == "ptrace")
    return Done(ptrace(PTRACE_ATTACH, atoi(one), nullptr, nullptr));
  if (what == "trace") return Trace(0);
  if (what == "smuggle") return Trace(SYS_keyctl);
  if (what == "exchange")
    return Done(syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, two, 2u));
  if (what == "handle") return OpenByHandle(one);
  if (what == "mounts") return TryMounts(one);
  if (what == "userns") return TryUserNamespace();
  if (what == "keyring")
    return Done(syscall(SYS_keyctl, 11 /* READ */, -3L, nullptr, 0, 0));
  if (what == "io_uring") {
    char parameters[256] = {};
    return Done(syscall(SYS_io_uring_setup, 1u, parameters));
  }
  if (what == "bpf") return Done(syscall(SYS_bpf, 0, nullptr, 0));
  if (what == "tiocsti") return Done(syscall(SYS_ioctl, 0, 0x5412UL, "x"));
  if (what == "tiocsti-high")
    return Done(syscall(SYS_ioctl, 0, 0xdead00005412UL, "x"));
#ifdef __x86_64__
  if (what == "x32") return Done(syscall(SYS_getpid | 0x40000000));
  if (what == "i386") {
    long result = 20;  // getpid
    asm volatile("int $0x80" : "+a"(result) : : "memory");
    return result >= 0 ? 0 : 1;
  }
#endif
  if (what == "mknod") return Done(mknod(one, S_IFCHR | 0600, makedev(0, 0)));
  if (what == "openat2-setuid") {
    uint64_t how[3] = {O_CREAT | O_WRONLY, 04755, 0};
    return Done(syscall(SYS_openat2, AT_FDCWD, one, how, sizeof(how)));
  }
  if (what == "race") return RaceLink(one, two, argc > 4 ? argv[4] : "");
  if (what == "writable-stdin") {
    const int fd = open("/proc/self/fd/0", O_WRONLY | O_TRUNC);
    if (fd < 0) return Done(-1);
    return Done(write(fd, "changed", 7));
  }
  return 255;
}
