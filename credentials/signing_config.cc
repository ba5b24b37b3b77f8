#include "credentials/signing_config.h"

#include <algorithm>

namespace gate::credentials {
namespace {

std::string Lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return text;
}

// git's booleans; what is none of them makes git stop.
bool IsTrue(const GitEntry& entry) {
  const std::string value = Lower(entry.value);
  return entry.boolean || (!value.empty() && value != "false" &&
                           value != "no" && value != "off" && value != "0");
}

}  // namespace

void AddSigning(const std::vector<GitEntry>& entries, SigningConfig* config) {
  for (const GitEntry& entry : entries) {
    if (entry.key == "commit.gpgsign") {
      config->commits = IsTrue(entry);
    } else if (entry.key == "tag.gpgsign" ||
               entry.key == "tag.forcesignannotated") {
      config->tags |= IsTrue(entry);
    } else if (entry.key == "gpg.format") {
      (entry.value == "ssh"       ? config->ssh
       : entry.value == "openpgp" ? config->openpgp
                                  : config->x509) = true;
    } else if (entry.key == "gpg.ssh.program") {
      config->program = entry.value;
    } else if (entry.key == "gpg.program" ||
               entry.key == "gpg.openpgp.program") {
      config->gpg_program = entry.value;
    } else if (entry.key == "user.name") {
      config->name = entry.value;
    } else if (entry.key == "user.email") {
      config->mail = entry.value;
    } else if (entry.key == "user.signingkey" && !entry.value.empty() &&
               config->keys.size() < kMaxSigningKeys &&
               std::ranges::find(config->keys, entry.value) ==
                   config->keys.end()) {
      config->keys.push_back(entry.value);
    }
  }
}

std::string_view LiteralKey(std::string_view value) {
  constexpr std::string_view kPrefix = "key::";
  if (value.starts_with(kPrefix)) return value.substr(kPrefix.size());
  return value.starts_with("ssh-") ? value : std::string_view();
}

}  // namespace gate::credentials
