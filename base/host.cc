#include "base/host.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/ascii.h"

namespace gate {
namespace {

using std::string_view;
using AddressBytes = std::array<uint8_t, 16>;

constexpr size_t kMaxAlso = 4;

// Once, as URL parsers do. What is no %XX stays.
std::string PercentDecoded(string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = HexValue(text[i + 1]), low = HexValue(text[i + 2]);
      if (high >= 0 && low >= 0) {
        out += static_cast<char>(high * 16 + low);
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

// The character at `*at`, which goes on; a byte that is no UTF-8 is itself.
char32_t NextCharacter(string_view text, size_t* at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(*at);
  const size_t more = first >= 0xf0   ? 3
                      : first >= 0xe0 ? 2
                      : first >= 0xc2 ? 1
                                      : 0;
  if (more == 0 || *at + more >= text.size()) {
    ++*at;
    return first;
  }
  char32_t value = first & (0x3fU >> more);
  for (size_t i = 1; i <= more; ++i) {
    if ((byte(*at + i) & 0xc0) != 0x80) {
      ++*at;
      return first;
    }
    value = value << 6 | (byte(*at + i) & 0x3fU);
  }
  *at += more + 1;
  return value;
}

// Runs of characters that IDNA maps to ASCII (UTS 46, NFKC): those from
// `begin` to `end` become `first` and what follows it, `step` characters each.
struct Run {
  char32_t begin, end;
  char first;
};
constexpr auto kRuns = std::to_array<Run>({
    {0x2070, 0x2070, '0'},
    {0x00b9, 0x00b9, '1'},
    {0x00b2, 0x00b3, '2'},
    {0x2074, 0x2079, '4'},
    {0x2080, 0x2089, '0'},
    {0x2460, 0x2468, '1'},
    {0x24ea, 0x24ea, '0'},
    {0x24b6, 0x24cf, 'a'},
    {0x24d0, 0x24e9, 'a'},
    {0xff10, 0xff19, '0'},
    {0xff21, 0xff3a, 'a'},
    {0xff41, 0xff5a, 'a'},
    {0x1d7ce, 0x1d7d7, '0'},
    {0x1d7d8, 0x1d7e1, '0'},
    {0x1d7e2, 0x1d7eb, '0'},
    {0x1d7ec, 0x1d7f5, '0'},
    {0x1d7f6, 0x1d7ff, '0'},
    {0x1fbf0, 0x1fbf9, '0'},
    {0x212a, 0x212a, 'k'},
    {0x017f, 0x017f, 's'},
    {0x2071, 0x2071, 'i'},
    {0x207f, 0x207f, 'n'},
    {0x3002, 0x3002, '.'},
    {0xff0e, 0xff0e, '.'},
    {0xff61, 0xff61, '.'},
    {0xff0d, 0xff0d, '-'},
    {0xff1a, 0xff1a, ':'},
    {0xff3b, 0xff3b, '['},
    {0xff3d, 0xff3d, ']'},
    {0xff3f, 0xff3f, '_'},
    // Letter-like symbols and Roman numerals of one letter.
    {0x2102, 0x2102, 'c'},
    {0x210a, 0x210a, 'g'},
    {0x210b, 0x210d, 0},
    {0x210e, 0x210e, 'h'},
    {0x2110, 0x2111, 0},
    {0x2113, 0x2113, 'l'},
    {0x2115, 0x2115, 'n'},
    {0x2119, 0x211a, 'p'},
    {0x212f, 0x212f, 'e'},
    {0x2130, 0x2131, 'e'},
    {0x2133, 0x2133, 'm'},
    {0x2134, 0x2134, 'o'},
    {0x2139, 0x2139, 'i'},
    {0x2145, 0x2145, 'd'},
    {0x2146, 0x2147, 'd'},
    {0x2148, 0x2149, 'i'},
    {0x2160, 0x2160, 'i'},
    {0x2164, 0x2164, 'v'},
    {0x2169, 0x2169, 'x'},
    {0x216c, 0x216c, 'l'},
    {0x216d, 0x216e, 'c'},
    {0x216f, 0x216f, 'm'},
    {0x2170, 0x2170, 'i'},
    {0x2174, 0x2174, 'v'},
    {0x2179, 0x2179, 'x'},
    {0x217c, 0x217c, 'l'},
    {0x217d, 0x217e, 'c'},
    {0x217f, 0x217f, 'm'},
});

// Characters that IDNA leaves out.
bool IsIgnored(char32_t c) {
  return c == 0x00ad || c == 0x034f || (c >= 0x200b && c <= 0x200d) ||
         (c >= 0x180b && c <= 0x180f) || (c >= 0x2060 && c <= 0x2064) ||
         c == 0xfeff || (c >= 0xfe00 && c <= 0xfe0f) ||
         (c >= 0xe0100 && c <= 0xe01ef);
}

// ASCII for `c`; 0: it has none.
char Mapped(char32_t c) {
  // Thirteen alphabets of 52 mathematical letters; the gaps do not matter.
  if (c >= 0x1d400 && c <= 0x1d6a3)
    return static_cast<char>('a' + (c - 0x1d400) % 26);
  for (const Run& run : kRuns) {
    if (c < run.begin || c > run.end) continue;
    if (run.first == 0) return c >= 0x2110 ? 'i' : 'h';
    return static_cast<char>(run.first + static_cast<char>(c - run.begin));
  }
  return 0;
}

// As IDNA maps it, lower case, without blanks that parsers leave out.
std::string Mapped(string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const char32_t c = NextCharacter(text, &at);
    if (c < 0x80) {
      if (c != '\t' && c != '\n' && c != '\r')
        out += LowerAscii(static_cast<char>(c));
    } else if (const char plain = Mapped(c); plain != 0) {
      out += plain;
    } else if (!IsIgnored(c)) {
      out += text.substr(begin, at - begin);
    }
  }
  return out;
}

std::string Dotted(uint32_t address) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) {
    if (!out.empty()) out += '.';
    out += std::to_string(address >> shift & 0xffU);
  }
  return out;
}

// How a number of an address is read.
enum class Zeros { kOctal, kDecimal };

// Nothing: it is no number. Saturates far above every limit, modulo 2^32.
struct Number {
  uint32_t value = 0;
  bool large = false;
};
std::optional<Number> ReadNumber(string_view text, Zeros zeros) {
  unsigned base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);  // `0x` alone is 0 to URL parsers
  } else if (text.size() > 1 && text[0] == '0' && zeros == Zeros::kOctal) {
    base = 8;
  } else if (text.empty()) {
    return std::nullopt;
  }
  uint64_t value = 0;
  Number number;
  for (const char c : text) {
    const int digit = HexValue(c);
    if (digit < 0 || static_cast<unsigned>(digit) >= base) return std::nullopt;
    value = value * base + static_cast<unsigned>(digit);
    number.large |= value > UINT32_MAX;
    value &= UINT32_MAX;
  }
  number.value = static_cast<uint32_t>(value);
  return number;
}

