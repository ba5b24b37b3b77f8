#include "gateway/grants/signing.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "credentials/signing_config.h"
#include "gateway/grants/lending.h"
#include "gateway/line.h"
#include "gateway/programs/names.h"
#include "git/config.h"
#include "git/person_entries.h"

namespace gate::app {
namespace {

using credentials::SigningConfig;
using credentials::SigningGrant;
using credentials::SigningKey;
using parser::Invocation;

constexpr size_t kMaxConfigBytes = size_t{1} << 20;
constexpr size_t kMaxDirectories = 8;
constexpr std::string_view kPublicEnd = ".pub";

constexpr const char* kByPerson =
    "let the person commit, in a terminal of their own; do not switch signing "
    "off";

bool IsOneOf(std::string_view word, const auto& list) {
  return std::ranges::find(list, word) != list.end();
}

enum class Signs : unsigned char { kNever, kCommits, kTags };

// What of git's commands can be signed (git-commit(1) and the others, -S;
// git-tag(1), -s and -u).
Signs SignedBy(const Invocation& invocation) {
  constexpr auto kCommits = std::to_array<std::string_view>(
      {"am", "cherry-pick", "commit", "commit-tree", "merge", "pull", "rebase",
       "revert"});
  if (invocation.program != "git" || invocation.guessed ||
      invocation.subcommand.empty())
    return Signs::kNever;
  const std::string_view name = invocation.subcommand.front();
  return name == "tag"             ? Signs::kTags
         : IsOneOf(name, kCommits) ? Signs::kCommits
                                   : Signs::kNever;
}

// Whether the words say that it is signed. A word that only looks like such an
// option lends what is not used.
bool SaysSo(const Invocation& invocation, Signs what) {
  const std::string_view letters = what == Signs::kTags ? "su" : "S";
  return std::ranges::any_of(
      invocation.argv, [&](const parser::Argument& word) {
        const std::string_view text = word.text;
        if (!word.known || text.size() < 2) return false;
        std::string lower(text);
        for (char& c : lower)
          if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
        if (lower.find("gpgsign") != lower.npos) return true;  // of git -c
        if (text.starts_with("--"))
          return text.starts_with("--gpg-s") || text.starts_with("--sig") ||
                 text.starts_with("--local-u");
        return text[0] == '-' &&
               text.find_first_of(letters, 1) != std::string_view::npos;
      });
}

// The repository's own configuration, which is nobody's word but that of who
// can write it.
SigningConfig RepositorysOf(const std::vector<std::string>& directories) {
  SigningConfig config;
  for (const std::string& directory : directories) {
    const GitDirectories git = FindGitDirectories(directory);
    if (git.common.empty()) continue;
    for (const std::string& file :
         {git.common + "/config", git.own + "/config.worktree"}) {
      const auto text = ReadFile(file, kMaxConfigBytes, /*follow=*/false);
      std::vector<GitEntry> entries;
      if (!text || !ParseGitConfig(*text, &entries)) continue;
      SigningConfig one;
      credentials::AddSigning(entries, &one);
      config.commits |= one.commits;
      config.tags |= one.tags;
      config.ssh |= one.ssh;
      config.keys.insert(config.keys.end(), one.keys.begin(), one.keys.end());
    }
  }
  return config;
}

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

// Fills in the keys, or why there is none.
void FindKeys(const ProcessFacts& facts,
              const std::vector<std::string>& writable,
              const SigningConfig& person, const SigningConfig& repository,
              SigningGrant* grant) {
  grant->instead = kByPerson;
  if (!person.ssh && !repository.ssh) {
    grant->withheld =
        "gpg's keys, since gpg cannot tell a commit from other signatures "
        "(with gpg.format=ssh commits are signed from a sandbox)";
    return;
  }
  if (!person.program.empty() && BaseName(person.program) != "ssh-keygen") {
    grant->withheld = "the key that signs commits, which gpg.ssh.program (" +
                      person.program + ") reaches by itself";
    return;
  }
  KeyFinder finder(facts, writable);
  std::string why;
  for (const std::string& value : person.keys) {
    auto key = finder.Find(value, &why);
    if (key && std::ranges::none_of(grant->keys, [&](const SigningKey& each) {
          return each.key.blob == key->key.blob;
        }))
      grant->keys.push_back(std::move(*key));
  }
  const bool own = std::ranges::any_of(
      repository.keys,
      [&](const std::string& value) { return !IsOneOf(value, person.keys); });
  if (own) {
    grant->withheld =
        "the key that the repository's own configuration names, which "
        "contained commands can change";
    grant->instead =
        "let the person name it in theirs: git config --global "
        "user.signingKey KEY; do not switch signing off";
  } else if (grant->keys.empty()) {
    grant->withheld =
        "the key that signs commits (" +
        (why.empty() ? "the person's configuration of git names no ssh key"
                     : why) +
        ")";
    grant->instead =
        "let the person run: git config --global user.signingKey KEY.pub; do "
        "not switch signing off";
  }
}

}  // namespace

SigningGrant FindSigning(Gateway& gateway, const Judgement& judgement,
                         const parser::Analysis& analysis) {
  SigningGrant grant;
  bool commits = false, tags = false;
  std::vector<std::string> directories;
  for (const Invocation& invocation : analysis.invocations) {
    const Signs what = SignedBy(invocation);
    if (what == Signs::kNever) continue;
    (what == Signs::kTags ? tags : commits) = true;
    grant.wanted |= SaysSo(invocation, what);
    const std::string& directory =
        invocation.cwd.known ? invocation.cwd.text : judgement.question.cwd;
    if (!IsOneOf(directory, directories) &&
        directories.size() < kMaxDirectories)
      directories.push_back(directory);
  }
  if (!commits && !tags) return grant;
  const ProcessFacts& facts = gateway.facts();
  const std::vector<std::string> writable =
      gateway.WritablePlaces(judgement.session);
  SigningConfig person;
  credentials::AddSigning(PersonsGitEntries(facts, writable), &person);
  const SigningConfig repository = RepositorysOf(directories);
  grant.wanted |= (commits && (person.commits || repository.commits)) ||
                  (tags && (person.tags || repository.tags));
  if (!grant.wanted) return grant;
  if (!gateway.settings().signing) {
    grant.withheld = "the key that signs commits (gate's settings: `signing`)";
    grant.instead = kByPerson;
    return grant;
  }
  const auto& candidates = gateway.candidates();
  const auto candidate = std::ranges::find(candidates, judgement.plan.backend,
                                           &router::Candidate::name);
  if (candidate == candidates.end() ||
      !candidate->availability.features.Has(backends::Feature::kLending)) {
    grant.withheld = "the key that signs commits (the backend " +
                     judgement.plan.backend + " shows no socket)";
    grant.instead = kByPerson;
    return grant;
  }
  FindKeys(facts, writable, person, repository, &grant);
  return grant;
}

Result<std::optional<credentials::SigningAgent>> OfferSigning(
    Gateway& gateway, Judgement* judgement) {
  const ProcessFacts& facts = gateway.facts();
  if (judgement->analysis.invocations.empty() &&
      LineOf(judgement->question).find("git") == std::string::npos)
    return std::nullopt;
  std::optional<parser::Analysis> again;
  judgement->signing =
      FindSigning(gateway, *judgement, AnalysisOf(facts, *judgement, &again));
  if (judgement->signing.keys.empty()) return std::nullopt;
  const std::vector<std::string> writable =
      gateway.WritablePlaces(judgement->session);
  credentials::SigningSetup setup;
  setup.directory = RealPath(facts.places.state) + "/signing";
  setup.keys = judgement->signing.keys;
  const std::string path = SafePath(facts.path, writable);
  const auto program = [&](const char* name) {
    const ProgramFile file = ResolveProgram(name, path, "/");
    return file.real.empty() || IsWritablePlace(file.real, writable)
               ? std::string()
               : file.found;
  };
  setup.agent_program = program("ssh-agent");
  setup.add_program = program("ssh-add");
  setup.environment = {"HOME=" + facts.home, "PATH=" + path};
  for (const std::string& entry : facts.environment) {
    constexpr std::string_view kAgent = "SSH_AUTH_SOCK=";
    if (!entry.starts_with(kAgent)) continue;
    const std::string socket = entry.substr(kAgent.size());
    if (IsPersonsPlace(facts, socket, writable)) setup.agent = RealPath(socket);
  }
  GATE_TRY(credentials::SigningAgent agent,
           credentials::SigningAgent::Start(setup));
  backends::Profile& profile = judgement->plan.profile;
  profile.lend.push_back(
      {credentials::kSigningSocket, agent.socket(), false, {}});
  profile.environment_set["SSH_AUTH_SOCK"] = credentials::kSigningSocket;
  return agent;
}

}  // namespace gate::app
