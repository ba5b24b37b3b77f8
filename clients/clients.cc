#include "clients/clients.h"

#include <algorithm>

#include "clients/table.h"

namespace gate::clients {

std::span<const Capabilities> AllCapabilities() { return kCapabilities; }

const Capabilities* CapabilitiesOf(std::string_view client) {
  const auto found =
      std::ranges::find(kCapabilities, client, &Capabilities::client);
  return found == kCapabilities.end() ? nullptr : &*found;
}

std::span<const Directory> Directories() { return kDirectories; }

std::optional<size_t> DirectoryOf(std::string_view client) {
  for (size_t i = 0; i < kDirectories.size(); ++i)
    if (kDirectories[i].client == client) return i;
  return std::nullopt;
}

std::span<const std::string_view> All(Names use) {
  return kNames[static_cast<size_t>(use)];
}

bool Contains(Names use, std::string_view name) {
  return std::ranges::find(All(use), name) != All(use).end();
}

}  // namespace gate::clients
