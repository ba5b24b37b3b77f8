#include "services/named_ports.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/host.h"

namespace gate::services {
namespace {

using parser::Effect;
using parser::EffectKind;
using parser::Invocation;

// An address that leads to 127.0.0.1 or ::1 in a network of the run's own,
// too.
bool IsOwnLoopback(std::string_view host) {
  const std::string normal = NormaliseHost(host).normal;
  constexpr auto kAddresses =
      std::to_array<std::string_view>({"127.0.0.1", "::1", "0.0.0.0", "::"});
  return normal == "localhost" || normal.ends_with(".localhost") ||
         std::ranges::find(kAddresses, normal) != kAddresses.end();
}

// The value that `word` begins for one of `options`; `next` is the word behind
// it. Bundles count, as `-hlocalhost` and `-p5433` do.
std::optional<std::string> ValueOf(const std::vector<std::string>& options,
                                   const parser::Argument& word,
                                   const parser::Argument* next) {
  if (!word.known) return std::nullopt;
  for (const std::string& option : options) {
    if (word.text == option) {
      if (next == nullptr || !next->known) return std::nullopt;
      return next->text;
    }
    if (!word.text.starts_with(option)) continue;
    if (!option.starts_with("--")) return word.text.substr(option.size());
    if (word.text[option.size()] == '=')
      return word.text.substr(option.size() + 1);
  }
  return std::nullopt;
}

// What the last of `options` says.
std::optional<std::string> OptionOf(const Invocation& invocation,
                                    const std::vector<std::string>& options) {
  std::optional<std::string> found;
  const auto& words = invocation.argv;
  for (size_t i = 1; i < words.size(); ++i)
    if (auto value = ValueOf(options, words[i],
                             i + 1 < words.size() ? &words[i + 1] : nullptr))
      found = std::move(value);
  return found;
}

// The value of a variable that the line sets; null where it sets none, or one
// that is not known.
const std::string* VariableOf(const Invocation& invocation,
                              std::string_view name) {
  const std::string* found = nullptr;
  for (const parser::EnvironmentSetting& setting : invocation.environment)
    if (!name.empty() && setting.name == name)
      found = setting.value.known ? &setting.value.text : nullptr;
  return found;
}

// The word behind the first that is this machine: nc localhost 5432.
uint16_t PortBehindHost(const Invocation& invocation) {
  for (size_t i = 1; i + 1 < invocation.argv.size(); ++i) {
    const parser::Argument &host = invocation.argv[i],
                           &port = invocation.argv[i + 1];
    if (host.known && port.known && IsOwnLoopback(host.text))
      return PortOf(port.text);
  }
  return 0;
}

class Finder {
 public:
  Finder(const parser::Analysis& analysis, const PortFacts& facts)
      : analysis_(analysis), facts_(facts) {}

  std::vector<uint16_t> Find() {
    // What the line listens on, it asks.
    if (std::ranges::any_of(analysis_.effects, &Effect::listens)) return {};
    for (const Effect& effect : analysis_.effects)
      if (effect.kind == EffectKind::kNetwork && IsOwnLoopback(effect.host))
        OfEffect(effect);
    for (uint32_t i = 0; i < analysis_.invocations.size(); ++i) {
      const Invocation& invocation = analysis_.invocations[i];
      if (invocation.guessed) continue;
      OfEnvironment(invocation);
      OfClient(i, invocation);
    }
    return std::move(ports_);
  }

 private:
  void Add(uint16_t port) {
    if (port != 0 && ports_.size() < kMaxNamedPorts &&
        std::ranges::find(ports_, port) == ports_.end())
      ports_.push_back(port);
  }

  uint16_t PortOfScheme(std::string_view scheme) const {
    // postgresql+psycopg2://, jdbc:mysql://
    scheme = scheme.substr(0, scheme.find('+'));
    if (const size_t colon = scheme.rfind(':'); colon != scheme.npos)
      scheme.remove_prefix(colon + 1);
    const auto found = facts_.schemes.find(scheme);
    return found == facts_.schemes.end() ? 0 : found->second;
  }

  const Client* ClientOf(const Invocation& invocation) const {
    const auto found = facts_.clients.find(invocation.program);
    return found == facts_.clients.end() ? nullptr : &found->second;
  }

