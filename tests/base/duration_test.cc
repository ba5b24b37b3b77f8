// Lengths of time as people write them.
#include "base/duration.h"

#include <gtest/gtest.h>

namespace gate {
namespace {

constexpr uint64_t kHour = 3600 * 1000;

TEST(DurationTest, ReadsWhatPeopleWrite) {
  EXPECT_EQ(ParseDuration("15m", kHour), 15u * 60 * 1000);
  EXPECT_EQ(ParseDuration("1h", kHour), kHour);
  for (const char* text : {"", "m", "2h", "61m", "0s", "1", "1 m", "+1m"})
    EXPECT_FALSE(ParseDuration(text, kHour)) << text;
}

}  // namespace
}  // namespace gate
