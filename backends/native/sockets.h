// What a call that connects or listens names.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <optional>
#include <string>

namespace gate::backends {

struct InternetAddress {
  std::string text;  // "127.0.0.1 port 80"
  bool loopback = false, any = false;
  bool four = false;  // of version 4, also as one of version 6
};

// Nothing for an address of another family.
std::optional<InternetAddress> Internet(const sockaddr_storage& address);

// Whether that descriptor of the thread's is a stream socket; false when it
// cannot be had.
bool IsStream(pid_t thread, int descriptor);

// The file that a local address of `size` bytes names for `thread`; empty for
// any other address.
std::string LocalPath(pid_t thread, const sockaddr_storage& address,
                      size_t size);

}  // namespace gate::backends
