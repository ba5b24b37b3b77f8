#include "preview/repository.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>

#include "backends/protected_paths.h"
#include "base/ascii.h"
#include "base/file.h"
#include "preview/protect.h"
#include "preview/tree.h"

namespace gate::backends {
namespace {

constexpr char kRunsPrograms[] = "a part of git that runs programs";

// What cannot be looked at counts as there.
bool IsThere(int root, const std::string& path, struct stat* info) {
  *info = {};
  return StatBelow(root, path, info) || (errno != ENOENT && errno != ENOTDIR);
}

// `whole`: the directory has a HEAD. Without one it is git's only by accident,
// and source files in a directory called hooks are no hooks.
bool IsHookName(const std::string& name, bool whole) {
  if (name.ends_with(".sample")) return false;
  return whole || name.find('.') == std::string::npos;
}

std::string RefusedText(const std::string& path, bool config,
                        const std::string& root, const std::string& before,
                        const std::string& after) {
  if (config) return RefusedConfig(path, before, after);
  return IsOwnCommonDir(root + "/" + path, after)
             ? ""
             : "takes git configuration from elsewhere";
}

class Judge {
 public:
  Judge(int real, const std::string& root,
        const std::vector<const PreviewEntry*>& entries,
        const std::function<std::string(const PreviewEntry&, bool)>& content)
      : real_(real), root_(root), entries_(entries), content_(content) {}

  std::map<const PreviewEntry*, std::string> Run() {
    std::vector<const PreviewEntry*> naming, parts;
    std::map<std::string, std::vector<const PreviewEntry*>> making;
    for (const PreviewEntry* entry : entries_) {
      if (entry->change == PreviewChange::kDeleted) continue;
      const std::string name = NameOf(entry->path);
      GitNames one;
      one.Add(name);
      if (entry->change == PreviewChange::kAdded &&
          (one.head || one.objects || one.refs || one.common)) {
        const std::string parent = ParentOf(entry->path);
        making[parent].push_back(entry);
        added_[parent].Add(name);
      }
      if (entry->type == PreviewType::kFile &&
          (LowerAscii(name) == ".git" || one.common))
        naming.push_back(entry);
      if (Owner(*entry)) parts.push_back(entry);
      if (entry->type == PreviewType::kLink) LinkAt(*entry);
    }
    for (const PreviewEntry* entry : naming) Names(*entry);
    for (const auto& [directory, makers] : making) Makes(directory, makers);
    for (const PreviewEntry* entry : parts) Part(*entry);
    return std::move(refused_);
  }

 private:
  void Refuse(const PreviewEntry& entry, const std::string& why) {
    refused_.emplace(&entry, why);
  }

  // The directory whose git part the entry is, if that directory is git's.
  static std::optional<std::string> Owner(const PreviewEntry& entry) {
    const std::string name = LowerAscii(NameOf(entry.path));
    const std::string parent = ParentOf(entry.path);
    const std::string above = LowerAscii(NameOf(parent));
    if (name == "config" || name == "config.worktree" || name == "commondir")
      return entry.type == PreviewType::kDirectory ? std::nullopt
                                                   : std::optional(parent);
    if ((name == "hooks" || name == "info") &&
        entry.type != PreviewType::kDirectory)
      return parent;
    if (above == "hooks" || (above == "info" && name == "attributes"))
      return ParentOf(parent);
    return std::nullopt;
  }

  struct Found {
    GitNames sure;   // there
    GitNames maybe;  // there, or it cannot be told
  };

  const Found& Real(const std::string& directory) {
    const auto [at, fresh] = real_names_.try_emplace(directory);
    struct stat info = {};
    if (!fresh || !IsThere(real_, directory, &info)) return at->second;
    for (const char* name : {"HEAD", "objects", "refs", "commondir"}) {
      const std::string path = JoinBelow(directory, name);
      if (StatBelow(real_, path, &info))
        at->second.sure.Add(name);
      else if (errno == ENOENT || errno == ENOTDIR)
        continue;
      at->second.maybe.Add(name);
    }
    return at->second;
  }

  GitNames Both(const std::string& directory) {
    GitNames names = Real(directory).maybe;
    if (const auto at = added_.find(directory); at != added_.end()) {
      names.head |= at->second.head;
      names.objects |= at->second.objects;
      names.refs |= at->second.refs;
      names.common |= at->second.common;
    }
    return names;
  }

