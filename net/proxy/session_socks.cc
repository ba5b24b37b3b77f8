// SOCKS5 on the proxy's port.
#include "net/protocols/socks5.h"
#include "net/proxy/secret.h"
#include "net/proxy/serve.h"

namespace gate::net::proxy {
namespace {

constexpr uint8_t kNoMethod = 0xff, kNone = 0, kPassword = 2;
constexpr uint8_t kNotAllowed = 2, kHostUnreachable = 4, kConnectionRefused = 5;
constexpr size_t kMaxBytes = kFirstBytes;

// Reads with `reader` until it has all or what came is malformed.
template <class Reader>
asio::awaitable<decltype(Reader()(std::string_view()))> ReadWhole(
    SessionPtr session, Reader reader) {
  auto read = reader(session->buffer);
  while (read.status == SocksStatus::kIncomplete) {
    const bool more = co_await session->ReadMore(kMaxBytes);
    if (!more) {
      read.status = SocksStatus::kMalformed;
      break;
    }
    read = reader(session->buffer);
  }
  co_return read;
}

struct GreetingReader {
  SocksGreeting operator()(std::string_view bytes) const {
    return ReadSocksGreeting(bytes);
  }
};
struct PasswordReader {
  SocksPassword operator()(std::string_view bytes) const {
    return ReadSocksPassword(bytes);
  }
};
struct RequestReader {
  SocksRequest operator()(std::string_view bytes) const {
    return ReadSocksRequest(bytes);
  }
};

Task Answer(SessionPtr session, std::string bytes) {
  (void)co_await SendAll(session->client, bytes);
  co_await LingeringClose(session);
}

// Whether the client may ask; answered where it may not.
asio::awaitable<bool> Admit(SessionPtr session) {
  const std::string& token = session->context.policy.token;
  const SocksGreeting greeting = co_await ReadWhole(session, GreetingReader());
  if (greeting.status != SocksStatus::kRead) {
    session->Tell(ConnectionVerdict::kMalformed, "no greeting of SOCKS5");
    co_return false;
  }
  session->buffer.erase(0, greeting.bytes);
  const bool ask = !token.empty() || !greeting.none;
  if (ask && !greeting.password) {
    session->Tell(ConnectionVerdict::kUnauthorized,
                  "it does not offer the password of this run");
    co_await Answer(session, SocksChoice(kNoMethod));
    co_return false;
  }
  const std::string choice = SocksChoice(ask ? kPassword : kNone);
  const bool chosen = co_await SendAll(session->client, choice);
  if (!chosen) co_return false;
  if (!ask) co_return true;
  const SocksPassword password = co_await ReadWhole(session, PasswordReader());
  if (password.status != SocksStatus::kRead) {
    session->Tell(ConnectionVerdict::kMalformed, "no password of SOCKS5");
    co_return false;
  }
  const bool right = token.empty() || (password.user == kTokenUser &&
                                       IsSecret(password.password, token));
  session->buffer.erase(0, password.bytes);
  const std::string answer = SocksPasswordAnswer(right);
  if (!right) {
    session->Tell(ConnectionVerdict::kUnauthorized,
                  "its password is not that of this run");
    co_await Answer(session, answer);
    co_return false;
  }
  const bool told = co_await SendAll(session->client, answer);
  co_return told;
}

uint8_t CodeOf(const Refusal& refusal) {
  if (refusal.verdict != ConnectionVerdict::kUnreachable) return kNotAllowed;
  // A name that does not resolve has no address that refuses.
  return refusal.refused ? kConnectionRefused : kHostUnreachable;
}

}  // namespace

Task ServeSocks(SessionPtr session) {
  session->record.via = "socks5";
  const bool admitted = co_await Admit(session);
  if (!admitted) co_return;
  const SocksRequest request = co_await ReadWhole(session, RequestReader());
  if (request.status != SocksStatus::kRead) {
    session->Tell(ConnectionVerdict::kMalformed,
                  "no request of SOCKS5 to connect");
    co_await Answer(session, SocksAnswer(request.code));
    co_return;
  }
  session->buffer.erase(0, request.bytes);
  session->record.host = request.host;
  session->record.port = request.port;
  const std::optional<Refusal> refusal = co_await Open(session, Way::kTunnel);
  if (refusal) {
    co_await Answer(session, SocksAnswer(CodeOf(*refusal)));
    co_return;
  }
  const std::string granted = SocksAnswer(0);
  const bool told = co_await SendAll(session->client, granted);
  if (!told) co_return;
  if (session->record.port == kHttpPort)
    co_await ServeHttpTo(session);
  else
    co_await Tunnel(session);
}

}  // namespace gate::net::proxy
