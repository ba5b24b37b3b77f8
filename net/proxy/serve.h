// The protocols that a connection from inside may speak, and what they share.
#pragma once

#include <optional>
#include <string>

#include "net/proxy/session.h"

namespace gate::net::proxy {

inline constexpr char kSocks5 = 5;
inline constexpr size_t kFirstBytes = size_t{16} << 10;
inline constexpr uint16_t kHttpPort = 80;
inline constexpr uint16_t kTlsPort = 443;

Task ServeSocks(SessionPtr session);      // session_socks.cc
Task ServeHttpProxy(SessionPtr session);  // session_http.cc
Task ServeTls(SessionPtr session);        // transparent.cc
Task ServePlainHttp(SessionPtr session);  // transparent.cc
Task ServeDnsTcp(SessionPtr session);     // dns_server.cc
Task ServeDnsUdp(Context& context, std::shared_ptr<Socket> socket);

// Requests of plain HTTP to the host in `record`, one; over `outside` where
// that stands already.
Task ServeHttpTo(SessionPtr session);  // session_http.cc

// Why a connection does not come about.
struct Refusal {
  ConnectionVerdict verdict = ConnectionVerdict::kMalformed;
  std::string why;
  bool timeout = false;  // of kUnreachable: nobody answered in time
  bool refused = false;  // of kUnreachable: nobody listens there
};

// How what is sent outside is meant for an upstream proxy.
enum class Way : uint8_t {
  kTunnel,  // bytes as they are
  kHttp,    // one request, which an upstream proxy gets in absolute form
};

// Judges `record`'s host and port, resolves, and connects: `outside` stands
// where nothing is returned, and what is returned has been told.      open.cc
asio::awaitable<std::optional<Refusal>> Open(SessionPtr session, Way way);

// The text that a person reads, of several lines.                 refusal.cc
std::string RefusalText(const Connection& record, const Refusal& refusal);

// Bytes in both directions until both have ended. On port 443, and where the
// client's first byte looks like TLS, its ClientHello has to name the host in
// `record`.                                                          tunnel.cc
Task Tunnel(SessionPtr session);
// Without looking at what is sent; begins with `buffer`.
Task Relay(SessionPtr session);
// Reads the ClientHello into `buffer` and compares its name.           tls.cc
asio::awaitable<std::optional<Refusal>> CheckHello(SessionPtr session);
// A fatal alert, access_denied.
Task RefuseTls(SessionPtr session);
// Ends the client's connection so that what was sent to it arrives.
Task LingeringClose(SessionPtr session);  // tunnel.cc

//                                                                   relay.cc
enum class PumpEnd : uint8_t {
  kSenderFailed,  // or a limit was met
  kReceiverFailed,
  kEnded,  // the sender has ended
  kDone,   // `most` bytes are through
};
// From the client to outside, or back.
asio::awaitable<PumpEnd> Pump(SessionPtr session, bool outward, uint64_t most);
// All that comes from outside, until its end; then `inward_done`. Runs beside
// its caller.
void StartInward(SessionPtr session);
// Sends `bytes` of the client outside, and counts them.
asio::awaitable<PumpEnd> SendOutside(SessionPtr session,
                                     std::string_view bytes);

}  // namespace gate::net::proxy
