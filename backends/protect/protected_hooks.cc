// Places that git configuration named already before the run: hooks kept in a
// directory of the workspace, and work trees.
//
// git takes a relative core.hooksPath from where the hook runs: the top of the
// work tree in use, whichever it is, or the git directory (a push). So the
// value counts for each of them, whichever file says it.
//
// Such a directory cannot be mounted read-only: tools that keep hooks there
// write them again, with the same content, at every installation. So their
// content is remembered and put back.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "backends/listing.h"
#include "backends/protect/quarantine.h"
#include "backends/protected_paths.h"
#include "backends/symlinks.h"
#include "base/file.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

// What git starts by its name.
constexpr auto kHookNames = std::to_array<std::string_view>({
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-prepare-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "post-index-change",
});

bool IsHookName(std::string_view name) {
  return std::find(kHookNames.begin(), kHookNames.end(), name) !=
         kHookNames.end();
}

constexpr size_t kMaxConfigRead = size_t{16} << 20;

// What configuration files say, with all that they include.
struct Said {
  std::vector<std::string> hooks;      // core.hooksPath
  std::vector<std::string> worktrees;  // core.worktree
  std::vector<std::string> templates;  // init.templateDir
  std::vector<std::string> included;
  std::set<std::string> seen;
  bool complete = true;
};

void Gather(const std::string& text, const std::string& directory,
            const std::string& home, Said* said) {
  std::vector<GitEntry> entries;
  ParseGitConfig(text, &entries);
  for (const GitEntry& entry : entries) {
    if (entry.value.empty()) continue;
    if (entry.key == "core.hookspath")
      said->hooks.push_back(ExpandHome(entry.value, home));
    if (entry.key == "init.templatedir")
      said->templates.push_back(ExpandHome(entry.value, home));
    if (entry.key == "core.worktree") said->worktrees.push_back(entry.value);
  }
  for (std::string& file : IncludedFiles(text, directory, home))
    if (said->seen.insert(file).second)
      said->included.push_back(std::move(file));
}

// Reads what is included, which may include more.
void GatherIncluded(const std::string& home, Said* said) {
  for (size_t i = 0; i < said->included.size(); ++i) {
    if (i >= kMaxGitConfigs) {
      said->complete = false;
      return;
    }
    const std::string path = said->included[i];
    const Result<std::string> text = ReadFile(path, kMaxConfigRead);
    if (!text) {
      said->complete &= text.error().code != ErrorCode::kTooLarge;
      continue;
    }
    Gather(*text, ResolveSymlinks(std::string(DirName(path))).place, home,
           said);
  }
}

// The text of a file that holds a path.
std::string PathIn(const std::string& file) {
  const Result<std::string> text = ReadFile(file, kMaxGitFileBytes);
  return text ? std::string(GitPathIn(*text)) : "";
}

// Where the work trees of a git directory lie, as far as it tells, and the
// directory itself, where hooks of a push run.
std::vector<std::string> TreesOf(const std::string& git,
                                 const std::vector<std::string>& named) {
  std::vector<std::string> trees = {git};
  if (BaseName(git) == ".git") trees.emplace_back(DirName(git));
  for (const std::string& tree : named) trees.push_back(PathFrom(git, tree));
  // A linked worktree's own directory holds where its `.git` is.
  const auto add = [&](const std::string& own) {
    const std::string back = PathIn(own + "/gitdir");
    if (!back.empty()) trees.emplace_back(DirName(PathFrom(own, back)));
  };
  add(git);
  const std::string linked = git + "/worktrees";
  for (const std::string& name : NamesIn(linked, kMaxModules))
    add(linked + "/" + name);
  return trees;
}

}  // namespace

