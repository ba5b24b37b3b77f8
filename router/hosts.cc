#include <algorithm>
#include <optional>
#include <set>

#include "net/host_list.h"
#include "router/plan.h"

namespace gate::router {
namespace {

using backends::Network;
using net::HostRule;

// Whether every host of `inner` is one of `outer`, whatever their ports.
bool Covers(const HostRule& outer, const HostRule& inner) {
  if (inner.host == outer.host) return inner.below == outer.below;
  return outer.below && inner.host.size() > outer.host.size() &&
         inner.host.ends_with("." + outer.host);
}

// Whether a rule that allows and names `named` (0: none) allows `port`.
bool AllowsPort(uint16_t named, uint16_t port) {
  return named == port || (named == 0 && (port == 80 || port == 443));
}

std::optional<HostRule> Intersect(const HostRule& a, const HostRule& b) {
  HostRule both = Covers(b, a) ? a : b;
  if (!Covers(a, both) || !Covers(b, both)) return std::nullopt;
  both.port = a.port == 0 ? b.port : a.port;
  if (both.port != 0 &&
      (!AllowsPort(a.port, both.port) || !AllowsPort(b.port, both.port)))
    return std::nullopt;
  return both;
}

std::vector<HostRule> Read(const std::vector<std::string>& texts) {
  std::vector<HostRule> rules;
  for (const std::string& text : texts)
    if (auto rule = net::ParseHostRule(text)) rules.push_back(std::move(*rule));
  return rules;
}

std::vector<std::string> Texts(const std::vector<engine::NamedHost>& hosts) {
  std::vector<std::string> texts;
  texts.reserve(hosts.size());
  for (const engine::NamedHost& named : hosts) texts.push_back(named.host);
  return texts;
}

}  // namespace

std::vector<std::string> IntersectHosts(const std::vector<std::string>& a,
                                        const std::vector<std::string>& b) {
  std::set<std::string> both;
  const std::vector<HostRule> others = Read(b);
  for (const HostRule& one : Read(a))
    for (const HostRule& other : others)
      if (const auto rule = Intersect(one, other)) both.insert(Print(*rule));
  return {both.begin(), both.end()};
}

Result<backends::DomainFilter> MakeDomainFilter(
    const engine::Decision& decision, const Settings& settings,
    Network network) {
  backends::DomainFilter filter;
  if (network < Network::kDomains) return filter;
  filter.deny = Texts(decision.hosts_deny);
  if (network == Network::kDomains) {
    const bool decided = decision.network == rules::NetworkAccess::kDomains;
    const bool of_rules = decided || HostsAreOfRules(settings);
    if (of_rules)
      filter.allow =
          Texts(decided ? decision.hosts : decision.hosts_if_narrowed);
    if (settings.hosts)
      filter.allow = of_rules ? IntersectHosts(filter.allow, *settings.hosts)
                              : *settings.hosts;
  }
  if (std::max(filter.allow.size(), filter.deny.size()) > net::kMaxHostRules)
    return Fail(ErrorCode::kTooLarge, "more than " +
                                          std::to_string(net::kMaxHostRules) +
                                          " hosts are named for this command");
  return filter;
}

}  // namespace gate::router
