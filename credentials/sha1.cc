#include "credentials/sha1.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gate::credentials {

void Sha1::Block(const unsigned char* block) {
  std::array<uint32_t, 80> word;
  for (size_t i = 0; i < 16; ++i)
    word[i] = static_cast<uint32_t>(block[4 * i]) << 24 |
              static_cast<uint32_t>(block[4 * i + 1]) << 16 |
              static_cast<uint32_t>(block[4 * i + 2]) << 8 |
              static_cast<uint32_t>(block[4 * i + 3]);
  for (size_t i = 16; i < word.size(); ++i)
    word[i] =
        std::rotl(word[i - 3] ^ word[i - 8] ^ word[i - 14] ^ word[i - 16], 1);
  auto [a, b, c, d, e] = state_;
  for (size_t i = 0; i < word.size(); ++i) {
    uint32_t f = b ^ c ^ d, constant = 0xca62c1d6;
    if (i < 20) {
      f = (b & c) | (~b & d);
      constant = 0x5a827999;
    } else if (i < 40) {
      constant = 0x6ed9eba1;
    } else if (i < 60) {
      f = (b & c) | (b & d) | (c & d);
      constant = 0x8f1bbcdc;
    }
    const uint32_t next = std::rotl(a, 5) + f + e + constant + word[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  state_ = {state_[0] + a, state_[1] + b, state_[2] + c, state_[3] + d,
            state_[4] + e};
}

void Sha1::Add(std::string_view bytes) {
  total_ += bytes.size();
  while (!bytes.empty()) {
    const size_t take = std::min(bytes.size(), waiting_.size() - waits_);
    std::memcpy(waiting_.data() + waits_, bytes.data(), take);
    waits_ += take;
    bytes.remove_prefix(take);
    if (waits_ < waiting_.size()) return;
    Block(waiting_.data());
    waits_ = 0;
  }
}

std::string Sha1::Hex() {
  const uint64_t bits = total_ * 8;
  Add(std::string_view("\x80", 1));
  while (waits_ != 56) Add(std::string_view("\0", 1));
  for (int shift = 56; shift >= 0; shift -= 8) {
    const char byte = static_cast<char>(bits >> shift);
    Add({&byte, 1});
  }
  std::string hex;
  for (const uint32_t part : state_)
    for (int shift = 28; shift >= 0; shift -= 4)
      hex += "0123456789abcdef"[part >> shift & 15];
  return hex;
}

}  // namespace gate::credentials
