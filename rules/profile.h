// What a contained command may read, write and reach, as rules, settings and
// callers name it. What a profile stands for is in router/plan.h.
//
// Each from the strictest on, so that the stricter of two is the smaller. The
// numbers stand in compiled rules, where kUnsaid means that nothing is said.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gate::rules {

enum class ProfileKind : uint8_t {
  kUnsaid,
  kReadOnly,
  kWorkspaceWrite,
  kTool,  // workspace-write, and the credentials of the line's one program
  kFullAccess,
};

// What a policy may give of the network.
enum class NetworkAccess : uint8_t {
  kUnsaid,
  kNone,
  kLoopback,
  kDomains,  // the hosts that rules name (net/host_list.h)
  kOpen,
};

// "read-only", "open"; empty for kUnsaid.
std::string_view Name(ProfileKind profile);
std::string_view Name(NetworkAccess network);

// Nothing for what is no name, and for an empty one.
std::optional<ProfileKind> ParseProfileKind(std::string_view name);
std::optional<NetworkAccess> ParseNetworkAccess(std::string_view name);

}  // namespace gate::rules
