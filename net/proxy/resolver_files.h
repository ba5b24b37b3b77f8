// What /etc/resolv.conf and /etc/hosts say, read before gate-net gives up every
// file.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "net/filter_policy.h"

namespace gate::net::proxy {

inline constexpr size_t kMaxNameServers = 3;  // as resolv.conf(5)

// The servers of `text`; this machine where it names none, as resolv.conf(5).
// Addresses with a zone are left out.
std::vector<Endpoint> ReadNameServers(std::string_view text);

using HostsFile = std::unordered_map<std::string, std::vector<Address>>;
// Names in ReadHost's form. At most kMaxHostsLines lines count.
inline constexpr size_t kMaxHostsLines = 10'000;
HostsFile ReadHosts(std::string_view text);

}  // namespace gate::net::proxy
