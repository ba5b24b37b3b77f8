#include "net/address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <memory>

#include "base/ascii.h"

namespace gate::net {
namespace {

using std::string_view;

constexpr int kMappedBits = 96;
constexpr AddressRange kMapped = {{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}},
                                  kMappedBits};

struct Ipv4Block {
  uint32_t base;
  int bits;
  AddressKind kind;
};
constexpr uint32_t Ipv4(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return a << 24 | b << 16 | c << 8 | d;
}
constexpr auto kIpv4Blocks = std::to_array<Ipv4Block>({
    // AWS, Azure, Google Cloud, Oracle and most others; then of containers in
    // ECS and EKS, Tencent, Scaleway.
    {Ipv4(169, 254, 169, 254), 32, AddressKind::kMetadata},
    {Ipv4(169, 254, 170, 2), 32, AddressKind::kMetadata},
    {Ipv4(169, 254, 170, 23), 32, AddressKind::kMetadata},
    {Ipv4(169, 254, 0, 23), 32, AddressKind::kMetadata},
    {Ipv4(169, 254, 42, 42), 32, AddressKind::kMetadata},
    // Azure's wire server, Alibaba, Volcengine, Oracle's classic cloud.
    {Ipv4(168, 63, 129, 16), 32, AddressKind::kMetadata},
    {Ipv4(100, 100, 100, 200), 32, AddressKind::kMetadata},
    {Ipv4(100, 96, 0, 96), 32, AddressKind::kMetadata},
    {Ipv4(192, 0, 0, 192), 32, AddressKind::kMetadata},
    {Ipv4(169, 254, 0, 0), 16, AddressKind::kLinkLocal},
    {Ipv4(127, 0, 0, 0), 8, AddressKind::kLoopback},
    {Ipv4(0, 0, 0, 0), 32, AddressKind::kLoopback},
    {Ipv4(10, 0, 0, 0), 8, AddressKind::kPrivate},
    {Ipv4(172, 16, 0, 0), 12, AddressKind::kPrivate},
    {Ipv4(192, 168, 0, 0), 16, AddressKind::kPrivate},
    {Ipv4(100, 64, 0, 0), 10, AddressKind::kPrivate},
    {Ipv4(224, 0, 0, 0), 4, AddressKind::kMulticast},
    {Ipv4(255, 255, 255, 255), 32, AddressKind::kMulticast},
    {Ipv4(0, 0, 0, 0), 8, AddressKind::kReserved},
    {Ipv4(192, 0, 0, 0), 24, AddressKind::kReserved},
    {Ipv4(192, 0, 2, 0), 24, AddressKind::kReserved},
    {Ipv4(192, 88, 99, 0), 24, AddressKind::kReserved},
    {Ipv4(198, 18, 0, 0), 15, AddressKind::kReserved},
    {Ipv4(198, 51, 100, 0), 24, AddressKind::kReserved},
    {Ipv4(203, 0, 113, 0), 24, AddressKind::kReserved},
    {Ipv4(240, 0, 0, 0), 4, AddressKind::kReserved},
});

struct Ipv6Block {
  std::array<uint16_t, 8> base;
  int bits;
  AddressKind kind;
};
// The first that holds an address tells its kind.
constexpr auto kIpv6Blocks = std::to_array<Ipv6Block>({
    // AWS, its containers, Google Cloud, Scaleway, Oracle, Akamai, OpenStack.
    {{0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254}, 128, AddressKind::kMetadata},
    {{0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0023}, 128, AddressKind::kMetadata},
    {{0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254}, 128, AddressKind::kMetadata},
    {{0xfd00, 0x0042, 0, 0, 0, 0, 0, 0x0042}, 128, AddressKind::kMetadata},
    {{0xfd00, 0x00c1, 0, 0, 0, 0, 0xa9fe, 0xa9fe}, 128, AddressKind::kMetadata},
    {{0xfd00, 0xa9fe, 0xa9fe, 0, 0, 0, 0, 1}, 128, AddressKind::kMetadata},
    {{0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe}, 128, AddressKind::kMetadata},
    {{0xfe80}, 10, AddressKind::kLinkLocal},
    {{0, 0, 0, 0, 0, 0, 0, 1}, 128, AddressKind::kLoopback},
    {{}, 128, AddressKind::kLoopback},
    {{0xfc00}, 7, AddressKind::kPrivate},
    {{0xfec0}, 10, AddressKind::kPrivate},  // site local, deprecated
    {{0xff00}, 8, AddressKind::kMulticast},
    // RFC 6052's prefix goes to what it embeds, which is judged beside it.
    {{0x0064, 0xff9b}, 96, AddressKind::kPublic},
    {{0x2001}, 23, AddressKind::kReserved},  // protocols', Teredo among them
    {{0x2001, 0x0db8}, 32, AddressKind::kReserved},
    {{0x3fff}, 20, AddressKind::kReserved},
    {{0x2000}, 3, AddressKind::kPublic},
    {{}, 0, AddressKind::kReserved},
});

bool SameBits(const uint8_t* a, const uint8_t* b, int bits) {
  const auto whole = static_cast<size_t>(bits / 8);
  if (std::memcmp(a, b, whole) != 0) return false;
  const int rest = bits % 8;
  return rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0;
}

AddressKind KindOfIpv4(uint32_t address) {
  for (const Ipv4Block& block : kIpv4Blocks) {
    if ((address ^ block.base) >> (32 - block.bits) == 0) return block.kind;
  }
  return AddressKind::kPublic;
}

AddressKind KindOfIpv6(const Address& address) {
  for (const Ipv6Block& block : kIpv6Blocks) {
    Address base;
    for (size_t i = 0; i < block.base.size(); ++i) {
      base.bytes[2 * i] = static_cast<uint8_t>(block.base[i] >> 8);
      base.bytes[2 * i + 1] = static_cast<uint8_t>(block.base[i] & 0xff);
    }
    if (Contains({base, block.bits}, address)) return block.kind;
  }
  return AddressKind::kReserved;
}

bool StartsWith(const Address& address, std::initializer_list<uint8_t> prefix) {
  return std::equal(prefix.begin(), prefix.end(), address.bytes.begin());
}

uint32_t BytesAt(const Address& address, std::array<size_t, 4> at) {
  uint32_t value = 0;
  for (const size_t i : at) value = value << 8 | address.bytes[i];
  return value;
}

// The IPv4 addresses to which a host or gateway may send what is for `address`.
std::vector<uint32_t> Embedded(const Address& address) {
  constexpr std::array<size_t, 4> kLast = {12, 13, 14, 15};
  std::vector<uint32_t> found;
  if (StartsWith(address, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})) {
    const uint32_t last = BytesAt(address, kLast);
    if (last > 1) found.push_back(last);  // not :: and ::1
  } else if (StartsWith(address, {0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0})) {
    found.push_back(BytesAt(address, kLast));  // RFC 2765
  } else if (StartsWith(address,
                        {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0})) {
    found.push_back(BytesAt(address, kLast));
  } else if (StartsWith(address, {0, 0x64, 0xff, 0x9b, 0, 1})) {
    // RFC 8215: whoever runs the translator chooses how long the prefix is, and
    // with it where the address stands (RFC 6052, section 2.2).
    for (const auto& at : std::to_array<std::array<size_t, 4>>(
             {{6, 7, 9, 10}, {7, 9, 10, 11}, {9, 10, 11, 12}, kLast}))
      found.push_back(BytesAt(address, at));
  } else if (StartsWith(address, {0x20, 0x02})) {
    found.push_back(BytesAt(address, {2, 3, 4, 5}));
  } else if (StartsWith(address, {0x20, 0x01, 0, 0})) {
    found.push_back(~BytesAt(address, kLast));
    found.push_back(BytesAt(address, {4, 5, 6, 7}));
  }
  // ISATAP: any prefix, then 0000:5efe or 0200:5efe.
  const uint32_t middle = BytesAt(address, {8, 9, 10, 11});
  if (middle == 0x00005efe || middle == 0x02005efe)
    found.push_back(BytesAt(address, kLast));
  return found;
}

