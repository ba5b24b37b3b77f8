// What a Log holds. Internal to audit/.
#pragma once

#include "audit/database.h"
#include "audit/log.h"

namespace gate::audit {

struct Log::Impl {
  Database db;
};

inline constexpr uint64_t kNanosecondsPerDay = 86400ull * 1000000000ull;
// What is older is pruned.
inline constexpr uint64_t kMaxAgeDays = 90;

uint64_t NowNanoseconds();  // UTC

}  // namespace gate::audit
