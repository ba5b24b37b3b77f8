// Lengths of time as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gate {

// "90s", "15m", "2h", "3d" in milliseconds. Nothing for any other text, zero,
// or more than `most_ms`.
std::optional<uint64_t> ParseDuration(std::string_view text, uint64_t most_ms);

// `ms` in the largest unit that leaves a number above one: "14 min".
std::string ShowDuration(uint64_t ms);

}  // namespace gate
