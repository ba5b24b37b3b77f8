// Pipes that bytes go through from socket to socket without being copied
// (splice(2)).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/file.h"

namespace gate::net::proxy {

struct Pipe {
  Fd out, in;
};

// A direction holds a pipe only while there are bytes in it, so that idle
// connections cost none.
class PipePool {
 public:
  // An empty pipe; nothing where the kernel gives none.
  std::optional<Pipe> Take();
  // Gives an empty one back.
  void Put(Pipe pipe);

 private:
  // So many are made larger than usual: all together use less than a user's
  // share of the kernel's memory for pipes (pipe(7), 64 MiB).
  static constexpr size_t kLarge = 32;
  static constexpr int kLargeBytes = 512 << 10;
  static constexpr size_t kMostKept = 64;

  std::vector<Pipe> kept_;
  size_t made_ = 0;
};

}  // namespace gate::net::proxy
