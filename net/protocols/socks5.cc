#include "net/protocols/socks5.h"

#include "net/address.h"
#include "net/host_list.h"
#include "net/protocols/reader.h"

namespace gate::net {
namespace {

using std::string_view;

constexpr uint32_t kVersion = 5, kPasswordVersion = 1;
constexpr uint32_t kConnect = 1;
constexpr uint32_t kTypeIpv4 = 1, kTypeName = 3, kTypeIpv6 = 4;
// RFC 1928, section 6.
constexpr uint8_t kFailure = 1, kNoSuchCommand = 7, kNoSuchType = 8;

// Whether the first byte is `version`; a message of none may still become one.
bool Begins(string_view bytes, uint32_t version) {
  return bytes.empty() || static_cast<unsigned char>(bytes[0]) == version;
}

SocksRequest Refuse(uint8_t code) {
  SocksRequest request;
  request.code = code;
  return request;
}

}  // namespace

SocksGreeting ReadSocksGreeting(string_view bytes) {
  SocksGreeting greeting;
  if (!Begins(bytes, kVersion)) return greeting;
  Reader reader(bytes);
  reader.Number(1);
  const string_view methods = reader.Vector(1);
  if (!reader.good()) {
    greeting.status = SocksStatus::kIncomplete;
    return greeting;
  }
  if (methods.empty()) return greeting;
  greeting.status = SocksStatus::kRead;
  greeting.bytes = bytes.size() - reader.left();
  greeting.none = methods.find('\x00') != methods.npos;
  greeting.password = methods.find('\x02') != methods.npos;
  return greeting;
}

SocksPassword ReadSocksPassword(string_view bytes) {
  SocksPassword password;
  if (!Begins(bytes, kPasswordVersion)) return password;
  Reader reader(bytes);
  reader.Number(1);
  const string_view user = reader.Vector(1), secret = reader.Vector(1);
  if (!reader.good()) {
    password.status = SocksStatus::kIncomplete;
    return password;
  }
  return {SocksStatus::kRead, bytes.size() - reader.left(), user, secret};
}

SocksRequest ReadSocksRequest(string_view bytes) {
  if (!Begins(bytes, kVersion)) return Refuse(kFailure);
  SocksRequest incomplete;
  incomplete.status = SocksStatus::kIncomplete;
  Reader reader(bytes);
  reader.Number(1);
  const uint32_t command = reader.Number(1);
  if (!reader.good()) return incomplete;
  if (command != kConnect) return Refuse(kNoSuchCommand);
  const uint32_t reserved = reader.Number(1), type = reader.Number(1);
  if (reserved != 0) return Refuse(kFailure);
  if (!reader.good()) return incomplete;
  if (type != kTypeIpv4 && type != kTypeName && type != kTypeIpv6)
    return Refuse(kNoSuchType);

  SocksRequest request;
  if (type == kTypeName) {
    const string_view name = reader.Vector(1);
    const auto host = ReadHost(name);
    if (reader.good() && !host) return Refuse(kFailure);
    if (host) request.host = *host;
  } else if (type == kTypeIpv4) {
    request.host = Print(FromIpv4(reader.Number(4)));
  } else {
    Address address;
    for (uint8_t& byte : address.bytes)
      byte = static_cast<uint8_t>(reader.Number(1));
    request.host = Print(address);
  }
  request.port = static_cast<uint16_t>(reader.Number(2));
  if (!reader.good()) return incomplete;
  if (request.port == 0) return Refuse(kFailure);
  request.status = SocksStatus::kRead;
  request.code = 0;
  request.bytes = bytes.size() - reader.left();
  return request;
}

std::string SocksChoice(uint8_t method) {
  return {static_cast<char>(kVersion), static_cast<char>(method)};
}

std::string SocksPasswordAnswer(bool right) {
  return {static_cast<char>(kPasswordVersion), right ? '\x00' : '\x01'};
}

std::string SocksAnswer(uint8_t code) {
  std::string out = {static_cast<char>(kVersion), static_cast<char>(code), '\0',
                     static_cast<char>(kTypeIpv4)};
  out.append(6, '\0');
  return out;
}

}  // namespace gate::net