  // What git would obey in the real directory; empty when nothing.
  std::string OrdersIn(const std::string& directory, bool whole) {
    struct stat info = {};
    const std::string hooks = JoinBelow(directory, "hooks");
    if (IsThere(real_, hooks, &info)) {
      const auto names = ListBelow(real_, hooks, false);
      if (!names) return "hooks";
      for (const std::string& name : *names)
        if (IsHookName(name, whole)) return "hooks/" + name;
    }
    if (IsThere(real_, JoinBelow(directory, "info"), &info) &&
        (!S_ISDIR(info.st_mode) ||
         IsThere(real_, JoinBelow(directory, "info/attributes"), &info)))
      return "info/attributes";
    for (const char* name : {"config", "config.worktree", "commondir"}) {
      const std::string path = JoinBelow(directory, name);
      if (!IsThere(real_, path, &info) || S_ISDIR(info.st_mode)) continue;
      const Fd file = OpenFileBelow(real_, path, false);
      const auto text = file ? ReadAll(file.get(), kMaxGitConfig)
                             : Result<std::string>(FailErrno(""));
      if (!text ||
          !RefusedText(path, name[3] == 'f', root_, "", *text).empty() ||
          (name[3] == 'f' && TreeThroughALink(path, "", *text)))
        return name;
    }
    return "";
  }

  // A file that names a git directory.
  void Names(const PreviewEntry& entry) {
    const std::string text = content_(entry, true);
    const bool common = NameOf(entry.path) == "commondir";
    std::string directory;
    if (common) {
      if (!IsOwnCommonDir(root_ + "/" + entry.path, text)) return;  // Part
      // Of a root that is the worktree's own directory it lies outside, in a
      // repository that was there.
      if (ParentOf(ParentOf(entry.path)).empty()) return;
      directory = ParentOf(ParentOf(ParentOf(entry.path)));
    } else {
      const auto named = GitFileTarget(entry.path, text);
      if (!named) return Refuse(entry, RefusedGitFile(entry.path, text));
      directory = *named;
    }
    named_.insert(directory);
    if (ThroughALink(directory))
      return Refuse(entry, "names a git directory through a link");
    // The repository of a worktree, and submodules, are what they were.
    if (Real(directory).sure.Whole() &&
        (common || !AfterGit(directory + "/HEAD").empty()))
      return;
    const std::string orders = OrdersIn(directory, true);
    if (!orders.empty())
      Refuse(entry, "names a git directory that holds " + orders);
  }

  // Whether configuration that replaces `before` at `path` names another work
  // tree than that, behind a link or in a way that git does not write.
  bool TreeThroughALink(const std::string& path, const std::string& before,
                        const std::string& after) {
    const std::vector<std::string> old = TreesIn(before);
    for (const std::string& value : TreesIn(after)) {
      if (std::find(old.begin(), old.end(), value) != old.end()) continue;
      const auto tree = TargetBelow(path, value);
      if (!tree || ThroughALink(*tree)) return true;
    }
    return false;
  }

  // The values of core.worktree.
  static std::vector<std::string> TreesIn(const std::string& config) {
    std::vector<GitEntry> entries;
    std::vector<std::string> trees;
    ParseGitConfig(config, &entries);
    for (const GitEntry& entry : entries)
      if (entry.key == "core.worktree") trees.push_back(entry.value);
    return trees;
  }

  // A link where a repository above it, or a submodule of that, has its work
  // tree already, or on the way.
  void LinkAt(const PreviewEntry& entry) {
    for (std::string at = entry.path; !at.empty();) {
      at = ParentOf(at);
      for (const std::string& tree : TreesOf(at))
        if ((tree + "/").starts_with(entry.path + "/"))
          return Refuse(entry, "a link to a work tree");
    }
  }

  // Those of the repository whose work tree would be `directory`.
  const std::vector<std::string>& TreesOf(const std::string& directory) {
    const auto [at, fresh] = trees_.try_emplace(directory);
    const std::string git = JoinBelow(directory, ".git");
    struct stat info = {};
    if (!fresh || !IsThere(real_, git, &info)) return at->second;
    std::vector<std::string> places = {git};
    const std::string modules = JoinBelow(git, "modules");
    if (const auto names = ListBelow(real_, modules, false))
      for (const std::string& name : *names)
        places.push_back(JoinBelow(modules, name));
    for (const std::string& place : places)
      for (const char* name : {"config", "config.worktree"}) {
        const std::string path = JoinBelow(place, name);
        const Fd file = OpenFileBelow(real_, path, false);
        const auto text = file ? ReadAll(file.get(), kMaxGitConfig)
                               : Result<std::string>(std::string());
        if (!text) continue;
        for (const std::string& value : TreesIn(*text))
          if (auto tree = TargetBelow(path, value))
            at->second.push_back(std::move(*tree));
      }
    return at->second;
  }

