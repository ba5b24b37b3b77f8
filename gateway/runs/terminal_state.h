// The caller's terminal, as it was before a contained run.
//
// A command that runs on a terminal holds it: it can switch echo off, change to
// the alternate screen, hide the cursor or report the mouse, and is then killed
// or simply ends. What it leaves would be met by the person's shell.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <array>
#include <string_view>

namespace gate::app {

// What brings a screen back to lines of text below each other: the main screen,
// whole scroll region, plain characters, cursor and wrapping on, no reports of
// mouse, focus or pasting. The cursor stays where it is.
std::string_view ScreenReset();

// Remembers at its construction, puts back at its end.
class TerminalState {
 public:
  // Takes the terminal of the streams 0, 1 and 2. Where gate is not the
  // terminal's foreground group, the terminal is another program's, and nothing
  // is done with it.
  TerminalState();
  // Settings and exclusive mode, which group is in the foreground (where the
  // run's group is gone), the flags of the streams' open files (O_NONBLOCK);
  // then the screen, where stdout or stderr is such a terminal, takes output
  // now and understands sequences (TERM). Cannot fail, never waits.
  ~TerminalState();
  TerminalState(const TerminalState&) = delete;  // puts back once
  TerminalState& operator=(const TerminalState&) = delete;

 private:
  void TakeForeground() const;

  std::array<int, 3> flags_ = {-1, -1, -1};  // of the streams; -1: not known
  int terminal_ = -1;                        // the first stream that is one
  int screen_ = -1;                          // that is written to
  termios settings_ = {};
  int exclusive_ = 0;
  pid_t group_ = 0;
};

}  // namespace gate::app
