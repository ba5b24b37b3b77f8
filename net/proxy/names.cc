#include "net/proxy/names.h"

#include <algorithm>
#include <array>

namespace gate::net::proxy {
namespace {

// ::ffff:127.64.0.0
constexpr std::array<uint8_t, 16> kFirst = {0, 0, 0,    0,    0,   0,  0, 0,
                                            0, 0, 0xff, 0xff, 127, 64, 0, 0};

}  // namespace

std::optional<Address> MadeUpNames::AddressOf(const std::string& name) {
  auto at = numbers_.find(name);
  if (at == numbers_.end()) {
    if (names_.size() == kMost) return std::nullopt;
    at = numbers_.emplace(name, names_.size()).first;
    names_.push_back(&at->first);
  }
  const size_t number = at->second + 1;  // the first address is none
  static_assert(kMost < 0xffff);
  Address address{kFirst};
  address.bytes[14] = static_cast<uint8_t>(number >> 8);
  address.bytes[15] = static_cast<uint8_t>(number & 0xff);
  return address;
}

std::optional<std::string> MadeUpNames::NameOf(const Address& address) const {
  if (!std::equal(kFirst.begin(), kFirst.begin() + 14, address.bytes.begin()))
    return std::nullopt;
  const size_t number = size_t{address.bytes[14]} << 8 | address.bytes[15];
  if (number == 0 || number > names_.size()) return std::nullopt;
  return *names_[number - 1];
}

}  // namespace gate::net::proxy
