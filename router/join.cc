#include <algorithm>

#include "router/plan.h"

namespace gate::router {
using rules::ProfileKind;

ProfileKind JoinProfiles(ProfileKind a, ProfileKind b) {
  if (a == ProfileKind::kUnsaid || b == ProfileKind::kUnsaid)
    return std::max(a, b);
  return std::min(a, b);
}

ProfileKind KindOf(const backends::Profile& profile) {
  return rules::ParseProfileKind(profile.name).value_or(ProfileKind::kReadOnly);
}

backends::Network NetworkOf(rules::NetworkAccess network) {
  switch (network) {
    case rules::NetworkAccess::kOpen:
      return backends::Network::kOpen;
    case rules::NetworkAccess::kDomains:
      return backends::Network::kDomains;
    case rules::NetworkAccess::kLoopback:
      return backends::Network::kLoopback;
    case rules::NetworkAccess::kNone:
    case rules::NetworkAccess::kUnsaid:
      break;
  }
  return backends::Network::kNone;
}

backends::Network JoinNetworks(backends::Network a, backends::Network b) {
  return std::min(a, b);
}

backends::Limits JoinLimits(const backends::Limits& a,
                            const backends::Limits& b) {
  backends::Limits joined;
  for (const auto field :
       {&backends::Limits::wall_ms, &backends::Limits::cpu_s,
        &backends::Limits::memory_bytes, &backends::Limits::processes,
        &backends::Limits::open_files, &backends::Limits::file_bytes,
        &backends::Limits::written_bytes, &backends::Limits::output_bytes,
        &backends::Limits::files}) {
    const uint64_t one = a.*field, other = b.*field;
    joined.*field = one == 0 || other == 0 ? one + other : std::min(one, other);
  }
  return joined;
}

bool HostsAreOfRules(const Settings& settings) {
  return settings.hosts_of_rules ||
         (settings.network == backends::Network::kDomains && !settings.hosts);
}

Settings Unasked() {
  Settings settings;
  settings.required = backends::Strength::kNone;
  for (int i = 0; i < backends::kFeatures; ++i)
    settings.accept_loss.Add(static_cast<backends::Feature>(i));
  return settings;
}

Settings Join(const Settings& a, const Settings& b) {
  Settings joined = a;
  joined.required = std::max(a.required, b.required);
  joined.hardened = a.hardened || b.hardened;
  const auto add = [](std::vector<std::string>* to,
                      const std::vector<std::string>& from) {
    to->insert(to->end(), from.begin(), from.end());
  };
  add(&joined.overridden, b.overridden);
  if (!b.backend.empty()) {
    if (!a.backend.empty() && a.backend != b.backend)
      joined.overridden.push_back(a.backend);
    joined.backend = b.backend;
  }
  joined.profile = JoinProfiles(a.profile, b.profile);
  joined.network = JoinNetworks(a.network, b.network);
  if (a.hosts && b.hosts)
    joined.hosts = IntersectHosts(*a.hosts, *b.hosts);
  else if (b.hosts)
    joined.hosts = b.hosts;
  joined.hosts_of_rules = HostsAreOfRules(a) || HostsAreOfRules(b);
  joined.accept_loss = {};
  for (int i = 0; i < backends::kFeatures; ++i) {
    const auto feature = static_cast<backends::Feature>(i);
    if (a.accept_loss.Has(feature) && b.accept_loss.Has(feature))
      joined.accept_loss.Add(feature);
  }
  joined.limits = JoinLimits(a.limits, b.limits);
  if (joined.image.empty()) joined.image = b.image;
  joined.watch_execs = a.watch_execs || b.watch_execs;
  joined.report_blocked = a.report_blocked || b.report_blocked;
  joined.report_reads = a.report_reads || b.report_reads;
  add(&joined.always_sandbox, b.always_sandbox);
  add(&joined.never_sandbox, b.never_sandbox);
  return joined;
}

const char* Name(Mode mode) {
  constexpr std::array<const char*, 3> kNames = {"refused", "direct",
                                                 "sandbox"};
  return kNames[static_cast<size_t>(mode)];
}

}  // namespace gate::router
