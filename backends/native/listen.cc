#include "backends/native/listen.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/native/calls/calls.h"

namespace gate::backends {
namespace {

// What waits to be accepted; the kernel allows less by default than this
// (net.core.somaxconn).
constexpr int kBacklog = 4096;

int Listen(int family, const sockaddr* address, socklen_t size,
           bool datagrams) {
  const int fd = socket(
      family,
      (datagrams ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  const int on = 1;
  if ((family == AF_INET6 &&
       setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) != 0) ||
      bind(fd, address, size) != 0 ||
      (!datagrams && listen(fd, kBacklog) != 0)) {
    close(fd);
    return -1;
  }
  return fd;
}

}  // namespace

int SendPortListeners(const ListenPort* ports, size_t count, int socket) {
  for (size_t i = 0; i < count; ++i) {
    sockaddr_in four = {};
    four.sin_family = AF_INET;
    four.sin_addr.s_addr =
        htonl(ports[i].everywhere ? INADDR_ANY : INADDR_LOOPBACK);
    four.sin_port = htons(ports[i].number);
    sockaddr_in6 six = {};
    six.sin6_family = AF_INET6;
    six.sin6_addr.s6_addr[15] = 1;  // ::1
    six.sin6_port = htons(ports[i].number);
    int files[2], open = 0;
    const auto keep = [&](int file) {
      if (file >= 0) files[open++] = file;
    };
    if (ports[i].four)
      keep(Listen(AF_INET, reinterpret_cast<sockaddr*>(&four), sizeof(four),
                  ports[i].datagrams));
    if (ports[i].six)
      keep(Listen(AF_INET6, reinterpret_cast<sockaddr*>(&six), sizeof(six),
                  ports[i].datagrams));
    if (ports[i].needed && open == 0) return -1;
    const bool sent = open == 0 ? send(socket, "l", 1, MSG_NOSIGNAL) == 1
                                : SendDescriptors(socket, files, open) == 0;
    for (int each = 0; each < open; ++each) close(files[each]);
    if (!sent) return -1;
  }
  return 0;
}

bool ReceivePortListeners(int socket, std::vector<Fd>* listeners, void* message,
                          size_t size, ssize_t* got) {
  int files[kMaxDescriptors], count = 0;
  *got = ReceiveMessage(socket, message, size, files, &count);
  for (int i = 0; i < count; ++i) listeners->emplace_back(files[i]);
  return *got == 1;
}

}  // namespace gate::backends
