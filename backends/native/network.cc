#include "backends/native/network.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The thread shares errno with the one that started it, and what a sanitizer
// keeps for a thread as well: so none looks into it, and there is none below
// ThreadSanitizer, which takes a clone for a fork.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GATE_NO_SECOND_THREAD
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define GATE_NO_SECOND_THREAD
#endif
#if defined(__clang__)
#define GATE_NOT_INSTRUMENTED __attribute__((disable_sanitizer_instrumentation))
#else
#define GATE_NOT_INSTRUMENTED \
  __attribute__((no_sanitize("address", "undefined", "leak")))
#endif

namespace gate::backends {
namespace {

#ifdef GATE_NO_SECOND_THREAD
constexpr bool kSecondThread = false;
#else
constexpr bool kSecondThread = true;
#endif

bool Fail(SetupError* error, Stage stage) {
  error->stage = stage;
  error->error = errno;
  error->index = -1;
  return false;
}

// Switches the loopback device of the namespace on. Touches errno only when it
// fails.
GATE_NOT_INSTRUMENTED bool RaiseLoopback() {
  const long any = syscall(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (any < 0) return false;
  ifreq request = {};
  request.ifr_name[0] = 'l';
  request.ifr_name[1] = 'o';
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  const bool raised = syscall(SYS_ioctl, any, SIOCSIFFLAGS, &request) == 0;
  syscall(SYS_close, any);
  return raised;
}

}  // namespace

// A call that succeeds leaves errno alone; one that fails ends the process, so
// that the other thread never goes on with an errno that was not its own.
GATE_NOT_INSTRUMENTED int NetworkMaker::Run(void* maker) {
  auto* self = static_cast<NetworkMaker*>(maker);
  if (syscall(SYS_unshare, CLONE_NEWNET) != 0)
    self->failed_(Stage::kNamespaces, errno);
  if (!RaiseLoopback()) self->failed_(Stage::kLoopback, errno);
  const long any = syscall(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (any < 0) self->failed_(Stage::kNamespaces, errno);
  // The namespace of a socket, since Linux 4.10, which needs no /proc.
  const long made = syscall(SYS_ioctl, any, SIOCGSKNS, 0);
  if (made < 0) self->failed_(Stage::kNamespaces, errno);
  syscall(SYS_close, any);
  self->made_ = static_cast<int>(made);
  return 0;
}

bool NetworkMaker::Begin(bool aside, void (*failed)(Stage stage, int error),
                         SetupError* error) {
  if (kSecondThread && aside) {
    failed_ = failed;
    constexpr int kThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
                            CLONE_THREAD | CLONE_SYSVSEM | CLONE_PARENT_SETTID |
                            CLONE_CHILD_CLEARTID;
    aside_ = clone(Run, stack_ + sizeof(stack_), kThread, this, &thread_,
                   nullptr, &thread_) > 0;
    if (aside_) return true;
  }
  if (unshare(CLONE_NEWNET) != 0) return Fail(error, Stage::kNamespaces);
  return RaiseLoopback() || Fail(error, Stage::kLoopback);
}

bool NetworkMaker::Enter(SetupError* error) {
  if (!aside_) return true;
  for (int32_t seen = 0;
       (seen = __atomic_load_n(&thread_, __ATOMIC_ACQUIRE)) != 0;)
    (void)syscall(SYS_futex, &thread_, FUTEX_WAIT, seen, nullptr, nullptr, 0);
  aside_ = false;
  const bool entered = setns(made_, CLONE_NEWNET) == 0;
  const int saved = errno;
  close(made_);
  errno = saved;
  return entered || Fail(error, Stage::kNamespaces);
}

uint64_t NetworkNumber() {
  struct stat info = {};
  return stat("/proc/self/ns/net", &info) == 0 ? info.st_ino : 0;
}

namespace {

// What stands in `path`, as far as `size` goes, with a NUL behind it.
void ReadStart(const char* path, char* text, size_t size) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t got = fd < 0 ? 0 : read(fd, text, size - 1);
  if (fd >= 0) close(fd);
  text[got < 0 ? 0 : got] = '\0';
}

// Whether the counter `name` of the line that begins with `group` is not 0. The
// names stand in one line, the values in the next one:
//   "Udp: InDatagrams NoPorts …\nUdp: 3 1 …\n"
bool HasCounted(const char* text, const char* group, const char* name) {
  const size_t length = strlen(group);
  const char* names = text;
  while (names != nullptr && strncmp(names, group, length) != 0) {
    names = strchr(names, '\n');
    if (names != nullptr) ++names;
  }
  const char* values = names == nullptr ? nullptr : strchr(names, '\n');
  if (values == nullptr) return false;
  ++values;
  const size_t wanted = strlen(name);
  while (true) {
    names = strpbrk(names, " \n");
    values = strpbrk(values, " \n");
    if (names == nullptr || values == nullptr || *names == '\n') return false;
    ++names;
    ++values;
    if (strncmp(names, name, wanted) == 0 &&
        (names[wanted] == ' ' || names[wanted] == '\n'))
      return *values > '0' && *values <= '9';
  }
}

}  // namespace

bool TriedToLeave() {
  char text[8192];
  ReadStart("/proc/net/snmp", text, sizeof(text));
  if (HasCounted(text, "Ip: ", "OutNoRoutes") ||
      HasCounted(text, "Udp: ", "NoPorts"))
    return true;
  // "Ip6OutNoRoutes                  \t2"
  ReadStart("/proc/net/snmp6", text, sizeof(text));
  const char* at = strstr(text, "Ip6OutNoRoutes");
  if (at == nullptr) return false;
  at += strcspn(at, " \t");
  at += strspn(at, " \t");
  return *at > '0' && *at <= '9';
}

}  // namespace gate::backends
