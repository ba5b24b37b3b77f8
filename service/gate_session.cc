// gate-session [IDLE-SECONDS [LABEL]]: keeps the network namespace that the
// lines of one session share.
//
// gate makes the namespace, raises its loopback device and starts this with the
// namespace and a listening socket (base/session_wire.h). This process only
// holds the one and answers on the other: it has no capability, no file, no
// network but that namespace, and no system call beyond those of its loop. It
// ends when no line has been there for IDLE-SECONDS, when nobody can find its
// socket any more and no line is there, or when it is told to.
// Processes that are still inside keep the namespace as long as they live.
#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/session_wire.h"
#include "base/system_calls.h"

namespace gate::session_wire {
namespace {

// Lines at once; those beyond get the namespace and are not counted.
constexpr nfds_t kMaxConnections = 256;

constexpr uint32_t kCalls[] = {
#ifdef SYS_poll
    SYS_poll,
#endif
    SYS_ppoll,   SYS_accept4,    SYS_getsockopt,    SYS_recvfrom,
    SYS_sendmsg, SYS_close,      SYS_clock_gettime, SYS_getpid,
    SYS_exit,    SYS_exit_group, SYS_rt_sigreturn,  SYS_restart_syscall,
};
constexpr size_t kCallCount = sizeof(kCalls) / sizeof(kCalls[0]);

// From here on only the calls of the loop; any other ends the process.
bool AllowOnlyTheLoop() {
  sock_filter code[2 * kCallCount + 5] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kCallArchitecture, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
  };
  size_t at = 4;
  for (const uint32_t call : kCalls) {
    code[at++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
    code[at++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  code[at++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  const sock_fprog program = {static_cast<unsigned short>(at), code};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

bool GiveEverythingUp() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  const rlimit no_core = {0, 0};
  const rlimit files = {kMaxConnections + 16, kMaxConnections + 16};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 &&
         syscall(SYS_capset, &header, none) == 0 &&
         prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 &&
         setrlimit(RLIMIT_CORE, &no_core) == 0 &&
         setrlimit(RLIMIT_NOFILE, &files) == 0 && AllowOnlyTheLoop();
}

int64_t Now() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

class Keeper {
 public:
  Keeper(int64_t idle_ms, const char* label, uid_t owner)
      : idle_ms_(idle_ms),
        label_(label),
        label_size_(strnlen(label, kMaxLabel)),
        owner_(owner),
        started_(Now()),
        last_line_(started_) {
    fds_[0] = {kListener, POLLIN, 0};
    fds_[1] = {kGone, POLLIN, 0};
  }

  void Run() {
    while (true) {
      if (gone_ && lines_ == 0 && !Accept()) return;
      int wait = -1;
      if (lines_ == 0) {
        const int64_t left = last_line_ + idle_ms_ - Now();
        // One that connects at this moment is answered still.
        if (left <= 0 && !Accept()) return;
        wait = left <= 0 ? 0 : static_cast<int>(left < kDay ? left : kDay);
      }
      if (poll(fds_, count_, wait) < 0 && errno != EINTR) return;
      // Backwards: what ends is replaced by the last one.
      for (nfds_t i = count_; i-- > 2;)
        if (fds_[i].revents != 0) Serve(i);
      if (ended_) return;
      if (fds_[1].revents != 0) {
        gone_ = (fds_[1].revents & POLLIN) != 0;
        fds_[1].fd = -1;
      }
      if ((fds_[0].revents & ~POLLIN) != 0) return;
      if (fds_[0].revents != 0) Accept();
      if (ended_) return;
    }
  }

 private:
  static constexpr int64_t kDay = 24 * 60 * 60 * 1000;

  // Whether somebody was there.
  bool Accept() {
    const int fd =
        accept4(kListener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return false;
    ucred peer = {};
    socklen_t size = sizeof(peer);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
        peer.uid != owner_) {
      close(fd);
      return true;
    }
    if (count_ == kMaxConnections) {
      Hear(fd);
      close(fd);
      return true;
    }
    fds_[count_] = {fd, POLLIN, 0};
    joined_[count_] = false;
    Serve(count_++);
    return true;
  }

  void Serve(nfds_t i) {
    const int heard = Hear(fds_[i].fd);
    if (heard == kNothingYet) return;
    if (heard == static_cast<int>(Request::kJoin) && !joined_[i]) {
      joined_[i] = true;
      ++lines_;
    }
    if (heard != kOver) return;
    close(fds_[i].fd);
    if (joined_[i]) {
      --lines_;
      last_line_ = Now();
    }
    --count_;
    fds_[i] = fds_[count_];
    joined_[i] = joined_[count_];
  }

  static constexpr int kOver = -1, kNothingYet = 0;

  // Reads and answers one Ask: what it asked for, or one of the two above.
  int Hear(int fd) {
    Ask ask;
    const ssize_t got = recv(fd, &ask, sizeof(ask), MSG_DONTWAIT | MSG_TRUNC);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return kNothingYet;
    if (got != static_cast<ssize_t>(sizeof(ask)) || ask.version != kVersion)
      return kOver;
    switch (ask.request) {
      case Request::kJoin:
      case Request::kLook:
        break;
      case Request::kEnd:
        ended_ = true;
        break;
      default:
        return kOver;
    }
    return Tell(fd, ask.request == Request::kJoin)
               ? static_cast<int>(ask.request)
               : kOver;
  }

  bool Tell(int fd, bool with_namespace) {
    const int64_t now = Now();
    Answer answer;
    answer.pid = getpid();
    answer.lines = lines_;
    answer.idle_s =
        lines_ > 0 ? 0 : static_cast<uint32_t>((now - last_line_) / 1000);
    answer.age_s = static_cast<uint64_t>((now - started_) / 1000);
    iovec parts[] = {{&answer, sizeof(answer)},
                     {const_cast<char*>(label_), label_size_}};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message = {};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    if (with_namespace) {
      message.msg_control = control;
      message.msg_controllen = sizeof(control);
      cmsghdr* item = CMSG_FIRSTHDR(&message);
      item->cmsg_level = SOL_SOCKET;
      item->cmsg_type = SCM_RIGHTS;
      item->cmsg_len = CMSG_LEN(sizeof(int));
      const int network = kNetwork;
      memcpy(CMSG_DATA(item), &network, sizeof(network));
    }
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
  }

  const int64_t idle_ms_;
  const char* const label_;
  const size_t label_size_;
  const uid_t owner_;
  const int64_t started_;
  int64_t last_line_;
  uint32_t lines_ = 0;
  bool ended_ = false;
  bool gone_ = false;  // the name of the socket
  nfds_t count_ = 2;
  pollfd fds_[kMaxConnections] = {};
  bool joined_[kMaxConnections] = {};
};

// 0 to nine digits of seconds; -1 for anything else.
int64_t Seconds(const char* text) {
  int64_t seconds = 0;
  const size_t size = strlen(text);
  if (size == 0 || size > 9) return -1;
  for (; *text != '\0'; ++text) {
    if (*text < '0' || *text > '9') return -1;
    seconds = seconds * 10 + (*text - '0');
  }
  return seconds;
}

}  // namespace

int Main(int count, char** words) {
  const int64_t idle = count > 1 ? Seconds(words[1]) : int64_t{kIdleSeconds};
  int listens = 0;
  socklen_t size = sizeof(listens);
  // Started by hand it has nothing to keep.
  if (idle < 0 || count > 3 ||
      getsockopt(kListener, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 ||
      listens != 1)
    return 64;
  static Keeper supervisor(idle * 1000, count > 2 ? words[2] : "", geteuid());
  if (!GiveEverythingUp()) return 1;
  supervisor.Run();
  return 0;
}

}  // namespace gate::session_wire

int main(int count, char** words) {
  _exit(gate::session_wire::Main(count, words));
}