// As inet_aton(3): one to four numbers of which the last fills what is left.
// `exact`: false when a number is too large for its place, and what is left of
// it is the address.
struct Address {
  uint32_t value = 0;
  bool exact = true;
};
std::optional<Address> ReadAddress(string_view text, Zeros zeros) {
  Address address;
  int parts = 0;
  while (true) {
    const size_t dot = text.find('.');
    const bool last = dot == string_view::npos;
    const auto number = ReadNumber(text.substr(0, dot), zeros);
    if (!number || ++parts > 4) return std::nullopt;
    address.exact &= !number->large;
    if (!last) {
      address.exact &= number->value <= 0xff;
      address.value |= (number->value & 0xff) << (32 - 8 * parts);
      text.remove_prefix(dot + 1);
      continue;
    }
    const uint32_t room =
        parts == 1 ? UINT32_MAX : (1U << (8 * (5 - parts))) - 1;
    address.exact &= number->value <= room;
    address.value |= number->value & room;
    return address;
  }
}

uint32_t At(const AddressBytes& bytes, size_t at) {
  return static_cast<uint32_t>(bytes[at]) << 24 |
         static_cast<uint32_t>(bytes[at + 1]) << 16 |
         static_cast<uint32_t>(bytes[at + 2]) << 8 | bytes[at + 3];
}