void ProtectedPaths::RecordNamedHooks(const std::string& config,
                                      const std::string& content) {
  // Which work trees it is about and whose home `~` is are known later.
  std::vector<GitEntry> entries;
  ParseGitConfig(content, &entries);
  for (const GitEntry& entry : entries) {
    if (entry.key == "core.hookspath" || entry.key.starts_with("include"))
      hook_configs_.insert(config);
    if (entry.key != "core.worktree" || entry.value.empty()) continue;
    const std::string tree = RecordWay(PathFrom(DirName(config), entry.value));
    if (const std::string* root = RootOf(tree);
        root != nullptr && *root != tree &&
        std::find(ways_.begin(), ways_.end(), tree) == ways_.end())
      ways_.push_back(tree);
  }
}

void ProtectedPaths::RecordHome(const Profile& profile) {
  // The person's home comes first, homes of others after it.
  for (const std::string& name : profile.alias_checked_paths)
    if (constexpr std::string_view kName = "/.gitconfig";
        home_.empty() && name.ends_with(kName))
      home_ = name.substr(0, name.size() - kName.size());
  if (home_.empty()) home_ = FindPlaces().home;
}

std::map<std::string, std::vector<std::string>>
ProtectedPaths::KnownGitDirectories() {
  // Each with the places that are known to be its work trees.
  std::map<std::string, std::vector<std::string>> found;
  const auto look = [&](const std::string& from) {
    const GitDirectories git = FindGitDirectories(from);
    if (git.own.empty()) return;
    for (const std::string& one : {RecordWay(git.own), RecordWay(git.common)}) {
      // What the .git file or `commondir` leads to is guarded as any other;
      // outside the roots this does nothing.
      RecordGitDirectory(one, true);
      found[one].push_back(git.worktree);
    }
  };
  for (const std::string& base : bases_)
    if (bound_.contains(base + "/.git")) look(base);
  if (!workspace_.empty() && !bound_.contains(workspace_ + "/.git") &&
      !git_directories_.contains(workspace_ + "/.git"))
    look(workspace_);  // part of a larger repository
  const std::vector<std::string> known(git_directories_.begin(),
                                       git_directories_.end());
  for (const std::string& directory : known)
    if (bound_.contains(directory + "/commondir")) look(directory);
  // The submodules of those outside.
  std::vector<std::string> open;
  for (const auto& [directory, trees] : found)
    if (!git_directories_.contains(directory))
      open.push_back(directory + "/modules");
  for (size_t i = 0; i < open.size() && i < kMaxModules; ++i) {
    for (const std::string& name : NamesIn(open[i], kMaxModules)) {
      const std::string below = open[i] + "/" + name;
      struct stat info = {};
      const bool module = lstat((below + "/HEAD").c_str(), &info) == 0;
      if (module) found[below];
      open.push_back(module ? below + "/modules" : below);
    }
  }
  for (const std::string& directory : git_directories_) found[directory];
  return found;
}

