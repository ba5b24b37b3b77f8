// What the kernel tells of local sockets when it is asked directly
// (sock_diag(7), UNIX_DIAG): the file that each is bound to, which
// /proc/net/unix does not say.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gate::backends {

struct UnixSocket {
  std::string name;  // as it was bound; relative unless it begins with '/'
  uint64_t inode = 0;
  // Identifies the file that it is bound to: the low half of the inode, and the
  // file system as mountinfo writes it, MAJOR:MINOR.
  std::optional<uint32_t> file = {};
  std::string device = {};
  std::optional<uid_t> owner = {};  // since Linux 5.3
};

struct UnixDump {
  std::vector<UnixSocket> sockets;
  // False: it took more than one answer, between which one that was there all
  // the time may have been passed over because another went.
  bool whole = true;
};
// The sockets of the caller's network namespace that can be connected to by a
// path. Nothing where this cannot be asked (a kernel without CONFIG_UNIX_DIAG),
// or what it answers is too much (65,536) or not understood. One answer holds
// about 300. Costs one walk over the kernel's table: 25 us, and 0.5 us for each
// socket.
std::optional<UnixDump> DumpUnixSockets();

}  // namespace gate::backends
