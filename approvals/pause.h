// `gate pause`: for a while a person need not be asked.
//
// While a pause holds, an ask counts as answered yes. Denials stay, and what
// runs in a sandbox still does. It ends by itself, and only a person at a
// terminal starts it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace gate::app {

inline constexpr uint64_t kLongestPauseMs = 8ull * 60 * 60 * 1000;

struct Pause {
  std::string workspace;  // the project it is for; empty: all
  uint64_t since_ms = 0;
  uint64_t until_ms = 0;
};

Status StartPause(const std::string& state_dir, const Pause& pause);
// OK when there is none.
Status EndPause(const std::string& state_dir);
// The pause that holds now; nothing when there is none, it is over, the clock
// went back behind its start, or its file does not verify.
std::optional<Pause> FindPause(const std::string& state_dir, uint64_t now_ms);

}  // namespace gate::app