  // What a client asks of a host without a port.
  uint16_t PortAsked(const Invocation& invocation, const Client& client) const {
    if (client.operand)
      if (const uint16_t port = PortBehindHost(invocation); port != 0)
        return port;
    if (const auto said = OptionOf(invocation, client.ports))
      return PortOf(*said);
    if (const std::string* said = VariableOf(invocation, client.port_variable))
      return PortOf(*said);
    return client.port;
  }

  void OfEffect(const Effect& effect) {
    if (effect.port > 0 && effect.port <= UINT16_MAX)
      return Add(static_cast<uint16_t>(effect.port));
    if (const uint16_t port = PortOfScheme(effect.scheme); port != 0)
      return Add(port);
    if (effect.invocation >= analysis_.invocations.size()) return;
    const Invocation& invocation = analysis_.invocations[effect.invocation];
    if (const Client* client = ClientOf(invocation))
      Add(PortAsked(invocation, *client));
  }

  // Whether a command names any host by its arguments.
  bool NamesHost(uint32_t number, const Invocation& invocation,
                 const Client& client) const {
    return OptionOf(invocation, client.hosts).has_value() ||
           std::ranges::any_of(analysis_.effects, [&](const Effect& effect) {
             return effect.kind == EffectKind::kNetwork &&
                    effect.invocation == number && !effect.scheme.empty();
           });
  }

  void OfClient(uint32_t number, const Invocation& invocation) {
    const Client* client = ClientOf(invocation);
    if (client == nullptr) return;
    if (const auto host = OptionOf(invocation, client->hosts)) {
      // Of one that is not read as an address.
      if (IsOwnLoopback(*host)) Add(PortAsked(invocation, *client));
      return;
    }
    if (NamesHost(number, invocation, *client)) return;
    const std::string* host = VariableOf(invocation, client->host_variable);
    if (host != nullptr ? IsOwnLoopback(*host) : client->local)
      Add(PortAsked(invocation, *client));
  }

  // URLs, and pairs of NAME_HOST and NAME_PORT.
  void OfEnvironment(const Invocation& invocation) {
    const Client* client = ClientOf(invocation);
    for (const parser::EnvironmentSetting& setting : invocation.environment) {
      if (!setting.value.known) continue;
      const std::string& value = setting.value.text;
      if (value.find("://") != value.npos) {
        const UrlHost url = HostsOfUrl(value).front();
        if (IsOwnLoopback(url.host))
          Add(url.port > 0 && url.port <= UINT16_MAX
                  ? static_cast<uint16_t>(url.port)
                  : PortOfScheme(value.substr(0, value.find("://"))));
        continue;
      }
      constexpr std::string_view kHost = "HOST";
      if (!setting.name.ends_with(kHost) ||
          (client != nullptr && client->host_variable == setting.name) ||
          !IsOwnLoopback(value))
        continue;
      const std::string stem =
          setting.name.substr(0, setting.name.size() - kHost.size());
      if (const std::string* port = VariableOf(invocation, stem + "PORT"))
        Add(PortOf(*port));
      else
        Add(DefaultOf(setting.name));
    }
  }

  // PGHOST without PGPORT, of a program that is none of its clients.
  uint16_t DefaultOf(std::string_view host_variable) const {
    for (const auto& [name, client] : facts_.clients)
      if (client.host_variable == host_variable) return client.port;
    return 0;
  }

  const parser::Analysis& analysis_;
  const PortFacts& facts_;
  std::vector<uint16_t> ports_;
};

}  // namespace

bool MayNamePorts(const parser::Analysis& analysis) {
  return std::ranges::any_of(analysis.effects,
                             [](const Effect& effect) {
                               return effect.kind == EffectKind::kNetwork;
                             }) ||
         std::ranges::any_of(analysis.invocations,
                             [](const Invocation& invocation) {
                               return !invocation.environment.empty() ||
                                      IsNamedInFacts(invocation.program);
                             });
}

std::vector<uint16_t> NamedPorts(const parser::Analysis& analysis,
                                 const PortFacts& facts) {
  return Finder(analysis, facts).Find();
}

}  // namespace gate::services
