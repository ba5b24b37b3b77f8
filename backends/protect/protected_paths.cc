// The half of ProtectedPaths that looks before the run; verify_and_restore.cc
// is the half that looks after it.
#include "backends/protected_paths.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "backends/listing.h"
#include "backends/protect/quarantine.h"
#include "backends/symlinks.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

bool Exists(const std::string& path) {
  struct stat info = {};
  return lstat(path.c_str(), &info) == 0;
}

// Whole git directories of repositories below `top`, but the one of `top`,
// breadth first, as far as few directories and little time allow.
std::vector<std::string> RepositoriesBelow(const std::string& top) {
  constexpr size_t kMaxDirectories = 1024, kMaxFound = 64;
  constexpr int64_t kMaxNs = 10'000'000;
  const auto now = [] {
    timespec at = {};
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * int64_t{1'000'000'000} + at.tv_nsec;
  };
  const int64_t end = now() + kMaxNs;
  std::vector<std::string> open = {top}, found;
  for (size_t i = 0; i < open.size() && i < kMaxDirectories &&
                     found.size() < kMaxFound && now() < end;
       ++i) {
    const Directory list = OpenDirectory(open[i]);
    if (!list) continue;
    while (const dirent* entry = readdir(list.get())) {
      const std::string_view name = entry->d_name;
      if (entry->d_type != DT_DIR || name == "." || name == "..") continue;
      const std::string path = JoinPath(open[i], entry->d_name);
      if (name != ".git")
        open.push_back(path);
      else if (i != 0 && Exists(JoinPath(path, "HEAD")) &&
               Exists(JoinPath(path, "objects")) &&
               Exists(JoinPath(path, "refs")))
        found.push_back(path);
    }
  }
  return found;
}

long Depth(const std::string& path) {
  return std::count(path.begin(), path.end(), '/');
}

}  // namespace

ProtectedPaths ProtectedPaths::Snapshot(const Profile& profile,
                                        const std::string& cwd,
                                        OnBind on_bind) {
  ProtectedPaths protected_paths;
  protected_paths.on_bind_ = std::move(on_bind);
  protected_paths.Look(profile, cwd);
  protected_paths.on_bind_ = nullptr;
  return protected_paths;
}

void ProtectedPaths::Look(const Profile& profile, const std::string& cwd) {
  clock_gettime(CLOCK_REALTIME_COARSE, &start_);
  since_ = start_;
  quarantine_ = profile.quarantine_dir;
  runs_ = profile.runs_dir;
  git_only_ = profile.git_only;
  trusted_ = profile.trusted;
  for (const std::string* place : {&profile.state_dir, &profile.private_tmp})
    if (!place->empty()) private_.push_back(ResolveSymlinks(*place).place);
  // Without this call nothing could be looked at, before the run or after it.
  if (!OpenPath("/")) {
    const int error = errno;
    const bool full = error == EMFILE || error == ENFILE || error == ENOMEM;
    refusal_ = std::string(full ? "protected paths cannot be looked at: "
                                : "protected paths need openat2 (Linux 5.6), "
                                  "which does not work here: ") +
               strerror(error) + (error == EMFILE ? "; raise `ulimit -n`" : "");
    return;
  }
  // Behind overlays nothing of the host is written; a commit checks instead.
  if (!profile.overlays.empty()) return;
  for (const std::string& root : profile.write) {
    if (!Exists(root)) continue;
    if (ResolveSymlinks(root).place != root) {
      refusal_ = SymlinkChanged(root).error().message;
      return;
    }
    roots_.push_back(root);
  }
  if (roots_.empty()) return;
  if (!preview_ && !runs_.empty())
    for (std::string& name :
         NoteNames(runs_).value_or(std::vector<std::string>()))
      if (!name.starts_with(kEndedRun) && name != "lock")
        notes_before_.insert(std::move(name));
  for (const std::string& name : profile.protect_names) {
    // Git directories have rules of their own.
    if (name != ".git" && !name.starts_with(".git/") && !name.empty())
      names_.push_back(name);
  }
  if (!profile.workspace.empty()) {
    const std::string workspace = ResolveSymlinks(profile.workspace).place;
    if (RootOf(workspace) != nullptr) workspace_ = workspace;
  }
  for (const std::string& root : roots_)
    if (std::find(profile.made.begin(), profile.made.end(), root) !=
            profile.made.end() &&
        root != workspace_)
      made_.push_back(root);
    else if (root != "/")
      AddBase(root);
  if (!workspace_.empty()) AddBase(workspace_);
  const std::string here = ResolveSymlinks(cwd).place;
  if (const std::string* root = RootOf(here); root != nullptr) {
    const std::string stop = *root != "/" ? *root
                             : IsWithin(here, workspace_)
                                 ? workspace_
                                 : std::string(DirName(here));
    for (std::string at = here; at != stop && at.size() > 1;
         at = std::string(DirName(at)))
      AddBase(at);
  }
  for (const std::string& path : profile.protect) ProtectPath(path);
  // What is hidden is hidden by its name: a directory above it that got another
  // one would show it to the next run.
  for (const std::string& path : profile.deny_read)
    if (RootOf(path) != nullptr && Exists(path))
      if (const std::string place = RecordWay(path); RootOf(place) != nullptr)
        Pin(*RootOf(place), place);
  // git changes its configuration in lines of git alone, most of all: there
  // only what a run adds is to go. Elsewhere the search before costs too much.
  if (git_only_ && !workspace_.empty())
    for (const std::string& git : RepositoriesBelow(workspace_))
      for (const char* name : {"config", "config.worktree"})
        if (Exists(JoinPath(git, name))) RecordConfig(JoinPath(git, name));
  const std::vector<std::string> sole = RecordHomeLinks(profile);
  RecordPersonsHooks(sole);
  if (!preview_) {
    RecordLinks(sole);
    HoldRoots();
    RememberBinds();
    RememberBelow();
  }
  for (Bind& bind : binds_) bind.depth = Depth(bind.path);
  std::stable_sort(
      binds_.begin(), binds_.end(),
      [](const Bind& a, const Bind& b) { return a.depth < b.depth; });
  nearby_ = {};  // nothing stays open for the run
}

