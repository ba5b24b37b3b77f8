// What the audit log stores. Plain data; docs/audit-format.md is the format.
//
// Two append-only records per command: the decision, committed before the
// answer leaves gate, and the outcome, after the run. Others: config (policy
// loads, installs, prunes), checkpoint (what a prune removed).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gate::audit {

enum class Kind : uint8_t { kDecision, kOutcome, kConfig, kCheckpoint, kNote };
const char* Name(Kind kind);
// False when `name` is no kind's.
bool ParseKind(std::string_view name, Kind* out);

struct Record {
  // Chosen by the caller.
  Kind kind = Kind::kNote;
  std::string id;        // UUIDv7
  std::string parent;    // an outcome's decision
  uint64_t time_ns = 0;  // UTC
  std::string agent;
  std::string session;
  std::string mode;      // hook, check, run, sandbox
  bool enforced = true;  // false: `check` only said what would be
  std::string command;   // redacted by Append
  std::string cwd;
  std::string action;  // allow, sandbox, ask, deny; empty for others
  std::string reason;
  std::string rule_id;
  std::string policy_revision;
  std::string backend;
  std::string status;  // outcome: exited, signalled, …
  int exit_code = -1;
  uint64_t duration_ms = 0;
  std::string detail;  // JSON object with everything else

  // Filled by the log.
  uint64_t sequence = 0;
  std::string previous;  // hex hash of the record before
  std::string hash;      // hex
};

}  // namespace gate::audit
