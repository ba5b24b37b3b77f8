// A authorization as the JSON object of `check --json` (docs/decisions.md).
#pragma once

#include <string>
#include <string_view>

#include "gateway/gateway.h"

namespace gate::app {

// The object, on one line, without a newline. `id`: what stands as "id"; a
// finished JSON value (a batch keeps the caller's), empty for the record's.
std::string DecisionToJson(const Authorization& authorization,
                           std::string_view id_json = {});

// The object for a batch line that could not be judged.
std::string BatchErrorToJson(std::string_view id_json, size_t line,
                             std::string_view code, std::string_view message);

}  // namespace gate::app
