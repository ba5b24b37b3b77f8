// Passing bytes on, once it is settled to whom.
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <exception>

#include "net/proxy/serve.h"

namespace gate::net::proxy {
namespace {

// What is taken out of a socket at once.
constexpr uint64_t kAtOnce = uint64_t{1} << 20;
// After so much of one direction the others have their turn.
constexpr uint64_t kBytesATurn = uint64_t{4} << 20;

void Count(Session& session, bool outward, uint64_t bytes) {
  session.Touch();
  if (!outward) {
    session.record.bytes_in += bytes;
    return;
  }
  session.record.bytes_out += bytes;
  session.context.bytes_out += bytes;
}

ssize_t Splice(int from, int to, uint64_t most) {
  while (true) {
    const ssize_t moved = ::splice(from, nullptr, to, nullptr, most,
                                   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (moved >= 0 || errno != EINTR) return moved;
  }
}

// `bytes` that stand in `pipe`.
asio::awaitable<bool> Drain(SessionPtr session, int pipe, Socket& to,
                            uint64_t bytes) {
  while (bytes > 0) {
    const ssize_t moved = Splice(pipe, to.get(), bytes);
    if (moved > 0) {
      bytes -= static_cast<uint64_t>(moved);
      session->Touch();
      continue;
    }
    if (moved == 0 || errno != EAGAIN) co_return false;
    const bool writable = co_await to.Writable();
    if (!writable) co_return false;
  }
  co_return true;
}

Task Inward(SessionPtr session) {
  const bool sent = co_await SendAll(session->client, session->outside_buffer);
  Count(*session, false, session->outside_buffer.size());
  session->outside_buffer = {};
  PumpEnd end = PumpEnd::kReceiverFailed;
  if (sent) end = co_await Pump(session, false, UINT64_MAX);
  if (end == PumpEnd::kEnded)
    session->client.Shutdown();
  else if (!session->refused)
    session->Reset();
}

}  // namespace

asio::awaitable<PumpEnd> Pump(SessionPtr session, bool outward, uint64_t most) {
  Context& context = session->context;
  Socket& from = outward ? session->client : *session->outside;
  Socket& to = outward ? *session->outside : session->client;
  std::optional<Pipe> pipe;
  uint64_t turn = 0;
  while (most > 0) {
    if (!session->outside->is_open()) co_return PumpEnd::kReceiverFailed;
    uint64_t wanted = std::min(most, kAtOnce);
    if (outward) wanted = std::min(wanted, context.OutLeft());
    if (wanted == 0) {
      session->record.why = "it was ended: the bytes that may go out are used";
      co_return PumpEnd::kSenderFailed;
    }
    if (!pipe) pipe = context.pipes.Take();
    if (!pipe) co_return PumpEnd::kSenderFailed;
    const ssize_t moved = Splice(from.get(), pipe->in.get(), wanted);
    if (moved <= 0) {
      const bool again = moved < 0 && errno == EAGAIN;
      context.pipes.Put(std::move(*pipe));
      pipe.reset();
      if (moved == 0) co_return PumpEnd::kEnded;
      if (!again) co_return PumpEnd::kSenderFailed;
      const bool readable = co_await from.Readable();
      if (!readable) co_return PumpEnd::kSenderFailed;
      continue;
    }
    const auto bytes = static_cast<uint64_t>(moved);
    most -= bytes;
    turn += bytes;
    Count(*session, outward, bytes);
    const bool drained = co_await Drain(session, pipe->out.get(), to, bytes);
    if (!drained) co_return PumpEnd::kReceiverFailed;
    if (turn >= kBytesATurn) {
      turn = 0;
      co_await asio::post(context.io, asio::use_awaitable);
    }
  }
  if (pipe) context.pipes.Put(std::move(*pipe));
  co_return PumpEnd::kDone;
}

asio::awaitable<PumpEnd> SendOutside(SessionPtr session,
                                     std::string_view bytes) {
  if (session->context.OutLeft() < bytes.size()) {
    session->record.why = "it was ended: the bytes that may go out are used";
    co_return PumpEnd::kSenderFailed;
  }
  Count(*session, true, bytes.size());
  const bool sent = co_await SendAll(*session->outside, bytes);
  co_return sent ? PumpEnd::kDone : PumpEnd::kReceiverFailed;
}

void StartInward(SessionPtr session) {
  asio::co_spawn(session->context.io, Inward(session),
                 [session](const std::exception_ptr& failed) {
                   if (failed) std::terminate();
                   session->inward_done = true;
                   if (session->one_request) {
                     // What the client still sends has nobody to read it.
                     session->outside->Close();
                     session->client.Cancel();
                   }
                   session->changed.Notify();
                 });
}

}  // namespace gate::net::proxy
