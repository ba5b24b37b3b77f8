// Numbers in network order and vectors with a length before them, as TLS and
// DNS write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gate::net {

// Takes a message apart from its front. Once something was missing, nothing
// more is there and every number is 0.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  uint32_t Number(size_t width) {
    uint32_t number = 0;
    for (const char c : Bytes(width))
      number = number << 8 | static_cast<unsigned char>(c);
    return number;
  }
  std::string_view Bytes(size_t size) {
    if (!good_ || size > bytes_.size()) {
      good_ = false;
      return {};
    }
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  // What a length of `width` bytes stands before.
  std::string_view Vector(size_t width) { return Bytes(Number(width)); }

  bool good() const { return good_; }
  bool AtEnd() const { return good_ && bytes_.empty(); }
  size_t left() const { return good_ ? bytes_.size() : 0; }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

inline void PutNumber(uint32_t number, size_t width, std::string* out) {
  for (size_t i = width; i-- > 0;)
    *out += static_cast<char>(number >> (8 * i) & 0xff);
}

}  // namespace gate::net
