#include "services/forwarder.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <list>
#include <sstream>

#include "base/clock.h"
#include "services/relayed.h"

namespace gate::services {
namespace {

constexpr size_t kMaxListenersOfPort = 2;  // IPv4 and IPv6
constexpr size_t kMaxReportBytes = size_t{64} << 10;
// Descriptors that are no connection's.
constexpr rlim_t kOtherDescriptors = 96;

// A port that is forwarded, and who was seen to listen there last.
struct Port {
  Forward forward;
  Forwarded done;
  std::vector<ListeningSocket> sockets;
  std::vector<Process> processes;
};

// Whether the one who listens is still the one the port was given for.
bool IsStill(const ProcPlace& proc, Port* port) {
  if (port->done.changed) return false;
  const auto sockets = FindListening(proc, port->forward.port);
  if (!sockets) return false;
  // The number of a socket stays its own as long as that is open, and a process
  // its own as long as it started at the same time.
  if (!port->sockets.empty() && *sockets == port->sockets &&
      std::ranges::all_of(port->processes, [&](const Process& process) {
        return StartTimeOf(proc, process.pid) == process.start_time;
      }))
    return true;
  if (sockets->empty()) return false;  // it may come back
  const std::vector<Listener> holders = FindHolders(proc, *sockets);
  if (!AreNamedBy(proc, holders, port->forward.identity)) {
    port->done.changed = true;
    return false;
  }
  port->sockets = *sockets;
  port->processes.clear();
  for (const Listener& holder : holders)
    if (holder.process) port->processes.push_back(*holder.process);
  return true;
}

// By which family to ask the port here: the one that was asked inside, where
// somebody listens by it.
int FamilyOf(int inside, const std::vector<ListeningSocket>& sockets) {
  const bool four = std::ranges::any_of(sockets, &ListeningSocket::four);
  const bool six = std::ranges::any_of(sockets, &ListeningSocket::six);
  if (inside == AF_INET6) return six || !four ? AF_INET6 : AF_INET;
  return four || !six ? AF_INET : AF_INET6;
}

// Begins a connection to the port here.
Fd Connect(int family, uint16_t port) {
  Fd socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return {};
  int begun = -1;
  if (family == AF_INET6) {
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_addr = in6addr_loopback;
    six.sin6_port = htons(port);
    begun = ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&six),
                      sizeof(six));
  } else {
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    four.sin_port = htons(port);
    begun = ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&four),
                      sizeof(four));
  }
  if (begun != 0 && errno != EINPROGRESS) return {};
  const int at_once = 1;
  (void)::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &at_once,
                     sizeof(at_once));
  return socket;
}

