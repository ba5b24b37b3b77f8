#include "backends/session_network.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "backends/native/network.h"
#include "backends/process/sys.h"
#include "base/paths.h"
#include "base/session_wire.h"

namespace gate::backends {
namespace {

using session_wire::Answer;
using session_wire::Ask;
using session_wire::Request;

constexpr int kAnswerMs = 300;  // for one answer
constexpr int kLockMs = 500;    // while another gate starts one
constexpr int kLockStepMs = 5;
constexpr size_t kMaxKept = 1024;  // that are listed
constexpr size_t kMaxMap = 64 << 10;

// The directory, the caller's alone.
Result<Fd> OpenOwned(const std::string& directory) {
  Fd fd(
      open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd && errno == ENOENT)
    return Fail(ErrorCode::kNotFound, directory + " is not there");
  if (!fd) return FailErrno("cannot open " + directory);
  struct stat info = {};
  if (fstat(fd.get(), &info) != 0) return FailErrno("cannot look at it");
  if (info.st_uid != geteuid() || (info.st_mode & 077) != 0)
    return Fail(ErrorCode::kPermission,
                directory + " is not this user's alone (mode 0700)");
  return fd;
}

Result<Fd> MakeOwned(const std::string& directory) {
  if (Result<Fd> there = OpenOwned(directory);
      there || there.error().code != ErrorCode::kNotFound)
    return there;
  GATE_CHECK(MakeDirectories(directory, 0700));
  return OpenOwned(directory);
}

bool IsKey(std::string_view key) {
  return !key.empty() && key.size() <= 64 &&
         key.find_first_not_of("0123456789abcdef") == key.npos;
}

Result<sockaddr_un> AddressOf(const std::string& directory,
                              const std::string& key) {
  if (!IsKey(key))
    return Fail(ErrorCode::kInvalid, "the session has no proper name");
  const std::string path = directory + "/" + key;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  // By its own name: what looks for the sockets of a machine finds it by that.
  if (path.size() >= sizeof(address.sun_path))
    return Fail(ErrorCode::kTooLarge,
                "the name of the state directory is too long for a socket");
  memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// kNotFound where nobody listens.
Result<Fd> Connect(const sockaddr_un& address) {
  Fd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const timeval patience = {0, kAnswerMs * 1000};
  if (!fd ||
      setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience,
                 sizeof(patience)) != 0 ||
      setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience,
                 sizeof(patience)) != 0)
    return FailErrno("cannot make a socket");
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address),
              sizeof(address)) != 0) {
    if (errno == ENOENT || errno == ECONNREFUSED)
      return Fail(ErrorCode::kNotFound, "nobody keeps it");
    if (errno == EAGAIN)
      return Fail(ErrorCode::kTimeout, "gate-session does not answer");
    return FailErrno("cannot reach gate-session");
  }
  ucred peer = {};
  socklen_t size = sizeof(peer);
  if (getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
      peer.uid != geteuid())
    return Fail(ErrorCode::kPermission, "another user answers");
  return fd;
}

struct Answered {
  Answer answer;
  std::string label;
  Fd network;
};

