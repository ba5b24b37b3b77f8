// The process outside that passes connections of one contained run on to named
// ports of this machine's loopback, and to nothing else.
//
//   command -> port of the run's own loopback -> forwarder -> the same port
//   here
//
// The sockets that listen inside are made there, before the command starts, and
// handed over; nothing inside is trusted with an address. Before each
// connection, and once more when it stands, it is made sure that the one who
// listens here is still the one that the port was given for. It ends, with all
// connections, when its owner does.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "services/listeners.h"

namespace gate::services {

// Connections of one run at the same time; further ones wait to be accepted.
inline constexpr size_t kMaxForwardedConnections = 256;
// Ports of one run.
inline constexpr size_t kMaxForwardedPorts = 32;
// How long what a run had still sent may take when it has ended.
inline constexpr int kForwardDrainMs = 250;

struct Forward {
  uint16_t port = 0;
  std::string identity;  // IdentityOf who has to listen here
};

// What became of a port.
struct Forwarded {
  uint16_t port = 0;
  uint64_t connections = 0;         // passed on
  uint64_t refused = 0;             // nobody listened, or it was not accepted
  uint64_t sent = 0, received = 0;  // bytes to and from the service
  bool changed = false;  // somebody else listened: refused from then on
  bool operator==(const Forwarded&) const = default;
};

class Forwarder {
 public:
  // Starts the process. kIo; kTooLarge beyond kMaxForwardedPorts. A
  // millisecond.
  static Result<Forwarder> Start(const std::vector<Forward>& ports,
                                 const ProcPlace& proc = {});
  Forwarder(Forwarder&& other) noexcept;
  Forwarder(const Forwarder&) = delete;  // owns a process
  Forwarder& operator=(const Forwarder&) = delete;
  ~Forwarder();  // as Finish

  // Hands over what listens inside for `port`: one or two sockets. kIo.
  Status Give(uint16_t port, const std::vector<Fd>& listeners);

  // Ends the process, and says what it did. Once; later calls return nothing.
  std::vector<Forwarded> Finish();

 private:
  Forwarder() = default;
  Fd control_;  // the process ends when this is closed
  Fd report_;
  pid_t pid_ = -1;
};

}  // namespace gate::services
