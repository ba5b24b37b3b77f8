#include "git/doubts.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/paths.h"
#include "facts/process_facts.h"
#include "git/config.h"
#include "git/format.h"
#include "git/index_memory.h"
#include "lasting/lasting_runs.h"
#include "parser/proc_paths.h"

namespace gate::app {
namespace {

// Git runs these hooks even for commands that only look.
constexpr std::array kReadHooks = {"post-index-change", "fsmonitor-watchman",
                                   "query-watchman", "reference-transaction"};

// Directories of a repository with files that git reads as lists of its own,
// printing the lines that are none: grafts, shallow, packed-refs, alternates,
// sparse-checkout, the todo lists of a rebase, …
constexpr std::array kListed = {"",
                                "/info",
                                "/objects/info",
                                "/rebase-merge",
                                "/rebase-apply",
                                "/sequencer",
                                "/branches",
                                "/remotes"};
// Each of a linked worktree's own as well, whichever one git is called in:
// `git worktree list` prints what `gitdir` and `locked` say.
std::vector<std::string> OwnDirectories(const GitDirectories& git) {
  std::vector<std::string> found = {git.own};
  if (git.common != git.own) found.push_back(git.common);
  const std::string linked = git.common + "/worktrees";
  found.push_back(linked);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(linked.c_str()),
                                                    ::closedir);
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr)
    if (std::string_view(entry->d_name) != "." &&
        std::string_view(entry->d_name) != "..")
      found.push_back(linked + "/" + entry->d_name);
  return found;
}

// People link these, and git prints nothing of them. The hooks are looked at.
constexpr std::array<std::string_view, 3> kMayBeLinks = {"hooks", "lfs",
                                                         "annex"};

// The first symbolic link in `directory`, or pipe or device, which says to each
// reader what it wants; empty when there is none. `*lists` becomes true when an
// entry is called `alternates`.
std::string LinkIn(const std::string& directory, bool* lists) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(
      ::opendir(directory.c_str()), ::closedir);
  if (entries == nullptr) return "";
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    *lists |= name == "alternates";
    auto type = entry->d_type;
    if (type == DT_UNKNOWN) {
      struct stat info{};
      if (::lstat((directory + "/" + entry->d_name).c_str(), &info) != 0)
        return std::string(name);
      type = IFTODT(info.st_mode);
    }
    // git's own monitor listens on a socket there.
    if (type == DT_REG || type == DT_DIR || type == DT_SOCK) continue;
    if (type != DT_LNK || std::find(kMayBeLinks.begin(), kMayBeLinks.end(),
                                    name) == kMayBeLinks.end())
      return std::string(name);
  }
  return "";
}

// Whether git takes the lines of a file that a link leads to for alternates of
// the object directory `objects`, and quotes those that name no directory: the
// links may be in any directory of alternates that it comes to. True for what
// is not understood, or too much.
bool QuotesAlternates(const std::string& objects) {
  constexpr size_t kMaxAlternatesBytes = size_t{64} << 10;
  constexpr size_t kMaxDirectories = 64;
  struct Place {
    std::string path;
    int depth;
  };
  if (objects.empty()) return true;
  std::vector<Place> open = {{objects, 0}};
  for (size_t i = 0; i < open.size(); ++i) {
    const auto [place, depth] = open[i];
    if (open.size() > kMaxDirectories) return true;
    bool lists = false;
    if (depth > 0 && !LinkIn(place + "/info", &lists).empty()) return true;
    if (depth > 0 && !lists) continue;
    // git says how deep it is and reads no further.
    if (depth > kMaxAlternateDepth) continue;
    const Result<std::string> text =
        ReadFile(place + "/info/alternates", kMaxAlternatesBytes, false);
    if (!text && text.error().code == ErrorCode::kNotFound) continue;
    const auto named = text ? ParseAlternates(*text) : std::nullopt;
    if (!named) return true;
    for (const std::string& each : *named) {
      std::string real =
          RealPath(each.starts_with('/') ? each : place + "/" + each);
      // What is not there git names, and that is all.
      if (real.empty()) continue;
      if (std::none_of(open.begin(), open.end(),
                       [&](const Place& one) { return one.path == real; }))
        open.push_back({std::move(real), depth + 1});
    }
  }
  return false;
}

