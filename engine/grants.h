// What a person's yes to a question gives. Pure; what has to be looked up comes
// in as values.
//
// A yes does what was asked, and no more than it says. Running a line as the
// person would is given only where nothing else comes with it: every command is
// the one asked about or one that is allowed raw, none runs code of the
// workspace or code that it downloads, and nothing of the line is unknown.
// Where a yes could give neither that nor a sandbox in which the work can be
// done, nobody is asked: the person is told what to run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/decision.h"
#include "engine/evaluate.h"
#include "parser/analysis.h"

namespace gate::engine {

enum class GrantKind : uint8_t {
  kByHand,   // nothing; the person runs it. The default
  kSandbox,  // a run in the sandbox of the decision's profile and network
  kPlaces,   // the same, where named places outside the workspace are writable
  kAsIs,     // a run as the person would run it, without a sandbox
};
// "by-hand", "sandbox", "places", "as-is": in JSON, in the record and in
// approvals.
const char* Name(GrantKind kind);
// kByHand for every other text.
GrantKind GrantKindOf(std::string_view name);

struct Grants {
  GrantKind kind = GrantKind::kByHand;
  std::string why;      // of kByHand: what stands in the way of more
  std::string instead;  // of kByHand: what a yes could be given to; or empty
};

// What the caller found out. The default gives nothing beyond a sandbox.
struct GrantFacts {
  // Whether all programs of the line are what their names say, as for `allow`.
  // Looked at for a run as it is, and for places that rules name.
  ProgramVerification names = {false, "its programs were not looked at"};
  // Why a program of the line would run code of the repository that its
  // configuration does not name (a hook); empty: none does.
  std::string hooks;
};

// What a yes to a decision that asks gives; for any other decision, and for one
// that does not say what each command is, kByHand. Linear in the commands and
// effects.
Grants JudgeGrants(const parser::Analysis& analysis, const Decision& decision,
                   const GrantFacts& facts);

// Whether JudgeGrants needs the facts: looking them up costs file system calls.
bool NeedsGrantFacts(const Decision& decision);

}  // namespace gate::engine
