// Counting what a command writes to stdout and stderr, and holding back what an
// engine's client says of a start that may be tried again.
//
// Only where a limit asks for it: the command then writes into pipes (so its
// streams are no terminal) and gate passes on what comes out, up to the limit
// to the byte. Streams that are the same file share a pipe, which keeps their
// order. gate never waits for a slow reader while it has a clock to watch.
//
// Whose words the first ones on stderr are can be told by their beginning, as
// far as it matters: what does not begin as a client's message is passed on at
// once, all else after a moment. Only DropHeld throws anything away.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "backends/backend.h"
#include "backends/process/supervise.h"
#include "base/file.h"

namespace gate::backends {

class OutputRelay {
 public:
  // `limit` 0: nothing stands between, and `io` itself is the command's.
  // With `hold`, stderr has a pipe of its own all the same.
  static Result<std::unique_ptr<OutputRelay>> Make(const Io& io, uint64_t limit,
                                                   bool hold = false);
  ~OutputRelay();
  OutputRelay(const OutputRelay&) = delete;  // the watch points to it
  OutputRelay& operator=(const OutputRelay&) = delete;

  const Io& io() const { return io_; }  // what the command is started with
  // After the start: closes gate's copies of the command's ends.
  void Started();
  // Adds itself to `watch`, whose `kill` is called at the limit.
  void Join(Watch* watch);
  // After the command's end: passes on what is left, until every writer is
  // gone and every reader has taken it, or `budget_ms` have passed (-1: any).
  void Drain(int budget_ms);

  // Nothing ran that could have said it: what is held is forgotten. Else it is
  // passed on when this ends.
  void DropHeld();

  bool exceeded() const { return exceeded_; }
  // Sets status and reason when the limit was exceeded.
  void Judge(Outcome* outcome) const;

 private:
  OutputRelay() = default;
  struct Channel {
    Fd from, command_end;
    int to = -1;
    std::array<char, 4096> buffer;  // PIPE_BUF: fits when poll says writable
    size_t begin = 0, end = 0;
  };
  pollfd Want(const Channel& channel) const;
  void Move(Channel* channel);
  bool Holds(const Channel& channel) const;
  int Tick();

  Io io_;
  bool between_ = false;
  uint64_t limit_ = 0, passed_ = 0;
  bool holding_ = false;
  uint64_t held_until_ms_ = 0;
  bool exceeded_ = false;
  bool pipe_blocked_ = false;  // SIGPIPE was not blocked before
  std::array<Channel, 2> channels_;
  std::function<void()> kill_;
};

}  // namespace gate::backends
