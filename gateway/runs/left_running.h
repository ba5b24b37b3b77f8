// What lines leave running, and what later lines want of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gateway/gateway.h"
#include "parser/analysis.h"

namespace gate::app {

// What the line's own words send to the background.
struct Background {
  bool any = false;
  uint32_t end = 0;  // of the last such command's text
};
// Parses `code`: linear.
Background FindBackground(std::string_view code);

// Whether a line waits for what its words send to the background, or ends it.
// What it has just told to end may still be there.
bool IsEndedByLine(const parser::Analysis& analysis,
                   const Background& background);

// Whether something listens on that TCP port of gate's own loopback; also where
// that cannot be told.
bool IsListenedOn(uint16_t port);

// Whether the line signals processes by their number or name, which each line
// has of its own: `kill`, and programs that find the number in a file.
bool SignalsProcesses(const parser::Analysis& analysis);

// Whether something goes on that an earlier line of the same session left in
// `workspace`. False without a session, and where that cannot be told.
bool HasEarlierRuns(const std::string& state, const Request& request,
                    const std::string& workspace);

// Sends `signal` to the process that has `number` among what goes on of earlier
// lines of the same session in `workspace`. 0; ESRCH where there is none or it
// cannot be told, and pidfd_send_signal's errors. Reads /proc: milliseconds.
int SignalEarlierRun(const std::string& state, const Request& request,
                     const std::string& workspace, pid_t number, int signal);

}  // namespace gate::app
