// The sockets that listen inside for a service of this machine's
// (Profile::services): made by process 1 in the run's own network, before the
// command starts, and handed to gate, which passes them on.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/file.h"

namespace gate::backends {

struct ListenPort {
  uint16_t number = 0;
  bool four = true, six = true;  // on 127.0.0.1, on ::1
};

// Listens on each of `ports`, and sends a message of one byte
// with what listens for it over `socket`: none, one or two descriptors, in the
// order of the ports. Without IPv6, or where the port may not be had, there are
// fewer. 0, or -1 with errno when a message cannot be sent. Async-signal-safe.
int SendPortListeners(const ListenPort* ports, size_t count, int socket);

// The next message: of those, with its descriptors; or any other of at most
// `size` bytes, which is then in `*message` and `*got` long.
// False for the other, and where nothing comes.
bool ReceivePortListeners(int socket, std::vector<Fd>* listeners, void* message,
                          size_t size, ssize_t* got);

}  // namespace gate::backends