void ProtectedPaths::RecordPersonsHooks(
    const std::vector<std::string>& alias_checked_paths) {
  // The person's own configuration may name a place in every repository.
  Said persons;
  std::vector<std::string> files = {"/etc/gitconfig"};
  for (const std::string& path : alias_checked_paths)
    if (path.ends_with("/.gitconfig") || path.ends_with("/git/config"))
      files.push_back(path);
  // In a home directory that is writable there are no sole names.
  if (alias_checked_paths.empty() && RootOf(home_) != nullptr) {
    files.push_back(home_ + "/.gitconfig");
    files.push_back(home_ + "/.config/git/config");
  }
  for (const std::string& path : files) {
    const Result<std::string> text = ReadFile(path, kMaxConfigRead);
    if (text)
      Gather(*text, ResolveSymlinks(std::string(DirName(path))).place, home_,
             &persons);
    else if (text.error().code == ErrorCode::kTooLarge)
      persons.complete = false;
  }
  const auto finish = [&](Said* said) {
    GatherIncluded(home_, said);
    for (const std::string& file : said->included) RecordIncluded(file);
    // `git init` and `git clone` copy what is there into the new repository.
    for (const std::string& value : said->templates) {
      if (!value.starts_with('/') && workspace_.empty()) continue;
      const std::string place = PathFrom(workspace_, value);
      RecordHooksAt(place + "/hooks");
      RecordIncluded(place + "/config");
      RecordIncluded(place + "/config.worktree");
      ProtectPath(place + "/info/attributes");
      ProtectPath(place + "/commondir");
    }
    if (!said->complete)
      refusal_ =
          "git's configuration is too large to find out where its hooks are";
  };
  finish(&persons);

  std::vector<std::string> everywhere;  // relative: one in each work tree
  for (const std::string& value : persons.hooks) {
    if (value.starts_with('/'))
      RecordHooksAt(value);
    else
      everywhere.push_back(value);
  }
  user_hooks_ = everywhere;
  if (!workspace_.empty())
    for (const std::string& value : everywhere)
      RecordHooksAt(workspace_ + "/" + value);

  std::map<std::string, std::vector<std::string>> repositories =
      KnownGitDirectories();
  std::map<std::string, size_t> recorded;
  for (size_t i = 0; i < configs_.size(); ++i)
    if (configs_[i].readable) recorded.emplace(configs_[i].path, i);
  for (auto& [directory, trees] : repositories) {
    Said said;
    for (const char* name : {"/config", "/config.worktree"}) {
      const std::string path = directory + name;
      if (const auto known = recorded.find(path); known != recorded.end()) {
        if (hook_configs_.contains(path) || !everywhere.empty())
          Gather(configs_[known->second].content, directory, home_, &said);
        continue;
      }
      const Result<std::string> text = ReadFile(path, kMaxConfigRead);
      if (text)
        Gather(*text, directory, home_, &said);
      else
        said.complete &= text.error().code != ErrorCode::kTooLarge;
    }
    finish(&said);
    std::vector<std::string> relative = everywhere;
    for (const std::string& value : said.hooks) {
      if (value.starts_with('/'))
        RecordHooksAt(value);
      else
        relative.push_back(value);
      if (!value.starts_with('/') &&
          std::find(own_hooks_.begin(), own_hooks_.end(), value) ==
              own_hooks_.end())
        own_hooks_.push_back(value);
    }
    if (relative.empty()) continue;
    for (std::string& tree : TreesOf(directory, said.worktrees))
      trees.push_back(std::move(tree));
    for (const std::string& value : relative)
      for (const std::string& tree : trees) RecordHooksAt(tree + "/" + value);
  }
}

void ProtectedPaths::RecordHooksAt(const std::string& path) {
  const std::string place = RecordWay(path);
  struct stat info = {};
  if (lstat(place.c_str(), &info) == 0) {
    RecordHookPlace(place);
    // husky keeps its starters one directory below the scripts they start.
    if (BaseName(place) == "_") RecordHookPlace(std::string(DirName(place)));
    return;
  }
  // Named and not there: whatever appears is the run's.
  const bool known =
      std::any_of(absent_hooks_.begin(), absent_hooks_.end(),
                  [&](const Hooks& hooks) { return hooks.path == place; });
  if (RootOf(place) != nullptr && !known) absent_hooks_.push_back({place});
}

bool ProtectedPaths::IsNamedHook(const std::string& path) const {
  const std::string_view directory = DirName(path), name = BaseName(path);
  const auto is_directory = [&](const std::string& place) {
    return place == directory;
  };
  if (std::none_of(hook_places_.begin(), hook_places_.end(), is_directory))
    return false;
  return IsHookName(name) ||
         std::any_of(hook_files_.begin(), hook_files_.end(),
                     [&](const HookFile& known) { return known.path == path; });
}

