// The process outside by which a contained command reaches the hosts that its
// policy names, and nothing else.
//
//   command -> sockets of its own network -> gate-net -> NAME:PORT
//
// The sockets that listen inside are made there, before the command starts, and
// handed over; nothing inside is trusted with an address. gate-net judges each
// connection by the name and the port that it asks for, resolves the name once,
// refuses addresses that are not public, and dials the address that it judged.
// Without it, or after its death, nothing answers inside: there is no other way
// out. It ends, with all connections, when its owner does.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/file.h"
#include "base/result.h"
#include "net/filter_policy.h"
#include "net/filter_report.h"
#include "net/wire.h"

namespace gate::net {

class NetworkFilter {
 public:
  // Starts `executable` (see FindNetworkFilter). Does not wait for it: the
  // first Give does. kInvalid or kTooLarge for a policy that cannot be
  // followed, kIo, kUnavailable where it cannot be started. A millisecond.
  static Result<NetworkFilter> Start(const FilterPolicy& policy,
                                     const std::string& executable);
  NetworkFilter(NetworkFilter&& other) noexcept;
  NetworkFilter(const NetworkFilter&) = delete;  // owns a process
  NetworkFilter& operator=(const NetworkFilter&) = delete;
  ~NetworkFilter();  // as Finish

  // Hands over a socket of the run: a TCP socket that listens, or a bound UDP
  // socket. kUnavailable, with the reason, where gate-net has ended or is not
  // ready after some seconds; then the command must not start.
  Status Give(ListenerKind kind, Fd socket);

  // Ends the process, after what the run had sent is passed on (the policy's
  // drain_ms), and says what it did. Once; later calls return nothing.
  FilterReport Finish();

  // gate-net's; -1 after Finish.
  pid_t pid() const { return pid_; }

 private:
  NetworkFilter() = default;
  Status AwaitReady();

  Fd control_;  // the process ends when this is closed
  Fd report_;
  Fd pidfd_;  // nobody else's, even when the number is
  pid_t pid_ = -1;
  bool ready_ = false;
  int patience_ms_ = 0;  // for its end
};

// gate-net beside the running program; empty where there is none.
std::string FindNetworkFilter();

}  // namespace gate::net
