// The program that git inside a sandbox starts in the place of gpg: gate
// itself, which asks the signing agent outside (credentials/signing_agent.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gate::credentials {

// Where the person's public keyrings are inside, if they are: this, and a name.
inline constexpr const char* kPublicKeyrings = "/run/gate-";
// Their names, and those in gpg's own directory outside: keys that the person
// has of others, and whom they trust (gpg(1), FILES).
inline constexpr const char* kPublicKeyringFiles[] = {
    "pubring.kbx", "pubring.gpg", "trustdb.gpg"};

// Whether git starts gate as gpg: `first`, its first argument, is one that gate
// does not have. The same for git 2.10 and later (gpg-interface.c).
bool IsGpgCall(std::string_view first);

// A signature comes from outside; what is checked, is checked by gpg here, with
// the public keyrings in a directory of its own that is removed afterwards.
// Returns gpg's exit code; 2, as gpg does, with a line on stderr, where there
// is no agent or it refuses.
int RunGitGpg(const std::vector<std::string>& words);

}  // namespace gate::credentials
