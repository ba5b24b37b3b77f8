// What the build makes of rules.d/clients. Internal to clients/.
#pragma once

#include "clients/clients.h"

namespace gate::clients {

extern const std::span<const Capabilities> kCapabilities;
extern const std::span<const Directory> kDirectories;
extern const std::array<std::span<const std::string_view>, kNameUses> kNames;

}  // namespace gate::clients
