#include "net/filter_policy.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/text.h"

namespace gate::net {
namespace {

using Numbers = std::pair<const char*, uint32_t FilterLimits::*>;
using LongNumbers = std::pair<const char*, uint64_t FilterLimits::*>;
using Texts = std::pair<const char*, std::string FilterPolicy::*>;
using Lists = std::pair<const char*, std::vector<std::string> FilterPolicy::*>;

constexpr std::array kNumbers = {
    Numbers("connections_at_once", &FilterLimits::connections_at_once),
    Numbers("connections_per_second", &FilterLimits::connections_per_second),
    Numbers("head_ms", &FilterLimits::head_ms),
    Numbers("resolve_ms", &FilterLimits::resolve_ms),
    Numbers("connect_ms", &FilterLimits::connect_ms),
    Numbers("idle_ms", &FilterLimits::idle_ms),
    Numbers("drain_ms", &FilterLimits::drain_ms),
};
constexpr std::array kLongNumbers = {
    LongNumbers("connections", &FilterLimits::connections),
    LongNumbers("bytes_out", &FilterLimits::bytes_out),
};
constexpr std::array kTexts = {
    Texts("upstream", &FilterPolicy::upstream),
    Texts("token", &FilterPolicy::token),
    Texts("resolver", &FilterPolicy::resolver),
};
constexpr std::array kLists = {
    Lists("allow", &FilterPolicy::allow),
    Lists("deny", &FilterPolicy::deny),
    Lists("excepted", &FilterPolicy::excepted),
};
constexpr size_t kMembers = kTexts.size() + kLists.size() + 2;
constexpr size_t kLimits = kNumbers.size() + kLongNumbers.size();
// What a number of JSON may be for every reader.
constexpr uint64_t kMaxNumber = uint64_t{1} << 53;

std::unexpected<Error> Wrong(std::string_view member) {
  return Fail(ErrorCode::kInvalid,
              "the policy's `" + std::string(member) + "` cannot be read");
}

Status ReadLimits(const Json& json, FilterLimits* limits) {
  if (!json.is_object() || json.size() != kLimits) return Wrong("limits");
  const auto number = [&](const char* name, uint64_t most, auto* value) {
    const auto at = json.find(name);
    if (at == json.end() || !at->is_number_unsigned() ||
        at->template get<uint64_t>() > most)
      return false;
    *value = at->template get<std::remove_pointer_t<decltype(value)>>();
    return true;
  };
  for (const auto& [name, member] : kNumbers)
    if (!number(name, UINT32_MAX, &(limits->*member))) return Wrong(name);
  for (const auto& [name, member] : kLongNumbers)
    if (!number(name, kMaxNumber, &(limits->*member))) return Wrong(name);
  return {};
}

std::optional<std::string> DecodePercent(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = HexValue(text[i + 1]), low = HexValue(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

Result<Upstream> ReadUpstream(std::string_view text) {
  const auto wrong = [] {
    // Not the text: it may hold a password.
    return Fail(ErrorCode::kInvalid,
                "the upstream proxy is not http://[USER:PASSWORD@]HOST:PORT");
  };
  constexpr std::string_view kScheme = "http://";
  if (!LowerAscii(text.substr(0, kScheme.size())).starts_with(kScheme))
    return wrong();
  text.remove_prefix(kScheme.size());
  if (text.ends_with('/')) text.remove_suffix(1);
  Upstream upstream;
  if (const size_t at = text.rfind('@'); at != text.npos) {
    const auto user = DecodePercent(text.substr(0, at));
    if (!user ||
        user->find_first_of(std::string_view("\0\r\n", 3)) != std::string::npos)
      return wrong();
    upstream.authorization = "Basic " + Base64(*user);
    text.remove_prefix(at + 1);
  }
  const Result<HostPort> place = ReadHostPort(text);
  if (!place || place->port == 0) return wrong();
  upstream.host = place->host;
  upstream.port = place->port;
  return upstream;
}

Result<std::vector<HostRule>> ReadRules(const std::vector<std::string>& texts) {
  std::vector<HostRule> rules;
  for (const std::string& text : texts) {
    GATE_TRY(HostRule rule, ParseHostRule(text));
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace

std::string WriteFilterPolicy(const FilterPolicy& policy) {
  JsonWriter json;
  json.BeginObject();
  for (const auto& [name, member] : kLists) {
    json.Key(name).BeginArray();
    for (const std::string& text : policy.*member) json.String(text);
    json.EndArray();
  }
  json.Flag("any_host", policy.any_host);
  for (const auto& [name, member] : kTexts) json.Field(name, policy.*member);
  json.Key("limits").BeginObject();
  for (const auto& [name, member] : kNumbers)
    json.Field(name, static_cast<int64_t>(policy.limits.*member));
  for (const auto& [name, member] : kLongNumbers)
    json.Field(name, static_cast<int64_t>(
                         std::min(policy.limits.*member, kMaxNumber)));
  json.EndObject().EndObject();
  return json.Take();
}

Result<FilterPolicy> ReadFilterPolicy(std::string_view text) {
  const auto json = ParseJson(text);
  if (!json) return Fail(ErrorCode::kInvalid, json.error().message);
  if (!json->is_object() || json->size() != kMembers) return Wrong("members");
  FilterPolicy policy;
  for (const auto& [name, member] : kTexts) {
    const auto at = json->find(name);
    if (at == json->end() || !at->is_string()) return Wrong(name);
    policy.*member = at->get<std::string>();
  }
  for (const auto& [name, member] : kLists) {
    const auto at = json->find(name);
    if (at == json->end() || !at->is_array()) return Wrong(name);
    for (const Json& one : *at) {
      if (!one.is_string()) return Wrong(name);
      (policy.*member).push_back(one.get<std::string>());
    }
  }
  const auto any = json->find("any_host");
  if (any == json->end() || !any->is_boolean()) return Wrong("any_host");
  policy.any_host = any->get<bool>();
  const auto limits = json->find("limits");
  if (limits == json->end()) return Wrong("limits");
  GATE_CHECK(ReadLimits(*limits, &policy.limits));
  return policy;
}

Result<Policy> CompilePolicy(const FilterPolicy& policy) {
  Policy compiled;
  GATE_TRY(const std::vector<HostRule> allow, ReadRules(policy.allow));
  GATE_TRY(const std::vector<HostRule> deny, ReadRules(policy.deny));
  compiled.denies = !deny.empty();
  GATE_TRY(compiled.hosts, HostList::Make(allow, deny));
  compiled.any_host = policy.any_host;
  for (const std::string& text : policy.excepted) {
    GATE_TRY(const AddressRange range, ParseRange(text));
    compiled.excepted.push_back(range);
  }
  if (!policy.upstream.empty()) {
    GATE_TRY(compiled.upstream, ReadUpstream(policy.upstream));
  }
  if (!policy.resolver.empty()) {
    const Result<HostPort> place = ReadHostPort(policy.resolver);
    const auto address = place ? ParseAddress(place->host) : std::nullopt;
    if (!address || place->port == 0)
      return Fail(ErrorCode::kInvalid, "the name server `" + policy.resolver +
                                           "` is no ADDRESS:PORT");
    compiled.resolver = Endpoint{*address, place->port};
  }
  compiled.token = policy.token;
  compiled.limits = policy.limits;
  if (compiled.limits.connections_at_once == 0)
    return Fail(ErrorCode::kInvalid, "no connection may be open at all");
  return compiled;
}

HostVerdict Policy::Judge(std::string_view host, uint16_t port) const {
  const HostVerdict verdict = hosts.Judge(host, port);
  return verdict == HostVerdict::kNotListed && any_host ? HostVerdict::kAllowed
                                                        : verdict;
}

bool Policy::MayReach(std::string_view host) const {
  if (!any_host) return hosts.MayReach(host);
  // A rule that denies one port leaves the others.
  return hosts.Judge(host, 443) != HostVerdict::kDenied ||
         hosts.Judge(host, 80) != HostVerdict::kDenied;
}

}  // namespace gate::net
