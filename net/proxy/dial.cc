#include "net/proxy/dial.h"

#include <errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "base/clock.h"

namespace gate::net::proxy {
namespace {

struct Attempts {
  explicit Attempts(asio::io_context& io) : changed(io) {}
  std::vector<std::shared_ptr<Socket>> sockets;
  Dialled best;
  size_t failed = 0;
  bool over = false;
  Event changed;
};

Task Attempt(std::shared_ptr<Attempts> attempts, std::shared_ptr<Socket> socket,
             Endpoint endpoint, int error) {
  if (error == 0) {
    const bool writable = co_await socket->Writable();
    if (attempts->over) co_return;
    error = writable ? ConnectError(socket->get()) : ECANCELED;
  }
  if (error != 0) {
    socket->Close();
    ++attempts->failed;
    attempts->best.error = error;
  } else if (!attempts->best.socket) {
    attempts->best.socket = socket;
    attempts->best.endpoint = endpoint;
  }
  attempts->changed.Notify();
}

}  // namespace

asio::awaitable<Dialled> Dial(asio::io_context& io,
                              std::vector<Endpoint> endpoints,
                              uint32_t patience_ms) {
  const auto attempts = std::make_shared<Attempts>(io);
  const uint64_t end = MonotonicMs() + patience_ms;
  size_t begun = 0;
  uint64_t next = 0;  // when the next one is tried
  while (!attempts->best.socket) {
    const uint64_t now = MonotonicMs();
    if (now >= end) {
      attempts->best.error = ETIMEDOUT;
      break;
    }
    if (begun < endpoints.size() &&
        (now >= next || attempts->failed == begun)) {
      const Endpoint endpoint = endpoints[begun++];
      next = now + kHeadStartMs;
      Fd fd = BeginConnect(endpoint, SOCK_STREAM);
      const int error = fd ? 0 : errno;
      auto socket = std::make_shared<Socket>(io, std::move(fd));
      attempts->sockets.push_back(socket);
      asio::co_spawn(io, Attempt(attempts, socket, endpoint, error),
                     asio::detached);
      continue;
    }
    if (attempts->failed == endpoints.size()) break;
    const uint64_t until = begun < endpoints.size() ? std::min(next, end) : end;
    co_await attempts->changed.WaitFor(std::chrono::milliseconds(until - now));
  }
  attempts->over = true;
  for (const auto& socket : attempts->sockets)
    if (socket != attempts->best.socket) socket->Close();
  co_return attempts->best;
}

}  // namespace gate::net::proxy
