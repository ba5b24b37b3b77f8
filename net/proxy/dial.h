// Connecting to one of several addresses.
#pragma once

#include <memory>
#include <vector>

#include "net/proxy/socket.h"

namespace gate::net::proxy {

struct Dialled {
  std::shared_ptr<Socket> socket;  // none: nothing answered
  Endpoint endpoint;               // of the socket
  int error = 0;                   // of the last that failed; ETIMEDOUT
};

// Each address gets so long before the next one is tried beside it.
inline constexpr int kHeadStartMs = 250;

// Connects to exactly these, in their order; the first that stands is taken and
// the others are closed.
asio::awaitable<Dialled> Dial(asio::io_context& io,
                              std::vector<Endpoint> endpoints,
                              uint32_t patience_ms);

}  // namespace gate::net::proxy
