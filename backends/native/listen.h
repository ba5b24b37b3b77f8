// The sockets that listen inside for a service of this machine's
// (Profile::services) or for the filter of a network by name
// (Command::take_filter_socket): made by process 1 in the run's own network,
// before the command starts, and handed to gate, which passes them on.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/backend.h"
#include "base/file.h"

namespace gate::backends {

struct ListenPort {
  uint16_t number = 0;
  bool four = true, six = true;  // on 127.0.0.1, on ::1
  bool everywhere = false;       // on every address, in place of 127.0.0.1
  bool datagrams = false;        // UDP
  bool needed = false;           // without it the command does not start
};

// What the filter of a network by name takes, in the order in which it comes:
// below 1024, where the command can have no port itself.
struct FilterPort {
  FilterSocket socket;
  ListenPort port;
};
inline constexpr FilterPort kFilterPorts[] = {
    {FilterSocket::kProxy,
     {.number = kFilterProxyPort, .six = false, .needed = true}},
    {FilterSocket::kDnsDatagrams,
     {.number = 53, .six = false, .datagrams = true, .needed = true}},
    {FilterSocket::kDns, {.number = 53, .six = false, .needed = true}},
    {FilterSocket::kHttp,
     {.number = 80, .six = false, .everywhere = true, .needed = true}},
    {FilterSocket::kTls,
     {.number = 443, .six = false, .everywhere = true, .needed = true}},
};

// Listens on each of `ports`, and sends a message of one byte
// with what listens for it over `socket`: none, one or two descriptors, in the
// order of the ports. Without IPv6, or where the port may not be had, there are
// fewer. 0, or -1 with errno when a message cannot be sent or a needed port not
// be had. Async-signal-safe.
int SendPortListeners(const ListenPort* ports, size_t count, int socket);

// The next message: of those, with its descriptors; or any other of at most
// `size` bytes, which is then in `*message` and `*got` long.
// False for the other, and where nothing comes.
bool ReceivePortListeners(int socket, std::vector<Fd>* listeners, void* message,
                          size_t size, ssize_t* got);

}  // namespace gate::backends
