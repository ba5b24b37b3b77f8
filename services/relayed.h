// One connection that is passed on: two sockets, and what is on its way
// between them.
#pragma once

#include <poll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/file.h"

namespace gate::services {

// On its way in each direction. A reader that does not read stops the writer.
inline constexpr size_t kRelayBytes = size_t{32} << 10;

class Relayed {
 public:
  // `outside` may still be connecting; both are non-blocking.
  Relayed(Fd inside, Fd outside);

  // Waits to be written first: then Connected says how that ended.
  int outside() const { return outside_.get(); }

  // What to wait for, of the inner and of the outer socket; fd -1: nothing.
  pollfd WantInside() const;
  pollfd WantOutside() const;
  // Reads and writes what it can without waiting.
  void Serve();
  // Nothing is left to pass on, or a side broke off: the other is told the same
  // way, an end for an end and a reset for a reset.
  bool done() const { return done_; }
  // What came from inside has all been passed on, and nothing more will come.
  bool inside_ended() const { return done_ || in_to_out_.shut; }
  // Breaks off: the inner side sees a reset.
  void Reset();

  uint64_t sent() const { return in_to_out_.passed; }
  uint64_t received() const { return out_to_in_.passed; }

 private:
  struct Direction {
    std::unique_ptr<std::array<char, kRelayBytes>> bytes;
    size_t begin = 0, end = 0;
    bool ended = false, shut = false;
    uint64_t passed = 0;
    bool HasRoom() const { return !ended && end < kRelayBytes; }
    bool HasBytes() const { return begin < end; }
  };
  // False when the connection broke off.
  static bool Pass(int from, int to, Direction* way);
  static short Wanted(const Direction& read, const Direction& write);

  Fd inside_, outside_;
  Direction in_to_out_, out_to_in_;
  bool done_ = false;
};

}  // namespace gate::services