// Whether a format of commits has a placeholder for signatures, whatever stands
// between its `%` and `G` (git-log(1): `+`, `-`, a blank).
bool ChecksSignatures(std::string_view format) {
  for (size_t at = 0; (at = format.find('%', at)) != std::string_view::npos;) {
    if (++at < format.size() &&
        std::string_view("+- ").find(format[at]) != std::string_view::npos)
      ++at;
    if (at < format.size() && format[at] == 'G') return true;
  }
  return false;
}

// Settings that name no program, but a file that git reads and quotes, another
// machine that it asks for what is missing, or work in other repositories.
bool ReachesOut(const GitEntry& entry) {
  const std::string_view key = entry.key;
  const std::string_view name = key.substr(key.rfind('.') + 1);
  if (name.ends_with("file") || key == "core.worktree") return true;
  // Each of the three is enough for git (promisor-remote.c).
  if (key == "extensions.partialclone" || name == "promisor" ||
      name == "partialclonefilter")
    return true;
  if (key == "diff.submodule") return entry.value != "short";
  if (key == "status.submodulesummary")
    return entry.value != "false" && entry.value != "0";
  // gpg, run to check signatures, writes its directory and may fetch keys. A
  // format may be another one's name.
  if (key.starts_with("gpg.")) return true;
  if (key == "log.showsignature")
    return entry.value != "false" && entry.value != "0";
  if (key == "format.pretty" || key.starts_with("pretty."))
    return ChecksSignatures(entry.value);
  if (key == "branch.sort" || key == "tag.sort")
    return entry.value.find("signature") != std::string::npos;
  // An unknown command becomes a known one, or an alias (git-config(1)).
  if (key == "help.autocorrect")
    return entry.value != "never" && entry.value != "show" &&
           entry.value != "false" && entry.value != "0";
  // Names of commands that are allowed, and that git may not have itself.
  return key == "alias.lfs" || key == "alias.whatchanged";
}

// `*entries` becomes what stands in `file`.
std::string ConfigurationDoubt(const std::string& file,
                               std::vector<GitEntry>* entries) {
  entries->clear();
  const Result<std::string> text = ReadFile(file, kMaxGitConfigBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return "";
  if (!text) return "the repository's configuration cannot be read";
  const bool whole = ParseGitConfig(*text, entries);
  for (const GitEntry& entry : *entries) {
    // config.worktree is looked at in any case; git sparse-checkout says this.
    if (RunsProgram(entry) && entry.key != "extensions.worktreeconfig")
      return "the repository's configuration names a program (" + entry.key +
             ")";
    if (ReachesOut(entry))
      return "the repository's configuration makes git read files or contact "
             "hosts outside it (" +
             entry.key + ")";
  }
  return whole ? "" : "the repository's configuration is malformed";
}

// The index of the sub-command's word; nothing when the options before it may
// say something about the configuration.
std::optional<size_t> SubcommandAt(const parser::Invocation& invocation,
                                   std::string* directory, std::string* doubt) {
  size_t i = 1;
  for (; i < invocation.argv.size(); ++i) {
    const parser::Argument& word = invocation.argv[i];
    if (!word.known || word.glob) {
      *doubt = "git's own arguments are not known";
      return std::nullopt;
    }
    if (word.text.empty() || word.text[0] != '-') break;
    if (word.text == "-C" && i + 1 < invocation.argv.size()) {
      const parser::Argument& value = invocation.argv[++i];
      if (!value.known || value.glob) {
        *doubt = "the directory that git works in is not known";
        return std::nullopt;
      }
      // Not normalised: `link/..` is where the kernel finds it.
      if (value.text.starts_with('/'))
        *directory = value.text;
      else if (!value.text.empty())
        *directory += "/" + value.text;
      // What links of /proc and open descriptors lead to, gate does not see.
      const std::string place = Normalise(*directory, "/");
      const parser::Argument seen = parser::PathFrom(place, "/");
      if (!seen.known || seen.text != place || parser::IsDescriptor(place) ||
          parser::LeadsThroughProc(*directory)) {
        *doubt = "the directory that git works in is not known";
        return std::nullopt;
      }
    } else if (word.text != "--no-pager" && word.text != "-P" &&
               word.text != "--version" && word.text != "--help" &&
               word.text != "--no-optional-locks") {
      *doubt = "git is told `" + word.text + "` about its configuration";
      return std::nullopt;
    }
  }
  return i;
}

// The first entry of `directory`; empty when there is none.
std::string FirstFile(const std::string& directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(
      ::opendir(directory.c_str()), ::closedir);
  if (entries == nullptr) return "";
  while (const dirent* entry = ::readdir(entries.get()))
    if (entry->d_name[0] != '.') return entry->d_name;
  return "";
}

// The first file in `hooks` that git may run; git makes those that end in
// .sample.
std::string FirstHook(const std::string& hooks) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(hooks.c_str()),
                                                    ::closedir);
  if (entries == nullptr) return "";
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name.starts_with('.') || name.ends_with(".sample")) continue;
    if (::access((hooks + "/" + entry->d_name).c_str(), X_OK) == 0)
      return std::string(name);
  }
  return "";
}

