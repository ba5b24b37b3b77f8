// Three-valued truth: what holds when something is not known.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gate::rules {

// Ordered, so that `and` is the minimum and `or` the maximum.
enum class Tri : uint8_t { kNo, kPossible, kYes };

constexpr Tri And(Tri a, Tri b) { return std::min(a, b); }
constexpr Tri Or(Tri a, Tri b) { return std::max(a, b); }
constexpr Tri Not(Tri a) {
  return static_cast<Tri>(2 - static_cast<uint8_t>(a));
}
constexpr Tri Of(bool value) { return value ? Tri::kYes : Tri::kNo; }

}  // namespace gate::rules
