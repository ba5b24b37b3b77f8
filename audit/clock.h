// The two clocks of the log. Internal to audit/.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace gate::audit {

// UTC, since 1970.
inline uint64_t NowNanoseconds() { return ClockNs(CLOCK_REALTIME); }
inline uint64_t MonotonicMicroseconds() { return MonotonicUs(); }

}  // namespace gate::audit
