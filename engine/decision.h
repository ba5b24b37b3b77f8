// What gate decided, and why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/span.h"
#include "rules/action.h"
#include "rules/profile.h"

namespace gate::engine {

using rules::Action;
using rules::NetworkAccess;
using rules::ProfileKind;

// Why the decision is what it is, when no single rule says it.
enum class ReasonCode : uint8_t {
  kInternalError,  // the default of a Decision nobody filled in
  kRule,           // `rule` decided
  kDefault,        // no rule matched
  kUnknown,        // commands may run that were not seen
  kPolicyBroken,   // a policy file did not load
  kNotAsItSeems,   // an allow fell because a program is not what its name says
  kLimit,          // a budget was exceeded
  kUntrusted,      // it would load a setting of the project nobody trusts
  kPlan,           // the settings, or no sandbox that fits, make it stricter
};
const char* Name(ReasonCode code);

// What it takes to do what a line is asked about, by the rules that ask.
enum class YesNeeds : uint8_t {
  kSandbox,  // it works in the sandbox; the default
  kPlaces,   // it works in the sandbox where named places are writable
  kAsIs,     // it works only without one
  kByHand,   // it works only where the person runs it
};

struct RuleReference {
  std::string id;
  std::string source;  // FILE:LINE
  std::string layer;   // builtin, user, system, project, session
};

struct Match {
  RuleReference rule;
  Action action = Action::kDeny;
  bool certain = true;         // false: matches if something unknown is so
  bool observed_only = false;  // a rule of mode `observe`
  uint32_t invocation = UINT32_MAX;
  std::string reason;
  std::string suggestion;
  std::string severity;
};

// A host rule (net/host_list.h), and the rule that names it: of several the one
// whose id is first.
struct NamedHost {
  std::string host;
  std::string rule;
  bool operator==(const NamedHost&) const = default;
};

// A default-constructed Decision denies.
struct Decision {
  Action action = Action::kDeny;
  // The command must be contained if it runs: joined separately from `action`,
  // so that an approved ask which needed a sandbox still runs in one.
  bool contain = true;
  // The sandbox profile asked for: the join of what the matches name.
  ProfileKind profile = ProfileKind::kWorkspaceWrite;
  // Network the profile gives.
  NetworkAccess network = NetworkAccess::kNone;
  // With the network `domains`, what may be reached: that and nothing else.
  std::vector<NamedHost> hosts;
  // With an open network, what is reached where the plan narrows it to
  // `domains`.
  std::vector<NamedHost> hosts_if_narrowed;
  // With `domains` and with an open network, what may not be reached in any
  // case.
  std::vector<NamedHost> hosts_deny;
  // For an ask, the most that any rule that asks says.
  YesNeeds yes = YesNeeds::kSandbox;
  // For a yes that needs places, those that the rules name ($HOME/…, with a
  // slash at the end of a directory's), and those that the asked commands write
  // by the line's own words, outside the workspace (absolute; `$WRITES`).
  std::vector<std::string> opens, opens_written;
  std::vector<uint32_t> opened_by;  // the commands that these are for
  // For an ask, the commands whose yes holds for all that is in their
  // directory.
  std::vector<uint32_t> reads_directory;
  // For a yes that cannot work: why, and what to do instead, as the rule says.
  std::string by_hand, by_hand_instead;
  // For an ask: no command of the line is given a variable beyond the shipped
  // list of harmless ones.
  bool harmless_variables = false;
  ReasonCode code = ReasonCode::kInternalError;
  std::string reason = "no decision was made";
  std::string suggestion;
  std::string severity;
  RuleReference rule;          // id empty when none decided
  std::vector<Match> matches;  // every rule that matched, strictest first
  std::vector<Action> per_invocation;  // parallel to Analysis::invocations

  void TakeNetwork() {
    network = NetworkAccess::kNone;
    hosts.clear();
    hosts_if_narrowed.clear();
    hosts_deny.clear();
  }
};

}  // namespace gate::engine
