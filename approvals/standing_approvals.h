// Approvals that hold for more than one run.
//
// A person may say yes to one exact command in one directory for a session, a
// time, or this project. Such an approval answers an ask; it never lifts a
// denial or a sandbox. It says which rules had asked: when another rule asks
// about the same command, the person is asked again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/grants.h"

namespace gate::app {

inline constexpr uint64_t kLongestApprovalMs = 30ull * 24 * 60 * 60 * 1000;

// A yes to a service of this machine (gateway/grants/local_services.h):
// `command` is its address and who listened, `rules` holds what that was. It
// answers no question about a command.
inline constexpr const char* kServiceScope = "service";

struct StandingApproval {
  std::string id;     // of the question that was answered
  std::string scope;  // session, time, project, service
  std::string command, cwd, workspace;
  std::string place;               // what `cwd` was (BoundPlace)
  std::string session;             // scope session
  std::vector<std::string> rules;  // ids of the rules that asked
  engine::GrantKind grant = engine::GrantKind::kSandbox;
  uint64_t approved_ms = 0;
  uint64_t expires_ms = 0;  // 0: until revoked (scope project)
};

Status Remember(const std::string& state_dir, const StandingApproval& approval);

// All that hold at `now_ms`, oldest first; the others are removed.
Result<std::vector<StandingApproval>> ListStandingApprovals(
    const std::string& state_dir, uint64_t now_ms);

// Takes one back by its id or a unique start of it of at least 8 characters.
Result<StandingApproval> Revoke(const std::string& state_dir,
                                const std::string& id, uint64_t now_ms);

// What an ask is about.
struct Asked {
  std::string command;
  std::string place;  // BoundPlace; empty: nothing answers it
  std::string workspace, session;
  std::vector<std::string> rules;  // that ask
};

// The approval that answers `asked`; nothing when there is none.
std::optional<StandingApproval> FindStandingApproval(
    const std::string& state_dir, const Asked& asked, uint64_t now_ms);

}  // namespace gate::app
