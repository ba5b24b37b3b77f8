#include "credentials/signing_session.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <list>

#include "base/hash.h"
#include "base/text.h"
#include "credentials/openpgp_signer.h"
#include "credentials/persons_agent.h"

namespace gate::credentials {
namespace {

constexpr size_t kLengthBytes = 4;  // before each message
constexpr int kNoDescriptor = -1;   // a descriptor that poll(2) passes over

class Signer {
 public:
  Signer(const SigningSetup& setup, int leash, const std::string& own_agent)
      : setup_(setup), leash_(leash), agent_(setup, leash, own_agent) {}

  std::string Answer(std::string_view message) {
    if (message.size() == 1 && static_cast<AgentMessage>(message[0]) ==
                                   AgentMessage::kRequestIdentities)
      return Identities();
    if (IsOpenPgpRequest(message)) return AnswerOpenPgp(message);
    auto request = ParseSignRequest(message);
    if (!request) return Refuse({}, request.error().message);
    Signature signature;
    signature.key = Fingerprint(request->blob);
    signature.hash_name = request->hash_name;
    signature.hash = Hex(request->hash).substr(0, kReportedDigits);
    const auto key =
        std::ranges::find_if(setup_.keys, [&](const SigningKey& each) {
          return each.openpgp.empty() && each.key.blob == request->blob;
        });
    if (key == setup_.keys.end()) return RefuseKey(std::move(signature));
    if (given_ == kMaxSignatures) return RefuseMore(std::move(signature));
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
  std::string AnswerOpenPgp(std::string_view message) {
    const auto request = ParseOpenPgpRequest(message);
    if (!request) return Refuse({}, request.error().message);
    Signature signature;
    SigningKey asked;
    asked.openpgp = request->key;
    signature.key = NameOf(asked);
    signature.hash_name = "sha256";
    signature.hash = Hex(Sha256(request->payload)).substr(0, kReportedDigits);
    if (request->key.empty() ||
        std::ranges::find(setup_.keys, request->key, &SigningKey::openpgp) ==
            setup_.keys.end())
      return RefuseKey(std::move(signature));
    if (const Status object = CheckGitObject(request->payload); !object)
      return Refuse(std::move(signature), object.error().message);
    if (given_ == kMaxSignatures) return RefuseMore(std::move(signature));
    const auto answer = SignByGpg(setup_, *request, leash_);
    if (!answer) return Refuse(std::move(signature), answer.error().message);
    ++given_;
    report_.signatures.push_back(std::move(signature));
    return Encode(*answer);
  }

  std::string RefuseKey(Signature signature) {
    std::string why = "the key " + signature.key +
                      " is not one that the person's configuration of git "
                      "signs with";
    return Refuse(std::move(signature), std::move(why));
  }

  std::string RefuseMore(Signature signature) {
    return Refuse(std::move(signature), "a line gets " +
                                            std::to_string(kMaxSignatures) +
                                            " signatures at most");
  }

  // Only the keys that can sign, so that ssh-keygen says by itself that there
  // is none.
  std::string Identities() {
    std::vector<PublicKey> keys;
    for (const SigningKey& key : setup_.keys) {
      if (!key.openpgp.empty()) continue;
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
  int leash_;
  PersonsAgent agent_;
  SigningReport report_;
  size_t given_ = 0, listed_ = 0;
};

struct Connection {
  Fd peer;
  std::string received;
};

// Of the message that `rest` begins with. Only what is signed by gpg comes
// whole; until its first byte is there its length says nothing else.
size_t LimitOf(std::string_view rest) {
  return rest.size() <= kLengthBytes ||
                 IsOpenPgpRequest(rest.substr(kLengthBytes))
             ? kMaxOpenPgpRequest
             : kMaxAgentRequest;
}

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
    const std::string_view rest =
        std::string_view(connection->received).substr(taken);
    const auto message =
        TakeAgentMessage(connection->received, LimitOf(rest), &taken);
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
    wanted.push_back({room ? listener : kNoDescriptor, POLLIN, 0});
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
