// For filters of system calls (seccomp(2)).
#pragma once

#include <linux/audit.h>

#include <cstdint>

namespace gate {

// The architecture whose numbers this program is compiled with: a filter must
// refuse every other, since the numbers there mean other calls.
#if defined(__x86_64__)
inline constexpr uint32_t kCallArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
inline constexpr uint32_t kCallArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "no system call table for this architecture"
#endif

}  // namespace gate
