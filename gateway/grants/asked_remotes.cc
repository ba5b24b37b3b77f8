#include "gateway/grants/asked_remotes.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/file.h"
#include "credentials/pinned_remotes.h"
#include "gateway/git_transport.h"
#include "git/config.h"
#include "git/doubts.h"

namespace gate::app {
namespace {

using credentials::PinnedRemotes;
using credentials::SshService;
using credentials::SshTarget;
using parser::Invocation;

// `git submodule add URL` clones it.
bool AddsSubmodule(const Invocation& invocation) {
  return invocation.subcommand.front() == "submodule" &&
         std::ranges::any_of(invocation.argv, [](const parser::Argument& word) {
           return word.known && word.text == "add";
         });
}

bool Talks(const Invocation& invocation) {
  constexpr auto kTalking = std::to_array<std::string_view>(
      {"clone", "fetch", "ls-remote", "pull", "push"});
  return invocation.program == "git" && !invocation.guessed &&
         !invocation.subcommand.empty() &&
         (std::ranges::find(kTalking, invocation.subcommand.front()) !=
              kTalking.end() ||
          AddsSubmodule(invocation));
}

// The first word behind the sub-command that is no option: the repository, but
// for values of options that stand alone. Empty without one.
std::string_view FirstOperand(const Invocation& invocation,
                              const std::vector<std::string>& words) {
  std::string_view command = invocation.subcommand.front();
  if (command == "submodule") command = "add";
  const auto at = std::ranges::find(words, command);
  if (at == words.end()) return "";
  const auto operand = std::find_if(
      at + 1, words.end(),
      [](const std::string& word) { return !word.starts_with('-'); });
  return operand == words.end() ? std::string_view() : *operand;
}

// A relative URL of a submodule, which begins at that of `origin`
// (gitsubmodules(7); resolve_relative_url() in git's remote.c).
std::string Below(std::string origin, std::string_view relative) {
  while (origin.ends_with('/')) origin.pop_back();
  char joint = '/';
  while (true) {
    if (relative.starts_with("./")) {
      relative.remove_prefix(2);
    } else if (relative.starts_with("../")) {
      relative.remove_prefix(3);
      size_t end = origin.rfind('/');
      if (end == std::string::npos) {
        end = origin.rfind(':');
        joint = ':';
      }
      if (end == std::string::npos) return "";
      origin.resize(end);
    } else {
      break;
    }
  }
  while (relative.ends_with('/')) relative.remove_suffix(1);
  return origin + joint + std::string(relative);
}

// ssh(1) looks in ~/.ssh, and asks an agent.
bool HasLogin(const ProcessFacts& facts) {
  struct stat info = {};
  return ::stat((facts.home + "/.ssh").c_str(), &info) == 0 ||
         std::ranges::any_of(facts.environment, [](const std::string& entry) {
           return entry.starts_with("SSH_AUTH_SOCK=/");
         });
}

std::vector<GitEntry> ConfigurationOf(const Invocation& invocation) {
  std::vector<GitEntry> all;
  for (const std::string& cwd : parser::DirectoriesOf(invocation)) {
    std::string doubt;
    const GitDirectories git =
        FindGitDirectories(GitDirectoryOf(invocation, cwd, &doubt));
    if (git.common.empty()) continue;
    for (const std::string& file :
         {git.common + "/config", git.own + "/config.worktree"}) {
      const auto text = ReadFile(file, kMaxGitConfigBytes, /*follow=*/false);
      std::vector<GitEntry> entries;
      if (text && ParseGitConfig(*text, &entries))
        std::ranges::move(entries, std::back_inserter(all));
    }
  }
  return all;
}

// The remotes that the words name, or `origin`, and the rewrites; with each URL
// among the words as a remote of its own.
PinnedRemotes NamedBy(const Invocation& invocation) {
  std::vector<std::string> words;
  for (size_t i = 1; i < invocation.argv.size(); ++i)
    if (invocation.argv[i].known) words.push_back(invocation.argv[i].text);
  std::vector<GitEntry> named, origin, rewrites;
  for (GitEntry& entry : ConfigurationOf(invocation)) {
    constexpr std::string_view kRemote = "remote.";
    const size_t dot = entry.key.rfind('.');
    if (entry.key.starts_with("url.")) {
      rewrites.push_back(std::move(entry));
    } else if (entry.key.starts_with(kRemote) && dot > kRemote.size()) {
      const std::string name =
          entry.key.substr(kRemote.size(), dot - kRemote.size());
      if (std::ranges::find(words, name) != words.end())
        named.push_back(std::move(entry));
      else if (name == "origin")
        origin.push_back(std::move(entry));
    }
  }
  PinnedRemotes remotes;
  credentials::AddRemotes(rewrites, &remotes);
  const bool adds = AddsSubmodule(invocation);
  const bool clones = adds || invocation.subcommand.front() == "clone";
  const std::string_view operand = FirstOperand(invocation, words);
  bool urls = false;
  if (adds && (operand.starts_with("./") || operand.starts_with("../")))
    for (const GitEntry& entry : origin)
      if (entry.key == "remote.origin.url")
        remotes.fetch.push_back(Below(entry.value, operand));
  // A refspec has a colon, too, but never comes first. A path of this machine
  // has a slash before one.
  for (const std::string& word : words) {
    const bool is_url = word.find('@') != word.npos ||
                        word.starts_with("ssh://") ||
                        (word == operand && word.find(':') < word.find('/'));
    if (!is_url || !credentials::ParseSshUrl(word)) continue;
    urls = true;
    remotes.fetch.push_back(word);
  }
  if (!urls && !clones)
    credentials::AddRemotes(named.empty() ? origin : named, &remotes);
  return remotes;
}

}  // namespace

std::set<SshTarget> UnpinnedRemotes(const ProcessFacts& facts,
                                    const std::string& workspace,
                                    const std::vector<std::string>& writable,
                                    const parser::Analysis& analysis,
                                    std::optional<SshService> only) {
  std::set<SshTarget> unpinned;
  if (!std::ranges::any_of(analysis.invocations, Talks) || !HasLogin(facts))
    return unpinned;
  const PinnedRemotes person = PersonsRewrites(facts, writable);
  const PinnedRemotes pinned = WouldBePinned(facts, workspace);
  for (const Invocation& invocation : analysis.invocations) {
    if (!Talks(invocation)) continue;
    const SshService service = invocation.subcommand.front() == "push"
                                   ? SshService::kPush
                                   : SshService::kFetch;
    if (only && *only != service) continue;
    const auto allowed = credentials::TargetsOf(pinned, person, service);
    // A URL that is rewritten does not go where it says.
    for (const SshTarget& target :
         credentials::DestinationsOf(NamedBy(invocation), person, service))
      if (!allowed.contains(target)) unpinned.insert(target);
  }
  return unpinned;
}

}  // namespace gate::app
