// Questions that gate-net asks a name server, and what it takes from the
// answers (RFC 1035). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "net/address.h"
#include "net/protocols/dns.h"

namespace gate::net::proxy {

// One standard question of class IN, with recursion. `name` as ReadHost returns
// a name. Empty where it is no name that can be asked for.
std::string AskDns(uint16_t id, std::string_view name, DnsType type);

enum class LookupStatus : uint8_t {
  kOther,      // not the answer to that question; the default
  kFailed,     // the server cannot say; another may
  kTruncated,  // ask by TCP
  kAnswered,   // perhaps without an address
  kNoSuchName,
};

struct LookupAnswer {
  LookupStatus status = LookupStatus::kOther;
  std::vector<Address> addresses;
  uint32_t seconds = 0;  // that it holds for
};

// Answers are followed from `name` through at most kMaxAliases CNAMEs of this
// message alone; a record of any other name is not taken.
inline constexpr int kMaxAliases = 16;
inline constexpr size_t kMaxAddresses = 16;

// What `message` says to the question that AskDns made. kOther unless the id
// and the question are the same.
LookupAnswer ReadDnsAnswer(std::string_view message, uint16_t id,
                           std::string_view name, DnsType type);

}  // namespace gate::net::proxy
