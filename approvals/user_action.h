// What only a person may do, and its record.
#pragma once

#include <string>

#include "base/result.h"
#include "facts/process_facts.h"

namespace gate::app {

struct UserAction {
  std::string mode;     // allow, approve, trust, untrust, pause, revoke
  std::string command;  // what it is about; may be empty
  std::string cwd;
  std::string agent;
  std::string reason;  // one line for people
  std::string policy_revision;
  std::string parent;         // the decision it answers; may be empty
  std::string detail = "{}";  // a JSON object
};

// Commits `act` to the audit log. To be called before the act: one that is
// not on record does not happen.
Status RecordUserAction(const ProcessFacts& facts, const UserAction& act);

}  // namespace gate::app