// kNotFound where it ended meanwhile.
Result<Answered> Talk(int socket, Request request) {
  const auto gone = [] {
    return Fail(ErrorCode::kNotFound, "gate-session has ended");
  };
  Ask ask;
  ask.request = request;
  if (send(socket, &ask, sizeof(ask), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(sizeof(ask))) {
    if (errno == EPIPE || errno == ECONNRESET) return gone();
    return FailErrno("cannot ask gate-session");
  }
  Answered answered;
  char label[session_wire::kMaxLabel];
  iovec parts[] = {{&answered.answer, sizeof(answered.answer)},
                   {label, sizeof(label)}};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t got = 0;
  do {
    got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got == 0 || (got < 0 && errno == ECONNRESET)) return gone();
  if (got < 0 && errno == EAGAIN)
    return Fail(ErrorCode::kTimeout, "gate-session does not answer");
  if (got < 0) return FailErrno("cannot hear gate-session");
  if (const cmsghdr* item = CMSG_FIRSTHDR(&message);
      item != nullptr && item->cmsg_type == SCM_RIGHTS &&
      item->cmsg_len == CMSG_LEN(sizeof(int))) {
    int fd = -1;
    memcpy(&fd, CMSG_DATA(item), sizeof(fd));
    answered.network = Fd(fd);
  }
  if (static_cast<size_t>(got) < sizeof(Answer) ||
      answered.answer.version != session_wire::kVersion)
    return Fail(ErrorCode::kInvalid, "another gate's gate-session answers");
  answered.label.assign(label, static_cast<size_t>(got) - sizeof(Answer));
  return answered;
}

bool SameFile(int fd, const char* path) {
  struct stat one = {}, other = {};
  return fstat(fd, &one) == 0 && stat(path, &other) == 0 &&
         one.st_ino == other.st_ino && one.st_dev == other.st_dev;
}

// What was sent is a network other than the caller's, in a user namespace that
// the caller made below its own. Nothing else is entered.
Result<JoinedNetwork> Examine(Fd network, Fd held) {
  const auto refuse = [] {
    return Fail(ErrorCode::kPermission,
                "what answers keeps no network of this user's own");
  };
  if (!network || ioctl(network.get(), NS_GET_NSTYPE) != CLONE_NEWNET ||
      SameFile(network.get(), "/proc/self/ns/net"))
    return refuse();
  Fd user(ioctl(network.get(), NS_GET_USERNS));
  uid_t owner = 0;
  if (!user || ioctl(user.get(), NS_GET_OWNER_UID, &owner) != 0 ||
      owner != geteuid())
    return refuse();
  const Fd above(ioctl(user.get(), NS_GET_PARENT));
  if (!above || !SameFile(above.get(), "/proc/self/ns/user")) return refuse();
  return JoinedNetwork{std::move(network), std::move(user), std::move(held)};
}

Result<JoinedNetwork> JoinKept(const sockaddr_un& address) {
  GATE_TRY(Fd socket, Connect(address));
  GATE_TRY(Answered answered, Talk(socket.get(), Request::kJoin));
  return Examine(std::move(answered.network), std::move(socket));
}

Status Lock(int directory) {
  for (int waited = 0; flock(directory, LOCK_EX | LOCK_NB) != 0;
       waited += kLockStepMs) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return FailErrno("cannot lock the directory of session networks");
    if (waited >= kLockMs)
      return Fail(ErrorCode::kTimeout, "another gate is starting gate-session");
    (void)poll(nullptr, 0, kLockStepMs);
  }
  return {};
}

// Which ids the new user namespace has: of an ordinary user itself, of root all
// that it has, since commands run as the owners of their workspaces.
Result<std::string> MapOf(const char* own, unsigned id) {
  if (geteuid() != 0) {
    std::string number = std::to_string(id);
    return number + " " + number + " 1\n";
  }
  const Fd fd(open(own, O_RDONLY | O_CLOEXEC));
  if (!fd) return FailErrno(std::string("cannot read ") + own);
  GATE_TRY(const std::string text, ReadAll(fd.get(), kMaxMap));
  std::string map;
  for (const char* at = text.c_str(); *at != '\0';) {
    char* end = nullptr;
    const unsigned long first = strtoul(at, &end, 10);
    (void)strtoul(end, &end, 10);
    const unsigned long count = strtoul(end, &end, 10);
    if (end == at || count == 0) break;
    map += std::to_string(first) + " " + std::to_string(first) + " " +
           std::to_string(count) + "\n";
    at = end;
    while (*at == '\n' || *at == ' ') ++at;
  }
  return map;
}

