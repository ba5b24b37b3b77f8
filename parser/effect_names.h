// What the kinds of effects are called in rules, records and JSON.
#pragma once

#include <array>
#include <string_view>

#include "parser/analysis.h"

namespace gate::parser {

// In the order of EffectKind.
inline constexpr std::array<std::string_view, kEffectKinds> kEffectNames = {
    "read",         "write",       "delete",    "move",
    "permission",   "network",     "privilege", "signal",
    "execute_file", "persistence", "system",    "remote_state"};
static_assert(!kEffectNames.back().empty());

}  // namespace gate::parser
