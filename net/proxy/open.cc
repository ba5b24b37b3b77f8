// Judging a host, resolving it, and connecting to what was judged.
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "net/proxy/dial.h"
#include "net/proxy/serve.h"

namespace gate::net::proxy {
namespace {

// Addresses of one name that are tried.
constexpr size_t kMaxTried = 8;
// How old the list of this machine's own addresses may be.
constexpr uint64_t kOwnMs = 2'000;
// Of the head of an upstream proxy's answer.
constexpr size_t kMaxAnswerBytes = size_t{16} << 10;

std::string Text(AddressKind kind) { return std::string(Name(kind)); }

// The addresses of this machine, read anew where they are old. False where the
// kernel does not tell them: then nothing can be judged.
bool KnowOwn(Context& context) {
  const uint64_t now = MonotonicMs();
  if (context.own_read_ms != 0 && now < context.own_read_ms + kOwnMs)
    return true;
  auto own = OwnAddresses();
  if (!own) return false;
  context.own = std::move(*own);
  context.own_read_ms = now;
  return true;
}

Refusal Unresolved(const std::string& host, const Lookup& lookup) {
  Refusal refusal{ConnectionVerdict::kUnreachable, {}};
  switch (lookup.status) {
    case Lookup::Status::kNoSuchName:
      refusal.why = host + " has no address";
      break;
    case Lookup::Status::kTimeout:
      refusal.why = "no name server answers for " + host;
      refusal.timeout = true;
      break;
    default:
      refusal.why = "the name servers cannot resolve " + host;
  }
  return refusal;
}

// The addresses behind the record's host that may be dialled.
asio::awaitable<std::optional<Refusal>> FindEndpoints(
    SessionPtr session, std::vector<Endpoint>* endpoints) {
  Context& context = session->context;
  const Connection& record = session->record;
  std::vector<Address> addresses;
  if (const auto literal = ParseAddress(record.host)) {
    addresses.push_back(*literal);
  } else {
    const Lookup lookup = co_await context.resolver.Resolve(record.host);
    if (lookup.status != Lookup::Status::kFound)
      co_return Unresolved(record.host, lookup);
    addresses = lookup.addresses;
  }
  if (!KnowOwn(context))
    co_return Refusal{ConnectionVerdict::kAddress,
                      "the addresses of this machine are not known"};
  std::string refused;
  for (const Address& address : addresses) {
    if (MayConnect(address, context.own, context.policy.excepted)) {
      if (endpoints->size() < kMaxTried)
        endpoints->push_back({address, record.port});
    } else if (refused.empty()) {
      refused = record.host + " leads to " + Print(address) + " (" +
                Text(KindOf(address, context.own)) + "), which is not public";
    }
  }
  if (endpoints->empty())
    co_return Refusal{ConnectionVerdict::kAddress, refused};
  co_return std::nullopt;
}

// The upstream proxy's addresses, whatever kind they are.
asio::awaitable<std::optional<Refusal>> FindUpstream(
    SessionPtr session, std::vector<Endpoint>* endpoints) {
  Context& context = session->context;
  const Upstream& upstream = *context.policy.upstream;
  if (const auto literal = ParseAddress(upstream.host)) {
    endpoints->push_back({*literal, upstream.port});
    co_return std::nullopt;
  }
  const Lookup lookup = co_await context.resolver.Resolve(upstream.host);
  if (lookup.status != Lookup::Status::kFound)
    co_return Unresolved(upstream.host, lookup);
  for (const Address& address : lookup.addresses)
    if (endpoints->size() < kMaxTried)
      endpoints->push_back({address, upstream.port});
  co_return std::nullopt;
}

// Has the upstream proxy connect to the record's host.
asio::awaitable<std::optional<Refusal>> AskUpstream(SessionPtr session) {
  const Connection& record = session->record;
  Socket& socket = *session->outside;
  const std::string place = PrintHostPort(record.host, record.port);
  std::string request =
      "CONNECT " + place + " HTTP/1.1\r\nHost: " + place + "\r\n";
  if (const auto& login = session->context.policy.upstream->authorization;
      !login.empty())
    request += "Proxy-Authorization: " + login + "\r\n";
  request += "\r\n";
  const Refusal silent{ConnectionVerdict::kUnreachable,
                       "the upstream proxy does not answer"};
  const bool sent = co_await SendAll(socket, request);
  if (!sent) co_return silent;
  std::string& answer = session->outside_buffer;
  size_t end = 0;
  std::array<char, 4096> part;
  while ((end = answer.find("\r\n\r\n")) == answer.npos) {
    if (answer.size() > kMaxAnswerBytes) co_return silent;
    const ssize_t got = ::recv(socket.get(), part.data(), part.size(), 0);
    if (got > 0) {
      answer.append(part.data(), static_cast<size_t>(got));
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 || errno != EAGAIN) co_return silent;
    const bool readable = co_await socket.Readable();
    if (!readable) co_return silent;
  }
  // HTTP/1.1 200 …
  constexpr size_t kCodeAt = 9;
  if (!answer.starts_with("HTTP/1.") || answer.size() < kCodeAt + 3)
    co_return silent;
  const std::string code = answer.substr(kCodeAt, 3);
  if (!std::ranges::all_of(code, IsDigit)) co_return silent;
  answer.erase(0, end + 4);
  if (code[0] == '2') co_return std::nullopt;
  co_return Refusal{ConnectionVerdict::kUnreachable,
                    "the upstream proxy answers " + code};
}

// By name and port alone.
std::optional<Refusal> Judge(Session& session) {
  const Connection& record = session.record;
  const Policy& policy = session.context.policy;
  switch (policy.Judge(record.host, record.port)) {
    case HostVerdict::kAllowed:
      return std::nullopt;
    case HostVerdict::kDenied:
      return Refusal{
          ConnectionVerdict::kDenied,
          "a rule denies " + PrintHostPort(record.host, record.port)};
    case HostVerdict::kNotListed:
      break;
  }
  return Refusal{ConnectionVerdict::kNotListed, "no rule allows it"};
}

}  // namespace

asio::awaitable<std::optional<Refusal>> Open(SessionPtr session, Way way) {
  Context& context = session->context;
  const Policy& policy = context.policy;
  const auto refuse = [&](Refusal refusal) {
    session->Tell(refusal.verdict, refusal.why);
    return refusal;
  };
  // A client that has resolved the name by the server here asks for its
  // made-up address.
  if (const auto literal = ParseAddress(session->record.host))
    if (auto name = context.names.NameOf(*literal))
      session->record.host = std::move(*name);
  if (auto refusal = Judge(*session)) co_return refuse(std::move(*refusal));
  const FilterLimits& limits = policy.limits;
  if ((limits.connections != 0 && context.asked >= limits.connections) ||
      context.OutLeft() == 0)
    co_return refuse({ConnectionVerdict::kLimit,
                      "this command has used the connections or the bytes that "
                      "it may"});
  ++context.asked;
  // Resolving and dialling have their own ends; this is for what hangs besides.
  session->Within(limits.resolve_ms + limits.connect_ms + limits.head_ms);
  std::vector<Endpoint> endpoints;
  std::optional<Refusal> refusal;
  if (policy.upstream) {
    if (IsAddress(session->record.host))
      refusal = co_await FindEndpoints(session, &endpoints);
    endpoints.clear();
    if (!refusal) refusal = co_await FindUpstream(session, &endpoints);
  } else {
    refusal = co_await FindEndpoints(session, &endpoints);
  }
  if (refusal) co_return refuse(std::move(*refusal));
  Dialled dialled =
      co_await Dial(context.io, std::move(endpoints), limits.connect_ms);
  if (!dialled.socket)
    co_return refuse(
        {ConnectionVerdict::kUnreachable,
         PrintHostPort(session->record.host, session->record.port) + ": " +
             ::strerror(dialled.error),
         dialled.error == ETIMEDOUT, dialled.error == ECONNREFUSED});
  session->outside = dialled.socket;
  session->record.address = Print(dialled.endpoint.address);
  if (policy.upstream && way == Way::kTunnel) {
    refusal = co_await AskUpstream(session);
    if (refusal) co_return refuse(std::move(*refusal));
  }
  session->Tell(ConnectionVerdict::kPassed, "");
  co_return std::nullopt;
}

}  // namespace gate::net::proxy
