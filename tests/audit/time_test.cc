#include "audit/time.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

namespace gate::audit {
namespace {

constexpr uint64_t kSecond = 1000000000;
// 2026-11-21T05:06:07Z
constexpr uint64_t kNow = 1795237567 * kSecond;

TEST(ParseTime, UnderstandsWhatPeopleType) {
  const struct {
    const char* text;
    int64_t offset_s;
    uint64_t seconds;
  } cases[] = {
      {"now", 0, 1795237567},
      {"90s", 0, 1795237567 - 90},
      {"15m", 0, 1795237567 - 900},
      {"2h", 0, 1795237567 - 7200},
      {"3d", 0, 1795237567 - 3 * 86400},
      {"1w", 0, 1795237567 - 7 * 86400},
      {"999999w", 0, 0},
      {"today", 0, 1795219200},
      {"yesterday", 0, 1795219200 - 86400},
      {"today", 3600, 1795219200 - 3600},
      {"today", -6 * 3600, 1795219200 - 86400 + 6 * 3600},
      {"1970-01-01", 0, 0},
      {"2026-11-21", 0, 1795219200},
      {"2026-11-21T05:06", 0, 1795237560},
      {"2026-11-21T05:06:07", 0, 1795237567},
      {"2026-11-21 05:06:07", 3600, 1795237567 - 3600},
      {"2026-11-21T05:06:07Z", 3600, 1795237567},
      {"2026-11-21T05:06:07+01:00", 0, 1795237567 - 3600},
      {"2026-11-21T05:06:07-0130", 0, 1795237567 + 5400},
      {"2024-02-29", 0, 1709164800},
      {"@1795237567", 0, 1795237567},
  };
  for (const auto& c : cases) {
    const auto time = ParseTime(c.text, kNow, c.offset_s);
    ASSERT_TRUE(time) << c.text;
    EXPECT_EQ(*time, c.seconds * kSecond) << c.text;
  }
  EXPECT_EQ(*ParseTime("2026-11-21T05:06:07.25", kNow, 0), kNow + kSecond / 4);
}

TEST(ParseTime, LocalTimeHasTheOffsetOfItsDate) {
  const char* before = getenv("TZ");
  const std::string zone = before != nullptr ? before : "";
  // As in Berlin, without its file.
  setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
  tzset();
  const struct {
    uint64_t now_s;
    const char* text;
    const char* utc;
  } cases[] = {
      {1795237567, "2026-07-01T10:30", "2026-07-01T08:30:00.000Z"},
      {1795237567, "2026-07-01", "2026-06-30T22:00:00.000Z"},
      {1795237567, "2026-11-20T10:30", "2026-11-20T09:30:00.000Z"},
      {1795237567, "2026-07-01T10:30Z", "2026-07-01T10:30:00.000Z"},
      {1795237567, "2026-07-01T10:30-02:00", "2026-07-01T12:30:00.000Z"},
      {1795237567, "today", "2026-11-20T23:00:00.000Z"},
      {1795237567, "@1795237567", "2026-11-21T05:06:07.000Z"},
      // In summer.
      {1782894600, "2026-11-20T10:30", "2026-11-20T09:30:00.000Z"},
      {1782894600, "today", "2026-06-30T22:00:00.000Z"},
      // 2026-10-25T12:00Z, the day with 25 hours, and the one after it.
      {1792929600, "today", "2026-10-24T22:00:00.000Z"},
      {1793016000, "yesterday", "2026-10-24T22:00:00.000Z"},
      {1793016000, "today", "2026-10-25T23:00:00.000Z"},
  };
  for (const auto& c : cases) {
    const auto time = ParseTime(c.text, c.now_s * kSecond);
    EXPECT_TRUE(time) << c.text;
    if (time) EXPECT_EQ(FormatTime(*time), c.utc) << c.text << " " << c.now_s;
  }
  if (before != nullptr)
    setenv("TZ", zone.c_str(), 1);
  else
    unsetenv("TZ");
  tzset();
}

TEST(ParseTime, RefusesTheRest) {
  for (const char* text : {"",
                           "h",
                           "2",
                           "2x",
                           "-2h",
                           "2h ago",
                           "tomorrow",
                           "2026-13-01",
                           "2026-00-01",
                           "2026-02-29",
                           "2026-11-31",
                           "2026-11-21T",
                           "1969-12-31",
                           "2026-11-21T24:00",
                           "2026-11-21T05:60",
                           "2026-11-21T05:06:07+25:00",
                           "2026-11-21T05:06:07Zx",
                           "9999-01-01",
                           "@",
                           "@x",
                           "2026-11-21T05:06.5",
                           "99999999999999999999h",
                           "2026-11-21T05:06:07."}) {
    EXPECT_FALSE(ParseTime(text, kNow, 0)) << text;
  }
}

TEST(FormatTime, IsReadBackByParseTime) {
  EXPECT_EQ(FormatTime(kNow + 5000000), "2026-11-21T05:06:07.005Z");
  for (uint64_t t = 0; t < kNow; t += 12345678901234567) {
    EXPECT_EQ(*ParseTime(FormatTime(t), kNow, 0), t / 1000000 * 1000000);
  }
}

}  // namespace
}  // namespace gate::audit
