// The half of ProtectedPaths that looks after the run: at the places it knew.
// What lies deeper is looked for in protected_tree.cc.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "backends/listing.h"
#include "backends/protect/quarantine.h"
#include "backends/protected_paths.h"
#include "backends/symlinks.h"
#include "base/file.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

bool StillExists(const std::string& path) {
  struct stat info = {};
  return StatPath(path, &info);
}

std::string Keys(const std::vector<GitEntry>& entries) {
  std::string out;
  for (const GitEntry& entry : entries)
    out += (out.empty() ? "" : ", ") + entry.key;
  return out;
}

}  // namespace

bool ProtectedPaths::IsSince(const timespec& stamp, const timespec& start) {
  // The coarse clock stamps files, so what changed after the start is not
  // older than the start by the same clock. Where a file system keeps whole
  // seconds, the second of the start counts.
  if (stamp.tv_sec != start.tv_sec) return stamp.tv_sec > start.tv_sec;
  return stamp.tv_nsec == 0 || stamp.tv_nsec >= start.tv_nsec;
}

bool ProtectedPaths::Changed(const struct stat& info) const {
  return IsSince(info.st_ctim, since_);
}

bool ProtectedPaths::CreatedSince(const std::string& path, bool unknown) const {
  return MadeAfter(path, since_, unknown);
}

bool ProtectedPaths::MadeAfter(const std::string& path, const timespec& start,
                               bool unknown) {
  const Fd fd = OpenPath(path);
  struct statx info = {};
  if (!fd ||
      statx(fd.get(), "", AT_EMPTY_PATH, STATX_BTIME | STATX_CTIME, &info) != 0)
    return false;
  if ((info.stx_mask & STATX_BTIME) == 0)
    return unknown &&
           IsSince({info.stx_ctime.tv_sec, info.stx_ctime.tv_nsec}, start);
  return IsSince({info.stx_btime.tv_sec, info.stx_btime.tv_nsec}, start);
}

void ProtectedPaths::Unopened(const std::string& path) {
  const int error = errno;
  if (error == ENOENT || error == ENOTDIR || error == ELOOP) return;
  // Somebody else's, and closed to this user: it was closed to the command.
  struct stat info = {};
  if (error == EACCES && StatPath(path, &info) && info.st_uid != geteuid() &&
      faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) != 0)
    return;
  outcome_->sweep_complete = false;
  Report(ViolationKind::kProtectedPath,
         path + ": not looked at: " + std::strerror(error));
}

void ProtectedPaths::Report(ViolationKind kind, const std::string& detail) {
  outcome_->violations.push_back({kind, detail});
}

void ProtectedPaths::Quarantine(const std::string& path, ViolationKind kind,
                                const std::string& why) {
  const std::string name =
      std::to_string(start_.tv_sec) + "-" +
      std::to_string(start_.tv_nsec / 1000) + "-" + std::to_string(getpid()) +
      "-" + std::to_string(++quarantined_) + "-" + std::string(BaseName(path));
  std::vector<std::string> roots = roots_;
  for (const auto& other : others_)
    roots.insert(roots.end(), other->roots_.begin(), other->roots_.end());
  const Result<Aside> where = MoveAside(path, quarantine_, name, roots);
  const std::string lost = NotRemembered(path);
  if (!where)
    Report(kind,
           path + ": " + why + "; it is still there: " + where.error().message);
  else if (where->place.empty())
    Report(kind, path + ": " + why + "; removed" +
                     (where->removed.empty() ? "" : ", " + where->removed) +
                     lost);
  else
    Report(kind, path + ": " + why + "; moved to " + where->place + lost);
  if (where) PutBackBelow(path);
}

void ProtectedPaths::VerifyAndRestore(Outcome* outcome) {
  outcome_ = outcome;
  if (roots_.empty()) return;
  cleared_.clear();
  others_.clear();
  if (finishing_) LearnFromOthers();
  const bool last = finishing_ || EndAmongOthers();
  SweepPlaces();
  if (finishing_ || !last || !overlapped_) return;
  const Fd turn = TakeTurn(runs_);
  FinishEndedRuns(runs_, &outcome_->violations);
}

void ProtectedPaths::SweepMeanwhile(Outcome* outcome) {
  outcome_ = outcome;
  if (roots_.empty()) return;
  others_.clear();
  cleared_.clear();
  LearnFromOthers();
  SweepPlaces();
}

void ProtectedPaths::SweepPlaces() {
  if (held_.empty()) HoldRoots();
  const HeldRoots held(held_);
  const ScopedOwnerAccess way(roots_);
  SweepRoots();
  SweepAbsent();
  SweepKept();
  SweepLinks();
  SweepConfigs();
  SweepUnheld();
  SweepMemory();
  SweepReplaced();
  for (const Hooks& hooks : absent_hooks_) SweepHooks(hooks.path, true);
  SweepNamedHooks();
  SweepTree();
}

