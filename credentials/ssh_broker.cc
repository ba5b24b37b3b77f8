#include "credentials/ssh_broker.h"

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
#include "credentials/ssh_session.h"
#include "credentials/transport_wire.h"

namespace gate::credentials {
namespace {

// What a broker says of all its transports.
constexpr size_t kMaxReportBytes = size_t{2} << 20;
constexpr const char* kSocketName = "/s";

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
    const std::string path = directory + "/" + std::string(name);
    ::unlink((path + kSocketName).c_str());
    ::rmdir(path.c_str());
  }
}

Result<Fd> Listen(const std::string& path) {
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
      ::chmod(path.c_str(), 0600) != 0 ||
      ::listen(socket.get(), static_cast<int>(kMaxConnections)) != 0)
    return FailErrno("cannot listen for git's ssh");
  return socket;
}

// Text of one transport in the report, and back.
std::string Encode(const Transport& transport) {
  return EncodeWords({transport.service, transport.target, transport.refused,
                      transport.unpinned ? "1" : "", transport.pushed,
                      std::to_string(transport.exit_code),
                      std::to_string(transport.sent),
                      std::to_string(transport.received)});
}

template <class Number>
bool ReadNumber(const std::string& text, Number* number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && stop == end;
}

// Stands behind all transports: a report without it was cut off.
constexpr const char* kWhole = "whole";

std::vector<Transport> DecodeTransports(const Result<std::string>& report) {
  constexpr size_t kFields = 8;
  std::vector<Transport> transports;
  const auto words = DecodeWords(report ? std::string_view(*report) : "");
  const size_t count = words ? words->size() : 0;
  bool whole = count % kFields == 1 && words->back() == kWhole;
  for (size_t i = 0; i + kFields <= count; i += kFields) {
    const std::string* field = &(*words)[i];
    Transport transport;
    transport.service = field[0];
    transport.target = field[1];
    transport.refused = field[2];
    transport.unpinned = !field[3].empty();
    transport.pushed = field[4];
    whole &= ReadNumber(field[5], &transport.exit_code) &&
             ReadNumber(field[6], &transport.sent) &&
             ReadNumber(field[7], &transport.received);
    transports.push_back(std::move(transport));
  }
  if (!whole) {
    transports.emplace_back();
    transports.back().service = kUnknownService;
  }
  return transports;
}

// In the new process: holds nothing of gate's but what it needs, so that no
// pipe by which gate's end is seen stays open in it.
[[noreturn]] void RunBroker(const BrokerSetup& setup, int listener, int leash,
                            int report, const std::string& directory) noexcept {
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
  std::string text;
  for (const Transport& transport :
       ServeSessions(setup, kFirstKept, kFirstKept + 1))
    text += Encode(transport);
  text += EncodeWords({kWhole});
  ::unlink((directory + kSocketName).c_str());
  ::rmdir(directory.c_str());
  (void)WriteAll(kFirstKept + 2, text);
  ::_exit(0);
}

}  // namespace

Result<SshBroker> SshBroker::Start(const BrokerSetup& setup) {
  GATE_CHECK(MakeDirectories(setup.directory, 0700));
  RemoveLeftOver(setup.directory);
  const std::string directory = setup.directory + "/" +
                                std::to_string(::getpid()) + "-" +
                                Hex(RandomBytes(8));
  if (::mkdir(directory.c_str(), 0700) != 0)
    return FailErrno("cannot make " + directory);
  SshBroker broker;
  broker.socket_ = directory + kSocketName;
  int leash[2], report[2];
  Result<Fd> listener = Listen(broker.socket_);
  if (!listener || ::pipe2(leash, O_CLOEXEC) != 0) {
    ::unlink(broker.socket_.c_str());
    ::rmdir(directory.c_str());
    if (!listener) return std::unexpected(listener.error());
    return FailErrno("cannot make a pipe");
  }
  const Fd leash_end(leash[0]);
  broker.leash_ = Fd(leash[1]);
  Fd report_end;
  if (::pipe2(report, O_CLOEXEC) == 0) {
    broker.report_ = Fd(report[0]);
    report_end = Fd(report[1]);
    broker.pid_ = ::fork();
  }
  if (broker.pid_ == 0)
    RunBroker(setup, listener->get(), leash_end.get(), report_end.get(),
              directory);
  if (broker.pid_ < 0) {
    const int error = errno;
    ::unlink(broker.socket_.c_str());
    ::rmdir(directory.c_str());
    errno = error;
    return FailErrno("cannot start the broker of git's ssh");
  }
  return broker;
}

SshBroker::SshBroker(SshBroker&& other) noexcept
    : socket_(std::move(other.socket_)),
      leash_(std::move(other.leash_)),
      report_(std::move(other.report_)),
      pid_(std::exchange(other.pid_, -1)) {}

SshBroker::~SshBroker() { Finish(); }

std::vector<Transport> SshBroker::Finish() {
  if (pid_ < 0) return {};
  leash_.reset();
  const Result<std::string> report = ReadAll(report_.get(), kMaxReportBytes);
  // So that a broker with more to say does not wait for its reader.
  report_.reset();
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return DecodeTransports(report);
}

}  // namespace gate::credentials
