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

bool FailNetwork(SetupError* error, Stage stage) {
  error->stage = stage;
  error->error = errno;
  error->index = -1;
  return false;
}

}  // namespace

// Touches errno only when it fails.
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

// The namespace of a socket, since Linux 4.10, which needs no /proc.
GATE_NOT_INSTRUMENTED int OpenOwnNetwork() {
  const long any = syscall(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (any < 0) return -1;
  const long own = syscall(SYS_ioctl, any, SIOCGSKNS, 0);
  if (own >= 0) {
    syscall(SYS_close, any);
    return static_cast<int>(own);
  }
  const int error = errno;
  syscall(SYS_close, any);
  errno = error;
  return -1;
}

// A call that succeeds leaves errno alone; one that fails ends the process, so
// that the other thread never goes on with an errno that was not its own.
GATE_NOT_INSTRUMENTED int NetworkMaker::Run(void* maker) {
  auto* self = static_cast<NetworkMaker*>(maker);
  if (syscall(SYS_unshare, CLONE_NEWNET) != 0)
    self->failed_(Stage::kNamespaces, errno);
  if (!RaiseLoopback()) self->failed_(Stage::kLoopback, errno);
  self->made_ = OpenOwnNetwork();
  if (self->made_ < 0) self->failed_(Stage::kNamespaces, errno);
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
  if (unshare(CLONE_NEWNET) != 0) return FailNetwork(error, Stage::kNamespaces);
  return RaiseLoopback() || FailNetwork(error, Stage::kLoopback);
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
  return entered || FailNetwork(error, Stage::kNamespaces);
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

// The number that stands at `at`, after blanks.
uint64_t NumberAt(const char* at, int base) {
  while (*at == ' ' || *at == '\t') ++at;
  uint64_t number = 0;
  for (;; ++at) {
    const int digit = *at >= '0' && *at <= '9'   ? *at - '0'
                      : *at >= 'A' && *at <= 'F' ? *at - 'A' + 10
                                                 : base;
    if (digit >= base) return number;
    number =
        number * static_cast<unsigned>(base) + static_cast<unsigned>(digit);
  }
}

// The counter `name` of the line that begins with `group`; 0 where there is
// none. The names stand in one line, the values in the next one:
//   "Udp: InDatagrams NoPorts …\nUdp: 3 1 …\n"
uint64_t Counted(const char* text, const char* group, const char* name) {
  const size_t length = strlen(group);
  const char* names = text;
  while (names != nullptr && strncmp(names, group, length) != 0) {
    names = strchr(names, '\n');
    if (names != nullptr) ++names;
  }
  const char* values = names == nullptr ? nullptr : strchr(names, '\n');
  if (values == nullptr) return 0;
  ++values;
  const size_t wanted = strlen(name);
  while (true) {
    names = strpbrk(names, " \n");
    values = strpbrk(values, " \n");
    if (names == nullptr || values == nullptr || *names == '\n') return 0;
    ++names;
    ++values;
    if (strncmp(names, name, wanted) == 0 &&
        (names[wanted] == ' ' || names[wanted] == '\n'))
      return NumberAt(values, 10);
  }
}

// The ports in `list` that are listened on, at most `room`. The kernel lists
// those first, after a line of headings (tcp_seq_start() and get_tcp4_sock() in
// net/ipv4/tcp_ipv4.c):
//   "   0: 0100007F:1F40 00000000:0000 0A …"
int ReadListening(const char* list, uint16_t* ports, int room) {
  char text[16384];
  ReadStart(list, text, sizeof(text));
  int count = 0;
  for (const char* line = strchr(text, '\n'); line != nullptr && count < room;
       line = strchr(line + 1, '\n')) {
    const char* local = strstr(line, ": ");
    const char* port = local == nullptr ? nullptr : strchr(local + 2, ':');
    const char* remote = port == nullptr ? nullptr : strchr(port + 1, ' ');
    const char* state = remote == nullptr ? nullptr : strchr(remote + 1, ' ');
    if (state == nullptr || strncmp(state, " 0A ", 4) != 0) break;
    ports[count++] = static_cast<uint16_t>(NumberAt(port + 1, 16));
  }
  return count;
}

int ReadAllListening(uint16_t* ports, int room) {
  const int count = ReadListening("/proc/net/tcp", ports, room);
  return count + ReadListening("/proc/net/tcp6", ports + count, room - count);
}

}  // namespace

uint64_t TriesToLeave() {
  char text[8192];
  ReadStart("/proc/net/snmp", text, sizeof(text));
  const uint64_t four =
      Counted(text, "Ip: ", "OutNoRoutes") + Counted(text, "Udp: ", "NoPorts");
  // "Ip6OutNoRoutes                  \t2"
  constexpr char kSix[] = "Ip6OutNoRoutes";
  ReadStart("/proc/net/snmp6", text, sizeof(text));
  const char* at = strstr(text, kSix);
  return four + (at == nullptr ? 0 : NumberAt(at + sizeof(kSix) - 1, 10));
}

void ListeningPorts::Find() { count_ = ReadAllListening(ports_, kMost); }

uint16_t ListeningPorts::Gone(bool shared) const {
  uint16_t now[kMost];
  const int there = shared ? ReadAllListening(now, kMost) : 0;
  for (int i = 0; i < count_; ++i) {
    bool stays = false;
    for (int j = 0; j < there; ++j) stays = stays || now[j] == ports_[i];
    if (!stays) return ports_[i];
  }
  return 0;
}

}  // namespace gate::backends
