// SHA-1 (FIPS 180-4), which names the objects of most repositories of git.
//
// Not for secrets or for marks of gate's own: two contents with one SHA-1 can
// be made. Who makes two commits so must get them past the other machine's git,
// which refuses objects that were made so.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace gate::credentials {

// Fed in parts. Some 4 ns a byte.
class Sha1 {
 public:
  void Add(std::string_view bytes);
  // The hash in hexadecimal digits. Once, at the end.
  std::string Hex();

 private:
  void Block(const unsigned char* block);

  std::array<uint32_t, 5> state_ = {0x67452301, 0xefcdab89, 0x98badcfe,
                                    0x10325476, 0xc3d2e1f0};
  std::array<unsigned char, 64> waiting_ = {};
  size_t waits_ = 0;
  uint64_t total_ = 0;
};

}  // namespace gate::credentials
