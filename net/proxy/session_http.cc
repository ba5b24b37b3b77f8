// HTTP on the proxy's port, and plain HTTP to one host.
#include <algorithm>

#include "base/ascii.h"
#include "base/text.h"
#include "net/protocols/http_head.h"
#include "net/proxy/secret.h"
#include "net/proxy/serve.h"

namespace gate::net::proxy {
namespace {

// Bytes of a chunked body that are looked at together.
constexpr size_t kChunkBytes = size_t{64} << 10;
// What a client sends behind its request is thrown away, so much of it.
constexpr size_t kMaxDiscarded = size_t{1} << 20;

std::string Origin(const Connection& record) {
  return "http://" +
         PrintHostPort(record.host, record.port == kHttpPort ? 0 : record.port);
}

// Reads a head into `buffer`.
asio::awaitable<HttpHead> ReadHead(SessionPtr session, HeadForm form) {
  const std::string& bytes = session->buffer;
  size_t seen = 0;
  while (true) {
    // A head that comes byte by byte is not read anew for each.
    const bool may_be_whole = bytes.find("\r\n\r\n") != bytes.npos ||
                              bytes.find("\n\n") != bytes.npos ||
                              bytes.size() > kMaxHeadBytes;
    if (may_be_whole || bytes.size() >= 2 * seen) {
      seen = bytes.size();
      HttpHead head = ReadHttpHead(bytes, form);
      if (head.status != HeadStatus::kIncomplete) co_return head;
    }
    const bool more = co_await session->ReadMore(kMaxHeadBytes + 1024);
    if (more) continue;
    HttpHead none;
    none.code = 408;
    none.why = session->timed_out() ? "no whole request came in time"
                                    : "it ended before a whole request";
    co_return none;
  }
}

Task AnswerHttp(SessionPtr session, int code, const char* reason,
                std::string text, const char* fields = "") {
  const std::string answer = HttpAnswer(code, reason, text, fields);
  (void)co_await SendAll(session->client, answer);
  co_await LingeringClose(session);
}

Task AnswerMalformed(SessionPtr session, HttpHead head) {
  session->Tell(ConnectionVerdict::kMalformed, head.why);
  co_await AnswerHttp(session, head.code, "Bad Request",
                      "gate: " + head.why + "\n");
}

Task AnswerRefusal(SessionPtr session, Refusal refusal) {
  const std::string text = RefusalText(session->record, refusal);
  if (refusal.verdict != ConnectionVerdict::kUnreachable)
    co_await AnswerHttp(session, 403, "Forbidden", text);
  else if (refusal.timeout)
    co_await AnswerHttp(session, 504, "Gateway Timeout", text);
  else
    co_await AnswerHttp(session, 502, "Bad Gateway", text);
}

bool IsAuthorized(const Session& session, const std::string& field) {
  const std::string& token = session.context.policy.token;
  if (token.empty()) return true;
  constexpr std::string_view kBasic = "basic ";
  if (!LowerAscii(field.substr(0, kBasic.size())).starts_with(kBasic))
    return false;
  std::string login;
  return DecodeBase64(std::string_view(field).substr(kBasic.size()), &login) &&
         IsSecret(login, std::string(kTokenUser) + ":" + token);
}

// The request as an upstream proxy takes it.
std::string ToUpstream(std::string request, const Session& session) {
  const size_t line = request.find("\r\n") + 2;
  const std::string& login = session.context.policy.upstream->authorization;
  if (!login.empty())
    request.insert(line, "Proxy-Authorization: " + login + "\r\n");
  request.insert(request.find(' ') + 1, Origin(session.record));
  return request;
}

asio::awaitable<PumpEnd> SendChunks(SessionPtr session) {
  ChunkedBody body;
  std::string& bytes = session->buffer;
  while (true) {
    if (!bytes.empty()) {
      size_t taken = 0;
      const HeadStatus status = body.Read(bytes, &taken);
      if (status == HeadStatus::kMalformed) {
        session->Tell(ConnectionVerdict::kMalformed,
                      "its body is not chunked as HTTP wants it");
        co_return PumpEnd::kSenderFailed;
      }
      const std::string part = bytes.substr(0, taken);
      bytes.erase(0, taken);
      const PumpEnd end = co_await SendOutside(session, part);
      if (end != PumpEnd::kDone || status == HeadStatus::kRead) co_return end;
    }
    const bool more = co_await session->ReadMore(kChunkBytes);
    if (!more) co_return PumpEnd::kSenderFailed;
  }
}

// kDone, or who failed. A client that ends too early has failed.
asio::awaitable<PumpEnd> SendBody(SessionPtr session, BodyKind kind,
                                  uint64_t length) {
  PumpEnd end = PumpEnd::kDone;
  if (kind == BodyKind::kNone) co_return end;
  if (kind == BodyKind::kChunked) {
    end = co_await SendChunks(session);
    co_return end;
  }
  const size_t here =
      static_cast<size_t>(std::min<uint64_t>(session->buffer.size(), length));
  const std::string part = session->buffer.substr(0, here);
  session->buffer.erase(0, here);
  end = co_await SendOutside(session, part);
  if (end == PumpEnd::kDone) end = co_await Pump(session, true, length - here);
  co_return end == PumpEnd::kEnded ? PumpEnd::kSenderFailed : end;
}

// One request with its body; the answer comes back beside it, and its end is
// the end of the connection.
Task ForwardRequest(SessionPtr session, HttpHead head, bool to_proxy) {
  session->buffer.erase(0, head.bytes);
  const std::string request =
      to_proxy ? ToUpstream(head.forwarded, *session) : head.forwarded;
  session->one_request = true;
  session->WhileActive(session->context.policy.limits.idle_ms);
  StartInward(session);
  PumpEnd end = co_await SendOutside(session, request);
  if (end == PumpEnd::kDone)
    end = co_await SendBody(session, head.body, head.length);
  // The answer may come, and end, before the body does.
  if (end == PumpEnd::kSenderFailed && !session->inward_done) session->Reset();
  size_t discarded = 0;
  while (end == PumpEnd::kDone && !session->inward_done &&
         discarded < kMaxDiscarded) {
    session->buffer.clear();
    const bool more = co_await session->ReadMore(kFirstBytes);
    discarded += session->buffer.size();
    if (more || session->inward_done) continue;
    if (!session->client_ended) session->Reset();
    break;
  }
  session->client_ended = true;
  if (session->context.on_progress) session->context.on_progress();
  while (!session->inward_done) co_await session->changed.Wait();
  co_await LingeringClose(session);
}

}  // namespace

Task ServeHttpTo(SessionPtr session) {
  session->Within(session->context.policy.limits.head_ms);
  const HttpHead head = co_await ReadHead(session, HeadForm::kServer);
  if (head.status != HeadStatus::kRead) {
    co_await AnswerMalformed(session, head);
    co_return;
  }
  if (head.host != session->record.host || head.port != session->record.port) {
    const Refusal other{
        ConnectionVerdict::kOtherName,
        "HTTP asks for " + head.host + " at " + session->record.host};
    session->Tell(other.verdict, other.why);
    co_await AnswerRefusal(session, other);
    co_return;
  }
  bool to_proxy = false;
  if (!session->outside) {
    const std::optional<Refusal> refusal = co_await Open(session, Way::kHttp);
    if (refusal) {
      co_await AnswerRefusal(session, *refusal);
      co_return;
    }
    to_proxy = session->context.policy.upstream.has_value();
  }
  co_await ForwardRequest(session, head, to_proxy);
}

Task ServeHttpProxy(SessionPtr session) {
  session->record.via = "http";
  const HttpHead head = co_await ReadHead(session, HeadForm::kProxy);
  if (head.status != HeadStatus::kRead) {
    co_await AnswerMalformed(session, head);
    co_return;
  }
  session->record.via = head.connect ? "connect" : "http";
  session->record.host = head.host;
  session->record.port = head.port;
  if (!IsAuthorized(*session, head.proxy_authorization)) {
    session->Tell(ConnectionVerdict::kUnauthorized,
                  "it does not give the password of this run");
    co_await AnswerHttp(
        session, 407, "Proxy Authentication Required",
        "gate: this proxy is for the command that it was started for\n",
        "Proxy-Authenticate: Basic realm=\"gate\"\r\n");
    co_return;
  }
  const Way way = head.connect ? Way::kTunnel : Way::kHttp;
  const std::optional<Refusal> refusal = co_await Open(session, way);
  if (refusal) {
    co_await AnswerRefusal(session, *refusal);
    co_return;
  }
  if (!head.connect) {
    co_await ForwardRequest(session, head,
                            session->context.policy.upstream.has_value());
    co_return;
  }
  session->buffer.erase(0, head.bytes);
  constexpr std::string_view kEstablished =
      "HTTP/1.1 200 Connection established\r\n\r\n";
  const bool told = co_await SendAll(session->client, kEstablished);
  if (!told) co_return;
  if (session->record.port == kHttpPort)
    co_await ServeHttpTo(session);
  else
    co_await Tunnel(session);
}

}  // namespace gate::net::proxy
