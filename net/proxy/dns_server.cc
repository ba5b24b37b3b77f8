// The name server inside: it knows the names that may be reached, by made-up
// addresses, and asks nobody outside.
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/post.hpp>

#include "net/protocols/dns.h"
#include "net/proxy/serve.h"

namespace gate::net::proxy {
namespace {

// Questions that are answered in one turn of the loop.
constexpr int kQuestionsATurn = 64;
// Of one connection by TCP.
constexpr int kMaxQuestions = 1'000;

std::string AnswerTo(Context& context, std::string_view message) {
  const Result<DnsQuestion> question = ReadDnsQuestion(message);
  if (!question) return RefuseDns(message);
  const Result<std::string> host = ReadHost(question->name);
  if (!host || IsAddress(*host) || !context.policy.MayReach(*host)) {
    if (host) context.reporter.AddRefused(*host, 0, "dns");
    return AnswerDns(message, *question, DnsAnswer::kNoSuchName);
  }
  if (question->type != DnsType::kA)
    return AnswerDns(message, *question, DnsAnswer::kEmpty);
  const auto address = context.names.AddressOf(*host);
  if (!address) return AnswerDns(message, *question, DnsAnswer::kRefused);
  return AnswerDns(message, *question, std::vector<Address>{*address});
}

}  // namespace

Task ServeDnsUdp(Context& context, std::shared_ptr<Socket> socket) {
  std::array<char, kMaxDnsMessage + 1> message;
  while (true) {
    const bool readable = co_await socket->Readable();
    if (!readable) co_return;
    for (int i = 0; i < kQuestionsATurn; ++i) {
      sockaddr_storage from{};
      socklen_t size = sizeof(from);
      const ssize_t got =
          ::recvfrom(socket->get(), message.data(), message.size(), 0,
                     reinterpret_cast<sockaddr*>(&from), &size);
      // An error is that of an answer to who has gone meanwhile.
      if (got < 0 && errno != EAGAIN && errno != EBADF) continue;
      if (got < 0) break;
      if (static_cast<size_t>(got) > kMaxDnsMessage) continue;
      const std::string answer =
          AnswerTo(context, {message.data(), static_cast<size_t>(got)});
      if (answer.empty()) continue;
      (void)::sendto(socket->get(), answer.data(), answer.size(), MSG_NOSIGNAL,
                     reinterpret_cast<const sockaddr*>(&from), size);
    }
    co_await asio::post(context.io, asio::use_awaitable);
  }
}

Task ServeDnsTcp(SessionPtr session) {
  std::string& bytes = session->buffer;
  for (int questions = 0; questions < kMaxQuestions; ++questions) {
    session->Within(session->context.policy.limits.head_ms);
    size_t size = 0;
    while (bytes.size() < 2 || bytes.size() < 2 + size) {
      const bool more = co_await session->ReadMore(2 + 2 * kMaxDnsMessage);
      if (!more) co_return;
      if (bytes.size() >= 2)
        size = size_t{static_cast<uint8_t>(bytes[0])} << 8 |
               static_cast<uint8_t>(bytes[1]);
      if (size > kMaxDnsMessage) co_return;
    }
    size = size_t{static_cast<uint8_t>(bytes[0])} << 8 |
           static_cast<uint8_t>(bytes[1]);
    if (size > kMaxDnsMessage) co_return;
    const std::string answer =
        AnswerTo(session->context, std::string_view(bytes).substr(2, size));
    if (answer.empty()) co_return;
    bytes.erase(0, 2 + size);
    std::string framed = {static_cast<char>(answer.size() >> 8),
                          static_cast<char>(answer.size() & 0xff)};
    framed += answer;
    const bool sent = co_await SendAll(session->client, framed);
    if (!sent) co_return;
  }
}

}  // namespace gate::net::proxy
