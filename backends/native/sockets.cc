#include "backends/native/sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>

#include "backends/native/target.h"
#include "base/file.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

constexpr long kPidfdOpen = 434, kPidfdGetfd = 438;  // Linux 5.6

}  // namespace

std::optional<InternetAddress> Internet(const sockaddr_storage& address) {
  InternetAddress where;
  char text[INET6_ADDRSTRLEN] = {};
  int port = 0;
  if (address.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &four.sin_addr, text, sizeof(text));
    where.four = true;
    where.any = four.sin_addr.s_addr == 0;
    where.loopback = (ntohl(four.sin_addr.s_addr) >> 24) == 127 || where.any;
    port = ntohs(four.sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof(text));
    where.any = IN6_IS_ADDR_UNSPECIFIED(&six.sin6_addr);
    where.four = IN6_IS_ADDR_V4MAPPED(&six.sin6_addr);
    where.loopback = IN6_IS_ADDR_LOOPBACK(&six.sin6_addr) || where.any ||
                     (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr) &&
                      six.sin6_addr.s6_addr[12] == 127);
    port = ntohs(six.sin6_port);
  } else {
    return std::nullopt;
  }
  where.text = std::string(text) + " port " + std::to_string(port);
  return where;
}

bool IsStream(pid_t thread, int descriptor) {
  const Fd process(
      static_cast<int>(syscall(kPidfdOpen, target::ProcessOf(thread), 0)));
  if (!process) return false;
  const Fd socket(
      static_cast<int>(syscall(kPidfdGetfd, process.get(), descriptor, 0)));
  int type = 0;
  socklen_t size = sizeof(type);
  return socket &&
         getsockopt(socket.get(), SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
         type == SOCK_STREAM;
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