void ProtectedPaths::SweepAbsent() {
  // Those of one directory follow each other.
  const std::string* listed = nullptr;
  Listing listing;
  for (const Absent& absent : absent_) {
    if (listed == nullptr || *listed != absent.base) {
      listed = &absent.base;
      listing = Listing::Of(absent.base);
    }
    if (!listing.MayHold(absent.relative)) continue;
    const std::string path = JoinPath(absent.base, absent.relative);
    struct stat info = {};
    if (StatPath(path, &info)) {
      constexpr char kWhy[] =
          "came with the run, and agents or tools execute or follow it; where "
          "git now shows it as deleted, name your files in `git add`, and a "
          "person restores it in a shell of their own";
      if (absent.named)
        TakeNamed(path, absent.relative, kWhy);
      else
        Quarantine(path, ViolationKind::kProtectedPath, kWhy);
      continue;
    }
    MissedOnTheWay(path, ViolationKind::kProtectedPath);
  }
}

void ProtectedPaths::SweepUnheldFile(const std::string& path,
                                     const std::string& why) {
  for (const std::string& base : bases_) {
    if (!IsWithin(path, base)) continue;
    const std::string relative = path.substr(base == "/" ? 1 : base.size() + 1);
    for (const std::string& name : names_)
      if (IsWithin(relative, name)) return TakeNamed(path, relative, why);
  }
  Quarantine(path, ViolationKind::kProtectedPath, why);
}

void ProtectedPaths::SweepUnheld() {
  constexpr char kWhy[] =
      "changed by the run, and agents or tools execute or follow it; what was "
      "there before is not known";
  for (const std::string& path : unheld_) {
    struct stat info = {};
    if (!StatPath(path, &info)) {
      MissedOnTheWay(path, ViolationKind::kProtectedPath);
    } else if (BaseName(path) == "hooks") {
      SweepHooks(path, false);
    } else if (!S_ISDIR(info.st_mode)) {
      if (Changed(info)) SweepUnheldFile(path, kWhy);
    } else {
      for (const std::string& name : NamesIn(path)) {
        const std::string child = JoinPath(path, name);
        if (StatPath(child, &info) && Changed(info))
          SweepUnheldFile(child, kWhy);
      }
    }
  }
}

// Who replaces a file or directory takes the mounts on it away with it
// (d_invalidate() of the kernel). Whether the command then wrote the new one
// cannot be told; what git has just checked out it has not.
void ProtectedPaths::SweepReplaced() {
  if (!unheld_.empty() || overlapped_) return;  // then all are compared
  // What was made just before the start may have a later stamp.
  constexpr long kSettlesNs = 20'000'000, kSecond = 1'000'000'000;
  timespec settled = start_;
  settled.tv_nsec += kSettlesNs;
  settled.tv_sec += settled.tv_nsec / kSecond;
  settled.tv_nsec %= kSecond;
  std::string_view looked_at;
  bool changed = false;
  for (const Bind& bind : binds_) {
    if (!bind.read_only) continue;
    struct stat info = {};
    // Many of them lie in one directory, which a new name in it changes.
    if (const std::string_view parent = DirName(bind.path);
        looked_at != parent) {
      looked_at = parent;
      changed = StatPath(std::string(parent), &info) && Changed(info);
    }
    if (!changed || !StatPath(bind.path, &info)) continue;
    // A number is given to the next file at once.
    if (info.st_ino == bind.inode && info.st_dev == bind.device &&
        !MadeAfter(bind.path, settled, false))
      continue;
    if (S_ISREG(info.st_mode) && info.st_nlink == 1 &&
        IsCheckedOut(bind.path, info))
      continue;
    Report(ViolationKind::kProtectedPath,
           bind.path +
               ": was replaced from outside while the command ran, which could "
               "write it from then on; it is still there: look at it");
  }
}

