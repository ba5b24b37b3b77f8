#include "services/relayed.h"

#include <errno.h>
#include <sys/socket.h>

#include <algorithm>

namespace gate::services {
namespace {

void EndByReset(int socket) {
  const linger at_once = {1, 0};
  (void)::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

}  // namespace

Relayed::Relayed(Fd inside, Fd outside)
    : inside_(std::move(inside)), outside_(std::move(outside)) {
  in_to_out_.bytes = std::make_unique<std::array<char, kRelayBytes>>();
  out_to_in_.bytes = std::make_unique<std::array<char, kRelayBytes>>();
}

short Relayed::Wanted(const Direction& read, const Direction& write) {
  return static_cast<short>((read.HasRoom() ? POLLIN : 0) |
                            (write.HasBytes() ? POLLOUT : 0));
}

// A socket that nothing is wanted of would wake the loop by its end alone.
pollfd Relayed::WantInside() const {
  const short events = Wanted(in_to_out_, out_to_in_);
  return {events == 0 ? -1 : inside_.get(), events, 0};
}

pollfd Relayed::WantOutside() const {
  const short events = Wanted(out_to_in_, in_to_out_);
  return {events == 0 ? -1 : outside_.get(), events, 0};
}

bool Relayed::Pass(int from, int to, Direction* way) {
  while (way->HasRoom()) {
    const ssize_t got = ::recv(from, way->bytes->data() + way->end,
                               kRelayBytes - way->end, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno != EAGAIN) return false;
    if (got < 0) break;
    if (got == 0) way->ended = true;
    way->end += static_cast<size_t>(got);
  }
  while (way->HasBytes()) {
    const ssize_t put =
        ::send(to, way->bytes->data() + way->begin, way->end - way->begin,
               MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno != EAGAIN) return false;
    if (put < 0) break;
    way->begin += static_cast<size_t>(put);
    way->passed += static_cast<uint64_t>(put);
  }
  if (way->HasBytes()) {
    // Room again for what comes.
    std::copy(way->bytes->begin() + static_cast<ptrdiff_t>(way->begin),
              way->bytes->begin() + static_cast<ptrdiff_t>(way->end),
              way->bytes->begin());
    way->end -= way->begin;
    way->begin = 0;
    return true;
  }
  way->begin = way->end = 0;
  if (way->ended && !way->shut) {
    way->shut = true;
    // The other side may have gone by itself.
    (void)::shutdown(to, SHUT_WR);
  }
  return true;
}

void Relayed::Serve() {
  if (done_) return;
  if (!Pass(inside_.get(), outside_.get(), &in_to_out_) ||
      !Pass(outside_.get(), inside_.get(), &out_to_in_)) {
    Reset();
    return;
  }
  done_ = in_to_out_.shut && out_to_in_.shut;
}

void Relayed::Reset() {
  EndByReset(inside_.get());
  EndByReset(outside_.get());
  done_ = true;
}

}  // namespace gate::services
