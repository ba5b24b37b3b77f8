// Every exit code of gate, in one place (docs/decisions.md describes them).
#pragma once

#include "rules/action.h"

namespace gate::app {

// `check` and `explain`.
inline constexpr int kExitAllow = 0;
inline constexpr int kExitInternal = 1;  // treat as deny
inline constexpr int kExitDeny = 2;
inline constexpr int kExitAsk = 3;
inline constexpr int kExitSandbox = 4;
// sysexits(3).
inline constexpr int kExitUsage = 64;
inline constexpr int kExitPolicy = 78;
// `run` and `sandbox`; all others are the command's own.
inline constexpr int kExitTimeout = 124;
inline constexpr int kExitGateFailed = 125;
inline constexpr int kExitRefused = 126;
inline constexpr int kExitNotFound = 127;
// `hook` exits with 0 or this, whatever went wrong.
inline constexpr int kExitHookRefused = 2;

constexpr int ExitCodeOf(rules::Action action) {
  switch (action) {
    case rules::Action::kAllow:
      return kExitAllow;
    case rules::Action::kSandbox:
      return kExitSandbox;
    case rules::Action::kAsk:
      return kExitAsk;
    case rules::Action::kDeny:
      return kExitDeny;
  }
  return kExitInternal;
}

}  // namespace gate::app
