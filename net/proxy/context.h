// What all connections of a run share.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "net/filter_policy.h"
#include "net/proxy/names.h"
#include "net/proxy/pipes.h"
#include "net/proxy/reporter.h"
#include "net/proxy/resolver.h"
#include "net/proxy/socket.h"

namespace gate::net::proxy {

class Session;

struct Context {
  Context(asio::io_context& loop, const Policy& rules, Resolver& names_outside,
          Reporter& report)
      : io(loop), policy(rules), resolver(names_outside), reporter(report) {}

  asio::io_context& io;
  const Policy& policy;
  Resolver& resolver;
  Reporter& reporter;
  MadeUpNames names;
  PipePool pipes;
  uint64_t started_ms = MonotonicMs();
  // Addresses of this machine, and when they were read; 0: never.
  std::vector<Address> own;
  uint64_t own_read_ms = 0;
  uint64_t asked = 0;      // connections outside that were asked for
  uint64_t bytes_out = 0;  // of all
  std::vector<Session*> sessions;
  // Told when a session has ended, or its client has sent everything.
  std::function<void()> on_progress;

  // How many bytes may still go out.
  uint64_t OutLeft() const {
    const uint64_t most = policy.limits.bytes_out;
    if (most == 0) return UINT64_MAX;
    return most > bytes_out ? most - bytes_out : 0;
  }
};

}  // namespace gate::net::proxy
