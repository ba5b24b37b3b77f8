#include "net/proxy/session.h"

#include <errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "net/proxy/serve.h"

namespace gate::net::proxy {
namespace {

// What came last, of whichever session; there is one thread.
std::array<char, size_t{16} << 10> received;

}  // namespace

Session::Session(Context& shared, Fd socket)
    : context(shared),
      client(shared.io, std::move(socket)),
      changed(shared.io),
      timer_(shared.io) {
  record.started_ms = MonotonicMs() - context.started_ms;
  context.sessions.push_back(this);
}

Session::~Session() {
  Report();
  std::erase(context.sessions, this);
  if (context.on_progress) context.on_progress();
}

void Session::Within(uint32_t ms) {
  idle_ = false;
  since_ms_ = MonotonicMs();
  limit_ms_ = ms;
  Arm(since_ms_ + ms);
}

void Session::WhileActive(uint32_t ms) {
  Within(ms);
  idle_ = true;
}

void Session::Arm(uint64_t at_ms) {
  // One that goes off earlier looks again then.
  if (armed_ms_ != 0 && armed_ms_ <= at_ms) return;
  armed_ms_ = at_ms;
  const uint64_t now = MonotonicMs();
  timer_.expires_after(
      std::chrono::milliseconds(at_ms > now ? at_ms - now : 0));
  timer_.async_wait(
      [weak = weak_from_this()](const boost::system::error_code& error) {
        const SessionPtr session = weak.lock();
        if (error || !session) return;
        session->armed_ms_ = 0;
        const uint64_t end = session->since_ms_ + session->limit_ms_;
        if (MonotonicMs() < end) return session->Arm(end);
        session->timed_out_ = true;
        session->Close();
      });
}

asio::awaitable<bool> Session::ReadMore(size_t most) {
  while (buffer.size() < most) {
    const ssize_t got =
        ::recv(client.get(), received.data(),
               std::min(received.size(), most - buffer.size()), 0);
    if (got > 0) {
      buffer.append(received.data(), static_cast<size_t>(got));
      Touch();
      co_return true;
    }
    if (got == 0) client_ended = true;
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 || errno != EAGAIN) co_return false;
    const bool readable = co_await client.Readable();
    if (!readable) co_return false;
  }
  co_return false;
}

void Session::Close() {
  client.Close();
  if (outside) outside->Close();
}

void Session::Reset() {
  client.Reset();
  if (outside) outside->Reset();
}

void Session::Tell(ConnectionVerdict verdict, std::string why) {
  told = true;
  record.verdict = verdict;
  record.why = std::move(why);
}

void Session::Report() {
  if (reported_ || !told) return;
  reported_ = true;
  record.duration_ms = MonotonicMs() - context.started_ms - record.started_ms;
  context.reporter.Add(record);
}

Task Serve(SessionPtr session, ListenerKind kind) {
  session->Within(session->context.policy.limits.head_ms);
  switch (kind) {
    case ListenerKind::kProxy: {
      const bool begun = co_await session->ReadMore(kFirstBytes);
      if (!begun) break;
      if (session->buffer.front() == kSocks5)
        co_await ServeSocks(session);
      else
        co_await ServeHttpProxy(session);
      break;
    }
    case ListenerKind::kDnsTcp:
      co_await ServeDnsTcp(session);
      break;
    case ListenerKind::kHttp:
      co_await ServePlainHttp(session);
      break;
    case ListenerKind::kTls:
      co_await ServeTls(session);
      break;
    case ListenerKind::kDnsUdp:
      break;
  }
  session->Close();
}

}  // namespace gate::net::proxy
