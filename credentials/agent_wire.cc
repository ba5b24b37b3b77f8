#include "credentials/agent_wire.h"

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "base/text.h"

namespace gate::credentials {
namespace {

// What the agent's list may hold; a key beyond is not looked at.
constexpr uint32_t kMaxIdentities = 2000;
constexpr std::string_view kMagic = "SSHSIG";
constexpr std::string_view kNamespace = "git";
constexpr std::string_view kRsa = "ssh-rsa";
constexpr uint32_t kRsaSha256 = 2, kRsaSha512 = 4;
constexpr size_t kSha256Bytes = 32, kSha512Bytes = 64;

constexpr auto kTypes = std::to_array<std::string_view>(
    {"ssh-ed25519", kRsa, "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384",
     "ecdsa-sha2-nistp521", "sk-ssh-ed25519@openssh.com",
     "sk-ecdsa-sha2-nistp256@openssh.com"});

// Takes a message apart from its front. Once something was missing, nothing
// more is there.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}

  uint32_t Number() {
    const std::string_view taken = Bytes(4);
    uint32_t number = 0;
    for (const char c : taken)
      number = number << 8 | static_cast<unsigned char>(c);
    return number;
  }
  std::string_view String() { return Bytes(Number()); }
  std::string_view Bytes(size_t size) {
    if (!good_ || size > bytes_.size()) {
      good_ = false;
      return {};
    }
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  bool Is(AgentMessage type) {
    const std::string_view taken = Bytes(1);
    return good_ && static_cast<AgentMessage>(taken[0]) == type;
  }

  bool good() const { return good_; }
  bool AtEnd() const { return good_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

void PutNumber(uint32_t number, std::string* out) {
  for (int shift = 24; shift >= 0; shift -= 8)
    *out += static_cast<char>((number >> shift) & 0xff);
}

void PutString(std::string_view text, std::string* out) {
  PutNumber(static_cast<uint32_t>(text.size()), out);
  out->append(text);
}

std::string Begin(AgentMessage type) {
  return std::string(1, static_cast<char>(type));
}

std::unexpected<Error> Refused(std::string why) {
  return Fail(ErrorCode::kInvalid, std::move(why));
}

std::string_view FirstWord(std::string_view* line) {
  const size_t begin = std::min(line->find_first_not_of(" \t"), line->size());
  const size_t end = std::min(line->find_first_of(" \t", begin), line->size());
  const std::string_view word = line->substr(begin, end - begin);
  line->remove_prefix(end);
  return word;
}

// How the signature of `request` names itself (RFC 8332 for RSA keys).
std::string_view SignatureType(const SignRequest& request) {
  const std::string_view type = TypeOf(request.blob);
  if (type != kRsa) return type;
  return request.flags == kRsaSha256 ? "rsa-sha2-256" : "rsa-sha2-512";
}

std::string Sshsig(const SignRequest& request) {
  std::string data(kMagic);
  PutString(kNamespace, &data);
  PutString("", &data);  // reserved
  PutString(request.hash_name, &data);
  PutString(request.hash, &data);
  return data;
}

}  // namespace

std::string_view TypeOf(std::string_view blob) {
  const std::string_view type = Cursor(blob).String();
  return std::ranges::find(kTypes, type) == kTypes.end() ? "" : type;
}

std::optional<PublicKey> ParsePublicKey(std::string_view line) {
  line = line.substr(0, line.find_first_of("\r\n"));
  if (line.size() > kMaxAgentRequest) return std::nullopt;
  const std::string_view type = FirstWord(&line), text = FirstWord(&line);
  PublicKey key;
  if (!DecodeBase64(text, &key.blob) || type.empty() ||
      TypeOf(key.blob) != type || key.blob.size() <= type.size() + 4)
    return std::nullopt;
  return key;
}

std::string Fingerprint(std::string_view blob) {
  const Hash hash = Sha256(blob);
  std::string text =
      Base64({reinterpret_cast<const char*>(hash.data()), hash.size()});
  while (text.ends_with('=')) text.pop_back();
  return "SHA256:" + text;
}

Result<std::optional<std::string_view>> TakeAgentMessage(
    std::string_view buffer, size_t limit, size_t* begin) {
  Cursor cursor(buffer.substr(*begin));
  const uint32_t length = cursor.Number();
  if (!cursor.good()) return std::nullopt;
  if (length == 0 || length > limit)
    return Refused("no message of an ssh agent");
  const std::string_view message = cursor.Bytes(length);
  if (!cursor.good()) return std::nullopt;
  *begin += 4 + message.size();
  return message;
}

void PutAgentMessage(std::string_view message, std::string* out) {
  PutString(message, out);
}

Result<SignRequest> ParseSignRequest(std::string_view message) {
  Cursor cursor(message);
  SignRequest request;
  if (!cursor.Is(AgentMessage::kSign))
    return Refused("nothing but keys and signatures is given");
  request.blob = cursor.String();
  const std::string_view data = cursor.String();
  request.flags = cursor.Number();
  if (!cursor.AtEnd()) return Refused("the request for a signature is not one");
  if (TypeOf(request.blob).empty())
    return Refused("a key of this kind does not sign for git");
  const bool rsa = TypeOf(request.blob) == kRsa;
  if (rsa ? request.flags != kRsaSha256 && request.flags != kRsaSha512
          : request.flags != 0)
    return Refused("a signature of that kind is not made for git");
  Cursor signed_data(data);
  if (signed_data.Bytes(kMagic.size()) != kMagic)
    return Refused("what is to be signed is not git's (a login's data, say)");
  const std::string_view name = signed_data.String();
  const std::string_view reserved = signed_data.String();
  request.hash_name = signed_data.String();
  request.hash = signed_data.String();
  if (!signed_data.AtEnd() || !reserved.empty())
    return Refused(
        "what is to be signed is not the data that ssh-keygen makes");
  if (name != kNamespace)
    return Refused("the signature is for `" + Visible(name.substr(0, 64)) +
                   "`, not for `git`");
  const size_t bytes = request.hash_name == "sha256"   ? kSha256Bytes
                       : request.hash_name == "sha512" ? kSha512Bytes
                                                       : 0;
  if (bytes == 0 || request.hash.size() != bytes)
    return Refused("what is to be signed is not a hash of SHA-256 or SHA-512");
  return request;
}

std::string Encode(const SignRequest& request) {
  std::string message = Begin(AgentMessage::kSign);
  PutString(request.blob, &message);
  PutString(Sshsig(request), &message);
  PutNumber(request.flags, &message);
  return message;
}

Result<std::string> ParseSignature(const SignRequest& request,
                                   std::string_view message) {
  Cursor cursor(message);
  if (!cursor.Is(AgentMessage::kSignature))
    return Refused("the person's ssh agent did not sign");
  const std::string_view signature = cursor.String();
  Cursor parts(signature);
  const std::string_view type = parts.String(), bytes = parts.String();
  // A security key's signature goes on with its flags and counter.
  if (type.starts_with("sk-")) parts.Bytes(5);
  if (!cursor.AtEnd() || !parts.AtEnd() || bytes.empty() ||
      type != SignatureType(request) || signature.size() > kMaxAgentRequest)
    return Refused("the answer of the person's ssh agent is no signature");
  std::string answer = Begin(AgentMessage::kSignature);
  PutString(signature, &answer);
  return answer;
}

std::string EncodeIdentities(const std::vector<PublicKey>& keys) {
  std::string message = Begin(AgentMessage::kIdentities);
  PutNumber(static_cast<uint32_t>(keys.size()), &message);
  for (const PublicKey& key : keys) {
    PutString(key.blob, &message);
    PutString(key.comment, &message);
  }
  return message;
}

Result<std::vector<PublicKey>> ParseIdentities(std::string_view message) {
  Cursor cursor(message);
  const bool listed = cursor.Is(AgentMessage::kIdentities);
  const uint32_t count = cursor.Number();
  if (!listed || !cursor.good() || count > kMaxIdentities)
    return Refused("the answer of the person's ssh agent lists no keys");
  std::vector<PublicKey> keys;
  for (uint32_t i = 0; i < count && cursor.good(); ++i) {
    PublicKey key;
    key.blob = cursor.String();
    key.comment = cursor.String();
    keys.push_back(std::move(key));
  }
  if (!cursor.AtEnd())
    return Refused("the answer of the person's ssh agent lists no keys");
  return keys;
}

}  // namespace gate::credentials
