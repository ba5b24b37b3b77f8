// What gate doctor finds.
#pragma once

#include <string>
#include <vector>

#include "cli/process_facts.h"

namespace gate::cli {

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

}  // namespace gate::cli
