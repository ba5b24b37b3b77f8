// What a call that connects or listens names.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <optional>
#include <string>

namespace gate::backends {

struct InternetAddress {
  std::string text;        // "127.0.0.1 port 80"
  bool loopback = false;   // or no address in particular
  bool multicast = false;  // or broadcast: no interface has to have it
};

// Nothing for an address of another family.
std::optional<InternetAddress> Internet(const sockaddr_storage& address);

// The file that a local address of `size` bytes names for `thread`; empty for
// any other address.
std::string LocalPath(pid_t thread, const sockaddr_storage& address,
                      size_t size);

}  // namespace gate::backends
