#include "engine/decision.h"

#include <array>

namespace gate::engine {
namespace {

constexpr std::array kReasonNames = {
    "internal_error",  "rule",  "default",   "unknown", "policy_broken",
    "not_as_it_seems", "limit", "untrusted", "plan"};
static_assert(kReasonNames.size() ==
              static_cast<size_t>(ReasonCode::kPlan) + 1);

}  // namespace

const char* Name(ReasonCode code) {
  return kReasonNames[static_cast<size_t>(code)];
}

}  // namespace gate::engine
