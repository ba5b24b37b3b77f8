// Which hosts a contained command may reach, by name and port, and the one form
// in which hosts are compared.
//
// A rule is HOST, HOST:PORT, *.HOST or *.HOST:PORT. `*.example.org` is every
// name below example.org, at any depth, and not example.org itself. A rule that
// allows and names no port means 443 and 80; one that denies means every port.
// An address is a rule too (`192.0.2.7:8443`, `[2001:db8::1]:443`), without a
// wildcard. What denies wins, in whichever order the rules stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace gate::net {

// Rules of one list, and bytes of one.
inline constexpr size_t kMaxHostRules = 1024;
inline constexpr size_t kMaxHostRuleBytes = 300;

struct HostRule {
  std::string host;    // in normal form, without `*.`
  bool below = false;  // `*.` stood before it
  uint16_t port = 0;   // 0: none is named
  bool operator==(const HostRule&) const = default;
};

// kInvalid with what is wrong: an empty label, a wildcard elsewhere than at the
// beginning or before an address or a top-level name (`*.com`), a port that is
// none, a scheme, a user, a path, an IPv6 address without brackets, and what
// ReadHost refuses.
Result<HostRule> ParseHostRule(std::string_view text);
std::string Print(const HostRule& rule);

// A host as a client's request, a DNS question or a certificate names it, in
// normal form: lower case, without the final dot, an address as inet_ntop(3)
// writes it, without brackets; one that IPv6 maps (::ffff:192.0.2.7) is the
// IPv4 address. A name has letters, digits, `-` and `_`. kInvalid for what two
// readers may take for different hosts: every other character (NUL, controls,
// blanks, `%`, `@`, `\`, `/`), an empty label, a label of more than 63 bytes or
// that begins or ends with `-`, a name of more than 253, a zone of an IPv6
// address, every spelling of an IPv4 address but four decimal numbers without
// leading zeros and without a final dot, a last label that makes the name a
// number to some (digits only, or hexadecimal; RFC 6943, section 3.1.1). A name
// beyond ASCII is refused too: how it is mapped differs between readers (IDNA
// 2003, 2008, UTS 46), so it is to be written as punycode (`xn--…`). Pure and
// linear.
Result<std::string> ReadHost(std::string_view text);

// HOST, HOST:PORT, [IPV6] or [IPV6]:PORT: what a URL's authority without a
// user, a Host field and the target of CONNECT are. A port is 1 to 65535 in
// decimal without leading zeros. kInvalid for everything else, as ReadHost.
struct HostPort {
  std::string host;
  uint16_t port = 0;  // 0: none is named
  bool operator==(const HostPort&) const = default;
};
Result<HostPort> ReadHostPort(std::string_view text);
// Its opposite. An IPv6 address is in brackets.
std::string PrintHostPort(std::string_view host, uint16_t port);

// The members of a rule that lets a command reach this host and port and no
// more, for people: `"network": "domains", "hosts": ["HOST"]`.
std::string AllowingMembers(std::string_view host, uint16_t port);

// Whether what ReadHost returned is an address.
bool IsAddress(std::string_view host);

enum class HostVerdict : uint8_t {
  kNotListed,  // the default
  kDenied,
  kAllowed,
};

class HostList {
 public:
  HostList() = default;  // allows nothing
  // kTooLarge beyond kMaxHostRules in either list, kInvalid for a rule that
  // ParseHostRule does not make.
  static Result<HostList> Make(const std::vector<HostRule>& allow,
                               const std::vector<HostRule>& deny);
  // `host` as ReadHost returns it; any other text, and port 0, is kNotListed. A
  // hash look-up per label.
  HostVerdict Judge(std::string_view host, uint16_t port) const;
  // Whether Judge may be kAllowed for some port: what DNS answers for.
  bool MayReach(std::string_view host) const;

 private:
  struct Ports {
    bool every = false;
    std::vector<uint16_t> some;  // sorted
    bool Has(uint16_t port) const;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  using Table = std::unordered_map<std::string, Ports, Hash, std::equal_to<>>;
  struct Rules {
    Table exact, below;
    // What `host` falls under.
    std::vector<const Ports*> Of(std::string_view host) const;
  };
  static Result<Rules> Index(const std::vector<HostRule>& rules, bool allow);

  Rules allow_, deny_;
};

}  // namespace gate::net
