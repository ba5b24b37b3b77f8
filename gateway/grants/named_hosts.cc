#include "gateway/grants/named_hosts.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/host_list.h"

namespace gate::app {
namespace {

using backends::FilterSocket;
using net::ConnectionVerdict;

// Hosts that a line is told of; the record has all.
constexpr size_t kMaxTold = 5;

// The value of the first of `names` that the person's environment has.
std::string FirstOf(const ProcessFacts& facts,
                    std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    for (const std::string& entry : facts.environment)
      if (entry.size() > name.size() + 1 && entry.starts_with(name) &&
          entry[name.size()] == '=')
        return entry.substr(name.size() + 1);
  return "";
}

// The person's proxy as the filter takes it; a value without a scheme is one of
// http, as curl(1) reads it.
Result<std::string> PersonsProxy(const ProcessFacts& facts) {
  std::string proxy = FirstOf(
      facts, {"https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"});
  if (proxy.empty()) return proxy;
  const size_t scheme = proxy.find("://");
  if (scheme == proxy.npos) return "http://" + proxy;
  if (proxy.substr(0, scheme) != "http")
    return Fail(ErrorCode::kUnavailable,
                "the proxy of the environment is one of " +
                    proxy.substr(0, scheme) +
                    ", and only http is known (https_proxy)");
  while (proxy.ends_with('/')) proxy.pop_back();
  return proxy;
}

std::string_view WhyOf(ConnectionVerdict verdict) {
  switch (verdict) {
    case ConnectionVerdict::kDenied:
      return "a rule denies it";
    case ConnectionVerdict::kAddress:
      return "its address is not a public one";
    case ConnectionVerdict::kOtherName:
      return "another host was named inside";
    case ConnectionVerdict::kLimit:
      return "a limit of the run was reached";
    default:
      return "no rule allows it";
  }
}

bool IsRefusal(ConnectionVerdict verdict) {
  return verdict == ConnectionVerdict::kNotListed ||
         verdict == ConnectionVerdict::kDenied ||
         verdict == ConnectionVerdict::kAddress ||
         verdict == ConnectionVerdict::kOtherName ||
         verdict == ConnectionVerdict::kLimit;
}

}  // namespace

net::ListenerKind KindOf(FilterSocket socket) {
  switch (socket) {
    case FilterSocket::kProxy:
      return net::ListenerKind::kProxy;
    case FilterSocket::kDnsDatagrams:
      return net::ListenerKind::kDnsUdp;
    case FilterSocket::kDns:
      return net::ListenerKind::kDnsTcp;
    case FilterSocket::kHttp:
      return net::ListenerKind::kHttp;
    case FilterSocket::kTls:
      break;
  }
  return net::ListenerKind::kTls;
}

Result<std::optional<net::NetworkFilter>> OfferNamedHosts(
    Gateway& gateway, Authorization* authorization) {
  backends::Profile& profile = authorization->plan.profile;
  if (profile.network != backends::Network::kDomains) return std::nullopt;
  const std::string executable = net::FindNetworkFilter();
  if (executable.empty())
    return Fail(ErrorCode::kUnavailable,
                "gate-net, which stands beside gate, is not there");
  net::FilterPolicy policy;
  policy.allow = profile.domains.allow;
  policy.deny = profile.domains.deny;
  policy.excepted = gateway.settings().private_ranges;
  GATE_TRY(policy.upstream, PersonsProxy(gateway.facts()));
  GATE_TRY(auto filter, net::NetworkFilter::Start(policy, executable));
  const std::string proxy =
      "http://127.0.0.1:" + std::to_string(backends::kFilterProxyPort);
  for (const char* name :
       {"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"})
    profile.environment_set[name] = proxy;
  for (const char* name : {"no_proxy", "NO_PROXY"})
    profile.environment_set[name] = "localhost,127.0.0.1,::1";
  // Programs without support for the proxy ask the name server; those for which
  // this one is set would need a library for SOCKS.
  for (const char* name : {"all_proxy", "ALL_PROXY"})
    profile.environment_set[name] = "";
  return std::optional<net::NetworkFilter>(std::move(filter));
}

void TellUnreached(const net::FilterReport& report,
                   backends::Outcome* outcome) {
  std::set<std::string> seen;
  std::vector<std::string> unlisted;
  std::string allowing;  // the first of them
  const auto tell = [&](const std::string& host, uint16_t port,
                        ConnectionVerdict verdict) {
    const std::string name = net::PrintHostPort(host, port);
    if (host.empty() || !seen.insert(name).second) return;
    if (verdict != ConnectionVerdict::kNotListed) {
      outcome->violations.push_back(
          {backends::ViolationKind::kListedDomainsOnly,
           name + ": " + std::string(WhyOf(verdict))});
      return;
    }
    if (allowing.empty()) allowing = net::AllowingMembers(host, port);
    unlisted.push_back(name);
  };
  for (const net::Connection& each : report.connections)
    if (IsRefusal(each.verdict)) tell(each.host, each.port, each.verdict);
  for (const net::RefusedHost& each : report.refused)
    tell(each.host, each.port, ConnectionVerdict::kNotListed);
  if (!report.complete)
    outcome->withheld.push_back(
        "the network, whose filter ended before the line did");
  if (unlisted.empty()) return;
  std::string text;
  for (size_t i = 0; i < std::min(unlisted.size(), kMaxTold); ++i)
    text += (i == 0 ? "" : ", ") + unlisted[i];
  if (unlisted.size() > kMaxTold)
    text += " and " + std::to_string(unlisted.size() - kMaxTold) + " more";
  outcome->withheld.push_back(
      text + (unlisted.size() == 1 ? ", which is" : ", which are") +
      " not among the hosts that the line may reach");
  if (!outcome->instead.empty()) return;
  outcome->instead = "a person can let it through, by a rule with " + allowing;
}

}  // namespace gate::app