struct Start {
  const char* supervisor = "";
  char* const* words = nullptr;
  std::string uids, gids;
  bool deny_groups = false;
  int listener = -1;
  int gone = -1;             // kGone; -1: there is none
  int go[2] = {-1, -1};      // to the new process: its maps are written
  int failed[2] = {-1, -1};  // errno of what failed; its end is an exec
};

[[noreturn]] void FailStart(const Start& start) {
  const int error = errno;
  (void)!write(start.failed[1], &error, sizeof(error));
  _exit(1);
}

// In the new namespaces. Async-signal-safe, as what follows.
[[noreturn]] void BecomeSupervisor(const Start& start) {
  close(start.go[1]);
  char word = 0;
  if (read(start.go[0], &word, 1) != 1) _exit(1);
  if (!RaiseLoopback()) FailStart(start);
  const int network = OpenOwnNetwork();
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (network < 0 || null < 0) FailStart(start);
  setsid();
  if (chdir("/") != 0) FailStart(start);
  // Out of the way first, so that none is written over.
  const int from[] = {null,           null,
                      null,           start.listener,
                      network,        start.gone < 0 ? null : start.gone,
                      start.failed[1]};
  constexpr int kFailed = 6;
  int high[kFailed + 1];
  for (int i = 0; i <= kFailed; ++i) {
    high[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 16);
    if (high[i] < 0) FailStart(start);
  }
  for (int i = 0; i <= kFailed; ++i)
    if (dup3(high[i], i, i == kFailed ? O_CLOEXEC : 0) < 0) _exit(1);
  if (start.gone < 0) close(session_wire::kGone);
  if (syscall(SYS_close_range, kFailed + 1u, ~0u, 0u) != 0) _exit(1);
  static_assert(session_wire::kListener == 3 && session_wire::kNetwork == 4 &&
                session_wire::kGone == 5);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  char* const environment[] = {nullptr};
  execve(start.supervisor, start.words, environment);
  const int error = errno;
  (void)!write(kFailed, &error, sizeof(error));
  _exit(1);
}

bool WriteTo(pid_t pid, const char* name, std::string_view text) {
  char path[64] = "/proc/";
  size_t size = strlen(path);
  char digits[12];
  size_t count = 0;
  for (auto rest = static_cast<unsigned>(pid); rest != 0; rest /= 10)
    digits[count++] = static_cast<char>('0' + rest % 10);
  while (count > 0) path[size++] = digits[--count];
  path[size++] = '/';
  memcpy(path + size, name, strlen(name) + 1);
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t written = write(fd, text.data(), text.size());
  const int error = errno;
  close(fd);
  errno = error;
  return written == static_cast<ssize_t>(text.size());
}

// Between gate and the supervisor, so that the supervisor is nobody's child
// here.
[[noreturn]] void StartSupervisor(const Start& start) {
  int pidfd = -1;
  const pid_t supervisor = sys::Clone(CLONE_NEWUSER | CLONE_NEWNET, &pidfd);
  if (supervisor == 0) BecomeSupervisor(start);
  if (supervisor < 0) FailStart(start);
  if ((start.deny_groups && !WriteTo(supervisor, "setgroups", "deny")) ||
      !WriteTo(supervisor, "uid_map", start.uids) ||
      !WriteTo(supervisor, "gid_map", start.gids))
    FailStart(start);  // what waits for a word ends without one
  (void)!write(start.go[1], "g", 1);
  _exit(0);
}

