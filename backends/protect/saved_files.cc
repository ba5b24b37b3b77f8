// Protected names that may stay, and those that are put back after a line of
// git alone.
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "backends/listing.h"
#include "backends/protect/quarantine.h"
#include "backends/protected_content.h"
#include "backends/protected_paths.h"
#include "backends/symlinks.h"
#include "base/hash.h"
#include "base/paths.h"
#include "git/index.h"

namespace gate::backends {
namespace {

// A branch that has the file differently, as git leaves it behind then.
constexpr char kWayBack[] =
    "; where another branch has it otherwise, `git stash -u && git switch "
    "BRANCH` in one line goes back";
constexpr int kMaxNamedDepth = 6;
constexpr size_t kMaxTrackedFiles = 256;  // of one directory

// Whether the link at `path` leads to something in the innermost repository
// around it. The index is not asked of links.
bool LinksInside(const std::string& path) {
  char buffer[PATH_MAX];
  struct stat info = {};
  if (realpath(path.c_str(), buffer) == nullptr) return false;
  for (std::string at(DirName(path)); at.size() > 1;
       at = std::string(DirName(at)))
    if (StatPath(at + "/.git", &info))
      return IsWithin(buffer, at) && !IsWithin(buffer, at + "/.git");
  return false;
}

struct Found {
  std::string path, relative;
};

// The files below `path` (or itself). False when there is anything else, or
// too much.
bool ListFiles(const std::string& path, const std::string& relative, int depth,
               std::vector<Found>* files) {
  struct stat info = {};
  if (!StatPath(path, &info) || depth > kMaxNamedDepth) return false;
  if (S_ISREG(info.st_mode)) {
    files->push_back({path, relative});
    return files->size() <= kMaxKeptFiles;
  }
  if (!S_ISDIR(info.st_mode)) return false;
  bool opened = false;
  const std::vector<std::string> names = NamesIn(path, kMaxKeptFiles, &opened);
  if (!opened || names.size() > kMaxKeptFiles) return false;
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return ListFiles(path + "/" + name, relative + "/" + name, depth + 1,
                     files);
  });
}

}  // namespace

bool ProtectedPaths::RecordKept(const std::string& base,
                                const std::string& name) {
  KeptPlace place{base, name, {}};
  std::vector<Found> files;
  if (!ListFiles(base + "/" + name, name, 0, &files)) return false;
  for (const Found& found : files) {
    struct stat info = {};
    // Another name of it could be anywhere.
    if (bound_.contains(found.path) || !StatPath(found.path, &info) ||
        info.st_nlink > 1)
      return false;
    Result<std::string> text = ReadRegular(found.path, kMaxKeptFile);
    if (!text) return false;
    place.files.push_back(
        {found.path, found.relative, std::move(*text), info.st_mode & 0777});
  }
  saved_files_.push_back(std::move(place));
  return true;
}

bool ProtectedPaths::MatchesMainWorktree(const std::string& path,
                                         const std::string& content) const {
  // In a linked worktree: what stands at the same place of the workspace, where
  // nothing changes it, may stand here as well.
  const auto is_linked = [&](const std::string& at) {
    return (at != workspace_ && IsWithin(at, workspace_)) ||
           std::any_of(
               made_.begin(), made_.end(),
               [&](const std::string& made) { return IsWithin(at, made); });
  };
  for (std::string at(DirName(path)); is_linked(at);
       at = std::string(DirName(at))) {
    struct stat info = {};
    if (!StatPath(at + "/.git", &info)) continue;
    if (!S_ISREG(info.st_mode)) return false;
    const auto twin =
        ReadRegular(workspace_ + path.substr(at.size()), kMaxKeptFile);
    return twin && *twin == content;
  }
  return false;
}

namespace {

// The hash of the repository with the git directory `own`.
std::optional<GitHash> HashOf(const std::string& own) {
  const auto common = ReadRegular(own + "/commondir", kMaxGitFileBytes);
  if (!common && common.error().code != ErrorCode::kNotFound)
    return std::nullopt;
  const auto config = ReadRegular(
      (common ? PathFrom(own, GitPathIn(*common)) : own) + "/config",
      kMaxGitConfig);
  std::vector<GitEntry> entries;
  if (config ? !ParseGitConfig(*config, &entries)
             : config.error().code != ErrorCode::kNotFound)
    return std::nullopt;
  return ObjectFormatOf(entries);
}

}  // namespace

