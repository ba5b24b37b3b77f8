#include <algorithm>
#include <array>
#include <string_view>

#include "router/plan.h"

namespace gate::router {
namespace {

// From the freest to the strictest.
constexpr auto kProfiles = std::to_array<std::string_view>(
    {"full-access", "tool", "workspace-write", "read-only"});

// An unknown name is the strictest.
size_t Rank(const std::string& name) {
  for (size_t i = 0; i < kProfiles.size(); ++i)
    if (name == kProfiles[i]) return i;
  return kProfiles.size() - 1;
}

}  // namespace

std::string JoinProfiles(const std::string& a, const std::string& b) {
  return std::string(kProfiles[std::max(Rank(a), Rank(b))]);
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
  if (a.profile.empty() || b.profile.empty())
    joined.profile = a.profile + b.profile;
  else
    joined.profile = JoinProfiles(a.profile, b.profile);
  joined.network = JoinNetworks(a.network, b.network);
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
