// Diagnostics of gate itself, for `--verbose`; on stderr, never on stdout.
#pragma once

#include <string>

namespace gate::app {

// Without it, LogDebug does nothing and costs nothing.
void StartLogging();
void LogDebug(const std::string& message);

}  // namespace gate::app
