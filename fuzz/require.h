// What a fuzzer holds its reader to, besides not crashing.
#pragma once

#include <cstdlib>

// Ends the fuzzer, which keeps the input, where `promise` does not hold.
inline void Require(bool promise) {
  if (!promise) std::abort();
}
