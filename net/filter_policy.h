// What gate-net goes by for one run, as gate writes it down and as it is used.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/address.h"
#include "net/host_list.h"

namespace gate::net {

struct FilterLimits {
  // Connections at the same time; further ones wait to be accepted.
  uint32_t connections_at_once = 256;
  // New ones in a second; further ones wait. 0: no limit.
  uint32_t connections_per_second = 0;
  // The whole run's; then everything is refused. 0: no limit.
  uint64_t connections = 0;
  uint64_t bytes_out = 0;
  // For the head of a request or a ClientHello, for a name, until a connection
  // outside stands, without a byte in either direction, and for what the run
  // had sent before its end.
  uint32_t head_ms = 10'000;
  uint32_t resolve_ms = 5'000;
  uint32_t connect_ms = 30'000;
  uint32_t idle_ms = 300'000;
  uint32_t drain_ms = 250;
  bool operator==(const FilterLimits&) const = default;
};

struct FilterPolicy {
  std::vector<std::string> allow, deny;  // see ParseHostRule
  // Ranges of addresses that may be reached although they are not public, see
  // ParseRange.
  std::vector<std::string> excepted;
  // Every host that `deny` does not name. The kinds of addresses still count.
  bool any_host = false;
  // A proxy that everything goes through, http://[USER:PASSWORD@]HOST:PORT; it
  // is dialled whatever kind of address it has. It resolves the names, so that
  // their addresses are not judged here. Empty: none.
  std::string upstream;
  // What a client of the proxy port must know: user `gate`, this password, by
  // Basic or SOCKS5. Empty: nothing.
  std::string token;
  // The name server, ADDRESS:PORT. Empty: those of /etc/resolv.conf.
  std::string resolver;
  FilterLimits limits;
  bool operator==(const FilterPolicy&) const = default;
};

// As JSON, and back. kInvalid unless every member is there, with a value of its
// type, and no other.
std::string WriteFilterPolicy(const FilterPolicy& policy);
Result<FilterPolicy> ReadFilterPolicy(std::string_view json);

struct Endpoint {
  Address address;
  uint16_t port = 0;
  bool operator==(const Endpoint&) const = default;
};

struct Upstream {
  std::string host;  // as ReadHost returns it
  uint16_t port = 0;
  std::string authorization;  // of Proxy-Authorization; empty: none
};

// A policy whose texts have been read.
struct Policy {
  HostList hosts;
  bool any_host = false;
  bool denies = false;  // whether there is a rule that denies
  std::vector<AddressRange> excepted;
  std::optional<Upstream> upstream;
  std::optional<Endpoint> resolver;
  std::string token;
  FilterLimits limits;

  // `host` as ReadHost returns it.
  HostVerdict Judge(std::string_view host, uint16_t port) const;
  // Whether a name server answers for `host`.
  bool MayReach(std::string_view host) const;
};

// kInvalid or kTooLarge with the text that is wrong.
Result<Policy> CompilePolicy(const FilterPolicy& policy);

}  // namespace gate::net
