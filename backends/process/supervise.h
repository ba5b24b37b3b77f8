// Watching one command from outside: signals, the clock, its end.
#pragma once

#include <signal.h>

#include <poll.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/file.h"

namespace gate::backends {

// Signals that tell a program something of its own instead of to end. They are
// for the command alone: what it has started would die of them.
constexpr bool IsNotice(int signal) {
  return signal == SIGUSR1 || signal == SIGUSR2;
}

// Signals that tell a program to end.
constexpr bool IsEnding(int signal) {
  return signal == SIGTERM || signal == SIGHUP || signal == SIGINT ||
         signal == SIGQUIT;
}

// While it lives, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 of this
// thread wait in a descriptor. A signal that was ignored stays ignored.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;  // restores the mask once
  HeldSignals& operator=(const HeldSignals&) = delete;

  int fd() const { return fd_.get(); }
  // The mask before, which the command must start with.
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_;
  Fd fd_;
};

// Something else to serve meanwhile.
struct Served {
  std::function<pollfd()> want;  // asked before each wait; fd -1: nothing now
  std::function<void(short events)> ready;
};

struct Watch {
  int pidfd = -1;
  uint64_t wall_ms = 0;  // 0: no limit
  // The terminal sends what its keys mean to the command itself: of the
  // kernel's signals only its hang-up is forwarded.
  bool terminal = false;
  // To the command; with SIGCONT after it where IsEnding: a process that a
  // terminal's rules or itself stopped takes no other signal before that.
  std::function<void(int signal)> forward;
  // Whether what still runs kEndMs after a SIGTERM or SIGHUP to gate is killed.
  bool must_end = true;
  std::function<void()> expire;  // SIGTERM to everything, likewise
  std::function<void()> kill;    // everything, at once
  std::vector<Served> served;
  // Called before each wait; how many milliseconds it may last, -1: any.
  std::function<int()> tick;
  // Not null: becomes true when a signal came that was to end gate, whether it
  // was forwarded or the terminal sent it to the command as well.
  bool* signalled = nullptr;
  // Not null: once this is true there is nothing more to watch. What is left
  // of the process is the caller's to wait for.
  const bool* over = nullptr;
};

inline constexpr int kGraceMs = 500;  // between SIGTERM and SIGKILL
// Between a SIGTERM or SIGHUP to gate itself and SIGKILL to everything: what a
// service may need to end in good order. SIGINT and SIGQUIT have no such end,
// as an interactive program uses them for its own.
inline constexpr uint64_t kEndMs = 5000;

// Blocks until the process is gone and reaped, or the watch is over; true when
// the wall clock ended it. `status` is as waitpid gives it.
bool WatchUntilEnd(const HeldSignals& signals, const Watch& watch, int* status);

// Adds what is done before each wait of `watch`.
void AddTick(Watch* watch, std::function<int()> tick);

}  // namespace gate::backends
