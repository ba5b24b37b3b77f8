#include "credentials/signing_session.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <list>

#include "base/text.h"
#include "credentials/persons_agent.h"

namespace gate::credentials {
namespace {

constexpr int kNever = -1;  // a descriptor that poll(2) passes over

class Signer {
 public:
  Signer(const SigningSetup& setup, int leash, const std::string& own_agent)
      : setup_(setup), agent_(setup, leash, own_agent) {}

  std::string Answer(std::string_view message) {
    if (message.size() == 1 && static_cast<AgentMessage>(message[0]) ==
                                   AgentMessage::kRequestIdentities)
      return Identities();
    auto request = ParseSignRequest(message);
    if (!request) return Refuse({}, request.error().message);
    Signature signature;
    signature.key = Fingerprint(request->blob);
    signature.hash_name = request->hash_name;
    signature.hash = Hex(request->hash).substr(0, kReportedDigits);
    const auto key =
        std::ranges::find(setup_.keys, request->blob,
                          [](const SigningKey& each) { return each.key.blob; });
    if (key == setup_.keys.end())
      return Refuse(std::move(signature),
                    "the key " + Fingerprint(request->blob) +
                        " is not one that the person's configuration of git "
                        "signs with");
    if (given_ == kMaxSignatures)
      return Refuse(std::move(signature), "a line gets " +
                                              std::to_string(kMaxSignatures) +
                                              " signatures at most");
    if (const Status found = agent_.Find(*key); !found)
      return Refuse(std::move(signature), found.error().message);
    auto answer = agent_.Sign(*request);
    if (!answer) return Refuse(std::move(signature), answer.error().message);
    ++given_;
    report_.signatures.push_back(std::move(signature));
    return std::move(*answer);
  }

  SigningReport Take() { return std::move(report_); }

 private:
  // Only the keys that can sign, so that ssh-keygen says by itself that there
  // is none.
  std::string Identities() {
    std::vector<PublicKey> keys;
    for (const SigningKey& key : setup_.keys) {
      if (const Status found = agent_.Find(key); found)
        keys.push_back(key.key);
      else
        Refuse({Fingerprint(key.key.blob), "", "", ""}, found.error().message);
    }
    return EncodeIdentities(keys);
  }

  std::string Refuse(Signature signature, std::string why) {
    signature.refused = std::move(why);
    const bool known =
        std::ranges::any_of(report_.signatures, [&](const Signature& each) {
          return each.refused == signature.refused &&
                 each.hash == signature.hash;
        });
    if (!known && listed_ < kMaxRefusals) {
      ++listed_;
      report_.signatures.push_back(std::move(signature));
    }
    ++report_.refusals;
    return std::string(1, static_cast<char>(AgentMessage::kFailure));
  }

  const SigningSetup& setup_;
  PersonsAgent agent_;
  SigningReport report_;
  size_t given_ = 0, listed_ = 0;
};

struct Connection {
  Fd peer;
  std::string received;
};

// False when the connection is over: nobody is there, what was sent is no
// message, or what was answered is not read.
bool Serve(Connection* connection, Signer* signer) {
  std::array<char, 8192> buffer;
  const ssize_t got =
      ::read(connection->peer.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got <= 0) return false;
  connection->received.append(buffer.data(), static_cast<size_t>(got));
  size_t taken = 0;
  for (;;) {
    const auto message =
        TakeAgentMessage(connection->received, kMaxAgentRequest, &taken);
    if (!message) return false;
    if (!*message) break;
    std::string answer;
    PutAgentMessage(signer->Answer(**message), &answer);
    if (::send(connection->peer.get(), answer.data(), answer.size(),
               MSG_NOSIGNAL) != static_cast<ssize_t>(answer.size()))
      return false;
  }
  connection->received.erase(0, taken);
  return true;
}

}  // namespace

SigningReport ServeSigning(const SigningSetup& setup, int listener, int leash,
                           const std::string& own_agent) {
  Signer signer(setup, leash, own_agent);
  std::list<Connection> connections;
  std::vector<pollfd> wanted;
  for (;;) {
    wanted.clear();
    wanted.push_back({leash, POLLIN, 0});
    const bool room = connections.size() < kMaxSigners;
    wanted.push_back({room ? listener : kNever, POLLIN, 0});
    for (const Connection& connection : connections)
      wanted.push_back({connection.peer.get(), POLLIN, 0});
    if (::poll(wanted.data(), wanted.size(), -1) < 0 && errno != EINTR) break;
    if (wanted[0].revents != 0) break;
    size_t at = 2;
    for (auto each = connections.begin(); each != connections.end();) {
      const bool ready = wanted[at++].revents != 0;
      each = !ready || Serve(&*each, &signer) ? std::next(each)
                                              : connections.erase(each);
    }
    if (wanted[1].revents == 0) continue;
    Fd peer(
        ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (peer) connections.push_back({std::move(peer), {}});
  }
  return signer.Take();
}

}  // namespace gate::credentials