void ProtectedPaths::SweepConfigs() {
  for (const GitConfig& config : configs_) {
    struct stat info = {};
    if (!config.readable) {  // it was read-only
      if (!StatPath(config.path, &info))
        MissedOnTheWay(config.path, ViolationKind::kGitConfig);
      continue;
    }
    if (!config.existed) {
      CleanConfig(config.path);
      continue;
    }
    std::string what;
    const Result<std::string> text = ReadRegular(config.path, kMaxGitConfig);
    if (LeftByKilled(config.path, config.content, text)) {
      PutBack(ViolationKind::kGitConfig, config.path, config.content,
              config.mode);
      continue;
    }
    if (!StatPath(config.path, &info)) {  // removed: runs nothing
      // Of a git directory it alone would be no repository.
      if (MissedOnTheWay(config.path, ViolationKind::kGitConfig) &&
          !git_directories_.contains(std::string(DirName(config.path)))) {
        Report(ViolationKind::kGitConfig,
               config.path + ": moved away with its directory; put back");
        MakeWay(config.path);
        PutBack(ViolationKind::kGitConfig, config.path, config.content,
                config.mode);
      }
      continue;
    }
    if (text) {
      if (*text == config.content) continue;
      const std::vector<GitEntry> found = NewProgramEntries(
          config.content, *text,
          [&](const GitEntry& entry) { return LeadsOut(config.path, entry); });
      if (found.empty()) continue;
      what = Keys(found);
    } else {
      what = "no longer a readable file";
    }
    Quarantine(config.path, ViolationKind::kGitConfig,
               "program-running keys: " + what);
    PutBack(ViolationKind::kGitConfig, config.path, config.content,
            config.mode);
  }
}

void ProtectedPaths::PutBack(ViolationKind kind, const std::string& path,
                             const std::string& content, mode_t mode) {
  if (const Status restored = WriteRegular(path, content, mode); !restored)
    Report(kind, path + ": could not be restored: " + restored.error().message);
}

void ProtectedPaths::CleanConfig(const std::string& path) {
  struct stat info = {};
  if (!StatPath(path, &info)) {
    MissedOnTheWay(path, ViolationKind::kGitConfig);
    return;
  }
  const Result<std::string> text = ReadRegular(path, kMaxGitConfig);
  if (!text) {
    Quarantine(path, ViolationKind::kGitConfig, "not a readable file");
    return;
  }
  const auto leads_out = [&](const GitEntry& entry) {
    return LeadsOut(path, entry);
  };
  const std::string* before = ConfigBefore(path);
  const std::vector<GitEntry> found =
      NewProgramEntries(before == nullptr ? "" : *before, *text, leads_out);
  if (found.empty()) return;
  Quarantine(path, ViolationKind::kGitConfig,
             "program-running keys: " + Keys(found));
  if (before != nullptr) {
    PutBack(ViolationKind::kGitConfig, path, *before, info.st_mode & 0777);
    return;
  }
  if (Status written = WriteRegular(
          path, WithoutProgramEntries(*text, leads_out), info.st_mode & 0777);
      !written)
    Report(ViolationKind::kGitConfig,
           path + ": could not be written without them: " +
               written.error().message);
}

bool ProtectedPaths::IsRemembered(const std::string& path,
                                  const struct stat& info) const {
  if (!S_ISREG(info.st_mode) || info.st_nlink != 1) return false;
  const Result<std::string> text = ReadRegular(path, kMaxHookFile);
  return text && WasThere(path, *text);
}

void ProtectedPaths::SweepHooks(const std::string& directory, bool all) {
  struct stat info = {};
  if (!StatPath(directory, &info)) {
    MissedOnTheWay(directory, ViolationKind::kGitHook);
    return;
  }
  if (!S_ISDIR(info.st_mode)) {
    if (all || Changed(info))
      Quarantine(directory, ViolationKind::kGitHook,
                 "not a directory of hooks");
    return;
  }
  std::vector<std::string> found;
  if (const Directory list = OpenDirectory(directory)) {
    while (const dirent* entry = readdir(list.get())) {
      const std::string name = entry->d_name;
      if (name == "." || name == ".." || name.ends_with(".sample")) continue;
      const std::string path = JoinPath(directory, name);
      if (StatPath(path, &info) && (all || Changed(info)) &&
          !IsRemembered(path, info))
        found.push_back(path);
    }
  } else {
    Unopened(directory);
  }
  for (const std::string& path : found)
    Quarantine(path, ViolationKind::kGitHook, "a hook made by the run");
}

bool ProtectedPaths::IsFresh(const std::string& directory) const {
  // A directory becomes git's by a name and a few entries; what an earlier run
  // put there is older than that. Git itself makes `refs` first of all; and it
  // makes directories, where anything else that can be entered serves it as
  // well.
  const std::string refs = JoinPath(directory, "refs");
  const std::string objects = JoinPath(directory, "objects");
  const auto put = [&](const std::string& path) {
    struct stat info = {};
    return StatPath(path, &info) && !S_ISDIR(info.st_mode) && Changed(info);
  };
  return CreatedSince(refs, true) || CreatedSince(objects) || put(refs) ||
         put(objects) ||
         (StillExists(refs) && MovedOnTheWay(refs, refs) &&
          !PredatesRun(directory));
}

bool ProtectedPaths::PredatesRun(const std::string& directory) const {
  // A new directory in `refs` (the first fetch of a remote, git stash) changes
  // it as a new name would. Of what got one of these names beside `hooks` all
  // hooks were taken when it got it (SweepDirectory), and git leaves the hooks
  // and one of the two alone, or both.
  const auto old = [&](const char* name) {
    struct stat info = {};
    return StatPath(JoinPath(directory, name), &info) &&
           !S_ISLNK(info.st_mode) && !Changed(info);
  };
  return old("hooks") && (old("HEAD") || old("description"));
}

