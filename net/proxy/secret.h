// The token of a run, by which its clients are known.
#pragma once

#include <string_view>

namespace gate::net::proxy {

inline constexpr std::string_view kTokenUser = "gate";

// Whether `given` is `secret`, in a time that does not tell how much of it is
// right.
inline bool IsSecret(std::string_view given, std::string_view secret) {
  unsigned differs = given.size() == secret.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i)
    differs |= static_cast<unsigned char>(given[i]) ^
               static_cast<unsigned char>(
                   secret.empty() ? 0 : secret[i % secret.size()]);
  return differs == 0;
}

}  // namespace gate::net::proxy
