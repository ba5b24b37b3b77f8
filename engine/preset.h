// Presets: how much a person is asked. Applied to a finished decision.
//
//   careful     asks where standard would run in the sandbox what neither a
//               rule nor a description knows, what hides commands, and what
//               gets the open network, unless the rules that contain it are all
//               of severity `low`: ordinary work on the project, or looking
//   standard    the decision as it is
//   autonomous  nobody can be asked: an ask becomes a sandbox without network
//               where that contains it, else a denial
//
// Autonomous never makes an allow of an ask, and never touches a denial. What
// is contained: a match that is only possible (something in the line is not
// known, and the sandbox holds whatever it is), and commands without effects
// of their own. What a rule surely matched because of what it does (delete in
// the workspace, reach the network, read outside, make something persist) is
// denied: the sandbox would let it happen or only make it fail.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/decision.h"
#include "parser/analysis.h"

namespace gate::engine {

// By rising strictness: of two layers that name one, the stricter holds.
enum class Preset : uint8_t { kAutonomous, kStandard, kCareful };
const char* Name(Preset preset);
std::optional<Preset> ParsePreset(std::string_view text);

// `containable`: the request is a command, which a sandbox can hold; false for
// a tool of the agent that writes files by itself.
void ApplyPreset(Preset preset, const parser::Analysis& analysis,
                 bool containable, Decision* decision);

}  // namespace gate::engine