AddressKind Worse(AddressKind a, AddressKind b) {
  if (a == AddressKind::kPublic) return b;
  if (b == AddressKind::kPublic) return a;
  return std::min(a, b);
}

}  // namespace

std::optional<Address> ParseAddress(string_view text) {
  char copy[INET6_ADDRSTRLEN] = {};
  if (text.size() >= sizeof copy || text.find('\0') != text.npos)
    return std::nullopt;
  text.copy(copy, text.size());
  if (text.find(':') != text.npos) {
    Address address;
    if (::inet_pton(AF_INET6, copy, address.bytes.data()) != 1)
      return std::nullopt;
    return address;
  }
  in_addr address{};
  if (::inet_pton(AF_INET, copy, &address) != 1) return std::nullopt;
  return FromIpv4(ntohl(address.s_addr));
}

std::string Print(const Address& address) {
  char text[INET6_ADDRSTRLEN] = {};
  const bool four = IsIpv4(address);
  ::inet_ntop(four ? AF_INET : AF_INET6, address.bytes.data() + (four ? 12 : 0),
              text, sizeof text);
  return text;
}

bool IsIpv4(const Address& address) { return Contains(kMapped, address); }

Address FromIpv4(uint32_t bytes) {
  Address address = kMapped.base;
  for (size_t i = 0; i < 4; ++i)
    address.bytes[12 + i] = static_cast<uint8_t>(bytes >> (24 - 8 * i));
  return address;
}