bool ProtectedPaths::IsCheckedOut(const std::string& path,
                                  const struct stat& info) const {
  for (std::string at(DirName(path)); RootOf(at) != nullptr && at.size() > 1;
       at = std::string(DirName(at))) {
    const std::string git = at + "/.git";
    struct stat kind = {};
    if (!StatPath(git, &kind)) continue;
    std::string own = git;
    if (S_ISREG(kind.st_mode)) {
      const auto text = ReadRegular(git, kMaxGitFileBytes);
      const std::string_view aim = text ? GitDirIn(*text) : "";
      if (aim.empty()) return false;
      own = PathFrom(at, aim);
    }
    const auto bytes = ReadRegular(own + "/index", kMaxIndex);
    const std::optional<GitHash> hash = HashOf(own);
    const auto entry =
        bytes && hash ? FindIndexed(*bytes, *hash, path.substr(at.size() + 1))
                      : std::nullopt;
    return entry &&
           entry->ctime_s == static_cast<uint32_t>(info.st_ctim.tv_sec) &&
           entry->ctime_ns == static_cast<uint32_t>(info.st_ctim.tv_nsec) &&
           entry->mtime_s == static_cast<uint32_t>(info.st_mtim.tv_sec) &&
           entry->mtime_ns == static_cast<uint32_t>(info.st_mtim.tv_nsec) &&
           entry->inode == static_cast<uint32_t>(info.st_ino) &&
           entry->size == static_cast<uint32_t>(info.st_size);
  }
  return false;
}

bool ProtectedPaths::IsTracked(const std::string& path, Own own) const {
  struct stat info = {};
  if (!StatPath(path, &info) || own == Own::kNo ||
      (own == Own::kEarlier && IsSince(info.st_ctim, start_)))
    return false;
  if (S_ISREG(info.st_mode))
    return info.st_nlink == 1 && IsCheckedOut(path, info);
  if (S_ISLNK(info.st_mode)) return LinksInside(path);
  if (!S_ISDIR(info.st_mode)) return false;
  bool opened = false;
  const std::vector<std::string> names =
      NamesIn(path, kMaxTrackedFiles, &opened);
  // Something is there: git tracks no empty directory.
  return opened && !names.empty() && names.size() <= kMaxTrackedFiles &&
         std::all_of(names.begin(), names.end(), [&](const std::string& name) {
           return IsTracked(path + "/" + name, own);
         });
}

bool ProtectedPaths::MayStay(const std::string& path,
                             const std::string& relative,
                             const std::string* before) const {
  struct stat info = {};
  // A file with another name can be changed through that one later.
  if (!StatPath(path, &info) || !S_ISREG(info.st_mode) || info.st_nlink != 1)
    return false;
  const auto text = ReadRegular(path, kMaxKeptFile);
  if (!text) return false;
  if (const auto known = trusted_.find(path);
      known != trusted_.end() && known->second == Hex(Sha256(*text)))
    return true;
  if (before == nullptr && MatchesMainWorktree(path, *text)) return true;
  if (before == nullptr && WasThere(path, *text)) return true;
  if (const KeptFile* known = before == nullptr ? Remembered(path) : nullptr)
    before = &known->content;
  switch (ClassOf(relative)) {
    case NameClass::kSettings:
      return SamePower(relative, before, &*text);
    case NameClass::kElsewhere:
      // One that was there before may be what a home directory's own file
      // reads.
      return before == nullptr && git_only_ && IsCheckedOut(path, info);
    case NameClass::kObeyed:
      break;
  }
  return false;
}

void ProtectedPaths::TakeNamed(const std::string& path,
                               const std::string& relative,
                               const std::string& why, Own own) {
  if (IsTracked(path, own)) return;
  std::vector<Found> files, taken;
  const bool plain = ListFiles(path, relative, 0, &files);
  if (plain)
    std::copy_if(files.begin(), files.end(), std::back_inserter(taken),
                 [&](const Found& found) {
                   return !MayStay(found.path, found.relative, nullptr) &&
                          !IsTracked(found.path, own);
                 });
  if (plain && taken.empty() && !files.empty()) return;
  if (!plain || taken.size() == files.size()) {
    Quarantine(path, ViolationKind::kProtectedPath, why);
    return;
  }
  for (const Found& found : taken)
    Quarantine(found.path, ViolationKind::kProtectedPath, why);
}

