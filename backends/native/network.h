// The network namespace of a run, made beside everything else, with its own
// loopback up: it leads nowhere but to itself.
//
// It costs as much as all the mounts together (0.4 to 0.6 ms, of which most is
// its loopback device and its tables of settings: setup_net() in
// net/core/net_namespace.c), and nothing of the mounts needs it. So a second
// thread of process 1 makes it, on another processor than the one that gate
// plans on, and process 1 enters it when the mounts are done. Async-signal-safe
// throughout.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/native/setup.h"

namespace gate::backends {

class NetworkMaker {
 public:
  NetworkMaker() = default;
  NetworkMaker(const NetworkMaker&) = delete;
  NetworkMaker& operator=(const NetworkMaker&) = delete;

  // `aside`: a thread makes it, on the processors this one may use now; this
  // object has to stay where it is, and the process its only one, until Enter.
  // `failed` is called by that thread, with what failed and errno, and does not
  // return. Else, or where no thread can be had, it is made and entered here.
  bool Begin(bool aside, void (*failed)(Stage stage, int error),
             SetupError* error);

  // Whether a thread was started that Enter has not waited for.
  bool aside() const { return aside_; }

  // Waits for the thread to be gone, and enters what it made. Needs
  // CAP_SYS_ADMIN in the user namespace that Begin was called in.
  bool Enter(SetupError* error);

 private:
  static int Run(void* maker);

  void (*failed_)(Stage stage, int error) = nullptr;
  bool aside_ = false;
  int made_ = -1;       // the namespace, once the thread is gone
  int32_t thread_ = 0;  // its number, which the kernel clears when it is gone
  alignas(16) std::byte stack_[8192];
};

// Whether something in this network namespace, which leads nowhere, tried to
// reach another machine, or a name server of this one: by the kernel's counters
// of connections without a route and of datagrams to a port that nobody has
// (OutNoRoutes and NoPorts in /proc/net/snmp, Ip6OutNoRoutes in
// /proc/net/snmp6; tcp_v4_connect() in net/ipv4/tcp_ipv4.c). False where they
// cannot be read. Some 40 us.
bool TriedToLeave();

// The number of this process's network namespace; 0 where /proc does not tell.
uint64_t NetworkNumber();

}  // namespace gate::backends
