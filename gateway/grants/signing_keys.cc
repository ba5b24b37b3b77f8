#include "gateway/grants/signing_keys.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/paths.h"
#include "git/person_entries.h"

namespace gate::app {
namespace {

using credentials::SigningConfig;
using credentials::SigningGrant;
using credentials::SigningKey;

constexpr std::string_view kPublicEnd = ".pub";

class KeyFinder {
 public:
  KeyFinder(const ProcessFacts& facts, const std::vector<std::string>& writable)
      : facts_(facts), writable_(writable) {}

  // The key that `value` of the person's user.signingKey means to ssh-keygen.
  // Else why there is none; empty where it is a key of gpg's.
  std::optional<SigningKey> Find(const std::string& value, std::string* why) {
    if (const auto literal = credentials::LiteralKey(value); !literal.empty()) {
      auto key = credentials::ParsePublicKey(literal);
      if (!key) *why = "user.signingKey is no public key that can sign";
      if (!key) return std::nullopt;
      return SigningKey{std::move(*key), ""};
    }
    std::string path = value;
    if (path.starts_with("~/")) path = facts_.home + path.substr(1);
    if (!path.starts_with('/')) return std::nullopt;
    const std::string secret =
        path.ends_with(kPublicEnd)
            ? path.substr(0, path.size() - kPublicEnd.size())
            : path;
    for (const std::string& file : {secret + std::string(kPublicEnd), path}) {
      if (!IsPersonsPlace(facts_, file, writable_)) continue;
      const auto text = ReadFile(file, credentials::kMaxAgentRequest);
      auto key = text ? credentials::ParsePublicKey(*text) : std::nullopt;
      if (!key) continue;
      SigningKey found{std::move(*key), ""};
      if (secret != file && IsPersonsPlace(facts_, secret, writable_))
        found.file = RealPath(secret);
      return found;
    }
    *why = "there is no public key in " + value + std::string(" or ") + value +
           std::string(kPublicEnd) + " where contained commands cannot write";
    return std::nullopt;
  }

 private:
  const ProcessFacts& facts_;
  const std::vector<std::string>& writable_;
};

// The keys of gpg's: those that the person names, else the one of their name,
// as git asks gpg for it. Empty, or why there is none.
std::string AddOpenPgpKeys(const SigningConfig& person, SigningGrant* grant) {
  const std::string program =
      person.gpg_program.empty() ? "gpg" : person.gpg_program;
  const std::string_view name = BaseName(program);
  if (name != "gpg" && name != "gpg2")
    return "the key that signs commits, which gpg.program (" + program +
           ") reaches by itself";
  grant->gpg_program = program;
  const auto add = [&](const std::string& value) {
    SigningKey key;
    key.openpgp = value;
    grant->keys.push_back(std::move(key));
  };
  for (const std::string& value : person.keys)
    if (!value.starts_with('/') && !value.starts_with('~') &&
        credentials::LiteralKey(value).empty())
      add(value);
  if (person.keys.empty() && !person.name.empty() && !person.mail.empty())
    add(person.name + " <" + person.mail + ">");
  return "";
}

std::string AddSshKeys(const ProcessFacts& facts,
                       const std::vector<std::string>& writable,
                       const SigningConfig& person, SigningGrant* grant) {
  if (!person.program.empty() && BaseName(person.program) != "ssh-keygen")
    return "the key that signs commits, which gpg.ssh.program (" +
           person.program + ") reaches by itself";
  KeyFinder finder(facts, writable);
  std::string why;
  for (const std::string& value : person.keys) {
    auto key = finder.Find(value, &why);
    if (key && std::ranges::none_of(grant->keys, [&](const SigningKey& each) {
          return each.key.blob == key->key.blob;
        }))
      grant->keys.push_back(std::move(*key));
  }
  return why.empty() ? why : "the key that signs commits (" + why + ")";
}

}  // namespace

void FindSigningKeys(const ProcessFacts& facts,
                     const std::vector<std::string>& writable,
                     const SigningConfig& person,
                     const SigningConfig& repository, SigningGrant* grant) {
  grant->instead = kSignedByPerson;
  const bool ssh = person.ssh || repository.ssh;
  const bool x509 = person.x509 || repository.x509;
  const bool openpgp = person.openpgp || repository.openpgp || (!ssh && !x509);
  std::string why;
  if (ssh) why = AddSshKeys(facts, writable, person, grant);
  if (openpgp && why.empty()) why = AddOpenPgpKeys(person, grant);
  if (x509 && !ssh && !openpgp) {
    grant->withheld =
        "the certificate that signs commits (with gpg.format ssh or openpgp "
        "they are signed from a sandbox)";
    return;
  }
  const bool own =
      std::ranges::any_of(repository.keys, [&](const std::string& value) {
        return std::ranges::find(person.keys, value) == person.keys.end();
      });
  if (own) {
    grant->withheld =
        "the key that the repository's own configuration names, which "
        "contained commands can change";
    grant->instead =
        "let the person name it in theirs: git config --global "
        "user.signingKey KEY; do not switch signing off";
  } else if (grant->keys.empty()) {
    grant->withheld =
        why.empty() ? "the key that signs commits (the person's configuration "
                      "of git names none)"
                    : why;
    // A program that reaches the key by itself does not change by a key.
    if (why.find(" reaches by itself") == why.npos)
      grant->instead =
          "let the person run: git config --global user.signingKey KEY" +
          std::string(ssh ? ".pub" : "") + "; do not switch signing off";
  }
}

}  // namespace gate::app
