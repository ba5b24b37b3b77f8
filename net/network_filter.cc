#include "net/network_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/paths.h"

namespace gate::net {
namespace {

constexpr const char* kExecutable = "gate-net";
// Until gate-net has read its policy; it takes some milliseconds.
constexpr int kReadyMs = 10'000;
// How much longer than its drain gate-net may take to end.
constexpr int kEndMs = 5'000;
// Out of the way of what a new process finds open.
constexpr int kHighDescriptor = 64;

Result<Fd> MakePolicyFile(const std::string& text) {
  Fd file(::memfd_create("gate-net policy", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) return FailErrno("cannot make a memory file");
  GATE_CHECK(WriteAll(file.get(), text));
  if (::fcntl(file.get(), F_ADD_SEALS,
              F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
    return FailErrno("cannot seal the policy");
  return file;
}

// Of a fixed size, so that gate-net cannot fill the memory with it.
Result<Fd> MakeReportFile() {
  Fd file(::memfd_create("gate-net report", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) return FailErrno("cannot make a memory file");
  if (::ftruncate(file.get(), wire::kReportBytes) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS,
              F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
    return FailErrno("cannot seal the report");
  return file;
}

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  FileActions(const FileActions&) = delete;  // owns what init made
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

class Attributes {
 public:
  Attributes() { ::posix_spawnattr_init(&attributes_); }
  Attributes(const Attributes&) = delete;  // owns what init made
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
  posix_spawnattr_t* get() { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

// A process with these descriptors as 3, 4, …, the null device as standard
// streams, and nothing else of gate's: no file, variable, directory, signal
// mask or terminal.
Result<pid_t> Spawn(const std::string& executable,
                    const std::array<int, 3>& files) {
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return FailErrno("cannot open /dev/null");
  FileActions actions;
  bool good = true;
  std::array<Fd, 3> high;
  for (size_t i = 0; i < files.size(); ++i) {
    high[i] = Fd(::fcntl(files[i], F_DUPFD_CLOEXEC, kHighDescriptor));
    if (!high[i]) return FailErrno("cannot keep a descriptor");
  }
  const Fd high_null(::fcntl(null.get(), F_DUPFD_CLOEXEC, kHighDescriptor));
  if (!high_null) return FailErrno("cannot keep a descriptor");
  for (int fd = 0; fd < wire::kControl; ++fd)
    good = good && ::posix_spawn_file_actions_adddup2(actions.get(),
                                                      high_null.get(), fd) == 0;
  for (size_t i = 0; i < files.size(); ++i)
    good = good && ::posix_spawn_file_actions_adddup2(
                       actions.get(), high[i].get(),
                       wire::kControl + static_cast<int>(i)) == 0;
  good = good &&
         ::posix_spawn_file_actions_addclosefrom_np(
             actions.get(), wire::kControl + static_cast<int>(files.size())) ==
             0 &&
         ::posix_spawn_file_actions_addchdir_np(actions.get(), "/") == 0;
  Attributes attributes;
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  good = good && ::posix_spawnattr_setsigmask(attributes.get(), &none) == 0 &&
         ::posix_spawnattr_setsigdefault(attributes.get(), &all) == 0 &&
         ::posix_spawnattr_setflags(
             attributes.get(), POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
                                   POSIX_SPAWN_SETSIGDEF) == 0;
  if (!good) return Fail(ErrorCode::kIo, "cannot prepare a process");
  std::string word = kExecutable;
  char* const words[] = {word.data(), nullptr};
  char* const environment[] = {nullptr};
  pid_t pid = -1;
  if (const int error = ::posix_spawn(&pid, executable.c_str(), actions.get(),
                                      attributes.get(), words, environment);
      error != 0)
    return Fail(ErrorCode::kUnavailable,
                "gate-net cannot be started: " + std::string(strerror(error)));
  return pid;
}

// Whether a child ended in time; it is not reaped.
bool AwaitEnd(const Fd& pidfd, int patience_ms) {
  const uint64_t end = MonotonicMs() + static_cast<uint64_t>(patience_ms);
  pollfd wanted = {pidfd.get(), POLLIN, 0};
  while (true) {
    const uint64_t now = MonotonicMs();
    const int got =
        ::poll(&wanted, 1, now < end ? static_cast<int>(end - now) : 0);
    if (got > 0) return true;
    if (got == 0 || errno != EINTR) return false;
  }
}

std::string WhyEnded(pid_t pid) {
  siginfo_t info = {};
  if (::waitid(P_PID, static_cast<id_t>(pid), &info,
               WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid != pid)
    return "it closed its control socket";
  if (info.si_code != CLD_EXITED)
    return "signal " + std::to_string(info.si_status) + " killed it";
  switch (info.si_status) {
    case wire::kBadPolicy:
      return "it cannot read its policy";
    case wire::kNotConfined:
      return "the kernel does not let it give up its rights";
    case wire::kNoNetwork:
      return "the kernel does not tell the addresses of this machine";
    default:
      return "it ended with " + std::to_string(info.si_status);
  }
}

}  // namespace

Result<NetworkFilter> NetworkFilter::Start(const FilterPolicy& policy,
                                           const std::string& executable) {
  if (executable.empty())
    return Fail(ErrorCode::kUnavailable, "there is no gate-net beside gate");
  // What gate-net would refuse is told here.
  if (auto compiled = CompilePolicy(policy); !compiled)
    return std::unexpected(compiled.error());
  const std::string text = WriteFilterPolicy(policy);
  if (text.size() > wire::kMaxPolicyBytes)
    return Fail(ErrorCode::kTooLarge, "the policy of the network is too large");
  GATE_TRY(const Fd policy_file, MakePolicyFile(text));
  NetworkFilter filter;
  GATE_TRY(filter.report_, MakeReportFile());
  int control[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0)
    return FailErrno("cannot make a pair of sockets");
  filter.control_ = Fd(control[0]);
  const Fd other_end(control[1]);
  filter.patience_ms_ =
      kEndMs + static_cast<int>(std::min(policy.limits.drain_ms, 60'000u));
  GATE_TRY(filter.pid_, Spawn(executable, {other_end.get(), policy_file.get(),
                                           filter.report_.get()}));
  filter.pidfd_ =
      Fd(static_cast<int>(::syscall(SYS_pidfd_open, filter.pid_, 0u)));
  if (!filter.pidfd_) return FailErrno("the kernel tells nothing of gate-net");
  return filter;
}

NetworkFilter::NetworkFilter(NetworkFilter&& other) noexcept
    : control_(std::move(other.control_)),
      report_(std::move(other.report_)),
      pidfd_(std::move(other.pidfd_)),
      pid_(std::exchange(other.pid_, -1)),
      ready_(other.ready_),
      patience_ms_(other.patience_ms_) {}

NetworkFilter::~NetworkFilter() { Finish(); }

Status NetworkFilter::AwaitReady() {
  const uint64_t end = MonotonicMs() + kReadyMs;
  while (!ready_) {
    pollfd wanted = {control_.get(), POLLIN, 0};
    const uint64_t now = MonotonicMs();
    const int got =
        ::poll(&wanted, 1, now < end ? static_cast<int>(end - now) : 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return Fail(ErrorCode::kUnavailable, "gate-net does not get ready");
    wire::Ready ready;
    const ssize_t size =
        ::recv(control_.get(), &ready, sizeof(ready), MSG_DONTWAIT | MSG_TRUNC);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (size <= 0) {
      (void)AwaitEnd(pidfd_, kEndMs);
      return Fail(ErrorCode::kUnavailable,
                  "gate-net does not run: " + WhyEnded(pid_));
    }
    if (size != sizeof(ready) || ready.version != wire::kVersion)
      return Fail(ErrorCode::kUnavailable, "another gate's gate-net answers");
    ready_ = true;
  }
  return {};
}

Status NetworkFilter::Give(ListenerKind kind, Fd socket) {
  if (pid_ < 0) return Fail(ErrorCode::kUnavailable, "gate-net has been ended");
  GATE_CHECK(AwaitReady());
  wire::Given given;
  given.kind = kind;
  iovec part = {&given, sizeof(given)};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = space;
  header.msg_controllen = sizeof(space);
  cmsghdr* item = CMSG_FIRSTHDR(&header);
  item->cmsg_level = SOL_SOCKET;
  item->cmsg_type = SCM_RIGHTS;
  item->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = socket.get();
  std::memcpy(CMSG_DATA(item), &fd, sizeof(fd));
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(control_.get(), &header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) {
    if (errno == EBADF || errno == EINVAL)
      return FailErrno("this socket cannot be handed over");
    (void)AwaitEnd(pidfd_, kEndMs);
    return Fail(ErrorCode::kUnavailable,
                "gate-net does not run: " + WhyEnded(pid_));
  }
  return {};
}

FilterReport NetworkFilter::Finish() {
  if (pid_ < 0) return {};
  control_.reset();
  // Without a pidfd it ends by itself, since nothing else was given to it.
  if (pidfd_ && !AwaitEnd(pidfd_, patience_ms_))
    (void)::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0u);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  std::string text;
  std::array<char, size_t{64} << 10> part;
  while (text.size() < wire::kReportBytes) {
    const ssize_t got = ::pread(report_.get(), part.data(), part.size(),
                                static_cast<off_t>(text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    const std::string_view read(part.data(), static_cast<size_t>(got));
    text += read.substr(0, read.find('\0'));
    if (read.find('\0') != read.npos) break;
  }
  report_.reset();
  return ReadFilterReport(text);
}

std::string FindNetworkFilter() {
  char self[4096];
  const ssize_t size = ::readlink("/proc/self/exe", self, sizeof(self));
  if (size <= 0 || size == static_cast<ssize_t>(sizeof(self))) return "";
  std::string path(DirName(std::string(self, static_cast<size_t>(size))));
  path.append("/").append(kExecutable);
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) ? path : "";
}

}  // namespace gate::net