bool IsOnThisMachine(const std::string& url, const std::string& directory) {
  const size_t colon = url.find(':');
  if (url.starts_with("file:") || url.starts_with('/') || url.starts_with('.'))
    return true;
  return (colon == std::string::npos || url.find('/') < colon) &&
         ::access((directory + "/" + url).c_str(), F_OK) == 0;
}

constexpr const char* kPushesHere =
    "may push to a repository of this machine, whose hooks would run with it";

// What of the settings of a repository makes a push reach a repository of this
// machine, or one that nobody looked at; empty if it does not. Keys are in
// lower case but for what stands in quotes.
std::string PushDoubtOf(const GitEntry& entry, const std::string& directory) {
  const std::string& key = entry.key;
  const size_t name = key.rfind('.');
  const std::string last = key.substr(name == std::string::npos ? 0 : name + 1);
  const bool names_place =
      (key.starts_with("remote.") &&
       (last == "url" || last == "pushurl" || last == "pushdefault")) ||
      (key.starts_with("branch.") &&
       (last == "remote" || last == "pushremote"));
  if (names_place && IsOnThisMachine(entry.value, directory))
    return kPushesHere;
  // url.BASE.insteadOf: BASE stands in the place of what is written.
  if (key.starts_with("url.") && name > 4 &&
      IsOnThisMachine(key.substr(4, name - 4), directory))
    return kPushesHere;
  if (key == "push.recursesubmodules" && entry.value != "no" &&
      entry.value != "check")
    return "may push submodules, which have hooks of their own";
  if (key.starts_with("http.") &&
      (last.starts_with("ssl") || last.find("proxy") != std::string::npos))
    return "the repository's settings change the proxy or the certificate "
           "checks of its connections (" +
           key + ")";
  return "";
}

// Why `invocation` may push to a repository of this machine, whose hooks run
// for whoever pushes, or to one that nobody looked at; empty if it does not.
std::string PushDoubt(const parser::Invocation& invocation,
                      const std::string& directory, const GitDirectories& git) {
  bool push = false;
  for (const parser::Argument& word : invocation.argv) {
    if (push && word.text.starts_with("--recurse-submodules") &&
        !word.text.ends_with("=no") && !word.text.ends_with("=check"))
      return "may push submodules, which have hooks of their own";
    const size_t value =
        word.text.starts_with("--repo=") ? std::strlen("--repo=") : 0;
    if (push && IsOnThisMachine(word.text.substr(value), directory))
      return kPushesHere;
    push |= word.text == "push";
  }
  if (!push) return "";
  // The old kinds of remotes, one file each (gitrepository-layout(5)).
  for (const char* old : {"/remotes", "/branches"})
    if (!FirstFile(git.common + old).empty())
      return "the repository has remotes in the old directories .git/remotes "
             "or .git/branches";
  for (const std::string& file :
       {git.common + "/config", git.own + "/config.worktree"}) {
    const Result<std::string> text = ReadFile(file, size_t{1} << 20);
    std::vector<GitEntry> entries;
    if (!text && text.error().code == ErrorCode::kNotFound) continue;
    if (!text || !ParseGitConfig(*text, &entries))
      return "the repository's configuration cannot be read";
    for (const GitEntry& entry : entries)
      if (std::string why = PushDoubtOf(entry, directory); !why.empty())
        return why;
  }
  return "";
}

}  // namespace

