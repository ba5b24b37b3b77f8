#include "audit/time.h"

#include <time.h>

#include <cstdio>
#include <functional>
#include <optional>

#include "base/ascii.h"
#include "base/text.h"

namespace gate::audit {
namespace {

constexpr int64_t kSecond = 1000000000;
constexpr int64_t kDay = 86400;
// 2262 is where signed nanoseconds end.
constexpr int64_t kLastYear = 2261;

// Days since 1970-01-01 of a date of the Gregorian calendar, and back (the
// well-known algorithm that counts years from March).
int64_t DaysFromDate(int64_t year, int64_t month, int64_t day) {
  year -= month <= 2;
  const int64_t era = year / 400;
  const int64_t of_era = year - era * 400;
  const int64_t of_year =
      (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year -
         719468;
}

void DateFromDays(int64_t days, int* year, int* month, int* day) {
  days += 719468;
  const int64_t era = days / 146097;
  const int64_t of_era = days - era * 146097;
  const int64_t year_of_era =
      (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const int64_t of_year =
      of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted = (5 * of_year + 2) / 153;
  *day = static_cast<int>(of_year - (153 * shifted + 2) / 5 + 1);
  *month = static_cast<int>(shifted < 10 ? shifted + 3 : shifted - 9);
  *year = static_cast<int>(year_of_era + era * 400 + (*month <= 2));
}

// Takes exactly `digits` digits from the front of `text`.
bool Take(std::string_view* text, size_t digits, int64_t* out) {
  if (text->size() < digits) return false;
  *out = 0;
  for (size_t i = 0; i < digits; ++i) {
    if (!IsDigit((*text)[i])) return false;
    *out = *out * 10 + ((*text)[i] - '0');
  }
  text->remove_prefix(digits);
  return true;
}

bool TakeChar(std::string_view* text, char c) {
  if (text->empty() || text->front() != c) return false;
  text->remove_prefix(1);
  return true;
}

bool TakeFraction(std::string_view* text, int64_t* nanoseconds) {
  if (text->empty() || !IsDigit(text->front())) return false;
  int64_t scale = kSecond;
  while (!text->empty() && IsDigit(text->front())) {
    scale /= 10;
    *nanoseconds += (text->front() - '0') * scale;
    text->remove_prefix(1);
  }
  return true;
}

int64_t DaysInMonth(int64_t year, int64_t month) {
  return month == 12
             ? 31
             : DaysFromDate(year, month + 1, 1) - DaysFromDate(year, month, 1);
}

std::optional<uint64_t> Positive(int64_t seconds, int64_t nanoseconds) {
  if (seconds < 0 || seconds > INT64_MAX / kSecond - 1) return std::nullopt;
  return static_cast<uint64_t>(seconds * kSecond + nanoseconds);
}

// Local time minus UTC at a local time, both in seconds since 1970.
using LocalOffset = std::function<int64_t(int64_t)>;

std::optional<uint64_t> ParseDate(std::string_view text,
                                  const LocalOffset& offset) {
  int64_t year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  int64_t nanoseconds = 0;
  std::optional<int64_t> zone;
  if (!Take(&text, 4, &year) || !TakeChar(&text, '-') ||
      !Take(&text, 2, &month) || !TakeChar(&text, '-') ||
      !Take(&text, 2, &day) || year < 1970 || year > kLastYear || month < 1 ||
      month > 12 || day < 1 || day > DaysInMonth(year, month)) {
    return std::nullopt;
  }
  if (!text.empty()) {
    if (!TakeChar(&text, 'T') && !TakeChar(&text, 't') &&
        !TakeChar(&text, ' ')) {
      return std::nullopt;
    }
    if (!Take(&text, 2, &hour) || !TakeChar(&text, ':') ||
        !Take(&text, 2, &minute) || hour > 23 || minute > 59) {
      return std::nullopt;
    }
    if (TakeChar(&text, ':')) {
      if (!Take(&text, 2, &second) || second > 60) return std::nullopt;
      if (TakeChar(&text, '.') && !TakeFraction(&text, &nanoseconds)) {
        return std::nullopt;
      }
    }
    if (TakeChar(&text, 'Z') || TakeChar(&text, 'z')) {
      zone = 0;
    } else if (!text.empty()) {
      const int64_t sign = text.front() == '-' ? -1 : 1;
      int64_t zone_hours = 0, zone_minutes = 0;
      if (!TakeChar(&text, '+') && !TakeChar(&text, '-')) return std::nullopt;
      if (!Take(&text, 2, &zone_hours)) return std::nullopt;
      TakeChar(&text, ':');
      if (!text.empty() && !Take(&text, 2, &zone_minutes)) return std::nullopt;
      if (zone_hours > 23 || zone_minutes > 59) return std::nullopt;
      zone = sign * (zone_hours * 3600 + zone_minutes * 60);
    }
    if (!text.empty()) return std::nullopt;
  }
  const int64_t written = DaysFromDate(year, month, day) * kDay + hour * 3600 +
                          minute * 60 + second;
  return Positive(written - (zone ? *zone : offset(written)), nanoseconds);
}

std::optional<uint64_t> Understand(std::string_view text, uint64_t now_ns,
                                   int64_t offset_now_s,
                                   const LocalOffset& offset) {
  if (text == "now") return now_ns;
  const int64_t now_s = static_cast<int64_t>(now_ns / kSecond);
  if (text == "today" || text == "yesterday") {
    const int64_t midnight =
        ((now_s + offset_now_s) / kDay - (text == "yesterday" ? 1 : 0)) * kDay;
    return Positive(midnight - offset(midnight), 0);
  }
  const bool epoch = TakeChar(&text, '@');
  int64_t number = 0;
  size_t digits = 0;
  while (digits < text.size() && digits < 12 && IsDigit(text[digits])) {
    number = number * 10 + (text[digits++] - '0');
  }
  if (epoch) {
    if (digits == 0 || digits != text.size()) return std::nullopt;
    return Positive(number, 0);
  }
  if (digits > 0 && digits + 1 == text.size()) {
    int64_t unit = 0;
    switch (text.back()) {
      case 's':
        unit = 1;
        break;
      case 'm':
        unit = 60;
        break;
      case 'h':
        unit = 3600;
        break;
      case 'd':
        unit = kDay;
        break;
      case 'w':
        unit = 7 * kDay;
        break;
      default:
        return std::nullopt;
    }
    // Longer ago than the beginning is the beginning.
    if (number > now_s / unit) return uint64_t{0};
    return now_ns - static_cast<uint64_t>(number * unit) * kSecond;
  }
  return ParseDate(text, offset);
}

Result<uint64_t> Parse(std::string_view text, uint64_t now_ns,
                       int64_t offset_now_s, const LocalOffset& offset) {
  if (const auto time = Understand(text, now_ns, offset_now_s, offset))
    return *time;
  return Fail(ErrorCode::kInvalid, "`" + Visible(text) +
                                       "` is not a time: 2h, today, yesterday, "
                                       "2026-11-20 or 2026-11-20T10:00");
}

// By the rules that the zone has at that time: summer time is not today's.
int64_t OffsetOfZone(int64_t local_s) {
  const auto as_utc = static_cast<time_t>(local_s);
  tm local{};
  if (gmtime_r(&as_utc, &local) == nullptr) return 0;
  local.tm_isdst = -1;
  const time_t utc = mktime(&local);
  return utc == -1 ? 0 : local_s - static_cast<int64_t>(utc);
}

}  // namespace

Result<uint64_t> ParseTime(std::string_view text, uint64_t now_ns,
                           int64_t offset_s) {
  return Parse(text, now_ns, offset_s, [=](int64_t) { return offset_s; });
}

Result<uint64_t> ParseTime(std::string_view text, uint64_t now_ns) {
  const auto seconds = static_cast<time_t>(now_ns / kSecond);
  tm local{};
  const int64_t offset_s =
      localtime_r(&seconds, &local) != nullptr ? local.tm_gmtoff : 0;
  return Parse(text, now_ns, offset_s, OffsetOfZone);
}

std::string FormatTime(uint64_t time_ns) {
  const int64_t seconds = static_cast<int64_t>(time_ns / kSecond);
  int year = 0, month = 0, day = 0;
  DateFromDays(seconds / kDay, &year, &month, &day);
  const int of_day = static_cast<int>(seconds % kDay);
  char text[40];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", year,
                month, day, of_day / 3600, of_day / 60 % 60, of_day % 60,
                static_cast<int>(time_ns % kSecond / 1000000));
  return text;
}

}  // namespace gate::audit
