#include "net/host_list.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/ascii.h"
#include "base/json_writer.h"
#include "net/address.h"

namespace gate::net {
namespace {

using std::string_view;

constexpr size_t kMaxNameBytes = 253, kMaxLabelBytes = 63;  // RFC 1035
// What a rule that allows means by no port.
constexpr std::array<uint16_t, 2> kUsualPorts = {80, 443};

std::unexpected<Error> Bad(std::string why) {
  return Fail(ErrorCode::kInvalid, std::move(why));
}

bool InName(char c) {
  return (c >= 'a' && c <= 'z') || IsDigit(c) || c == '-' || c == '_' ||
         c == '.';
}

// Whether readers take a name with this last label for a number.
bool IsNumber(string_view label) {
  if (label.starts_with("0x"))
    return std::ranges::all_of(label.substr(2),
                               [](char c) { return HexValue(c) >= 0; });
  return std::ranges::all_of(label, IsDigit);
}

// `name` in lower case and without the final dot.
Status CheckLabels(string_view name) {
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    const string_view label = name.substr(begin, end - begin);
    if (label.empty()) return Bad("the host has an empty label");
    if (label.size() > kMaxLabelBytes)
      return Bad("a label of the host is longer than 63 bytes");
    if (label.front() == '-' || label.back() == '-')
      return Bad("a label of the host begins or ends with `-`");
    begin = end + 1;
  }
  return {};
}

Result<std::string> ReadIpv6Host(string_view text) {
  if (text.find('%') != text.npos)
    return Bad("an IPv6 address with a zone is of this machine alone");
  const auto address = ParseAddress(text);
  if (!address || text.find(':') == text.npos)
    return Bad("the host is no IPv6 address");
  return Print(*address);
}

std::optional<uint16_t> ReadPort(string_view text) {
  if (text.empty() || text.size() > 5 || text[0] == '0') return std::nullopt;
  uint32_t port = 0;
  for (const char c : text) {
    if (!IsDigit(c)) return std::nullopt;
    port = port * 10 + static_cast<uint32_t>(c - '0');
  }
  if (port > UINT16_MAX) return std::nullopt;
  return static_cast<uint16_t>(port);
}

// Whether `host` can be what ReadHost returns, as far as Judge relies on it.
bool LooksNormal(string_view host) {
  if (host.empty() || host.front() == '.' || host.back() == '.' ||
      host.find("..") != host.npos)
    return false;
  return std::ranges::all_of(host,
                             [](char c) { return InName(c) || c == ':'; });
}

}  // namespace

Result<std::string> ReadHost(string_view text) {
  if (text.empty()) return Bad("no host is named");
  if (text.size() > kMaxNameBytes + 1)
    return Bad("the host is longer than 253 bytes");
  if (!IsAscii(text))
    return Bad(
        "the host has characters beyond ASCII: write the name as punycode "
        "(`xn--…`)");
  if (text.front() == '[') {
    if (text.back() != ']')
      return Bad("the bracket before the host stays open");
    return ReadIpv6Host(text.substr(1, text.size() - 2));
  }
  if (text.find(':') != text.npos) return ReadIpv6Host(text);

  std::string name = LowerAscii(text);
  if (!std::ranges::all_of(name, InName))
    return Bad("the host has a character that no name has");
  const bool dotted = name.back() == '.';
  if (dotted) name.pop_back();
  if (name.size() > kMaxNameBytes)
    return Bad("the host is longer than 253 bytes");
  GATE_CHECK(CheckLabels(name));
  if (IsNumber(string_view(name).substr(name.rfind('.') + 1))) {
    const auto address = ParseAddress(name);
    if (!address || dotted)
      return Bad(
          "an IPv4 address is four decimal numbers without leading zeros");
    return Print(*address);
  }
  return name;
}

Result<HostPort> ReadHostPort(string_view text) {
  if (text.find('@') != text.npos) return Bad("a user stands before the host");
  size_t colon = text.find(':');
  if (text.starts_with('[')) {
    const size_t close = text.find(']');
    if (close == text.npos)
      return Bad("the bracket before the host stays open");
    colon = close + 1 == text.size() ? text.npos : close + 1;
    if (colon != text.npos && text[colon] != ':')
      return Bad("something stands between the host and its port");
  } else if (colon != text.npos && text.find(':', colon + 1) != text.npos) {
    return Bad("an IPv6 address stands in brackets");
  }
  HostPort out;
  GATE_TRY(out.host, ReadHost(text.substr(0, colon)));
  if (colon == text.npos) return out;
  const auto port = ReadPort(text.substr(colon + 1));
  if (!port) return Bad("a port is a number from 1 to 65535");
  out.port = *port;
  return out;
}

