#include "net/proxy/server.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cstring>

#include "net/proxy/serve.h"

namespace gate::net::proxy {
namespace {

constexpr size_t kMaxListeners = 64;
// Of one session: both sockets, a pipe each way; and of none.
constexpr size_t kSessionDescriptors = 6;
constexpr size_t kOtherDescriptors = 160;
// Until it is tried again where the kernel has no room for a connection.
constexpr std::chrono::milliseconds kRetry{20};

int OptionOf(int fd, int option) {
  int value = -1;
  socklen_t size = sizeof(value);
  return ::getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

// Whether `fd` is a socket of that kind.
bool Fits(int fd, ListenerKind kind) {
  const int domain = OptionOf(fd, SO_DOMAIN);
  if (domain != AF_INET && domain != AF_INET6) return false;
  switch (kind) {
    case ListenerKind::kDnsUdp:
      return OptionOf(fd, SO_TYPE) == SOCK_DGRAM;
    case ListenerKind::kProxy:
    case ListenerKind::kDnsTcp:
    case ListenerKind::kHttp:
    case ListenerKind::kTls:
      return OptionOf(fd, SO_TYPE) == SOCK_STREAM &&
             OptionOf(fd, SO_ACCEPTCONN) == 1;
  }
  return false;
}

}  // namespace

Server::Server(Context& context, Fd control, size_t descriptors)
    : context_(context),
      control_(context.io, std::move(control)),
      room_(context.io),
      drain_(context.io) {
  const size_t possible =
      descriptors > kOtherDescriptors + kSessionDescriptors
          ? (descriptors - kOtherDescriptors) / kSessionDescriptors
          : 1;
  most_sessions_ =
      std::min<size_t>(context.policy.limits.connections_at_once, possible);
  tokens_ = context.policy.limits.connections_per_second;
  tokens_ms_ = MonotonicMs();
  context_.on_progress = [this] { OnProgress(); };
}

void Server::Run() {
  const wire::Ready ready;
  if (::send(control_.get(), &ready, sizeof(ready), MSG_NOSIGNAL) !=
      sizeof(ready))
    return;
  asio::co_spawn(context_.io, Control(), asio::detached);
  context_.io.run();
  for (Session* session : context_.sessions) session->Report();
}

Task Server::Control() {
  while (true) {
    const bool readable = co_await control_.Readable();
    if (!readable || !TakeSocket()) break;
  }
  BeginEnd();
}

bool Server::TakeSocket() {
  wire::Given given;
  iovec part = {&given, sizeof(given)};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = space;
  header.msg_controllen = sizeof(space);
  const ssize_t got =
      ::recvmsg(control_.get(), &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  const cmsghdr* item = CMSG_FIRSTHDR(&header);
  if (item == nullptr || item->cmsg_level != SOL_SOCKET ||
      item->cmsg_type != SCM_RIGHTS || item->cmsg_len != CMSG_LEN(sizeof(int)))
    return true;
  int raw = -1;
  std::memcpy(&raw, CMSG_DATA(item), sizeof(raw));
  Fd fd(raw);
  if (got != sizeof(given) || given.version != wire::kVersion ||
      !Fits(fd.get(), given.kind) || listeners_.size() == kMaxListeners)
    return true;
  const int flags = ::fcntl(fd.get(), F_GETFL);
  if (flags < 0 || ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) != 0)
    return true;
  const Listener listener{given.kind,
                          std::make_shared<Socket>(context_.io, std::move(fd))};
  listeners_.push_back(listener);
  if (given.kind == ListenerKind::kDnsUdp)
    asio::co_spawn(context_.io, ServeDnsUdp(context_, listener.socket),
                   asio::detached);
  else
    asio::co_spawn(context_.io, AcceptAll(listener), asio::detached);
  return true;
}

bool Server::HasRoom() const {
  return context_.sessions.size() < most_sessions_;
}

// Until a connection more may be taken.
Task Server::WaitForRoom() {
  while (!ended_ && !HasRoom()) co_await room_.Wait();
  const uint32_t rate = context_.policy.limits.connections_per_second;
  if (rate == 0) co_return;
  asio::steady_timer timer(context_.io);
  while (!ended_) {
    const uint64_t now = MonotonicMs();
    tokens_ = std::min<double>(
        rate, tokens_ + static_cast<double>(now - tokens_ms_) * rate / 1000);
    tokens_ms_ = now;
    if (tokens_ >= 1) break;
    timer.expires_after(std::chrono::milliseconds(
        1 + static_cast<int64_t>((1 - tokens_) * 1000 / rate)));
    co_await timer.async_wait(kAwait);
  }
}

bool Server::AcceptOne(const Listener& listener) {
  Fd fd(::accept4(listener.socket->get(), nullptr, nullptr,
                  SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!fd) return errno != EINTR && errno != ECONNABORTED;
  if (tokens_ >= 1) tokens_ -= 1;
  const auto session = std::make_shared<Session>(context_, std::move(fd));
  asio::co_spawn(context_.io, Serve(session, listener.kind), asio::detached);
  return false;
}

Task Server::AcceptAll(Listener listener) {
  asio::steady_timer pause(context_.io);
  while (!ended_) {
    const bool readable = co_await listener.socket->Readable();
    if (!readable) co_return;
    while (true) {
      co_await WaitForRoom();
      if (ended_) co_return;
      // Another socket's may have come meanwhile.
      if (!HasRoom()) continue;
      if (!AcceptOne(listener)) continue;
      if (errno == EAGAIN) break;
      pause.expires_after(kRetry);
      co_await pause.async_wait(kAwait);
      break;
    }
  }
}

// What the run had sent before its end is passed on.
void Server::BeginEnd() {
  ended_ = true;
  for (const Listener& listener : listeners_) {
    if (listener.kind != ListenerKind::kDnsUdp)
      while (HasRoom() && !AcceptOne(listener)) {
      }
    listener.socket->Close();
  }
  room_.Notify();
  drain_.expires_after(
      std::chrono::milliseconds(context_.policy.limits.drain_ms));
  drain_.async_wait([this](const boost::system::error_code& error) {
    if (!error) context_.io.stop();
  });
  OnProgress();
}

void Server::OnProgress() {
  room_.Notify();
  if (ended_ && std::ranges::all_of(context_.sessions, &Session::client_ended))
    context_.io.stop();
}

}  // namespace gate::net::proxy
