// An Analysis as JSON.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "parser/analysis.h"

namespace gate::app {

// The action of invocation `i`, by name.
using InvocationAction = std::function<const char*(size_t i)>;

// "invocations", "effects", "flows" and "unknowns" into an open object. With
// `action`, each invocation gets its "action".
void WriteAnalysisFields(const parser::Analysis& analysis,
                         const InvocationAction& action, JsonWriter* json);

// The object of `gate parse --json`, without a newline.
std::string AnalysisToJson(std::string_view source, std::string_view cwd,
                           const parser::Analysis& analysis);

}  // namespace gate::app
