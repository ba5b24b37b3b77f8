#include "credentials/transport_wire.h"

namespace gate::credentials {
namespace {

void PutLength(size_t length, std::string* out) {
  for (int shift = 24; shift >= 0; shift -= 8)
    *out += static_cast<char>((length >> shift) & 0xff);
}

size_t LengthAt(std::string_view bytes) {
  size_t length = 0;
  for (int i = 0; i < 4; ++i)
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  return length;
}

std::unexpected<Error> Malformed() {
  return Fail(ErrorCode::kInvalid, "not a frame");
}

}  // namespace

void PutFrame(FrameType type, std::string_view bytes, std::string* out) {
  *out += static_cast<char>(type);
  PutLength(bytes.size(), out);
  out->append(bytes);
}

Result<std::optional<Frame>> TakeFrame(std::string_view buffer, size_t* begin) {
  const std::string_view rest = buffer.substr(*begin);
  if (rest.empty()) return std::nullopt;
  constexpr std::string_view kTypes = "RIEOSXCDP";
  if (kTypes.find(rest[0]) == kTypes.npos) return Malformed();
  if (rest.size() < kFrameHead) return std::nullopt;
  const size_t length = LengthAt(rest.substr(1));
  if (length > kMaxFrameBytes) return Malformed();
  if (rest.size() - kFrameHead < length) return std::nullopt;
  *begin += kFrameHead + length;
  return Frame{static_cast<FrameType>(rest[0]),
               rest.substr(kFrameHead, length)};
}

std::string EncodeWords(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    PutLength(word.size(), &out);
    out += word;
  }
  return out;
}

Result<std::vector<std::string>> DecodeWords(std::string_view bytes) {
  std::vector<std::string> words;
  while (!bytes.empty()) {
    if (bytes.size() < 4) return Malformed();
    const size_t length = LengthAt(bytes);
    bytes.remove_prefix(4);
    if (length > bytes.size()) return Malformed();
    words.emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return words;
}

}  // namespace gate::credentials
