// Whether the agent clients of this machine run gate's hook, for gate doctor.
#pragma once

#include <string>
#include <vector>

#include "facts/process_facts.h"

namespace gate::app {

enum class Health : unsigned char { kGood, kNote, kBad };

struct Finding {
  Health health = Health::kGood;
  std::string topic;
  std::string text;
  std::string help;
};

// Whether the clients run this gate's hook, by the user's settings and by
// those of the project (`workspace`, or the working directory without one).
void CheckHooks(const ProcessFacts& facts, const std::string& workspace,
                std::vector<Finding>* findings);

// The versions of clients that ran commands as they were, where gate had put
// others in their place (gateway/client_record.h).
void CheckClients(const ProcessFacts& facts, std::vector<Finding>* findings);

}  // namespace gate::app
