#include "services/published.h"

#include <algorithm>

#include "base/paths.h"

namespace gate::services {
namespace {

// More containers than these are not understood.
constexpr size_t kMaxContainers = 1000;
constexpr size_t kMaxPortsOfContainer = 1000;

bool IsHexIdentity(const std::string& text) {
  return text.size() == 64 &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// An address by which 127.0.0.1 or ::1 reaches the port.
bool IsHere(const std::string& address) {
  return address.empty() || address == "0.0.0.0" || address == "::" ||
         address == "127.0.0.1" || address == "::1";
}

bool IsProxy(const Listener& listener, const PortFacts& facts) {
  return listener.process &&
         std::ranges::find(facts.proxies,
                           std::string(BaseName(listener.process->program))) !=
             facts.proxies.end();
}

}  // namespace

Result<std::vector<PublishedPort>> ParsePublished(const Json& answer) {
  const auto wrong = [] {
    return Fail(ErrorCode::kInvalid, "the engine's answer is not understood");
  };
  if (!answer.is_array() || answer.size() > kMaxContainers) return wrong();
  std::vector<PublishedPort> published;
  for (const Json& container : answer) {
    if (!container.is_object() || !container.contains("Id") ||
        !container["Id"].is_string() ||
        !IsHexIdentity(container["Id"].get<std::string>()))
      return wrong();
    PublishedPort one;
    one.container = container["Id"].get<std::string>();
    one.name = one.container.substr(0, 12);
    if (const auto names = container.find("Names");
        names != container.end() && names->is_array() && !names->empty() &&
        names->front().is_string()) {
      one.name = names->front().get<std::string>();
      if (one.name.starts_with('/')) one.name.erase(0, 1);
    }
    const auto ports = container.find("Ports");
    if (ports == container.end() || ports->is_null()) continue;
    if (!ports->is_array() || ports->size() > kMaxPortsOfContainer)
      return wrong();
    for (const Json& port : *ports) {
      if (!port.is_object()) return wrong();
      const auto number = port.find("PublicPort");
      if (number == port.end()) continue;  // exposed, not published
      if (!number->is_number_unsigned() ||
          number->get<uint64_t>() > UINT16_MAX || !port.contains("Type") ||
          !port["Type"].is_string())
        return wrong();
      if (port["Type"] != "tcp" || *number == 0u) continue;
      one.port = number->get<uint16_t>();
      const auto inner = port.find("PrivatePort");
      one.inner = inner != port.end() && inner->is_number_unsigned() &&
                          inner->get<uint64_t>() <= UINT16_MAX
                      ? inner->get<uint16_t>()
                      : uint16_t{0};
      const auto address = port.find("IP");
      if (address != port.end() && !address->is_string()) return wrong();
      one.address = address == port.end() ? "" : address->get<std::string>();
      if (IsHere(one.address)) published.push_back(one);
    }
  }
  return published;
}

bool MayBePublished(const Listener& listener, const PortFacts& facts) {
  return listener.process ? IsProxy(listener, facts) : listener.socket.uid == 0;
}

const PublishedPort* PublishedBy(const Listener& listener,
                                 const std::vector<PublishedPort>& published,
                                 const PortFacts& facts) {
  // Who else than the engine's proxy is seen to listen is no container. Of
  // root's programs it is not seen: no other can have the same address.
  if (!MayBePublished(listener, facts)) return nullptr;
  for (const PublishedPort& one : published)
    if (one.port == listener.socket.port &&
        (IsProxy(listener, facts) || one.address == listener.socket.address))
      return &one;
  return nullptr;
}

}  // namespace gate::services
