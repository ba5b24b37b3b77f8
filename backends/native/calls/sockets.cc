#include "backends/native/calls/sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>

#include "backends/native/calls/target.h"
#include "base/paths.h"

namespace gate::backends {

std::optional<InternetAddress> Internet(const sockaddr_storage& address) {
  InternetAddress where;
  char text[INET6_ADDRSTRLEN] = {};
  int port = 0;
  if (address.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &four.sin_addr, text, sizeof(text));
    const uint32_t number = ntohl(four.sin_addr.s_addr);
    where.loopback = number == INADDR_ANY || (number >> 24) == 127;
    where.multicast = IN_MULTICAST(number) || number == INADDR_BROADCAST;
    port = ntohs(four.sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof(text));
    where.loopback = IN6_IS_ADDR_LOOPBACK(&six.sin6_addr) ||
                     IN6_IS_ADDR_UNSPECIFIED(&six.sin6_addr) ||
                     (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr) &&
                      six.sin6_addr.s6_addr[12] == 127);
    where.multicast = IN6_IS_ADDR_MULTICAST(&six.sin6_addr);
    port = ntohs(six.sin6_port);
  } else {
    return std::nullopt;
  }
  where.text = std::string(text) + " port " + std::to_string(port);
  return where;
}

std::string LocalPath(pid_t thread, const sockaddr_storage& address,
                      size_t size) {
  const auto& local = reinterpret_cast<const sockaddr_un&>(address);
  if (address.ss_family != AF_UNIX || size <= sizeof(sa_family_t) ||
      local.sun_path[0] == '\0')
    return "";
  const std::string name(
      local.sun_path,
      strnlen(local.sun_path, std::min(size - offsetof(sockaddr_un, sun_path),
                                       sizeof(local.sun_path))));
  return Normalise(name, target::LinkOf(thread, "cwd"));
}

}  // namespace gate::backends
