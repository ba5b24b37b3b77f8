// The four verdicts and their order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gate::rules {

// Ordered by strictness: the join of two verdicts is their maximum.
enum class Action : uint8_t { kAllow, kSandbox, kAsk, kDeny };

const char* Name(Action action);
std::optional<Action> ParseAction(std::string_view text);

constexpr Action Strictest(Action a, Action b) { return std::max(a, b); }

// Where a rule comes from, by rising trust.
enum class Layer : uint8_t { kSession, kProject, kBuiltin, kUser, kSystem };

const char* Name(Layer layer);

}  // namespace gate::rules