void ProtectedPaths::RecordHookPlace(const std::string& directory) {
  const std::string* root = RootOf(directory);
  if (root == nullptr) return;
  // A root is no place of hooks alone: what has no hook's name is left alone.
  const bool mixed = *root == directory || directory == workspace_;
  if (std::find(hook_places_.begin(), hook_places_.end(), directory) !=
      hook_places_.end())
    return;
  hook_places_.push_back(directory);
  struct stat place = {};
  if (!StatPath(directory, &place) || !S_ISDIR(place.st_mode)) return;
  Pin(*root, directory + "/*");  // stays where it is
  int count = 0;
  for (const std::string& name : NamesIn(directory)) {
    if (mixed && !IsHookName(name)) continue;
    const std::string path = directory + "/" + name;
    struct stat info = {};
    if (!StatPath(path, &info) || S_ISDIR(info.st_mode)) continue;
    Result<std::string> text = ReadRegular(path, kMaxHookFile);
    // What cannot be put back must not change.
    if (!text || ++count > kMaxHookFiles) {
      ProtectPath(path);
      continue;
    }
    hook_files_.push_back({path, std::move(*text), info.st_mode & 0777});
  }
}

void ProtectedPaths::SweepNamedHooks() {
  for (const HookFile& hook : hook_files_) {
    struct stat info = {};
    const Result<std::string> text = ReadRegular(hook.path, kMaxHookFile);
    if (LeftByKilled(hook.path, hook.content, text)) {
      PutBack(ViolationKind::kGitHook, hook.path, hook.content, hook.mode);
      continue;
    }
    if (!StatPath(hook.path, &info)) {  // removed: runs nothing
      if (MissedOnTheWay(hook.path, ViolationKind::kGitHook)) {
        MakeWay(hook.path);
        PutBack(ViolationKind::kGitHook, hook.path, hook.content, hook.mode);
      }
      continue;
    }
    if (text && *text == hook.content) continue;
    Quarantine(hook.path, ViolationKind::kGitHook, "a hook changed by the run");
    PutBack(ViolationKind::kGitHook, hook.path, hook.content, hook.mode);
  }
  for (const std::string& directory : hook_places_) {
    struct stat info = {};
    if (!StatPath(directory, &info))
      MissedOnTheWay(directory, ViolationKind::kGitHook);
    else if (S_ISLNK(info.st_mode))
      ClearWay(directory, ViolationKind::kGitHook);
    for (const std::string& name : NamesIn(directory)) {
      const std::string path = directory + "/" + name;
      if (!IsHookName(name) || bound_.contains(path) ||
          std::any_of(
              hook_files_.begin(), hook_files_.end(),
              [&](const HookFile& known) { return known.path == path; }))
        continue;
      Quarantine(path, ViolationKind::kGitHook, "a hook made by the run");
    }
  }
}

void ProtectedPaths::SweepHookNames(const std::string& directory, bool all) {
  for (const std::string_view name : kHookNames) {
    const std::string path = directory + "/" + std::string(name);
    struct stat info = {};
    if (StatPath(path, &info) && (all || Changed(info)) &&
        !IsRemembered(path, info))
      Quarantine(path, ViolationKind::kGitHook, "a hook made by the run");
  }
}

bool ProtectedPaths::IsTwinLink(const std::string& tree,
                                const std::string& path) const {
  // As MatchesMainWorktree, of links.
  if (!IsWithin(path, tree)) return false;
  const std::optional<std::string> here = LinkText(path);
  return here && here == LinkText(workspace_ + path.substr(tree.size()));
}

void ProtectedPaths::SweepHooksIn(const std::string& tree,
                                  const std::string& place, bool named,
                                  bool all) {
  if (std::find(hook_places_.begin(), hook_places_.end(), place) !=
      hook_places_.end())
    return;
  struct stat info = {};
  if (!StatPath(place, &info)) {
    Unopened(place);
    return;
  }
  if (!S_ISDIR(info.st_mode)) return;
  for (const std::string& name : NamesIn(place)) {
    if ((named && !IsHookName(name)) || name.ends_with(".sample")) continue;
    const std::string path = place + "/" + name;
    if (bound_.contains(path) || !StatPath(path, &info) ||
        S_ISDIR(info.st_mode) || !(all || Changed(info)))
      continue;
    // Of a link that stands in the workspace too, what it leads to counts.
    const bool link = S_ISLNK(info.st_mode);
    const std::string real = link ? ResolveSymlinks(path).place : path;
    const Result<std::string> text = ReadRegular(real, kMaxHookFile);
    if (text && StatPath(real, &info) && info.st_nlink == 1 &&
        MatchesMainWorktree(real, *text) && (!link || IsTwinLink(tree, path)))
      continue;
    Quarantine(path, ViolationKind::kGitHook, "a hook made by the run");
  }
}

