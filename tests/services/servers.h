// A socket that listens on a port of loopback that the kernel chose.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>

#include "base/file.h"

namespace gate::test {

class Server {
 public:
  // `only` (of IPv6): on ::1's family alone. Any address of the machine with
  // IPv6, 127.0.0.1 without; port 0 where there is none. `port`: that one.
  explicit Server(int family, bool only = false, uint16_t port = 0)
      : socket_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = only ? 1 : 0, again = 1;
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &again,
                 sizeof(again));
    sockaddr_storage space{};
    socklen_t size = sizeof(sockaddr_in);
    space.ss_family = static_cast<sa_family_t>(family);
    if (family == AF_INET6) {
      ::setsockopt(socket_.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
      reinterpret_cast<sockaddr_in6&>(space).sin6_port = htons(port);
      size = sizeof(sockaddr_in6);
    } else {
      auto& four = reinterpret_cast<sockaddr_in&>(space);
      four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      four.sin_port = htons(port);
    }
    if (::bind(socket_.get(), reinterpret_cast<sockaddr*>(&space), size) != 0 ||
        ::listen(socket_.get(), 1024) != 0)
      return;
    ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&space), &size);
    port_ = ntohs(family == AF_INET6
                      ? reinterpret_cast<sockaddr_in6&>(space).sin6_port
                      : reinterpret_cast<sockaddr_in&>(space).sin_port);
  }

  uint16_t port() const { return port_; }
  int socket() const { return socket_.get(); }
  // Of who connects next; -1 when it is closed.
  int Accept() const {
    return ::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC);
  }
  void Close() { socket_.reset(); }

 private:
  Fd socket_;
  uint16_t port_ = 0;
};

}  // namespace gate::test
