// Programs that ignore proxies: they connect to the made-up address of a name.
#include <sys/socket.h>

#include "net/proxy/serve.h"

namespace gate::net::proxy {
namespace {

// The host that the connection is meant for. False, and told, where its address
// was given to no name.
bool FindHost(Session& session, const char* via) {
  session.record.via = via;
  const auto local = LocalEndpoint(session.client.get());
  if (!local) return false;
  session.record.port = local->port;
  if (auto name = session.context.names.NameOf(local->address)) {
    session.record.host = std::move(*name);
    return true;
  }
  session.record.host = Print(local->address);
  session.Tell(ConnectionVerdict::kNotListed, "no name has this address");
  return false;
}

}  // namespace

Task ServeTls(SessionPtr session) {
  if (!FindHost(*session, "tls")) {
    session->Reset();
    co_return;
  }
  std::optional<Refusal> refusal = co_await CheckHello(session);
  if (refusal && session->client_ended && session->buffer.empty())
    co_return;  // it only looked whether somebody listens
  if (refusal) session->Tell(refusal->verdict, refusal->why);
  if (!refusal) refusal = co_await Open(session, Way::kTunnel);
  if (!refusal) {
    co_await Relay(session);
    co_return;
  }
  // What the network outside does not give looks as it does without a filter.
  if (refusal->verdict == ConnectionVerdict::kUnreachable)
    session->Reset();
  else
    co_await RefuseTls(session);
}

Task ServePlainHttp(SessionPtr session) {
  if (!FindHost(*session, "http")) {
    session->Reset();
    co_return;
  }
  const bool begun = co_await session->ReadMore(kFirstBytes);
  if (!begun) co_return;
  co_await ServeHttpTo(session);
}

}  // namespace gate::net::proxy
