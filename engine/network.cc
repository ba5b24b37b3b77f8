#include "engine/network.h"

#include <algorithm>
#include <utility>

#include "base/host.h"
#include "known/known.h"
#include "net/host_list.h"

namespace gate::engine {
namespace {

template <class Hosts>
std::vector<NamedHost> Listed(const Hosts& hosts) {
  std::vector<NamedHost> out;
  out.reserve(hosts.size());
  for (const auto& [host, rule] : hosts)
    out.push_back({host, std::string(rule)});
  return out;
}

// The host rule for what `effect` names; empty when it names no host for
// certain. A word alone (`origin`, `pypi`) is a remote or an index.
std::string NamedBy(const parser::Effect& effect) {
  if (effect.kind != parser::EffectKind::kNetwork || !effect.certain ||
      effect.listens || IsLoopback(effect.host))
    return "";
  if (effect.scheme.empty() && effect.port == 0 &&
      effect.host.find_first_of(".:") == std::string::npos)
    return "";
  const auto host = net::ReadHost(effect.host);
  if (!host) return "";
  const bool usual = (effect.scheme == "https" && effect.port == 443) ||
                     (effect.scheme == "http" && effect.port == 80);
  const auto rule = net::ParseHostRule(net::PrintHostPort(
      *host, usual ? uint16_t{0} : static_cast<uint16_t>(effect.port)));
  return rule ? net::Print(*rule) : "";
}

}  // namespace

void NetworkJoin::AddOne(std::string_view host, std::string_view id,
                         Hosts* hosts) {
  const auto [at, fresh] = hosts->emplace(host, id);
  if (!fresh) at->second = std::min(at->second, id);
}

void NetworkJoin::AddNamed(uint32_t invocation, std::string_view id,
                           Hosts* hosts) {
  for (const uint32_t i : matcher_.EffectsOf(invocation))
    if (const std::string host = NamedBy(analysis_.effects[i]); !host.empty())
      AddOne(host, id, hosts);
}

void NetworkJoin::Add(const Hit& hit, rules::Range range, uint32_t invocation,
                      Hosts* hosts) {
  if (range.count == 0) return;
  const rules::RuleView& view = hit.layer->view;
  const std::string_view id = view.Text(hit.record().id);
  for (const FlatText text : view.In(view.strings, range)) {
    const std::string_view host = view.Text(text);
    if (host == rules::kHostsNamed) {
      AddNamed(invocation, id, hosts);
    } else if (host == rules::kHostsOfProgram) {
      if (invocation < analysis_.invocations.size())
        for (const std::string_view known :
             known::HostsOfProgram(analysis_.invocations[invocation].program))
          AddOne(known, id, hosts);
    } else {
      AddOne(host, id, hosts);
    }
  }
}

void NetworkJoin::Give(const Hit& hit, uint32_t invocation) {
  const rules::RuleRecord& record = hit.record();
  widest_ = std::max(widest_, record.network);
  if (record.network >= NetworkAccess::kDomains)
    Add(hit, record.hosts, invocation,
        record.network == NetworkAccess::kDomains ? &hosts_ : &narrowed_);
}

void NetworkJoin::Bound(const Hit& hit) {
  const rules::RuleRecord& record = hit.record();
  if (record.network_max != NetworkAccess::kUnsaid)
    most_ = std::min(most_, record.network_max);
  // Who narrows a command and names its hosts means these and no more.
  exact_ = exact_ || (record.network_max == NetworkAccess::kDomains &&
                      record.network == NetworkAccess::kDomains &&
                      record.hosts.count > 0);
  Add(hit, record.hosts_deny, UINT32_MAX, &denied_);
}

void NetworkJoin::Finish(Decision* decision) {
  decision->network = std::min(widest_, most_);
  const bool narrowed = widest_ == NetworkAccess::kOpen && !exact_;
  if (narrowed)
    for (const auto& [host, id] : hosts_) AddOne(host, id, &narrowed_);
  if (decision->network == NetworkAccess::kDomains)
    decision->hosts = Listed(narrowed ? narrowed_ : hosts_);
  if (decision->network == NetworkAccess::kOpen)
    decision->hosts_if_narrowed = Listed(narrowed_);
  if (decision->network >= NetworkAccess::kDomains)
    decision->hosts_deny = Listed(denied_);
}

std::string ListHosts(const std::vector<NamedHost>& hosts) {
  std::string text;
  for (const NamedHost& named : hosts)
    text += (text.empty() ? "" : ", ") + named.host;
  return text.empty() ? "no host" : text;
}

}  // namespace gate::engine
