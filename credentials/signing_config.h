// What a configuration of git says of signing (git-config(1): commit.gpgSign,
// tag.gpgSign, gpg.format, gpg.program, user.signingKey).
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
  // What gpg.format is, all that stand there; none: openpgp.
  bool ssh = false, openpgp = false, x509 = false;
  // user.signingKey, as they stand; of one that is included under a condition,
  // too.
  std::vector<std::string> keys;
  std::string program;      // gpg.ssh.program, the last
  std::string gpg_program;  // gpg.program or gpg.openpgp.program, the last
  std::string name, mail;   // user.name, user.email
};

// Adds what `entries` say, later ones over earlier ones but for the lists.
void AddSigning(const std::vector<GitEntry>& entries, SigningConfig* config);

// The public key that `value` of user.signingKey is itself ("key::…",
// "ssh-ed25519 AAAA…"); empty where it names a file or a key of gpg's.
std::string_view LiteralKey(std::string_view value);

}  // namespace gate::credentials
