// What a program says to an ssh agent, and what the agent answers, as far as it
// is needed to sign for git (draft-ietf-sshm-ssh-agent, sections 3 and 4; the
// signed data: PROTOCOL.sshsig of OpenSSH). Both sides are believed nothing:
// what is not one of these messages to the last byte is none. Pure and linear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gate::credentials {

// A longer message of a program inside ends its connection. What it may ask is
// a key (an RSA key of 16,384 bits has 2 KiB) and some hundred bytes.
inline constexpr size_t kMaxAgentRequest = size_t{16} << 10;
// A longer answer of the person's agent is none. OpenSSH's own limit.
inline constexpr size_t kMaxAgentAnswer = size_t{256} << 10;

enum class AgentMessage : unsigned char {
  kFailure = 5,
  kRequestIdentities = 11,
  kIdentities = 12,
  kSign = 13,
  kSignature = 14,
  kExtension = 27,
  kExtensionResponse = 29,
};

// A public key as ssh sends it (RFC 4253, 6.6): its type, then its numbers.
struct PublicKey {
  std::string blob;
  std::string comment;
  bool operator==(const PublicKey&) const = default;
};

// The first words of an authorized_keys or *.pub line, `TYPE BASE64 [COMMENT]`.
// None unless the type is one that signs (no certificate, no DSA) and the bytes
// name the same type.
std::optional<PublicKey> ParsePublicKey(std::string_view line);
// "ssh-ed25519"; empty when `blob` does not begin with such a type.
std::string_view TypeOf(std::string_view blob);
// "SHA256:…", as ssh-keygen -l writes it.
std::string Fingerprint(std::string_view blob);

// The first message of `buffer` (without its length) from `*begin` on, which is
// moved behind it; none while it is not whole. kInvalid where it is empty or
// longer than `limit`.
Result<std::optional<std::string_view>> TakeAgentMessage(
    std::string_view buffer, size_t limit, size_t* begin);
// Appends `message` behind its length.
void PutAgentMessage(std::string_view message, std::string* out);

// A request for a signature that git's ssh-keygen makes.
struct SignRequest {
  std::string blob;       // the key
  std::string hash_name;  // "sha256", "sha512"
  std::string hash;       // of what is signed: a commit or a tag without its
                          // signature
  uint32_t flags = 0;     // for an RSA key, which hash the signature itself has
};

// `message` as such a request. kInvalid with a reason for people for every
// other: data that is no SSHSIG (a login's is none), another namespace than
// "git", something in its reserved field or behind its end, a hash of another
// name or length, flags that the key's type does not have.
Result<SignRequest> ParseSignRequest(std::string_view message);
// Writes a request anew, as it is sent to the person's agent.
std::string Encode(const SignRequest& request);

// The agent's answer to `request`, written anew; kInvalid where it is no
// signature of that kind of key.
Result<std::string> ParseSignature(const SignRequest& request,
                                   std::string_view message);

// The answer that lists `keys`, and the keys of such an answer; kInvalid where
// it is none.
std::string EncodeIdentities(const std::vector<PublicKey>& keys);
Result<std::vector<PublicKey>> ParseIdentities(std::string_view message);

}  // namespace gate::credentials
