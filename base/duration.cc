#include "base/duration.h"

namespace gate {

std::optional<uint64_t> ParseDuration(std::string_view text, uint64_t most_ms) {
  if (text.size() < 2 || text.size() > 9) return std::nullopt;
  uint64_t unit = 0;
  switch (text.back()) {
    case 's':
      unit = 1000;
      break;
    case 'm':
      unit = 60 * 1000;
      break;
    case 'h':
      unit = 60 * 60 * 1000;
      break;
    case 'd':
      unit = 24 * 60 * 60 * 1000;
      break;
    default:
      return std::nullopt;
  }
  text.remove_suffix(1);
  uint64_t count = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    count = count * 10 + static_cast<uint64_t>(c - '0');
  }
  const uint64_t ms = count * unit;
  if (ms == 0 || ms > most_ms) return std::nullopt;
  return ms;
}

std::string ShowDuration(uint64_t ms) {
  const uint64_t seconds = (ms + 999) / 1000;
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (seconds < 120 * 60) return std::to_string((seconds + 59) / 60) + " min";
  if (seconds < 48 * 3600)
    return std::to_string((seconds + 3599) / 3600) + " h";
  return std::to_string((seconds + 86399) / 86400) + " days";
}

}  // namespace gate
