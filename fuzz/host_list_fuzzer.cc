// Hosts, rules for hosts and addresses: a normal form is its own normal form
// and what base/host.h makes of the same text, a rule that is printed is the
// same rule, what denies wins, and no exception opens metadata or the link.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/host.h"
#include "fuzz/require.h"
#include "net/address.h"
#include "net/host_list.h"

namespace {

using namespace gate::net;

void CheckAddress(std::string_view text) {
  const auto range = ParseRange(text);
  if (range) Require(Contains(*range, range->base));
  const auto address = ParseAddress(text);
  if (!address) return;
  Require(range && range->base == *address && range->bits == 128);
  Require(ParseAddress(Print(*address)) == address);
  const auto everything = ParseRange("::/0");
  const AddressKind kind = KindOf(*address, {});
  Require(MayConnect(*address, {}, {}) == (kind == AddressKind::kPublic));
  Require(MayConnect(*address, {}, {*everything}) ==
          (kind != AddressKind::kMetadata && kind != AddressKind::kLinkLocal));
  Require(KindOf(*address, {*address}) != AddressKind::kPublic);
}

void CheckHost(std::string_view text) {
  const auto named = ReadHostPort(text);
  if (named) {
    const auto again = ReadHostPort(PrintHostPort(named->host, named->port));
    Require(again && *again == *named);
  }
  const auto host = ReadHost(text);
  if (!host) return;
  const auto again = ReadHost(*host);
  Require(again && *again == *host);
  const gate::HostForms forms = gate::NormaliseHost(text);
  Require(forms.normal == *host && forms.is_address == IsAddress(*host));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> hosts;
  std::vector<HostRule> allow, deny;
  for (bool more = true; more;) {
    const size_t end = text.find('\n');
    more = end != text.npos;
    std::string_view line = text.substr(0, end);
    if (more) text.remove_prefix(end + 1);
    CheckAddress(line);
    CheckHost(line);
    if (auto host = ReadHost(line)) hosts.push_back(std::move(*host));
    const bool denies = line.starts_with('!');
    if (denies) line.remove_prefix(1);
    const auto rule = ParseHostRule(line);
    if (!rule) continue;
    const auto again = ParseHostRule(Print(*rule));
    Require(again && *again == *rule);
    (denies ? deny : allow).push_back(*rule);
  }
  const auto both = HostList::Make(allow, deny),
             open = HostList::Make(allow, {});
  if (!both) {
    Require(allow.size() > kMaxHostRules || deny.size() > kMaxHostRules);
    return 0;
  }
  for (const std::string& host : hosts) {
    for (const uint16_t port : {uint16_t{443}, uint16_t{80}, uint16_t{22}}) {
      const HostVerdict verdict = both->Judge(host, port);
      if (verdict != HostVerdict::kAllowed) continue;
      Require(both->MayReach(host));
      Require(open->Judge(host, port) == HostVerdict::kAllowed);
      for (const HostRule& rule : deny)
        Require(rule.below || rule.host != host ||
                (rule.port != 0 && rule.port != port));
    }
  }
  return 0;
}
