// Points in time as people type them, for --since and --until.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gate::audit {

// The time `text` means, in nanoseconds UTC; kInvalid when it means none.
// Understood: `now`; 90s, 15m, 2h, 3d, 1w (that long ago); `today`,
// `yesterday` (midnight); 2026-11-20, 2026-11-20T10:00, 2026-11-20 10:00:30,
// with fractions, Z or an offset such as +01:00; @SECONDS since 1970.
// `offset_s` is local time minus UTC, for what names no zone. Pure.
Result<uint64_t> ParseTime(std::string_view text, uint64_t now_ns,
                           int64_t offset_s);

// Reads a time in this machine's zone, with the offset that the zone has at the
// time that is meant. Not pure.
Result<uint64_t> ParseTime(std::string_view text, uint64_t now_ns);

// `time_ns` as 2026-11-20T10:00:00.123Z.
std::string FormatTime(uint64_t time_ns);

}  // namespace gate::audit
