#include "credentials/outside_socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <memory>

#include "base/hash.h"
#include "base/text.h"

namespace gate::credentials {
namespace {

constexpr const char* kSocketName = "/s";
constexpr const char* kOwnName = "/o";  // what the process itself puts there

void Remove(const std::string& directory) {
  ::unlink((directory + kSocketName).c_str());
  ::unlink((directory + kOwnName).c_str());
  ::rmdir(directory.c_str());
}

// `directory`/PID-RANDOM of a process that is gone by now.
void RemoveLeftOver(const std::string& directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(
      ::opendir(directory.c_str()), ::closedir);
  while (entries != nullptr) {
    const dirent* entry = ::readdir(entries.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    const size_t dash = name.find('-');
    pid_t pid = 0;
    if (dash == name.npos ||
        std::from_chars(name.data(), name.data() + dash, pid).ptr !=
            name.data() + dash ||
        pid <= 0 || ::kill(pid, 0) == 0 || errno != ESRCH)
      continue;
    Remove(directory + "/" + std::string(name));
  }
}

Result<Fd> Listen(const std::string& path, int backlog) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path))
    return Fail(ErrorCode::kTooLarge,
                "the name of the state directory is too long for a socket");
  std::memcpy(address.sun_path, path.data(), path.size());
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket ||
      ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address),
             sizeof(address)) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::listen(socket.get(), backlog) != 0)
    return FailErrno("cannot listen at " + path);
  return socket;
}

// In the new process: holds nothing of gate's but what it needs, so that no
// pipe by which gate's end is seen stays open in it.
[[noreturn]] void RunOutside(const OutsideSocket::Serve& serve, int listener,
                             int leash, int report,
                             const std::string& directory) noexcept {
  ::setsid();
  constexpr int kFirstKept = 3, kKept = 3;
  // Out of the way first, so that none is written over.
  const int high[kKept] = {::fcntl(listener, F_DUPFD_CLOEXEC, 100),
                           ::fcntl(leash, F_DUPFD_CLOEXEC, 100),
                           ::fcntl(report, F_DUPFD_CLOEXEC, 100)};
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < kFirstKept; ++fd) ::dup2(null, fd);
  for (int i = 0; i < kKept; ++i)
    if (::dup3(high[i], kFirstKept + i, O_CLOEXEC) < 0) ::_exit(1);
  if (null < 0 || ::close_range(kFirstKept + kKept, ~0U, 0) != 0) ::_exit(1);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2,
                           SIGPIPE, SIGTSTP, SIGTTOU, SIGTTIN})
    ::signal(signal, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::chdir("/") != 0) ::_exit(1);
  const std::string text =
      serve(kFirstKept, kFirstKept + 1, directory + kOwnName);
  Remove(directory);
  (void)WriteAll(kFirstKept + 2, text);
  ::_exit(0);
}

}  // namespace

Result<OutsideSocket> OutsideSocket::Start(const std::string& directory,
                                           int backlog, const Serve& serve) {
  GATE_CHECK(MakeDirectories(directory, 0700));
  RemoveLeftOver(directory);
  const std::string own =
      directory + "/" + std::to_string(::getpid()) + "-" + Hex(RandomBytes(8));
  if (::mkdir(own.c_str(), 0700) != 0) return FailErrno("cannot make " + own);
  OutsideSocket socket;
  socket.path_ = own + kSocketName;
  int leash[2], report[2];
  Result<Fd> listener = Listen(socket.path_, backlog);
  if (!listener || ::pipe2(leash, O_CLOEXEC) != 0) {
    Remove(own);
    if (!listener) return std::unexpected(listener.error());
    return FailErrno("cannot make a pipe");
  }
  const Fd leash_end(leash[0]);
  socket.leash_ = Fd(leash[1]);
  Fd report_end;
  if (::pipe2(report, O_CLOEXEC) == 0) {
    socket.report_ = Fd(report[0]);
    report_end = Fd(report[1]);
    socket.pid_ = ::fork();
  }
  if (socket.pid_ == 0)
    RunOutside(serve, listener->get(), leash_end.get(), report_end.get(), own);
  if (socket.pid_ < 0) {
    const int error = errno;
    Remove(own);
    errno = error;
    return FailErrno("cannot start a process");
  }
  return socket;
}

OutsideSocket::OutsideSocket(OutsideSocket&& other) noexcept
    : path_(std::move(other.path_)),
      leash_(std::move(other.leash_)),
      report_(std::move(other.report_)),
      pid_(std::exchange(other.pid_, -1)) {}

OutsideSocket::~OutsideSocket() { Finish(0); }

std::string OutsideSocket::Finish(size_t limit) {
  if (pid_ < 0) return "";
  leash_.reset();
  Result<std::string> report = ReadAll(report_.get(), limit);
  // So that a process with more to say does not wait for its reader.
  report_.reset();
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return report ? std::move(*report) : std::string();
}

}  // namespace gate::credentials