ProtectedPaths ProtectedPaths::SnapshotDirectories(const Profile& profile) {
  Profile plain = profile;
  plain.overlays.clear();
  plain.protect_names.clear();
  // A commit makes new files: other names of the old ones keep what they were.
  ProtectedPaths protected_paths;
  protected_paths.preview_ = true;
  protected_paths.Look(plain, plain.workspace);
  return protected_paths;
}

const std::string* ProtectedPaths::RootOf(const std::string& path) const {
  const std::string* best = nullptr;
  for (const std::string& root : roots_)
    if (IsWithin(path, root) && (best == nullptr || root.size() > best->size()))
      best = &root;
  return best;
}

void ProtectedPaths::AddBase(const std::string& base) {
  if (std::find(bases_.begin(), bases_.end(), base) != bases_.end()) return;
  struct stat info = {};
  if (!StatPath(base, &info) || !S_ISDIR(info.st_mode)) return;
  bases_.push_back(base);
  const Listing listing = Listing::Of(base, preview_ ? 0 : kMaxLinkedHere);
  if (base == workspace_) sockets_in_workspace_ = listing.may_hold_sockets();
  for (const std::string& name : listing.files())
    NoteLinked(JoinPath(base, name));
  for (const std::string& name : names_) {
    if (!listing.MayHold(name))
      absent_.push_back({base, name, true});
    else if (!git_only_ || !RecordKept(base, name))
      Protect(base, name, false, true);
  }
  RecordGit(base);
}

void ProtectedPaths::ProtectPath(const std::string& path) {
  // The last component is not resolved: it may be a link of its own.
  // Many of them lie in one directory.
  if (const std::string_view parent = DirName(path); parent != parent_) {
    parent_ = parent;
    canonical_parent_ = RecordWay(parent_);
  }
  const std::string full =
      JoinPath(canonical_parent_, std::string(BaseName(path)));
  const std::string* root = RootOf(full);
  if (root == nullptr || full == *root) return;
  Protect(*root, full.substr(*root == "/" ? 1 : root->size() + 1));
}

void ProtectedPaths::Pin(const std::string& root, const std::string& path) {
  for (std::string at(DirName(path)); at.size() > root.size() && at != "/";
       at = std::string(DirName(at))) {
    if (!bound_.insert(at).second) return;  // and so are those above it
    struct stat info = {};
    if (!StatPath(at, &info)) return;
    binds_.push_back({at, false, true, info.st_dev, info.st_ino});
  }
}

void ProtectedPaths::Protect(const std::string& base,
                             const std::string& relative, bool followed,
                             bool named) {
  const std::string path = JoinPath(base, relative);
  const std::string* root = RootOf(path);
  if (root == nullptr || path == *root) return;
  struct stat info = {};
  const bool found = nearby_(path, &info);
  if (!found && errno != ELOOP) {
    // Nothing is there, or it cannot be looked at, which ends in the same:
    // whatever is there afterwards is taken away.
    absent_.push_back({base, relative, named});
    return;
  }
  if (found && !S_ISLNK(info.st_mode)) {
    if (!bound_.insert(path).second) {
      // A pin so far: becoming read-only covers what is below it as well.
      for (Bind& bind : binds_)
        if (bind.path == path) bind.read_only = true;
      return;
    }
    binds_.push_back({path, true, S_ISDIR(info.st_mode), info.st_dev,
                      info.st_ino, 0, info.st_nlink});
    if (on_bind_) on_bind_(binds_.back());
    Pin(*root, path);
    return;
  }
  // A link, here or on the way: it must stay what it is, as any on the way that
  // it leads, and what is at the end of that is protected in its place. What
  // leads there again is a loop.
  if (followed) return;
  const std::string aim = RecordWay(path);
  const std::string* other = RootOf(aim);
  if (other != nullptr && aim != *other)
    Protect(*other, aim.substr(*other == "/" ? 1 : other->size() + 1), true);
}

