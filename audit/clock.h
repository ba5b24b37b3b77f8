// The two clocks of the log. Internal to audit/.
#pragma once

#include <cstdint>

namespace gate::audit {

uint64_t NowNanoseconds();         // UTC, since 1970
uint64_t MonotonicMicroseconds();  // for deadlines

}  // namespace gate::audit
