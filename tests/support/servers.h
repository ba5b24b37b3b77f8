// A socket that listens on a port of loopback, here or in another process.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

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
  // The socket of who connects next; -1 when it is closed.
  int Accept() const {
    return ::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC);
  }
  void Close() { socket_.reset(); }

 private:
  Fd socket_;
  uint16_t port_ = 0;
};

// Another process, which listens on `port` until this goes.
class OtherProcess {
 public:
  explicit OtherProcess(uint16_t port) {
    int ready[2] = {-1, -1}, end[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ready, O_CLOEXEC) | ::pipe2(end, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(end[1]);
      const Server server(AF_INET, false, port);
      char byte = server.port() == port ? 'y' : 'n';
      (void)!::write(ready[1], &byte, 1);
      (void)!::read(end[0], &byte, 1);
      ::_exit(0);
    }
    ::close(ready[1]);
    ::close(end[0]);
    end_ = Fd(end[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'y');
    ::close(ready[0]);
  }
  ~OtherProcess() {
    end_.reset();
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_ = -1;
  Fd end_;
};

}  // namespace gate::test
