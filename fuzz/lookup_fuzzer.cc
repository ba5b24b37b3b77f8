// What a name server outside answers: nothing but addresses of the name that
// was asked for comes of it, not too many, and nothing of a part of it.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "net/proxy/dns_message.h"

using namespace gate::net;
using namespace gate::net::proxy;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view message(reinterpret_cast<const char*>(data), size);
  if (size < 2) return 0;
  const auto id = static_cast<uint16_t>(data[0] << 8 | data[1]);
  for (const DnsType type : {DnsType::kA, DnsType::kAaaa}) {
    const LookupAnswer answer = ReadDnsAnswer(message, id, "a.test", type);
    Require(answer.addresses.size() <= kMaxAddresses);
    Require(answer.addresses.empty() ||
            answer.status == LookupStatus::kAnswered);
    for (const Address& address : answer.addresses)
      Require(type == DnsType::kAaaa || IsIpv4(address));
    const auto other = static_cast<uint16_t>(id + 1);
    Require(ReadDnsAnswer(message, other, "a.test", type).status ==
            LookupStatus::kOther);
    if (answer.status == LookupStatus::kOther) continue;
    Require(ReadDnsAnswer(message, id, "b.test", type).status ==
            LookupStatus::kOther);
  }
  return 0;
}