void ProtectedPaths::Restore(const KeptFile& file) {
  MakeWay(file.path);
  PutBack(ViolationKind::kProtectedPath, file.path, file.content, file.mode);
}

void ProtectedPaths::SweepKept() {
  for (const KeptPlace& place : saved_files_) {
    const std::string top = place.base + "/" + place.name;
    for (const KeptFile& file : place.files) {
      struct stat info = {};
      const Result<std::string> text = ReadRegular(file.path, kMaxKeptFile);
      if (LeftByKilled(file.path, file.content, text)) {
        Restore(file);
        continue;
      }
      if (!StatPath(file.path, &info)) {
        const bool gone = errno == ENOENT;
        if (gone && (MayGo(file.relative) ||
                     SamePower(file.relative, &file.content, nullptr)))
          continue;
        Report(ViolationKind::kProtectedPath,
               file.path + ": removed by the run; put back" + kWayBack);
        Restore(file);
        continue;
      }
      if (text && *text == file.content && info.st_nlink == 1) continue;
      if (MayStay(file.path, file.relative, &file.content)) continue;
      Quarantine(file.path, ViolationKind::kProtectedPath,
                 std::string("changed by the run; put back") + kWayBack);
      Restore(file);
    }
    // What is new there, and what stands in the way of it all.
    std::vector<Found> files;
    struct stat info = {};
    if (!StatPath(top, &info)) {
      MissedOnTheWay(top, ViolationKind::kProtectedPath);
      continue;
    }
    if (!ListFiles(top, place.name, 0, &files)) {
      // Links, special files, or too many: all of it goes, and what was there
      // before comes back.
      Quarantine(top, ViolationKind::kProtectedPath,
                 "no longer plain files; put back");
      for (const KeptFile& file : place.files) Restore(file);
      continue;
    }
    for (const Found& found : files) {
      const bool known = std::any_of(
          place.files.begin(), place.files.end(),
          [&](const KeptFile& file) { return file.path == found.path; });
      if (!known && !MayStay(found.path, found.relative, nullptr))
        Quarantine(found.path, ViolationKind::kProtectedPath,
                   "created by the run");
    }
  }
}

ProtectedPaths::Held ProtectedPaths::HeldAt(const std::string& path) const {
  for (const Bind& bind : binds_)
    if (bind.read_only && IsWithin(path, bind.path)) return Held::kProtected;
  for (const Absent& absent : absent_)
    if (!absent.named && IsWithin(path, absent.base + "/" + absent.relative))
      return Held::kProtected;
  for (const Link& link : links_)
    if (IsWithin(path, link.path)) return Held::kProtected;
  for (const Hooks& hooks : absent_hooks_)
    if (IsWithin(path, hooks.path)) return Held::kHook;
  if (IsNamedHook(path)) return Held::kHook;
  for (const GitConfig& config : configs_)
    if (config.path == path) return Held::kConfig;
  return Held::kNothing;
}

bool ProtectedPaths::HoldsBelow(const std::string& path) const {
  const auto below = [&](const std::string& held) {
    return IsWithin(held, path);
  };
  return std::any_of(hook_places_.begin(), hook_places_.end(), below) ||
         std::any_of(absent_hooks_.begin(), absent_hooks_.end(),
                     [&](const Hooks& one) { return below(one.path); }) ||
         std::any_of(ways_.begin(), ways_.end(), below) ||
         std::any_of(configs_.begin(), configs_.end(),
                     [&](const GitConfig& one) {
                       return one.path != path && below(one.path);
                     }) ||
         std::any_of(links_.begin(), links_.end(),
                     [&](const Link& one) {
                       return one.path != path && below(one.path);
                     }) ||
         std::any_of(absent_.begin(), absent_.end(),
                     [&](const Absent& one) {
                       const std::string held = one.base + "/" + one.relative;
                       return !one.named && held != path && below(held);
                     }) ||
         std::any_of(binds_.begin(), binds_.end(), [&](const Bind& one) {
           return one.read_only && below(one.path);
         });
}

}  // namespace gate::backends
