// The keys that the person's configuration of git signs with.
#pragma once

#include <string>
#include <vector>

#include "credentials/signing_agent.h"
#include "credentials/signing_config.h"
#include "facts/process_facts.h"

namespace gate::app {

inline constexpr const char* kSignedByPerson =
    "let the person commit, in a terminal of their own; do not switch signing "
    "off";

// Fills in the keys and the program of `grant`, for a line that signs, or why
// there is none. No key is one that `repository` alone names: contained
// commands write there. What gpg.format is in either decides which kind is
// lent; where both have one, both are.
void FindSigningKeys(const ProcessFacts& facts,
                     const std::vector<std::string>& writable,
                     const credentials::SigningConfig& person,
                     const credentials::SigningConfig& repository,
                     credentials::SigningGrant* grant);

}  // namespace gate::app