std::string PrintHostPort(string_view host, uint16_t port) {
  const bool brackets = host.find(':') != host.npos;
  std::string out = brackets ? "[" : "";
  out += host;
  if (brackets) out += ']';
  if (port != 0) out += ':' + std::to_string(port);
  return out;
}

std::string AllowingMembers(string_view host, uint16_t port) {
  // A rule without a port is for these two.
  const bool usual = port == 443 || port == 80;
  JsonWriter rule;
  rule.String(PrintHostPort(host, usual ? uint16_t{0} : port));
  return "\"network\": \"domains\", \"hosts\": [" + rule.Take() + "]";
}

bool IsAddress(string_view host) { return ParseAddress(host).has_value(); }

Result<HostRule> ParseHostRule(string_view text) {
  if (text.size() > kMaxHostRuleBytes)
    return Bad("the rule is longer than 300 bytes");
  if (text.find("://") != text.npos)
    return Bad("a rule names a host and a port, and no scheme");
  if (text.find('/') != text.npos)
    return Bad("a rule names a host and a port, and no path");
  HostRule rule;
  rule.below = text.starts_with("*.");
  const string_view rest = text.substr(rule.below ? 2 : 0);
  if (rest.find('*') != rest.npos)
    return Bad("a wildcard stands only at the beginning: `*.example.org`");
  GATE_TRY(HostPort named, ReadHostPort(rest));
  rule.host = std::move(named.host);
  rule.port = named.port;
  if (rule.below && IsAddress(rule.host))
    return Bad("no wildcard stands before an address");
  if (rule.below && rule.host.find('.') == std::string::npos)
    return Bad("a wildcard before a top-level name is for too many hosts");
  return rule;
}

std::string Print(const HostRule& rule) {
  return (rule.below ? "*." : "") + PrintHostPort(rule.host, rule.port);
}

bool HostList::Ports::Has(uint16_t port) const {
  return port != 0 && (every || std::ranges::binary_search(some, port));
}

std::vector<const HostList::Ports*> HostList::Rules::Of(
    string_view host) const {
  std::vector<const Ports*> found;
  const auto look = [&found](const Table& table, string_view name) {
    if (const auto at = table.find(name); at != table.end())
      found.push_back(&at->second);
  };
  look(exact, host);
  if (below.empty() || IsAddress(host)) return found;
  for (size_t dot = host.find('.'); dot != host.npos;
       dot = host.find('.', dot + 1))
    look(below, host.substr(dot + 1));
  return found;
}

Result<HostList::Rules> HostList::Index(const std::vector<HostRule>& rules,
                                        bool allow) {
  if (rules.size() > kMaxHostRules)
    return Fail(ErrorCode::kTooLarge,
                "more than " + std::to_string(kMaxHostRules) + " hosts");
  Rules out;
  for (const HostRule& rule : rules) {
    const auto again = ParseHostRule(Print(rule));
    if (!again || *again != rule)
      return Bad("a rule for a host is not in its normal form");
    Ports& ports = (rule.below ? out.below : out.exact)[rule.host];
    if (rule.port != 0)
      ports.some.push_back(rule.port);
    else if (allow)
      ports.some.insert(ports.some.end(), kUsualPorts.begin(),
                        kUsualPorts.end());
    else
      ports.every = true;
  }
  for (Table* table : {&out.exact, &out.below}) {
    for (auto& [host, ports] : *table) std::ranges::sort(ports.some);
  }
  return out;
}

Result<HostList> HostList::Make(const std::vector<HostRule>& allow,
                                const std::vector<HostRule>& deny) {
  HostList list;
  GATE_TRY(list.allow_, Index(allow, true));
  GATE_TRY(list.deny_, Index(deny, false));
  return list;
}

HostVerdict HostList::Judge(string_view host, uint16_t port) const {
  if (!LooksNormal(host)) return HostVerdict::kNotListed;
  const auto names = [&](const Rules& rules) {
    return std::ranges::any_of(rules.Of(host), [port](const Ports* ports) {
      return ports->Has(port);
    });
  };
  if (names(deny_)) return HostVerdict::kDenied;
  return names(allow_) ? HostVerdict::kAllowed : HostVerdict::kNotListed;
}

bool HostList::MayReach(string_view host) const {
  if (!LooksNormal(host)) return false;
  const auto denied = deny_.Of(host);
  for (const Ports* ports : allow_.Of(host)) {
    for (const uint16_t port : ports->some) {
      if (std::ranges::none_of(
              denied, [port](const Ports* deny) { return deny->Has(port); }))
        return true;
    }
  }
  return false;
}

}  // namespace gate::net