class Server {
 public:
  Server(const std::vector<Forward>& ports, ProcPlace proc, int control)
      : proc_(std::move(proc)), control_(control) {
    for (const Forward& forward : ports) {
      Port port;
      port.forward = forward;
      port.done.port = forward.port;
      ports_.push_back(std::move(port));
    }
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur != RLIM_INFINITY)
      room_ =
          std::min<size_t>(room_, files.rlim_cur > kOtherDescriptors
                                      ? (files.rlim_cur - kOtherDescriptors) / 2
                                      : 1);
  }

  void Run() {
    while (Turn(-1)) {
    }
    // What the run sent before its end is passed on.
    const uint64_t end = MonotonicMs() + kForwardDrainMs;
    ended_ = true;
    for (Inner& inner : listeners_) AcceptAll(inner);
    for (uint64_t now = MonotonicMs(); now < end && IsSending();
         now = MonotonicMs())
      Turn(static_cast<int>(end - now));
    for (Open& open : open_) Count(open);
  }

  std::string Report() const {
    std::ostringstream text;
    for (const Port& port : ports_)
      text << port.done.port << ' ' << port.done.connections << ' '
           << port.done.refused << ' ' << port.done.sent << ' '
           << port.done.received << ' ' << (port.done.changed ? 1 : 0) << '\n';
    return text.str();
  }

 private:
  struct Inner {  // a socket that listens inside
    Fd socket;
    size_t port = 0;
    int family = AF_INET;
  };
  struct Open {
    Relayed relayed;
    size_t port = 0;
    bool connecting = true;
  };

  bool IsSending() const {
    return std::ranges::any_of(
        open_, [](const Open& open) { return !open.relayed.inside_ended(); });
  }

  // Waits and serves once. False when the owner is gone.
  bool Turn(int timeout_ms) {
    std::vector<pollfd> wanted;
    wanted.push_back({ended_ ? -1 : control_, POLLIN, 0});
    const bool has_room = !ended_ && open_.size() < room_;
    for (const Inner& inner : listeners_)
      wanted.push_back({has_room ? inner.socket.get() : -1, POLLIN, 0});
    for (const Open& open : open_) {
      wanted.push_back(open.connecting
                           ? pollfd{open.relayed.outside(), POLLOUT, 0}
                           : open.relayed.WantOutside());
      wanted.push_back(open.connecting ? pollfd{-1, 0, 0}
                                       : open.relayed.WantInside());
    }
    if (::poll(wanted.data(), wanted.size(), timeout_ms) < 0)
      return errno == EINTR;
    size_t at = 1 + listeners_.size();
    for (auto open = open_.begin(); open != open_.end(); at += 2) {
      if (wanted[at].revents != 0 || wanted[at + 1].revents != 0) Serve(*open);
      if (!open->relayed.done()) {
        ++open;
        continue;
      }
      Count(*open);
      open = open_.erase(open);
    }
    for (size_t i = 0; i < listeners_.size(); ++i)
      if (wanted[i + 1].revents != 0) AcceptAll(listeners_[i]);
    return wanted[0].revents == 0 || Take();
  }

  void Count(const Open& open) {
    Forwarded& done = ports_[open.port].done;
    done.sent += open.relayed.sent();
    done.received += open.relayed.received();
  }

  void Serve(Open& open) {
    if (open.connecting && !Connected(open)) return;
    open.relayed.Serve();
  }

  // Nothing is sent before it is known who answers.
  bool Connected(Open& open) {
    int error = 0;
    socklen_t size = sizeof(error);
    Port& port = ports_[open.port];
    if (::getsockopt(open.relayed.outside(), SOL_SOCKET, SO_ERROR, &error,
                     &size) != 0 ||
        error != 0 || !IsStill(proc_, &port)) {
      ++port.done.refused;
      open.relayed.Reset();
      return false;
    }
    ++port.done.connections;
    open.connecting = false;
    return true;
  }

  void AcceptAll(Inner& inner) {
    while (open_.size() < room_) {
      Fd inside(::accept4(inner.socket.get(), nullptr, nullptr,
                          SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!inside && errno == EINTR) continue;
      if (!inside) return;
      Port& port = ports_[inner.port];
      Fd outside;
      if (IsStill(proc_, &port))
        outside =
            Connect(FamilyOf(inner.family, port.sockets), port.forward.port);
      if (!outside) {
        ++port.done.refused;
        const linger at_once = {1, 0};
        (void)::setsockopt(inside.get(), SOL_SOCKET, SO_LINGER, &at_once,
                           sizeof(at_once));
        continue;
      }
      open_.push_back(
          {Relayed(std::move(inside), std::move(outside)), inner.port, true});
    }
  }

  // Takes what listens inside for a port. False when the owner is gone.
  bool Take() {
    uint16_t number = 0;
    iovec part = {&number, sizeof(number)};
    constexpr size_t kSpace = CMSG_SPACE(kMaxListenersOfPort * sizeof(int));
    alignas(cmsghdr) char space[kSpace] = {};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = space;
    header.msg_controllen = sizeof(space);
    const ssize_t got =
        ::recvmsg(control_, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    const cmsghdr* item = CMSG_FIRSTHDR(&header);
    if (item == nullptr || item->cmsg_type != SCM_RIGHTS) return true;
    const size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    const auto port = std::ranges::find(
        ports_, number, [](const Port& one) { return one.forward.port; });
    for (size_t i = 0; i < count; ++i) {
      int file = -1;
      std::memcpy(&file, CMSG_DATA(item) + i * sizeof(int), sizeof(int));
      Inner inner{Fd(file), 0, AF_INET};
      socklen_t size = sizeof(inner.family);
      if (port == ports_.end() ||
          ::getsockopt(file, SOL_SOCKET, SO_DOMAIN, &inner.family, &size) != 0)
        continue;
      (void)::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) | O_NONBLOCK);
      inner.port = static_cast<size_t>(port - ports_.begin());
      listeners_.push_back(std::move(inner));
    }
    return true;
  }

  ProcPlace proc_;
  int control_;
  bool ended_ = false;
  size_t room_ = kMaxForwardedConnections;
  std::vector<Port> ports_;
  std::vector<Inner> listeners_;
  std::list<Open> open_;
};