void ProtectedPaths::SweepGitDirectory(const std::string& directory,
                                       bool fresh) {
  if (!git_directories_.insert(directory).second) return;
  struct stat info = {};
  fresh = fresh || IsFresh(directory);
  SweepHooksOf(directory, true, fresh);  // of a push
  const std::string hooks = JoinPath(directory, "hooks");
  SweepHooks(hooks, fresh || (StatPath(hooks, &info) && Changed(info)));
  for (const char* name : {"config", "config.worktree"}) {
    const std::string path = JoinPath(directory, name);
    if (!StatPath(path, &info)) continue;
    // One that is known was compared with what it was.
    const bool known =
        std::any_of(configs_.begin(), configs_.end(),
                    [&](const GitConfig& one) { return one.path == path; });
    if (fresh || (Changed(info) && !known))
      CleanConfig(path);
    else
      SweepTreeOf(path);
  }
  const std::string lazygit = JoinPath(directory, "lazygit.yml");
  if (StatPath(lazygit, &info) && (fresh || Changed(info)))
    Quarantine(lazygit, ViolationKind::kProtectedPath,
               "names programs for lazygit");
  const std::string common = JoinPath(directory, "commondir");
  if (!StatPath(common, &info)) return;
  // In a linked worktree this is git's own content; anything else would take
  // configuration and hooks from another place. One that was there before may
  // lead to what became a place of such in this run.
  const Result<std::string> text = ReadRegular(common, kMaxGitFileBytes);
  if (((fresh || Changed(info)) && (!text || *text != "../..\n")) ||
      (text && LeadsToPrivate(directory, GitPathIn(*text)))) {
    Quarantine(common, ViolationKind::kGitConfig,
               "takes configuration from elsewhere");
  } else if (text) {
    const std::string place = Aim(directory, GitPathIn(*text));
    if (!place.empty()) SweepGitDirectory(place, fresh);
  }
}

std::string ProtectedPaths::Aim(const std::string& directory,
                                std::string_view path) const {
  // As the kernel goes: `..` behind a link is not that of the text.
  std::string place = RealPath(PathFrom(directory, path));
  return place.empty() || RootOf(place) == nullptr ? "" : place;
}

bool ProtectedPaths::LeadsToPrivate(const std::string& directory,
                                    std::string_view path) const {
  if (private_.empty()) return false;
  const SymlinkTrace way = ResolveSymlinks(PathFrom(directory, path));
  if (std::any_of(way.links.begin(), way.links.end(),
                  [](const SymlinkTrace::Link& link) {
                    return IsWithin(link.path, "/proc");
                  }))
    return true;
  if (!workspace_.empty() && IsWithin(way.place, workspace_)) return false;
  // By a second mount it has another name.
  std::vector<std::pair<dev_t, ino_t>> places;
  struct stat info = {};
  for (const std::string& place : private_) {
    if (IsWithin(way.place, place)) return true;
    if (stat(place.c_str(), &info) == 0)
      places.emplace_back(info.st_dev, info.st_ino);
  }
  for (std::string at = way.place; at.size() > 1; at = std::string(DirName(at)))
    if (stat(at.c_str(), &info) == 0 &&
        std::find(places.begin(), places.end(),
                  std::pair(info.st_dev, info.st_ino)) != places.end())
      return true;
  return false;
}

void ProtectedPaths::SweepGitFile(const std::string& path) {
  struct stat info = {};
  if (bound_.contains(path) || !StatPath(path, &info)) return;
  const bool changed = Changed(info);
  const Result<std::string> text = ReadRegular(path, kMaxGitFileBytes);
  if (!text) {
    // Git's own are short, and every user of the repository can read them.
    if (changed)
      Quarantine(path, ViolationKind::kGitConfig,
                 "leads to a place that cannot be read");
    return;
  }
  const std::string_view named = GitDirIn(*text);
  if (named.empty()) return;
  const std::string directory(DirName(path));
  if (LeadsToPrivate(directory, named)) {
    Quarantine(path, ViolationKind::kGitConfig, "leads to where runs write");
    return;
  }
  // The search does not go to other writable places (caches): this run may have
  // changed what an old file leads to, and an earlier one have made there what
  // a new file leads to.
  const std::string place = Aim(directory, named);
  if (place.empty()) return;
  const bool elsewhere = !IsWithin(place, workspace_);
  const bool fresh =
      elsewhere && (changed || MovedBelow(*RootOf(place), place));
  if (changed || elsewhere) SweepGitDirectory(place, fresh);
}

}  // namespace gate::backends
