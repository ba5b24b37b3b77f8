// What a configuration of git says of signing (git-config(1): commit.gpgSign,
// tag.gpgSign, gpg.format, gpg.ssh.program, user.signingKey).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "git/config.h"

namespace gate::credentials {

// More keys of one configuration are not lent. A person has one, and some by
// `includeIf`.
inline constexpr size_t kMaxSigningKeys = 16;

struct SigningConfig {
  bool commits = false;  // commit.gpgSign
  bool tags = false;     // tag.gpgSign, tag.forceSignAnnotated
  bool ssh = false;      // a gpg.format is ssh
  bool other = false;    // a gpg.format is another
  // user.signingKey, as they stand; of one that is included under a condition,
  // too.
  std::vector<std::string> keys;
  std::string program;  // gpg.ssh.program, the last
};

// Adds what `entries` say, later ones over earlier ones but for the lists.
void AddSigning(const std::vector<GitEntry>& entries, SigningConfig* config);

// The public key that `value` of user.signingKey is itself ("key::…",
// "ssh-ed25519 AAAA…"); empty where it names a file or a key of gpg's.
std::string_view LiteralKey(std::string_view value);

}  // namespace gate::credentials