bool StartsWith(const AddressBytes& bytes,
                std::initializer_list<uint8_t> prefix) {
  return std::equal(prefix.begin(), prefix.end(), bytes.begin());
}

void AddAlso(uint32_t address, HostForms* forms) {
  // 127.0.0.0/8 and 0.0.0.0 stand for this machine.
  if (address >> 24 == 127 || address == 0 || forms->also.size() == kMaxAlso)
    return;
  std::string text = Dotted(address);
  if (text != forms->normal &&
      std::ranges::find(forms->also, text) == forms->also.end())
    forms->also.push_back(std::move(text));
}

// The IPv4 addresses that packets to it, or a gateway, go on to.
void AddEmbedded(const AddressBytes& bytes, HostForms* forms) {
  if (StartsWith(bytes, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})) {
    if (At(bytes, 12) > 1) AddAlso(At(bytes, 12), forms);  // not :: and ::1
  } else if (StartsWith(bytes, {0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0})) {
    AddAlso(At(bytes, 12), forms);  // SIIT, ::ffff:0:a.b.c.d
  } else if (StartsWith(bytes, {0, 0x64, 0xff, 0x9b})) {
    AddAlso(At(bytes, 12), forms);  // NAT64, RFC 6052 and RFC 8215
  } else if (StartsWith(bytes, {0x20, 0x02})) {
    AddAlso(At(bytes, 2), forms);  // 6to4
  } else if (StartsWith(bytes, {0x20, 0x01, 0, 0})) {
    AddAlso(~At(bytes, 12), forms);  // Teredo
    AddAlso(At(bytes, 4), forms);
  }
  if (bytes[8] % 2 == 0 && (bytes[8] & ~2) == 0 && bytes[9] == 0 &&
      bytes[10] == 0x5e && bytes[11] == 0xfe)
    AddAlso(At(bytes, 12), forms);  // ISATAP
}

bool ReadIpv6(const std::string& text, HostForms* forms) {
  AddressBytes bytes{};
  if (text.find(':') == std::string::npos ||
      ::inet_pton(AF_INET6, text.c_str(), bytes.data()) != 1)
    return false;
  forms->is_address = true;
  if (StartsWith(bytes, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff})) {
    forms->normal = Dotted(At(bytes, 12));
    return true;
  }
  char name[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET6, bytes.data(), name, sizeof name);
  forms->normal = name;
  AddEmbedded(bytes, forms);
  return true;
}

void RemoveFinalDots(std::string* text) {
  while (!text->empty() && text->back() == '.') text->pop_back();
}

// Those after which the URL standard takes any number of slashes.
constexpr std::array<string_view, 6> kSpecial = {"ftp",   "ftps", "http",
                                                 "https", "ws",   "wss"};

// `text` in lower case where it can be a scheme, else nothing.
std::string SchemeIn(string_view text) {
  std::string scheme;
  for (const char c : text) {
    const char lower = LowerAscii(c);
    if ((lower < 'a' || lower > 'z') && (lower < '0' || lower > '9') &&
        lower != '+' && lower != '-' && lower != '.')
      return "";
    scheme += lower;
  }
  return scheme;
}