// In the new process: holds nothing of gate's but what it needs, so that no
// pipe by which gate's end is seen stays open in it.
[[noreturn]] void RunForwarder(const std::vector<Forward>& ports,
                               const ProcPlace& proc, int control,
                               int report) noexcept {
  ::setsid();
  constexpr int kControl = 3, kReport = 4;
  // Out of the way first, so that none is written over.
  const int high[] = {::fcntl(control, F_DUPFD_CLOEXEC, 100),
                      ::fcntl(report, F_DUPFD_CLOEXEC, 100)};
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < kControl; ++fd) ::dup2(null, fd);
  if (null < 0 || ::dup3(high[0], kControl, O_CLOEXEC) < 0 ||
      ::dup3(high[1], kReport, O_CLOEXEC) < 0 ||
      ::close_range(kReport + 1, ~0U, 0) != 0)
    ::_exit(1);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2,
                           SIGPIPE, SIGTSTP, SIGTTOU, SIGTTIN})
    ::signal(signal, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::chdir("/") != 0) ::_exit(1);
  Server server(ports, proc, kControl);
  server.Run();
  (void)WriteAll(kReport, server.Report());
  ::_exit(0);
}

}  // namespace

Result<Forwarder> Forwarder::Start(const std::vector<Forward>& ports,
                                   const ProcPlace& proc) {
  if (ports.size() > kMaxForwardedPorts)
    return Fail(ErrorCode::kTooLarge, "these are too many ports to forward");
  int control[2], report[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0)
    return FailErrno("cannot make a pair of sockets");
  Forwarder forwarder;
  forwarder.control_ = Fd(control[0]);
  const Fd control_end(control[1]);
  if (::pipe2(report, O_CLOEXEC) != 0) return FailErrno("cannot make a pipe");
  forwarder.report_ = Fd(report[0]);
  const Fd report_end(report[1]);
  forwarder.pid_ = ::fork();
  if (forwarder.pid_ == 0)
    RunForwarder(ports, proc, control_end.get(), report_end.get());
  if (forwarder.pid_ < 0)
    return FailErrno("cannot start the process that forwards ports");
  return forwarder;
}

Forwarder::Forwarder(Forwarder&& other) noexcept
    : control_(std::move(other.control_)),
      report_(std::move(other.report_)),
      pid_(std::exchange(other.pid_, -1)) {}

Forwarder::~Forwarder() { Finish(); }

Status Forwarder::Give(uint16_t port, const std::vector<Fd>& listeners) {
  const size_t count = std::min(listeners.size(), kMaxListenersOfPort);
  std::array<int, kMaxListenersOfPort> files{};
  for (size_t i = 0; i < count; ++i) files[i] = listeners[i].get();
  iovec part = {&port, sizeof(port)};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(files))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = space;
  header.msg_controllen = CMSG_SPACE(count * sizeof(int));
  cmsghdr* item = CMSG_FIRSTHDR(&header);
  item->cmsg_level = SOL_SOCKET;
  item->cmsg_type = SCM_RIGHTS;
  item->cmsg_len = CMSG_LEN(count * sizeof(int));
  std::memcpy(CMSG_DATA(item), files.data(), count * sizeof(int));
  if (::sendmsg(control_.get(), &header, MSG_NOSIGNAL) < 0)
    return FailErrno("the process that forwards ports does not answer");
  return {};
}

std::vector<Forwarded> Forwarder::Finish() {
  if (pid_ < 0) return {};
  control_.reset();
  const Result<std::string> report = ReadAll(report_.get(), kMaxReportBytes);
  report_.reset();
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  std::vector<Forwarded> all;
  std::istringstream text(report ? *report : "");
  Forwarded one;
  for (int changed = 0; text >> one.port >> one.connections >> one.refused >>
                        one.sent >> one.received >> changed;
       all.push_back(one))
    one.changed = changed != 0;
  return all;
}

}  // namespace gate::services
