#include "net/proxy/resolver.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "base/clock.h"

namespace gate::net::proxy {
namespace {

using std::chrono::milliseconds;

constexpr std::array kTypes = {DnsType::kAaaa, DnsType::kA};
// How long the other family may still take once one has answered.
constexpr uint64_t kOtherFamilyMs = 250;
// For one server before the next is asked.
constexpr uint64_t kServerMs = 2'000;
// How often each server is asked.
constexpr size_t kRounds = 2;

uint64_t LeftUntil(uint64_t until_ms) {
  const uint64_t now = MonotonicMs();
  return until_ms > now ? until_ms - now : 0;
}

// Nothing is asked by an id that can be guessed.
bool RandomId(uint16_t* id) {
  return ::getrandom(id, sizeof(*id), 0) == sizeof(*id);
}

// Closes a socket at a time, unless it goes before.
class Alarm {
 public:
  Alarm(asio::io_context& io, const std::shared_ptr<Socket>& socket,
        uint64_t until_ms)
      : timer_(io, milliseconds(LeftUntil(until_ms))) {
    timer_.async_wait([socket](const boost::system::error_code& error) {
      if (!error) socket->Close();
    });
  }

 private:
  asio::steady_timer timer_;
};

// Until `bytes` holds `size` of them.
asio::awaitable<bool> ReceiveUntil(Socket& socket, size_t size,
                                   std::string* bytes) {
  std::array<char, 4096> part;
  while (bytes->size() < size) {
    const ssize_t got = ::recv(socket.get(), part.data(),
                               std::min(part.size(), size - bytes->size()), 0);
    if (got > 0) {
      bytes->append(part.data(), static_cast<size_t>(got));
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 || errno != EAGAIN) co_return false;
    const bool readable = co_await socket.Readable();
    if (!readable) co_return false;
  }
  co_return true;
}

}  // namespace

// What both families' questions share, until the one who waits has seen enough.
struct Resolver::Search {
  explicit Search(asio::io_context& io) : changed(io) {}
  std::string name;
  uint64_t until_ms = 0;
  bool over = false;
  std::array<LookupAnswer, kTypes.size()> answers;
  std::array<bool, kTypes.size()> done{};
  std::array<bool, kTypes.size()> heard{};  // any answer at all
  std::array<std::shared_ptr<Socket>, kTypes.size()> sockets;
  Event changed;
};

Resolver::Resolver(asio::io_context& io, std::vector<Endpoint> servers,
                   HostsFile hosts, uint32_t patience_ms)
    : io_(io),
      servers_(std::move(servers)),
      hosts_(std::move(hosts)),
      patience_ms_(patience_ms) {}

asio::awaitable<LookupAnswer> Resolver::AskByTcp(std::shared_ptr<Search> search,
                                                 size_t which, Endpoint server,
                                                 uint64_t until_ms) {
  LookupAnswer none;
  uint16_t id = 0;
  if (!RandomId(&id)) co_return none;
  const std::string question = AskDns(id, search->name, kTypes[which]);
  const auto socket =
      std::make_shared<Socket>(io_, BeginConnect(server, SOCK_STREAM));
  search->sockets[which] = socket;
  const Alarm alarm(io_, socket, until_ms);
  const bool connected = co_await socket->Writable();
  if (!connected || ConnectError(socket->get()) != 0) co_return none;
  std::string framed = {static_cast<char>(question.size() >> 8),
                        static_cast<char>(question.size() & 0xff)};
  framed += question;
  const bool sent = co_await SendAll(*socket, framed);
  if (!sent) co_return none;
  std::string bytes;
  const bool sized = co_await ReceiveUntil(*socket, 2, &bytes);
  if (!sized) co_return none;
  const size_t size = size_t{static_cast<uint8_t>(bytes[0])} << 8 |
                      static_cast<uint8_t>(bytes[1]);
  const bool whole = co_await ReceiveUntil(*socket, 2 + size, &bytes);
  if (!whole) co_return none;
  LookupAnswer answer = ReadDnsAnswer(std::string_view(bytes).substr(2), id,
                                      search->name, kTypes[which]);
  if (answer.status == LookupStatus::kTruncated)
    answer.status = LookupStatus::kFailed;
  co_return answer;
}

asio::awaitable<LookupAnswer> Resolver::AskServer(
    std::shared_ptr<Search> search, size_t which, Endpoint server,
    uint64_t until_ms) {
  LookupAnswer answer;
  uint16_t id = 0;
  if (!RandomId(&id)) co_return answer;
  const std::string question = AskDns(id, search->name, kTypes[which]);
  if (question.empty()) co_return answer;
  {
    const auto socket =
        std::make_shared<Socket>(io_, BeginConnect(server, SOCK_DGRAM));
    search->sockets[which] = socket;
    const Alarm alarm(io_, socket, until_ms);
    if (::send(socket->get(), question.data(), question.size(), MSG_NOSIGNAL) <
        0)
      co_return answer;
    std::array<char, kMaxDnsMessage> message;
    while (answer.status == LookupStatus::kOther) {
      const ssize_t got =
          ::recv(socket->get(), message.data(), message.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) {
        const bool readable = co_await socket->Readable();
        if (!readable) co_return answer;
        continue;
      }
      if (got < 0) co_return answer;  // nobody listens there
      answer = ReadDnsAnswer({message.data(), static_cast<size_t>(got)}, id,
                             search->name, kTypes[which]);
    }
  }
  if (answer.status == LookupStatus::kTruncated && !search->over) {
    LookupAnswer whole =
        co_await AskByTcp(search, which, server, search->until_ms);
    co_return whole;
  }
  co_return answer;
}

Task Resolver::Ask(std::shared_ptr<Search> search, size_t which) {
  for (size_t tries = 0; tries < kRounds * servers_.size(); ++tries) {
    const uint64_t left = LeftUntil(search->until_ms);
    if (left == 0 || search->over) break;
    const bool last = tries + 1 == kRounds * servers_.size();
    const uint64_t until =
        last ? search->until_ms
             : MonotonicMs() + std::min<uint64_t>(left, kServerMs);
    LookupAnswer answer = co_await AskServer(
        search, which, servers_[tries % servers_.size()], until);
    search->heard[which] =
        search->heard[which] || answer.status != LookupStatus::kOther;
    if (answer.status == LookupStatus::kAnswered ||
        answer.status == LookupStatus::kNoSuchName) {
      search->answers[which] = std::move(answer);
      break;
    }
  }
  search->done[which] = true;
  search->sockets[which].reset();
  search->changed.Notify();
}

asio::awaitable<Lookup> Resolver::Resolve(std::string name) {
  Lookup lookup;
  if (const auto line = hosts_.find(name); line != hosts_.end()) {
    lookup.status = Lookup::Status::kFound;
    lookup.addresses = line->second;
    co_return lookup;
  }
  if (const auto kept = kept_.find(name); kept != kept_.end()) {
    if (kept->second.until_ms > MonotonicMs()) co_return kept->second.lookup;
    kept_.erase(kept);
  }
  const auto search = std::make_shared<Search>(io_);
  search->name = name;
  search->until_ms = MonotonicMs() + patience_ms_;
  for (size_t which = 0; which < kTypes.size(); ++which)
    asio::co_spawn(io_, Ask(search, which), asio::detached);
  uint64_t until = search->until_ms;
  while (!search->done[0] || !search->done[1]) {
    if ((search->done[0] && !search->answers[0].addresses.empty()) ||
        (search->done[1] && !search->answers[1].addresses.empty()))
      until = std::min(until, MonotonicMs() + kOtherFamilyMs);
    const uint64_t left = LeftUntil(until);
    if (left == 0) break;
    co_await search->changed.WaitFor(milliseconds(left));
  }
  search->over = true;
  for (const auto& socket : search->sockets)
    if (socket) socket->Close();

  const auto& [six, four] = search->answers;
  uint32_t seconds = kMaxKeptSeconds;
  for (const LookupAnswer& answer : search->answers)
    if (!answer.addresses.empty()) seconds = std::min(seconds, answer.seconds);
  for (size_t i = 0; i < std::max(six.addresses.size(), four.addresses.size());
       ++i) {
    if (i < six.addresses.size()) lookup.addresses.push_back(six.addresses[i]);
    if (i < four.addresses.size())
      lookup.addresses.push_back(four.addresses[i]);
  }
  const auto says = [&](LookupStatus status) {
    return six.status == status || four.status == status;
  };
  if (!lookup.addresses.empty())
    lookup.status = Lookup::Status::kFound;
  else if (says(LookupStatus::kNoSuchName) || says(LookupStatus::kAnswered))
    lookup.status = Lookup::Status::kNoSuchName;
  else
    lookup.status = search->heard[0] || search->heard[1]
                        ? Lookup::Status::kFailed
                        : Lookup::Status::kTimeout;
  if (lookup.status == Lookup::Status::kFound && seconds > 0) {
    if (kept_.size() >= kMaxKept) kept_.clear();
    kept_[name] = {lookup, MonotonicMs() + uint64_t{seconds} * 1000};
  }
  co_return lookup;
}

}  // namespace gate::net::proxy