bool HasReadHook(const std::string& hooks) {
  return std::any_of(kReadHooks.begin(), kReadHooks.end(),
                     [&](const char* hook) {
                       return ::access((hooks + "/" + hook).c_str(), X_OK) == 0;
                     });
}

std::vector<const parser::Invocation*> AskedGit(
    const parser::Analysis& analysis, const engine::Decision& decision) {
  std::vector<const parser::Invocation*> found;
  for (size_t i = 0; i < analysis.invocations.size(); ++i) {
    const parser::Invocation& invocation = analysis.invocations[i];
    const bool allowed = i < decision.per_invocation.size() &&
                         decision.per_invocation[i] == rules::Action::kAllow;
    if (invocation.program == "git" && !invocation.guessed && !allowed)
      found.push_back(&invocation);
  }
  return found;
}

std::string HookDoubt(const parser::Analysis& analysis,
                      const engine::Decision& decision) {
  for (const parser::Invocation* command : AskedGit(analysis, decision)) {
    for (const std::string& cwd : parser::DirectoriesOf(*command)) {
      std::string doubt;
      const std::string directory = GitDirectoryOf(*command, cwd, &doubt);
      const GitDirectories git = FindGitDirectories(directory);
      if (!doubt.empty()) return doubt;
      if (git.common.empty()) continue;
      if (std::string why = PushDoubt(*command, directory, git); !why.empty())
        return why;
      std::string hook = FirstHook(git.common + "/hooks");
      if (!hook.empty())
        return "the repository's hook `" + hook + "` may run with it";
    }
  }
  return "";
}

std::string UnsafeRepositoryReason(const GitDirectories& git,
                                   const std::string& state) {
  if (git.common.empty()) return "";
  const std::string own_place = RealPath(state);
  const auto runs_write = [&](const std::string& place) {
    return !own_place.empty() && IsWithin(place, own_place);
  };
  // The work tree's name has no link in it.
  if (runs_write(git.worktree) || runs_write(RealPath(git.own)) ||
      (git.common != git.own && runs_write(RealPath(git.common))))
    return "the repository lies in a directory that sandboxed commands may "
           "write";
  // What is read here may be another thing when git reads it.
  if (lasting::IsReached(state, git.common) ||
      lasting::IsReached(state, git.own) ||
      lasting::IsReached(state, git.worktree))
    return "what an earlier line left running can write the repository";
  // `git status` looks into submodules, each with a configuration of its own.
  if (::access((git.common + "/modules").c_str(), F_OK) == 0)
    return "the repository has submodules with configurations of their own";
  std::vector<GitEntry> entries;
  std::string doubt =
      ConfigurationDoubt(git.own + "/config.worktree", &entries);
  if (doubt.empty())
    doubt = ConfigurationDoubt(git.common + "/config", &entries);
  if (!doubt.empty()) return doubt;
  // Only the common configuration says how objects are named.
  const std::optional<GitHash> hash = ObjectFormatOf(entries);
  if (!hash ||
      FindGitlinksRemembered(git.own + "/index", *hash, git.worktree,
                             own_place.empty() ? "" : own_place + "/git-index",
                             NowMs()) != Gitlinks::kNone)
    return "the repository's index names, or may name, other repositories";
  if (HasReadHook(git.common + "/hooks"))
    return "the repository has a git hook that also runs for commands that "
           "only read";
  bool alternates = false;
  for (const std::string& root : OwnDirectories(git)) {
    for (const char* below : kListed) {
      const std::string link = LinkIn(root + below, &alternates);
      if (!link.empty())
        return "the repository's " + link +
               " is a symbolic link or no file, and git may print what it "
               "leads to";
    }
  }
  if (alternates && QuotesAlternates(RealPath(git.common + "/objects")))
    return "the repository's alternates lead to a symbolic link, and git may "
           "print what it leads to";
  return "";
}

