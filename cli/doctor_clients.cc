// The part of gate doctor about clients that do not run what they are told.
#include <cstdio>

#include "audit/log.h"
#include "base/hash.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/doctor.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "gateway/client_record.h"
#include "gateway/log.h"

namespace gate::app {
namespace {

constexpr const char kProve[] = "gate doctor --prove";

Status RecordTrial(const ProcessFacts& facts, const std::string& client) {
  GATE_TRY(auto log, audit::Log::Open(facts.places.state, {}));
  audit::Record record;
  record.kind = audit::Kind::kConfig;
  record.id = NewUuid(NowMs());
  record.time_ns = NowNs();
  record.mode = "doctor";
  record.agent = client;
  record.reason = "rewrites are tried again for " + client;
  record.detail = "{}";
  return log.Append(&record);
}

}  // namespace

void CheckClients(const ProcessFacts& facts, std::vector<Finding>* findings) {
  for (const ClientRecord& record : ListClients(facts.places.state)) {
    const std::string name = record.client.empty()
                                 ? "a client whose record cannot be read"
                                 : Visible(record.client);
    const std::string drops = std::to_string(record.drops) +
                              (record.drops == 1 ? " command" : " commands");
    switch (record.standing) {
      case Standing::kMarked:
        findings->push_back(
            {Health::kBad, "client",
             name + " ran " + drops +
                 " as the agent wrote them, where gate had put contained ones "
                 "in their place; it is told which line to run instead",
             kProve});
        break;
      case Standing::kTrial:
        findings->push_back(
            {Health::kNote, "client",
             name + " is on trial: the next rewritten command that it runs as "
                    "it was rewritten ends that, and one that it does not "
                    "marks it again",
             ""});
        break;
      case Standing::kGood:
        findings->push_back(
            {Health::kNote, "client",
             name + " ran " + drops +
                 " as the agent wrote them, where gate had put contained ones "
                 "in their place; after " +
                 std::to_string(kDropsToMark) + " it is rewritten no more",
             ""});
        break;
    }
  }
}

int ProveClients(const ProcessFacts& facts) {
  if (auto code = RequirePerson("trying a client's rewrites again"))
    return *code;
  // Recorded first: what cannot be recorded does not happen.
  for (const ClientRecord& record : ListClients(facts.places.state)) {
    if (record.standing != Standing::kMarked) continue;
    if (auto stored = RecordTrial(facts, record.client); !stored) {
      Complain("the trial could not be recorded: " + stored.error().message);
      return kExitInternal;
    }
  }
  const auto tried = TryAgain(facts.places.state, NowMs());
  if (!tried) {
    Complain(tried.error().message);
    return kExitInternal;
  }
  if (tried->empty()) std::puts("no client is marked");
  for (const std::string& client : *tried)
    std::printf(
        "%s: on trial. Have the agent run a command that gate contains; what "
        "it does then shows here. A command whose rewrite is dropped runs as "
        "the agent wrote it\n",
        Visible(client).c_str());
  return 0;
}

}  // namespace gate::app
