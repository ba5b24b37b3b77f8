#include "approvals/user_action.h"

#include "audit/log.h"
#include "base/hash.h"

namespace gate::app {

Status RecordUserAction(const ProcessFacts& facts, const UserAction& act) {
  GATE_TRY(auto log, audit::Log::Open(facts.places.state, {}));
  audit::Record record;
  record.kind = audit::Kind::kConfig;
  record.id = NewUuid(NowMs());
  record.parent = act.parent;
  record.time_ns = NowNs();
  record.mode = act.mode;
  record.command = act.command;
  record.cwd = act.cwd;
  record.agent = act.agent;
  record.reason = act.reason;
  record.policy_revision = act.policy_revision;
  record.detail = act.detail;
  return log.Append(&record);
}

}  // namespace gate::app