std::string GitDirectoryOf(const parser::Invocation& invocation,
                           const std::string& cwd, std::string* doubt) {
  std::string directory = cwd;
  SubcommandAt(invocation, &directory, doubt);
  return directory;
}

std::string ShowsSignatures(const parser::Invocation& invocation) {
  for (size_t i = 1; i < invocation.argv.size(); ++i) {
    const std::string_view word = invocation.argv[i].text;
    const bool sorts = word.starts_with("--s") ||
                       invocation.argv[i - 1].text.starts_with("--so");
    if (ChecksSignatures(word) ||
        (word.find("signature") != std::string_view::npos &&
         (sorts || word.find("%(") != std::string_view::npos)))
      return "git may start gpg to check signatures of the repository";
  }
  return "";
}

std::string TakesAlias(const parser::Invocation& invocation,
                       const std::string& directory) {
  std::string at = directory, doubt;
  const std::optional<size_t> sub = SubcommandAt(invocation, &at, &doubt);
  if (!sub || *sub >= invocation.argv.size()) return "";
  const std::string_view command = invocation.argv[*sub].text;
  if (command != "lfs" && command != "whatchanged") return "";
  const GitDirectories git = FindGitDirectories(directory);
  if (git.common.empty()) return "";
  for (const std::string& file :
       {git.common + "/config", git.own + "/config.worktree"}) {
    const Result<std::string> text = ReadFile(file, kMaxGitConfigBytes);
    std::vector<GitEntry> entries;
    if (text) ParseGitConfig(*text, &entries);
    for (const GitEntry& entry : entries)
      if (entry.key.starts_with("alias."))
        return "git may run the repository's " + entry.key +
               ", since it may have no command of that name";
  }
  return "";
}

std::string ComparesFiles(const parser::Invocation& invocation,
                          const std::string& directory) {
  std::string at = directory, doubt;
  const std::optional<size_t> sub = SubcommandAt(invocation, &at, &doubt);
  if (!sub || *sub >= invocation.argv.size() ||
      invocation.argv[*sub].text != "diff")
    return "";
  std::vector<const parser::Argument*> operands;
  bool options = true;
  for (size_t i = *sub + 1; i < invocation.argv.size(); ++i) {
    const parser::Argument& word = invocation.argv[i];
    if (options && word.known && word.text == "--") {
      options = false;
    } else if (!options || !word.known || !word.text.starts_with('-')) {
      operands.push_back(&word);
    }
  }
  // Compared are two files; an unknown word or a pattern may be both.
  if (operands.empty() ||
      (operands.size() == 1 && operands[0]->known && !operands[0]->glob))
    return "";
  // A pattern of dots may stand for `..`.
  const auto dots = [](const parser::Argument& word) {
    return word.glob && (word.text.starts_with('.') ||
                         word.text.find("/.") != std::string::npos);
  };
  constexpr std::string_view kWhy =
      "`git diff` may compare files outside of the repository";
  const GitDirectories git = FindGitDirectories(directory);
  const std::string real = RealPath(directory);
  if (git.common.empty() || real.empty() || IsWithin(real, git.own))
    return std::string(kWhy);
  for (const parser::Argument* word : operands)
    if (!word->known || dots(*word) ||
        !IsWithin(Normalise(word->text, real), git.worktree))
      return std::string(kWhy);
  return "";
}

}  // namespace gate::app
