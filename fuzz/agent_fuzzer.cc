// What the inside of a sandbox says to the signing agent, and what the person's
// agent answers: a request that is taken is git's and stays what it is when it
// is written anew.
#include <cstdint>
#include <string>
#include <string_view>

#include "credentials/agent_wire.h"
#include "fuzz/require.h"

namespace {

using namespace gate::credentials;

void CheckMessage(std::string_view message) {
  if (const auto keys = ParseIdentities(message)) {
    const auto again = ParseIdentities(EncodeIdentities(*keys));
    Require(again && *again == *keys);
  }
  const auto request = ParseSignRequest(message);
  if (!request) return;
  Require(Encode(*request) == message);
  Require(message.find(std::string_view("SSHSIG\0\0\0\3git\0\0\0\0", 17)) !=
          message.npos);
  Require(request->hash.size() == 32 || request->hash.size() == 64);
  Require(!TypeOf(request->blob).empty());
  (void)ParseSignature(*request, message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  size_t begin = 0;
  for (;;) {
    const size_t before = begin;
    const auto message = TakeAgentMessage(bytes, kMaxAgentRequest, &begin);
    if (!message || !*message) break;
    Require(begin > before && begin <= size);
    Require((*message)->size() <= kMaxAgentRequest);
    CheckMessage(**message);
  }
  CheckMessage(bytes);
  if (const auto key = ParsePublicKey(bytes))
    Require(!TypeOf(key->blob).empty());
  SignRequest request;
  request.blob = std::string("\0\0\0\x0bssh-ed25519", 15);
  if (const auto answer = ParseSignature(request, bytes))
    Require(*answer == bytes);
  return 0;
}
