#include <algorithm>
#include <array>
#include <string_view>

#include "router/plan.h"

namespace gate::router {
namespace {

// From the freest to the strictest.
constexpr auto kProfiles = std::to_array<std::string_view>(
    {"full-access", "workspace-write", "read-only"});

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

const char* Name(Mode mode) {
  constexpr std::array<const char*, 3> kNames = {"refused", "direct",
                                                 "sandbox"};
  return kNames[static_cast<size_t>(mode)];
}

}  // namespace gate::router
