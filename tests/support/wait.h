// Waiting for what nothing signals.
#pragma once

#include <chrono>
#include <functional>

namespace gate::test {

// Longer than anything takes on a busy machine: only a test that fails waits
// that long.
inline constexpr std::chrono::seconds kPatience{20};

// Whether `holds` came to hold, asked again and again until it does. For states
// that the kernel keeps and tells nobody of (a name in /proc, a process that
// has stopped, a member of a control group, a file that another process makes).
// Where there is a pipe, a FIFO or a process to wait for, that is waited for
// instead.
bool WaitUntil(const std::function<bool()>& holds,
               std::chrono::milliseconds patience = kPatience);

}  // namespace gate::test