void ProtectedPaths::RecordGit(const std::string& base) {
  const std::string git = JoinPath(base, ".git");
  struct stat info = {};
  if (Exists(JoinPath(base, "HEAD")) && Exists(JoinPath(base, "objects")) &&
      Exists(JoinPath(base, "refs")))
    RecordGitDirectory(base, false);
  if (!StatPath(git, &info)) return;
  if (S_ISDIR(info.st_mode)) {
    RecordGitDirectory(git, true);
    return;
  }
  // A worktree's or submodule's pointer, or a link: it must stay, and what it
  // points to is a git directory.
  Protect(base, ".git");
  std::string aim;
  if (S_ISLNK(info.st_mode)) {
    aim = RecordWay(git);
  } else {
    const Result<std::string> text = ReadRegular(git, kMaxGitFileBytes);
    const std::string_view named = text ? GitDirIn(*text) : "";
    if (named.empty()) return;
    aim = RecordWay(PathFrom(base, named));
  }
  RecordGitDirectory(aim, true);
  const Result<std::string> common =
      ReadRegular(JoinPath(aim, "commondir"), kMaxGitFileBytes);
  if (common)
    RecordGitDirectory(RecordWay(PathFrom(aim, GitPathIn(*common))), true);
}

void ProtectedPaths::RecordGitDirectory(const std::string& directory,
                                        bool main) {
  struct stat info = {};
  if (RootOf(directory) == nullptr || !StatPath(directory, &info) ||
      !S_ISDIR(info.st_mode) ||
      git_directories_.size() >= static_cast<size_t>(kMaxModules) ||
      !git_directories_.insert(directory).second)
    return;
  const std::string hooks = JoinPath(directory, "hooks");
  if (Exists(hooks)) {
    Protect(directory, "hooks");
  } else {
    absent_hooks_.push_back({hooks});
  }
  Protect(directory, "info/attributes");
  Protect(directory, "commondir");
  Protect(directory, "lazygit.yml");  // of lazygit: names programs
  RecordConfig(JoinPath(directory, "config"));
  RecordConfig(JoinPath(directory, "config.worktree"));
  if (!main) return;
  // Submodules' directories nest by their names; linked worktrees do not.
  std::vector<std::string> open = {JoinPath(directory, "modules"),
                                   JoinPath(directory, "worktrees")};
  for (size_t i = 0; i < open.size() && i < kMaxModules; ++i) {
    DIR* list = opendir(open[i].c_str());
    if (list == nullptr) continue;
    while (const dirent* entry = readdir(list)) {
      if (entry->d_type != DT_DIR || entry->d_name[0] == '.') continue;
      const std::string below = JoinPath(open[i], entry->d_name);
      if (Exists(JoinPath(below, "HEAD"))) {
        RecordGitDirectory(below, false);
        open.push_back(JoinPath(below, "modules"));
      } else {
        open.push_back(below);
      }
    }
    closedir(list);
  }
}

void ProtectedPaths::RecordConfig(const std::string& path) {
  if (std::any_of(configs_.begin(), configs_.end(),
                  [&](const GitConfig& one) { return one.path == path; }))
    return;
  if (configs_.size() >= kMaxGitConfigs) {
    ProtectPath(path);
    return;
  }
  struct stat info = {};
  GitConfig config;
  config.path = path;
  if (StatPath(path, &info)) {
    if (S_ISLNK(info.st_mode)) {
      ProtectPath(path);
      return;
    }
    config.existed = true;
    config.mode = info.st_mode & 0777;
    Result<std::string> text = ReadRegular(path, kMaxGitConfig);
    config.readable = text.has_value();
    if (text) config.content = std::move(*text);
    // What cannot be compared afterwards must not change.
    if (!config.readable) ProtectPath(path);
  }
  const std::string content = config.content;
  configs_.push_back(std::move(config));
  if (content.empty()) return;
  for (const std::string& file : IncludedFiles(content, DirName(path)))
    RecordIncluded(file);
  RecordNamedHooks(path, content);
}

void ProtectedPaths::RecordIncluded(const std::string& file) {
  const std::string_view name = BaseName(file);
  if (name.empty() || name == "." || name == "..") return;  // a directory
  const std::string full =
      JoinPath(RecordWay(std::string(DirName(file))), std::string(name));
  if (RootOf(full) != nullptr) RecordConfig(full);
}

}  // namespace gate::backends
