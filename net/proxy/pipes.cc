#include "net/proxy/pipes.h"

#include <fcntl.h>
#include <unistd.h>

namespace gate::net::proxy {

std::optional<Pipe> PipePool::Take() {
  if (!kept_.empty()) {
    Pipe pipe = std::move(kept_.back());
    kept_.pop_back();
    return pipe;
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return std::nullopt;
  if (made_++ < kLarge) (void)::fcntl(ends[1], F_SETPIPE_SZ, kLargeBytes);
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

void PipePool::Put(Pipe pipe) {
  if (kept_.size() < kMostKept) kept_.push_back(std::move(pipe));
}

}  // namespace gate::net::proxy