UrlHost ReadAuthority(string_view authority, std::string scheme, bool whole) {
  UrlHost out;
  out.scheme = std::move(scheme);
  if (const size_t at = authority.rfind('@'); at != string_view::npos)
    authority.remove_prefix(at + 1);
  string_view port;
  if (authority.starts_with('[')) {
    const size_t close = std::min(authority.find(']'), authority.size());
    out.host = authority.substr(1, close - 1);
    if (close + 1 < authority.size() && authority[close + 1] == ':')
      port = authority.substr(close + 2);
  } else {
    const size_t colon = std::min(authority.find(':'), authority.size());
    // Two and more: an IPv6 address that nothing encloses.
    const bool bare = colon < authority.size() &&
                      authority.find(':', colon + 1) != string_view::npos &&
                      authority.find_first_not_of(
                          "0123456789abcdefABCDEF:.%") == string_view::npos;
    out.host = authority.substr(0, bare ? authority.size() : colon);
    if (!bare && colon < authority.size()) port = authority.substr(colon + 1);
  }
  if (!whole) return {out.scheme, "", 0};
  uint32_t number = 0;
  for (const char c : port.substr(0, 6)) {
    if (c < '0' || c > '9') break;
    number = number * 10 + static_cast<uint32_t>(c - '0');
  }
  out.port = number > 65535 ? 0 : static_cast<int>(number);
  return out;
}

}  // namespace

HostForms NormaliseHost(string_view text) {
  HostForms forms;
  if (text.empty() || text.size() > kMaxHostBytes) return forms;
  std::string name = Mapped(PercentDecoded(text));
  // What a parser decodes may hold another layer of the same for the next one.
  if (name.find('%') != std::string::npos && !name.starts_with('[') &&
      name.find(':') == std::string::npos)
    name = Mapped(PercentDecoded(name));
  if (name.starts_with('[')) {
    name.erase(0, 1);
    if (const size_t close = name.find(']'); close != std::string::npos)
      name.resize(close);
  }
  std::string bare = name.substr(0, name.find('%'));  // without the zone
  RemoveFinalDots(&bare);
  if (ReadIpv6(bare, &forms)) return forms;
  RemoveFinalDots(&name);
  const auto octal = ReadAddress(name, Zeros::kOctal);
  if (octal && octal->exact) {
    forms.normal = Dotted(octal->value);
    forms.is_address = true;
  } else {
    forms.normal = name;
    if (octal) AddAlso(octal->value, &forms);
  }
  if (const auto decimal = ReadAddress(name, Zeros::kDecimal))
    AddAlso(decimal->value, &forms);
  return forms;
}

bool IsLoopback(string_view normal) {
  const auto address = ReadAddress(normal, Zeros::kDecimal);
  if (address && address->exact && normal == Dotted(address->value))
    return address->value >> 24 == 127 || address->value == 0;
  return normal == "::1" || normal == "::" || normal == "localhost" ||
         normal.ends_with(".localhost");
}

std::vector<UrlHost> HostsOfUrl(string_view url, bool whole) {
  while (!url.empty() && static_cast<uint8_t>(url.front()) <= ' ')
    url.remove_prefix(1);
  const size_t colon = url.find(':');
  std::string scheme = SchemeIn(url.substr(0, colon));
  string_view rest = colon == string_view::npos ? "" : url.substr(colon + 1);
  const size_t slashes = std::min(rest.find_first_not_of("/\\"), rest.size());
  const bool special = std::ranges::find(kSpecial, scheme) != kSpecial.end();
  // `host:/path` is no URL.
  const bool named =
      !scheme.empty() && (rest.starts_with("//") || (special && slashes > 0));
  if (named) {
    rest.remove_prefix(special ? slashes : 2);
  } else {
    scheme.clear();
    rest = url.substr(url.starts_with("//") ? 2 : 0);
  }
  const auto read = [whole](string_view from, const std::string& by,
                            string_view ends) {
    const size_t end = from.find_first_of(ends);
    return ReadAuthority(from.substr(0, end), by,
                         whole || end != string_view::npos);
  };
  std::vector<UrlHost> hosts = {read(rest, scheme, "/?#")};
  if (special) {
    UrlHost other = read(named ? rest : url.substr(colon + 1),
                         SchemeIn(url.substr(0, colon)), "/?#\\");
    if (other.host != hosts[0].host) hosts.push_back(std::move(other));
  }
  return hosts;
}

}  // namespace gate
