// The clients' settings files of this person and this place.
#pragma once

#include <string>
#include <vector>

#include "facts/process_facts.h"
#include "hooks/install.h"

namespace gate::app {

// What puts this gate into the user's settings of `client`.
hooks::InstallOptions HookOptions(const ProcessFacts& facts,
                                  const std::string& client);

// Why `client`, whose settings may turn hooks off, runs none in one of the
// `directories` where it may be started, by the settings there and the user's;
// empty when they do not say so. What a managed policy says is not looked at.
std::string WhyNoHookRuns(const ProcessFacts& facts, const std::string& client,
                          const std::vector<std::string>& directories);

}  // namespace gate::app
