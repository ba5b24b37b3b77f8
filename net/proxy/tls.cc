// The name that a TLS client asks for must be the one that was judged.
#include "net/protocols/client_hello.h"
#include "net/proxy/serve.h"

namespace gate::net::proxy {
namespace {

Refusal OtherName(std::string why) {
  return {ConnectionVerdict::kOtherName, std::move(why)};
}

}  // namespace

asio::awaitable<std::optional<Refusal>> CheckHello(SessionPtr session) {
  const std::string& host = session->record.host;
  ClientHello hello;
  while (true) {
    if (!session->buffer.empty()) {
      hello = ReadClientHello(session->buffer);
      if (hello.status != HelloStatus::kIncomplete) break;
    }
    // Room for the heads of its records besides.
    const bool more = co_await session->ReadMore(2 * kMaxClientHelloBytes);
    if (more) continue;
    co_return Refusal{ConnectionVerdict::kMalformed,
                      session->timed_out()
                          ? "no TLS ClientHello came in time"
                          : "it ended before a whole TLS ClientHello"};
  }
  if (hello.status != HelloStatus::kRead)
    co_return Refusal{ConnectionVerdict::kMalformed,
                      "what is sent is not TLS: " + std::string(hello.why)};
  const Policy& policy = session->context.policy;
  // Without rules that name hosts there is nothing to hide behind.
  const bool may_be_encrypted = policy.any_host && !policy.denies;
  if (hello.encrypted && !may_be_encrypted)
    co_return OtherName("TLS hides the name of the server (ECH) from " + host);
  if (hello.server_name.empty())
    co_return OtherName(
        "TLS names no server (SNI), so that it is not known to "
        "be " +
        host);
  const auto name = ReadHost(hello.server_name);
  if (!name || *name != host)
    co_return OtherName("TLS asks for " + hello.server_name + " at " + host);
  co_return std::nullopt;
}

Task RefuseTls(SessionPtr session) {
  // A record of the type alert, TLS 1.2: fatal, access_denied.
  constexpr std::string_view kAlert("\x15\x03\x03\x00\x02\x02\x31", 7);
  (void)co_await SendAll(session->client, kAlert);
  co_await LingeringClose(session);
}

}  // namespace gate::net::proxy
