#include "net/proxy/socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstring>

namespace gate::net::proxy {
namespace {

// Where the IPv4 address stands in one that IPv6 maps.
constexpr size_t kMapped = 12;

socklen_t Fill(const Endpoint& endpoint, sockaddr_storage* space) {
  if (IsIpv4(endpoint.address)) {
    auto& four = reinterpret_cast<sockaddr_in&>(*space);
    four.sin_family = AF_INET;
    four.sin_port = htons(endpoint.port);
    std::memcpy(&four.sin_addr, endpoint.address.bytes.data() + kMapped,
                sizeof(four.sin_addr));
    return sizeof(four);
  }
  auto& six = reinterpret_cast<sockaddr_in6&>(*space);
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(endpoint.port);
  std::memcpy(&six.sin6_addr, endpoint.address.bytes.data(),
              sizeof(six.sin6_addr));
  return sizeof(six);
}

}  // namespace

Socket::Socket(asio::io_context& io, Fd fd) : descriptor_(io) {
  if (!fd) return;
  boost::system::error_code error;
  if (!descriptor_.assign(fd.get(), error)) fd.release();
}

asio::awaitable<bool> Socket::Readable() {
  const auto [error] = co_await descriptor_.async_wait(
      asio::posix::descriptor_base::wait_read, kAwait);
  co_return !error;
}

asio::awaitable<bool> Socket::Writable() {
  const auto [error] = co_await descriptor_.async_wait(
      asio::posix::descriptor_base::wait_write, kAwait);
  co_return !error;
}

void Socket::Cancel() {
  boost::system::error_code ignored;
  ignored = descriptor_.cancel(ignored);
}

void Socket::Close() {
  boost::system::error_code ignored;
  ignored = descriptor_.close(ignored);
}

void Socket::Reset() {
  const linger at_once = {1, 0};
  (void)::setsockopt(get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  Close();
}

void Socket::Shutdown() { (void)::shutdown(get(), SHUT_WR); }

Task Event::Wait() {
  // Setting it anew would wake the others who wait.
  if (timer_.expiry() != asio::steady_timer::time_point::max())
    timer_.expires_at(asio::steady_timer::time_point::max());
  co_await timer_.async_wait(kAwait);
}

Task Event::WaitFor(std::chrono::milliseconds longest) {
  timer_.expires_after(longest);
  co_await timer_.async_wait(kAwait);
}

asio::awaitable<bool> SendAll(Socket& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put =
        ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put >= 0) {
      bytes.remove_prefix(static_cast<size_t>(put));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) co_return false;
    const bool writable = co_await socket.Writable();
    if (!writable) co_return false;
  }
  co_return true;
}

Fd BeginConnect(const Endpoint& endpoint, int type) {
  sockaddr_storage space{};
  const socklen_t size = Fill(endpoint, &space);
  Fd fd(::socket(space.ss_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&space), size) !=
          0 &&
      errno != EINPROGRESS) {
    const int error = errno;
    fd.reset();
    errno = error;
    return fd;
  }
  if (type == SOCK_STREAM) {
    const int on = 1;
    (void)::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  return fd;
}

int ConnectError(int fd) {
  int error = 0;
  socklen_t size = sizeof(error);
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

std::optional<Endpoint> LocalEndpoint(int fd) {
  sockaddr_storage space{};
  socklen_t size = sizeof(space);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&space), &size) != 0)
    return std::nullopt;
  Endpoint endpoint;
  if (space.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(space);
    endpoint.address = FromIpv4(ntohl(four.sin_addr.s_addr));
    endpoint.port = ntohs(four.sin_port);
    return endpoint;
  }
  if (space.ss_family != AF_INET6) return std::nullopt;
  const auto& six = reinterpret_cast<const sockaddr_in6&>(space);
  std::memcpy(endpoint.address.bytes.data(), &six.sin6_addr,
              sizeof(six.sin6_addr));
  endpoint.port = ntohs(six.sin6_port);
  return endpoint;
}

}  // namespace gate::net::proxy
