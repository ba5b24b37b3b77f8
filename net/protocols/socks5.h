// The client's side of SOCKS5 with user name and password (RFC 1928, RFC 1929).
// CONNECT alone: BIND and UDP ASSOCIATE are refused by code 7. What follows a
// message is not looked at. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gate::net {

enum class SocksStatus : uint8_t { kMalformed, kIncomplete, kRead };

// 5, the methods it offers.
struct SocksGreeting {
  SocksStatus status = SocksStatus::kMalformed;
  size_t bytes = 0;
  bool none = false, password = false;
};
SocksGreeting ReadSocksGreeting(std::string_view bytes);

struct SocksPassword {
  SocksStatus status = SocksStatus::kMalformed;
  size_t bytes = 0;
  std::string_view user, password;  // of what was read; may be empty
};
SocksPassword ReadSocksPassword(std::string_view bytes);

struct SocksRequest {
  SocksStatus status = SocksStatus::kMalformed;
  uint8_t code = 1;  // to answer with where it is refused (RFC 1928 section 6)
  size_t bytes = 0;
  std::string host;   // as ReadHost returns it
  uint16_t port = 0;  // never 0 once it is read
};
SocksRequest ReadSocksRequest(std::string_view bytes);

std::string SocksChoice(uint8_t method);  // 0, 2, 0xff
std::string SocksPasswordAnswer(bool right);
// With the address 0.0.0.0:0, which clients do not look at.
std::string SocksAnswer(uint8_t code);

}  // namespace gate::net
