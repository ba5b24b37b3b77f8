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

// How often something in this network namespace, which leads nowhere, tried to
// reach another machine, or a name server of this one: by the kernel's counters
// of connections without a route and of datagrams to a port that nobody has
// (OutNoRoutes and NoPorts in /proc/net/snmp, Ip6OutNoRoutes in
// /proc/net/snmp6; tcp_v4_connect() in net/ipv4/tcp_ipv4.c). 0 where they
// cannot be read. Some 40 us.
uint64_t TriesToLeave();
inline bool TriedToLeave(uint64_t before) { return TriesToLeave() > before; }

// The TCP ports that something in this network namespace listens on, of which
// those that are closed by what ends next are wanted.
class ListeningPorts {
 public:
  void Find();
  // The first of them, where nobody else can listen here; else (`shared`) the
  // first that nobody listens on any more. 0: none, or that cannot be read.
  uint16_t Gone(bool shared) const;

 private:
  static constexpr int kMost = 64;
  int count_ = 0;
  uint16_t ports_[kMost] = {};
};

// The number of this process's network namespace; 0 where /proc does not tell.
uint64_t NetworkNumber();

// Switches the loopback device of this process's network namespace on; false
// with errno. Async-signal-safe, as is the next one.
bool RaiseLoopback();

// A descriptor of this process's network namespace; -1 with errno. Needs
// CAP_NET_ADMIN over it.
int OpenOwnNetwork();

}  // namespace gate::backends
