// Plans as canonical JSON, for tickets and for the audit record.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "router/plan.h"

namespace gate::app {

std::string PlanToJson(const router::Plan& plan);

// kInvalid for anything PlanToJson would not have written.
Result<router::Plan> PlanFromJson(std::string_view json);

}  // namespace gate::app