  bool ThroughALink(const std::string& directory) {
    if (IsBehindALink(directory)) return true;
    if (!links_) {
      links_.emplace();
      for (const PreviewEntry* entry : entries_)
        if (entry->type == PreviewType::kLink &&
            entry->change != PreviewChange::kDeleted)
          links_->insert(entry->path);
    }
    for (std::string at = directory; !at.empty(); at = ParentOf(at))
      if (links_->contains(at)) return true;
    return false;
  }

  bool IsBehindALink(const std::string& directory) const {
    const Fd there = OpenBelow(real_, directory, O_PATH | O_NOFOLLOW);
    if (!there && errno != ENOENT && errno != ENOTDIR) return true;
    struct stat info = {};
    return there && (fstat(there.get(), &info) != 0 || S_ISLNK(info.st_mode));
  }

  // Entries that make a directory a repository.
  void Makes(const std::string& directory,
             const std::vector<const PreviewEntry*>& makers) {
    const GitNames before = Real(directory).sure, after = Both(directory);
    const bool whole = after.Whole() && !before.Whole();
    const bool usable = after.Usable() && !before.Usable();
    if (!whole && !usable) return;
    const std::string orders = OrdersIn(directory, after.head);
    if (orders.empty()) return;
    // One missing name is enough.
    const bool head = !before.head && after.head;
    for (const PreviewEntry* entry : makers)
      if (!head || NameOf(entry->path) == "HEAD")
        Refuse(*entry, "makes a git directory that holds " + orders);
  }

  void Part(const PreviewEntry& entry) {
    const auto owner = Owner(entry);
    if (!owner) return;
    const GitNames names = Both(*owner);
    const bool whole = names.Whole() || named_.contains(*owner);
    if (!whole && !names.Usable()) return;
    const std::string name = LowerAscii(NameOf(entry.path));
    const bool config = name == "config" || name == "config.worktree";
    if (!config && name != "commondir") {
      if (LowerAscii(NameOf(ParentOf(entry.path))) != "hooks" ||
          IsHookName(name, whole))
        Refuse(entry, kRunsPrograms);
      return;
    }
    if (entry.type != PreviewType::kFile)
      return Refuse(entry, "git configuration that is no file");
    if (entry.size > kMaxGitConfig)
      return Refuse(entry, "git configuration, too large");
    const std::string before = entry.lower.exists ? content_(entry, false) : "";
    const std::string after = content_(entry, true);
    const std::string why =
        RefusedText(entry.path, config, root_, before, after);
    if (!why.empty()) return Refuse(entry, why);
    if (config && TreeThroughALink(entry.path, before, after))
      Refuse(entry, "git configuration that has a work tree behind a link");
  }

  const int real_;
  const std::string& root_;
  const std::vector<const PreviewEntry*>& entries_;
  const std::function<std::string(const PreviewEntry&, bool)>& content_;
  std::map<std::string, Found> real_names_;
  std::map<std::string, GitNames> added_;
  std::map<std::string, std::vector<std::string>> trees_;
  std::set<std::string> named_;
  std::optional<std::set<std::string>> links_;
  std::map<const PreviewEntry*, std::string> refused_;
};

}  // namespace

void GitNames::Add(const std::string& name) {
  head |= name == "HEAD";
  objects |= name == "objects";
  refs |= name == "refs";
  common |= name == "commondir";
}

bool IsOwnCommonDir(const std::string& path, const std::string& text) {
  return text == "../..\n" && NameOf(ParentOf(ParentOf(path))) == "worktrees";
}

std::map<const PreviewEntry*, std::string> RefusedForRepositories(
    int real, const std::string& root,
    const std::vector<const PreviewEntry*>& entries,
    const std::function<std::string(const PreviewEntry&, bool)>& content) {
  return Judge(real, root, entries, content).Run();
}

}  // namespace gate::backends