Result<AddressRange> ParseRange(string_view text) {
  const size_t slash = text.find('/');
  const auto base = ParseAddress(text.substr(0, slash));
  if (!base) return Fail(ErrorCode::kInvalid, "not an address or a range");
  AddressRange range{*base, 128};
  if (slash == text.npos) return range;
  const string_view digits = text.substr(slash + 1);
  const int shortest = text.find(':') == text.npos ? kMappedBits : 0;
  int bits = 0;
  for (const char c : digits.substr(0, 4))
    bits = IsDigit(c) ? bits * 10 + (c - '0') : 1000;
  if (digits.empty() || (digits.size() > 1 && digits[0] == '0') ||
      bits > 128 - shortest)
    return Fail(ErrorCode::kInvalid, "the length of the prefix is not 0 to " +
                                         std::to_string(128 - shortest));
  range.bits = bits + shortest;
  for (int bit = range.bits; bit < 128; ++bit) {
    const auto at = static_cast<size_t>(bit / 8);
    if ((base->bytes[at] >> (7 - bit % 8) & 1) != 0)
      return Fail(ErrorCode::kInvalid, "bits are set behind the prefix");
  }
  return range;
}

bool Contains(const AddressRange& range, const Address& address) {
  return SameBits(range.base.bytes.data(), address.bytes.data(),
                  std::clamp(range.bits, 0, 128));
}

string_view Name(AddressKind kind) {
  switch (kind) {
    case AddressKind::kPublic:
      return "public";
    case AddressKind::kMetadata:
      return "metadata";
    case AddressKind::kLinkLocal:
      return "link-local";
    case AddressKind::kLoopback:
      return "loopback";
    case AddressKind::kPrivate:
      return "private";
    case AddressKind::kOwn:
      return "own";
    case AddressKind::kMulticast:
      return "multicast";
    case AddressKind::kReserved:
      return "reserved";
  }
  return "reserved";
}

AddressKind KindOf(const Address& address, const std::vector<Address>& own) {
  const auto kind = [&own](const Address& one) {
    const AddressKind by_block =
        IsIpv4(one) ? KindOfIpv4(BytesAt(one, {12, 13, 14, 15}))
                    : KindOfIpv6(one);
    return std::ranges::find(own, one) == own.end()
               ? by_block
               : Worse(by_block, AddressKind::kOwn);
  };
  AddressKind worst = kind(address);
  for (const uint32_t embedded : Embedded(address))
    worst = Worse(worst, kind(FromIpv4(embedded)));
  return worst;
}

bool MayConnect(const Address& address, const std::vector<Address>& own,
                const std::vector<AddressRange>& excepted) {
  switch (KindOf(address, own)) {
    case AddressKind::kPublic:
      return true;
    case AddressKind::kMetadata:
    case AddressKind::kLinkLocal:
      return false;
    default:
      return std::ranges::any_of(excepted, [&](const AddressRange& range) {
        return Contains(range, address);
      });
  }
}

Result<std::vector<Address>> OwnAddresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0)
    return FailErrno("cannot list the addresses of this machine");
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  std::vector<Address> own;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr) continue;
    if (each->ifa_addr->sa_family == AF_INET) {
      sockaddr_in in{};
      std::memcpy(&in, each->ifa_addr, sizeof in);
      own.push_back(FromIpv4(ntohl(in.sin_addr.s_addr)));
    } else if (each->ifa_addr->sa_family == AF_INET6) {
      sockaddr_in6 in{};
      std::memcpy(&in, each->ifa_addr, sizeof in);
      Address address;
      std::memcpy(address.bytes.data(), &in.sin6_addr, address.bytes.size());
      own.push_back(address);
    }
  }
  return own;
}

}  // namespace gate::net
