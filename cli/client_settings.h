// The clients' settings files of this person and this place.
#pragma once

#include <string>

#include "cli/process_facts.h"
#include "hooks/install.h"

namespace gate::cli {

// What puts this gate into the user's settings of `client`.
hooks::InstallOptions HookOptions(const ProcessFacts& facts,
                                  const std::string& client);

}  // namespace gate::cli
