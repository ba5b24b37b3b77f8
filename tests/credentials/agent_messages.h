// Messages of the ssh agent's protocol, written by hand for tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gate::test {

inline std::string U32(uint32_t number) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8)
    text += static_cast<char>((number >> shift) & 0xff);
  return text;
}

inline std::string Str(std::string_view text) {
  return U32(static_cast<uint32_t>(text.size())) + std::string(text);
}

inline std::string Key(std::string_view type = "ssh-ed25519") {
  return Str(type) + Str(std::string(32, 'k'));
}

// PROTOCOL.sshsig, "Signed Data".
inline std::string Sshsig(std::string_view name = "git",
                          std::string_view hash = "sha512", size_t bytes = 64,
                          std::string_view reserved = "") {
  return "SSHSIG" + Str(name) + Str(reserved) + Str(hash) +
         Str(std::string(bytes, 'h'));
}

inline std::string Sign(const std::string& key, const std::string& data,
                        uint32_t flags = 0) {
  return "\x0d" + Str(key) + Str(data) + U32(flags);
}

}  // namespace gate::test