Status Spawn(int listener, int gone, const std::string& supervisor,
             const std::string& label) {
  std::string words[] = {kSessionSupervisor,
                         std::to_string(session_wire::kIdleSeconds),
                         label.substr(0, session_wire::kMaxLabel)};
  char* const argv[] = {words[0].data(), words[1].data(), words[2].data(),
                        nullptr};
  Start start;
  start.supervisor = supervisor.c_str();
  start.words = argv;
  GATE_TRY(start.uids, MapOf("/proc/self/uid_map", geteuid()));
  GATE_TRY(start.gids, MapOf("/proc/self/gid_map", getegid()));
  start.deny_groups = geteuid() != 0;
  start.listener = listener;
  start.gone = gone;
  if (pipe2(start.go, O_CLOEXEC) != 0) return FailErrno("cannot make a pipe");
  const Fd go_read(start.go[0]);
  Fd go_write(start.go[1]);
  if (pipe2(start.failed, O_CLOEXEC) != 0)
    return FailErrno("cannot make a pipe");
  const Fd failed_read(start.failed[0]);
  Fd failed_write(start.failed[1]);
  const pid_t helper = fork();
  if (helper == 0) StartSupervisor(start);
  if (helper < 0) return FailErrno("cannot start a process");
  failed_write.reset();
  go_write.reset();
  while (waitpid(helper, nullptr, 0) < 0 && errno == EINTR) {
  }
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(failed_read.get(), &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  if (got == 0) return {};
  return Fail(ErrorCode::kUnavailable,
              "gate-session cannot be started: " +
                  std::string(strerror(got > 0 ? error : errno)));
}

// Readable when the name is taken away or another one stands there: the links
// of the socket's file are counted anew then. Nothing where none is to be had,
// and gate-session ends when it is idle.
Fd WatchName(const sockaddr_un& address) {
  Fd watch(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (watch && inotify_add_watch(watch.get(), address.sun_path,
                                 IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF |
                                     IN_DONT_FOLLOW) < 0)
    watch.reset();
  return watch;
}

// Under the lock: what `address` names is gone, or was never there.
Status StartAt(int directory, const sockaddr_un& address,
               const std::string& key, const std::string& label,
               const std::string& supervisor) {
  if (supervisor.empty())
    return Fail(ErrorCode::kNotFound, "there is no gate-session beside gate");
  struct stat info = {};
  if (fstatat(directory, key.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
    if (!S_ISSOCK(info.st_mode) || info.st_uid != geteuid())
      return Fail(ErrorCode::kPermission,
                  "something else stands where gate-session answers");
    unlinkat(directory, key.c_str(), 0);
  }
  const Fd listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!listener ||
      bind(listener.get(), reinterpret_cast<const sockaddr*>(&address),
           sizeof(address)) != 0)
    return FailErrno("cannot make the socket of gate-session");
  Status started;
  // Who connects before the supervisor runs waits in the queue.
  if (fchmodat(directory, key.c_str(), 0600, 0) != 0 ||
      fcntl(listener.get(), F_SETFL, O_NONBLOCK) != 0 ||
      listen(listener.get(), SOMAXCONN) != 0)
    started = FailErrno("cannot listen for gate-session");
  else
    started =
        Spawn(listener.get(), WatchName(address).get(), supervisor, label);
  if (!started) unlinkat(directory, key.c_str(), 0);
  return started;
}

// The names in the directory that are sockets.
std::vector<std::string> KeysIn(int directory) {
  std::vector<std::string> keys;
  const int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return keys;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(fdopendir(copy), closedir);
  if (entries == nullptr) {
    close(copy);
    return keys;
  }
  while (const dirent* entry = readdir(entries.get()))
    if (IsKey(entry->d_name) && keys.size() < kMaxKept)
      keys.emplace_back(entry->d_name);
  std::ranges::sort(keys);
  return keys;
}

// Asks each. Those that have ended are removed where the lock is held: else one
// of them may be about to listen.
std::vector<KeptNetwork> LookAtAll(const std::string& directory, int held,
                                   bool locked) {
  std::vector<KeptNetwork> kept;
  for (const std::string& key : KeysIn(held)) {
    const Result<sockaddr_un> address = AddressOf(directory, key);
    if (!address) continue;
    const Result<Fd> socket = Connect(*address);
    struct stat info = {};
    if (!socket && socket.error().code == ErrorCode::kNotFound && locked &&
        fstatat(held, key.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISSOCK(info.st_mode))
      unlinkat(held, key.c_str(), 0);
    if (!socket) continue;
    const Result<Answered> answered = Talk(socket->get(), Request::kLook);
    if (!answered) continue;
    const Answer& answer = answered->answer;
    kept.push_back({key, answered->label, answer.pid, answer.lines,
                    answer.idle_s, answer.age_s});
  }
  return kept;
}

}  // namespace

Result<JoinedNetwork> JoinSessionNetwork(const std::string& directory,
                                         const std::string& key,
                                         const std::string& label,
                                         const std::string& supervisor) {
  GATE_TRY(const sockaddr_un address, AddressOf(directory, key));
  GATE_TRY(const Fd held, MakeOwned(directory));
  Result<JoinedNetwork> joined = JoinKept(address);
  if (joined || joined.error().code != ErrorCode::kNotFound) return joined;
  GATE_CHECK(Lock(held.get()));  // until `held` is closed
  joined = JoinKept(address);
  if (joined || joined.error().code != ErrorCode::kNotFound) return joined;
  (void)LookAtAll(directory, held.get(), /*locked=*/true);
  GATE_CHECK(StartAt(held.get(), address, key, label, supervisor));
  return JoinKept(address);
}

std::string FindSessionSupervisor() {
  char self[4096];
  const ssize_t size = readlink("/proc/self/exe", self, sizeof(self));
  if (size <= 0 || size == static_cast<ssize_t>(sizeof(self))) return "";
  std::string supervisor(DirName(std::string(self, static_cast<size_t>(size))));
  supervisor.append("/").append(kSessionSupervisor);
  struct stat info = {};
  return stat(supervisor.c_str(), &info) == 0 && S_ISREG(info.st_mode)
             ? supervisor
             : "";
}

Result<std::vector<KeptNetwork>> KeptNetworks(const std::string& directory) {
  const Result<Fd> held = OpenOwned(directory);
  if (!held && held.error().code == ErrorCode::kNotFound)
    return std::vector<KeptNetwork>();
  if (!held) return std::unexpected(held.error());
  const bool locked = flock(held->get(), LOCK_EX | LOCK_NB) == 0;
  return LookAtAll(directory, held->get(), locked);
}

Status EndSessionNetwork(const std::string& directory, const std::string& key) {
  GATE_TRY(const sockaddr_un address, AddressOf(directory, key));
  GATE_TRY(const Fd held, OpenOwned(directory));
  GATE_TRY(const Fd socket, Connect(address));
  GATE_TRY(const Answered answered, Talk(socket.get(), Request::kEnd));
  // Until it is gone, so that whoever comes next does not meet it.
  char none = 0;
  ssize_t got = 0;
  do {
    got = recv(socket.get(), &none, 1, 0);
  } while (got < 0 && errno == EINTR);
  return got == 0 || errno == ECONNRESET
             ? Status()
             : Fail(ErrorCode::kTimeout, "gate-session does not end");
}

pid_t CloneBelow(const JoinedNetwork& joined, uint64_t flags, int cgroup,
                 void (*child)(const void* context), const void* context) {
  volatile pid_t made = -1;
  volatile int error = 0;
  // It enters what the caller must not enter, and shares the caller's memory
  // meanwhile: an ordinary fork of gate takes longer than all else here.
  const pid_t helper = vfork();
  if (helper == 0) {
    if (setns(joined.user.get(), CLONE_NEWUSER) == 0 &&
        setns(joined.network.get(), CLONE_NEWNET) == 0) {
      const pid_t number = sys::CloneSibling(flags, cgroup);
      if (number == 0) {
        child(context);
        _exit(0);
      }
      made = number;
    }
    error = errno;
    _exit(0);
  }
  if (helper < 0) return -1;
  while (waitpid(helper, nullptr, 0) < 0 && errno == EINTR) {
  }
  errno = error;
  return made;
}

}  // namespace gate::backends