void ProtectedPaths::SweepHooksOf(const std::string& tree, bool own, bool all) {
  std::vector<std::string> values = user_hooks_;
  if (own) values.insert(values.end(), own_hooks_.begin(), own_hooks_.end());
  for (const std::string& value : values) {
    const SymlinkTrace way = ResolveSymlinks(tree + "/" + value);
    struct stat info = {};
    const auto made = std::find_if(way.links.begin(), way.links.end(),
                                   [&](const SymlinkTrace::Link& link) {
                                     return RootOf(link.path) != nullptr &&
                                            !bound_.contains(link.path) &&
                                            StatPath(link.path, &info) &&
                                            (all || Changed(info)) &&
                                            !IsTwinLink(tree, link.path);
                                   });
    if (made != way.links.end()) {
      Quarantine(made->path, ViolationKind::kGitHook, "a link to hooks");
      continue;
    }
    const std::string& place = way.place;
    if (RootOf(place) == nullptr) continue;
    const bool moved =
        IsWithin(place, tree) && place != tree && MovedBelow(tree, place);
    // The top of a work tree is no place of hooks alone.
    SweepHooksIn(tree, place, place == tree || place == workspace_,
                 all || moved);
    if (BaseName(place) == "_")
      SweepHooksIn(tree, std::string(DirName(place)), true, all || moved);
  }
}

void ProtectedPaths::SweepWorkTree(const std::string& tree,
                                   const struct stat& git) {
  if (user_hooks_.empty() && own_hooks_.empty()) return;
  const std::string path = tree + "/.git";
  if (!S_ISREG(git.st_mode)) {
    SweepHooksOf(tree, false, S_ISDIR(git.st_mode) && IsFresh(path));
    return;
  }
  // What a linked worktree has shares its configuration with the others.
  bool own = true;
  struct stat info = {};
  const Result<std::string> text = ReadRegular(path, kMaxGitFileBytes);
  if (const std::string_view aim = text ? GitDirIn(*text) : ""; !aim.empty())
    own = StatPath(ResolveSymlinks(PathFrom(tree, aim)).place + "/commondir",
                   &info);
  SweepHooksOf(tree, own, Changed(git));
}

bool ProtectedPaths::LeadsOut(const std::string& config,
                              const GitEntry& entry) const {
  // Git would write the repository's files there: start-up files among them.
  if (entry.key != "core.worktree") return false;
  const SymlinkTrace way =
      ResolveSymlinks(PathFrom(DirName(config), entry.value));
  if (RootOf(way.place) == nullptr) return true;
  // A link of the run's can be another one later; those that are held stay.
  return std::any_of(
      way.links.begin(), way.links.end(), [&](const SymlinkTrace::Link& link) {
        return RootOf(link.path) != nullptr && !bound_.contains(link.path);
      });
}

void ProtectedPaths::SweepTreeOf(const std::string& config) {
  const Result<std::string> text = ReadRegular(config, kMaxGitConfig);
  std::vector<GitEntry> entries;
  if (text) ParseGitConfig(*text, &entries);
  for (const GitEntry& entry : entries) {
    if (entry.key != "core.worktree") continue;
    for (const SymlinkTrace::Link& link :
         ResolveSymlinks(PathFrom(DirName(config), entry.value)).links) {
      const std::string* root = RootOf(link.path);
      struct stat info = {};
      if (root == nullptr || bound_.contains(link.path) ||
          !StatPath(link.path, &info) ||
          !(Changed(info) || MovedBelow(*root, link.path)))
        continue;
      Quarantine(link.path, ViolationKind::kGitConfig, "a link to a work tree");
      break;  // the rest of the way is another one
    }
  }
}

}  // namespace gate::backends
