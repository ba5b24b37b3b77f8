#include "gateway/grants/signing.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <sys/stat.h>

#include "base/ascii.h"
#include "base/file.h"
#include "base/paths.h"
#include "credentials/gpg_stub.h"
#include "credentials/signing_config.h"
#include "gateway/grants/lending.h"
#include "gateway/grants/persons_environment.h"
#include "gateway/grants/signing_keys.h"
#include "gateway/line.h"
#include "gateway/programs/program_verification.h"
#include "git/config.h"
#include "git/person_entries.h"

namespace gate::app {
namespace {

using credentials::SigningConfig;
using credentials::SigningGrant;
using credentials::SigningKey;
using parser::Invocation;

constexpr size_t kMaxDirectories = 8;
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
  return name == "tag"              ? Signs::kTags
         : Contains(kCommits, name) ? Signs::kCommits
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
      const auto text = ReadFile(file, kMaxGitConfigBytes, /*follow=*/false);
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

// Whether the backend of the line shows what it is lent.
bool Lends(Gateway& gateway, const Authorization& authorization) {
  const auto& candidates = gateway.candidates();
  const auto candidate = std::ranges::find(
      candidates, authorization.plan.backend, &router::Candidate::name);
  return candidate != candidates.end() &&
         candidate->availability.features.Has(backends::Feature::kLending);
}

// What git starts as gpg.
void UseStub(const ProcessFacts& facts, backends::Profile* profile) {
  profile->git_settings["gpg.program"] = facts.executable;
}

// Whether the line may look at signatures (git-log(1), %G? and
// --show-signature; git-verify-commit(1), git-tag(1), git-merge(1)).
bool Checks(const Invocation& invocation) {
  if (invocation.program != "git" || invocation.guessed) return false;
  const bool tag =
      !invocation.subcommand.empty() && invocation.subcommand.front() == "tag";
  return std::ranges::any_of(
      invocation.argv, [&](const parser::Argument& word) {
        const std::string_view text = word.text;
        return text == "verify-commit" || text == "verify-tag" ||
               text.find("%G") != text.npos || text.starts_with("--show-sig") ||
               text.starts_with("--verify-sig") ||
               (tag && (text == "-v" || text.starts_with("--verify")));
      });
}

// Shows the person's public keyrings and whom they trust.
void LendKeyrings(const ProcessFacts& facts,
                  const std::vector<std::string>& writable,
                  backends::Profile* profile) {
  std::string home = facts.home + "/.gnupg";
  for (const std::string& entry : facts.environment)
    if (entry.starts_with("GNUPGHOME=")) home = entry.substr(10);
  bool any = false;
  for (const char* name : credentials::kPublicKeyringFiles) {
    const std::string file = home + "/" + name;
    struct stat info = {};
    if (!IsPersonsPlace(facts, file, writable) ||
        ::lstat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
      continue;
    any = true;
    profile->lend.push_back({credentials::kPublicKeyrings + std::string(name),
                             RealPath(file),
                             false,
                             {}});
  }
  if (any) UseStub(facts, profile);
}

}  // namespace

SigningGrant FindSigning(Gateway& gateway, const Authorization& authorization,
                         const parser::Analysis& analysis) {
  SigningGrant grant;
  bool commits = false, tags = false;
  std::vector<std::string> directories;
  for (const Invocation& invocation : analysis.invocations) {
    const Signs what = SignedBy(invocation);
    grant.checks |= Checks(invocation);
    if (what == Signs::kNever) continue;
    (what == Signs::kTags ? tags : commits) = true;
    grant.wanted |= SaysSo(invocation, what);
    const std::string& directory =
        invocation.cwd.known ? invocation.cwd.text : authorization.request.cwd;
    if (!Contains(directories, directory) &&
        directories.size() < kMaxDirectories)
      directories.push_back(directory);
  }
  if (!commits && !tags) return grant;
  const ProcessFacts& facts = gateway.facts();
  const std::vector<std::string> writable =
      gateway.WritablePlaces(authorization.session);
  SigningConfig person;
  credentials::AddSigning(PersonsGitEntries(facts, writable), &person);
  const SigningConfig repository = RepositorysOf(directories);
  grant.wanted |= (commits && (person.commits || repository.commits)) ||
                  (tags && (person.tags || repository.tags));
  if (!grant.wanted) return grant;
  if (!gateway.settings().signing) {
    grant.withheld = "the key that signs commits (gate's settings: `signing`)";
    grant.instead = kSignedByPerson;
    return grant;
  }
  if (!Lends(gateway, authorization)) {
    grant.withheld = "the key that signs commits (the backend " +
                     authorization.plan.backend + " shows no socket)";
    grant.instead = kSignedByPerson;
    return grant;
  }
  FindSigningKeys(facts, writable, person, repository, &grant);
  return grant;
}

Result<std::optional<credentials::SigningAgent>> OfferSigning(
    Gateway& gateway, Authorization* authorization) {
  const ProcessFacts& facts = gateway.facts();
  if (authorization->analysis.invocations.empty() &&
      LineOf(authorization->request).find("git") == std::string::npos)
    return std::nullopt;
  std::optional<parser::Analysis> again;
  authorization->signing = FindSigning(
      gateway, *authorization, AnalysisOf(facts, *authorization, &again));
  const SigningGrant& grant = authorization->signing;
  const bool openpgp = std::ranges::any_of(
      grant.keys, [](const SigningKey& key) { return !key.openpgp.empty(); });
  const bool ssh = std::ranges::any_of(
      grant.keys, [](const SigningKey& key) { return key.openpgp.empty(); });
  if (grant.keys.empty() && !grant.checks) return std::nullopt;
  const std::vector<std::string> writable =
      gateway.WritablePlaces(authorization->session);
  backends::Profile& profile = authorization->plan.profile;
  if ((grant.checks || openpgp) && Lends(gateway, *authorization))
    LendKeyrings(facts, writable, &profile);
  if (grant.keys.empty()) return std::nullopt;
  credentials::SigningSetup setup;
  setup.directory = RealPath(facts.places.state) + "/signing";
  setup.keys = grant.keys;
  const std::string path = SafePath(facts.path, writable);
  const auto program = [&](const std::string& name) {
    const ProgramFile file = ResolveProgram(name, path, "/");
    return file.real.empty() || IsWritablePlace(file.real, writable)
               ? std::string()
               : file.found;
  };
  setup.environment = PersonsEnvironment(facts, path, writable);
  constexpr std::string_view kAgent = "SSH_AUTH_SOCK=";
  if (ssh) {
    setup.agent_program = program("ssh-agent");
    setup.add_program = program("ssh-add");
    for (const std::string& entry : setup.environment)
      if (entry.starts_with(kAgent))
        setup.agent = RealPath(entry.substr(kAgent.size()));
    // Theirs is asked by gate, and the one for files is another.
    std::erase_if(setup.environment, [&](const std::string& entry) {
      return entry.starts_with(kAgent);
    });
  }
  if (openpgp) {
    setup.gpg_program = program(grant.gpg_program);
    setup.gpg_environment = setup.environment;
    for (std::string& entry : PersonsDisplay(facts, writable))
      setup.gpg_environment.push_back(std::move(entry));
    UseStub(facts, &profile);
  }
  GATE_TRY(credentials::SigningAgent agent,
           credentials::SigningAgent::Start(setup));
  profile.lend.push_back(
      {credentials::kSigningSocket, agent.socket(), false, {}});
  if (ssh)
    profile.environment_set["SSH_AUTH_SOCK"] = credentials::kSigningSocket;
  return agent;
}

}  // namespace gate::app
