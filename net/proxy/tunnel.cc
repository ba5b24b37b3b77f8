// A tunnel, and how connections end.
#include "net/proxy/serve.h"

namespace gate::net::proxy {
namespace {

bool LooksLikeTls(const std::string& bytes) {
  constexpr char kHandshake = 0x16;
  return !bytes.empty() && bytes.front() == kHandshake;
}

// The client's first bytes on a port where TLS is not a must.
asio::awaitable<std::optional<Refusal>> CheckFirstBytes(SessionPtr session) {
  if (session->buffer.empty()) (void)co_await session->ReadMore(kFirstBytes);
  if (!LooksLikeTls(session->buffer)) co_return std::nullopt;
  session->Within(session->context.policy.limits.head_ms);
  auto refusal = co_await CheckHello(session);
  session->WhileActive(session->context.policy.limits.idle_ms);
  co_return refusal;
}

// What the client sends, until both directions have ended.
Task RelayOutward(SessionPtr session) {
  PumpEnd end = co_await SendOutside(session, session->buffer);
  session->buffer = {};
  if (end == PumpEnd::kDone) end = co_await Pump(session, true, UINT64_MAX);
  session->client_ended = true;
  if (end == PumpEnd::kEnded) session->outside->Shutdown();
  // What fails outside may have been answered before; the other direction will
  // see its end.
  if (end == PumpEnd::kSenderFailed) session->Reset();
  if (session->context.on_progress) session->context.on_progress();
  while (!session->inward_done) co_await session->changed.Wait();
  session->Close();
}

}  // namespace

Task Relay(SessionPtr session) {
  session->WhileActive(session->context.policy.limits.idle_ms);
  StartInward(session);
  co_await RelayOutward(session);
}

Task Tunnel(SessionPtr session) {
  const bool named = !IsAddress(session->record.host);
  std::optional<Refusal> refusal;
  if (named && session->record.port == kTlsPort) {
    session->Within(session->context.policy.limits.head_ms);
    refusal = co_await CheckHello(session);
    if (!refusal) {
      co_await Relay(session);
      co_return;
    }
    // A client that opened it in vain and sent nothing has done no wrong.
    if (session->client_ended && session->buffer.empty()) co_return;
  } else {
    // The server may speak first.
    session->WhileActive(session->context.policy.limits.idle_ms);
    StartInward(session);
    if (named) refusal = co_await CheckFirstBytes(session);
    if (!refusal) {
      co_await RelayOutward(session);
      co_return;
    }
  }
  session->Tell(refusal->verdict, refusal->why);
  co_await RefuseTls(session);
}

Task LingeringClose(SessionPtr session) {
  constexpr uint32_t kLingerMs = 1'000;
  constexpr size_t kMaxDiscarded = size_t{1} << 20;
  session->client_ended = true;  // what it still sends goes nowhere
  session->refused = true;
  session->buffer = {};
  if (session->outside) session->outside->Close();
  session->client.Shutdown();
  session->Within(kLingerMs);
  for (size_t discarded = 0; discarded < kMaxDiscarded;) {
    const bool more = co_await session->ReadMore(kFirstBytes);
    if (!more) break;
    discarded += session->buffer.size();
    session->buffer.clear();
  }
  session->Close();
}

}  // namespace gate::net::proxy
