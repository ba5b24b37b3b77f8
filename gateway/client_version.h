// The version of a client that is in PATH.
#pragma once

#include <optional>
#include <string>

#include "hooks/capabilities.h"

namespace gate::app {

// What `CLIENT --version` prints; nothing when it does not, or not in time.
// Runs the client.
std::optional<hooks::Version> AskVersion(const std::string& client);

// What is wrong with a client of this version (docs/clients/); empty when
// nothing is, or the version is not known.
std::string WhyTooOld(const std::string& client,
                      const std::optional<hooks::Version>& version);

}  // namespace gate::app
