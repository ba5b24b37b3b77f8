// Addresses that a contained command may not reach, whatever name led there.
//
// Sources: IANA's special-purpose registries (RFC 6890), RFC 6052 (NAT64), RFC
// 3056 (6to4), RFC 4380 (Teredo), RFC 5214 (ISATAP), and what clouds document
// as their metadata services.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gate::net {

// An IPv4 address is held as IPv6 maps it (::ffff:a.b.c.d).
struct Address {
  std::array<uint8_t, 16> bytes{};
  bool operator==(const Address&) const = default;
};
// As inet_pton(3): an IPv4 address is four decimal numbers without leading
// zeros. None for a zone, brackets and blanks.
std::optional<Address> ParseAddress(std::string_view text);
std::string Print(const Address& address);
bool IsIpv4(const Address& address);
// The four bytes of an IPv4 address as IPv6 maps them.
Address FromIpv4(uint32_t bytes);

struct AddressRange {
  Address base;
  int bits = 128;  // of the 128; 96 + n for an IPv4 /n
  bool operator==(const AddressRange&) const = default;
};
// "10.0.0.0/8", "fd00::/8", or an address alone. kInvalid also where bits
// behind the prefix are set.
Result<AddressRange> ParseRange(std::string_view text);
bool Contains(const AddressRange& range, const Address& address);

// Why an address is refused.
enum class AddressKind : uint8_t {
  kPublic,     // it is not
  kMetadata,   // of a cloud: before every other kind, and never excepted
  kLinkLocal,  // never excepted
  kLoopback,   // also 0.0.0.0 and ::, by which Linux connects to this machine
  kPrivate,    // RFC 1918, RFC 6598, unique local, site local
  kOwn,        // an interface of this machine has it
  kMulticast,  // and broadcast
  kReserved,   // documentation, benchmarks, "this network", future use
};
std::string_view Name(AddressKind kind);

// The kind of `address`, or of an IPv4 address that it embeds (mapped,
// translated
// ::ffff:0:0:0/96, compatible, NAT64 64:ff9b::/96 and 64:ff9b:1::/48 with every
// length of RFC 6052, 6to4, Teredo's server and client, ISATAP), whichever is
// worse: an earlier kind is, and kPublic is the best. IPv6 is public only
// inside 2000::/3 and 64:ff9b::/96. `own`: the addresses of this machine.
AddressKind KindOf(const Address& address, const std::vector<Address>& own);

// Whether one may connect: public, or of a kind that can be excepted and in
// one of `excepted`.
bool MayConnect(const Address& address, const std::vector<Address>& own,
                const std::vector<AddressRange>& excepted);

// The addresses of this machine's interfaces. kIo where the kernel does not
// tell: then nothing may be reached.
Result<std::vector<Address>> OwnAddresses();

}  // namespace gate::net
