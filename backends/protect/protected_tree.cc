// What the search of the workspace looks at in one directory: protected names
// and git directories. protected_walk.cc goes from one to the next.
#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "backends/listing.h"
#include "backends/protect/protected_walk.h"
#include "backends/protect/quarantine.h"
#include "backends/protected_paths.h"
#include "backends/symlinks.h"
#include "base/ascii.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

bool IsDirectory(const std::string& path) {
  struct stat info = {};
  return StatPath(path, &info) && S_ISDIR(info.st_mode);
}

// Whether `directory` is what `git init` makes: what git would accept, and
// without a link.
bool IsRepository(const std::string& directory) {
  constexpr size_t kMaxHead = 4096, kObjectDigits = 40;
  const Result<std::string> head =
      ReadRegular(JoinPath(directory, "HEAD"), kMaxHead);
  if (!head) return false;
  const size_t digits =
      std::min(head->find_first_not_of("0123456789abcdef"), head->size());
  return (head->starts_with("ref: refs/") || digits >= kObjectDigits) &&
         IsDirectory(JoinPath(directory, "objects")) &&
         IsDirectory(JoinPath(directory, "refs"));
}

// Where git fans its objects out: some 256 directories of two digits.
bool IsFan(std::string_view directory, std::string_view name) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return BaseName(directory) == "objects" && name.size() == 2 &&
         name.find_first_not_of(kDigits) == std::string_view::npos;
}

// File systems that count the directories in a directory by its links.
bool CountsDirectories(int fd) {
  struct statfs info = {};
  if (fstatfs(fd, &info) != 0) return false;
  switch (static_cast<uint32_t>(info.f_type)) {
    case 0x0000ef53:  // ext2, ext3, ext4
    case 0x58465342:  // XFS
    case 0x01021994:  // tmpfs
      return true;
    default:
      return false;
  }
}

// Whether names in the directory are compared as the file system's tables of
// letters say.
bool FoldsCase(int fd) {
  constexpr int kCaseFold = 0x40000000;  // FS_CASEFOLD_FL
  int flags = 0;
  return ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 && (flags & kCaseFold) != 0;
}

}  // namespace

void ProtectedPaths::SweepModules() {
  // Git directories that a known one has gained.
  const std::vector<std::string> known(git_directories_.begin(),
                                       git_directories_.end());
  std::vector<std::string> open;
  for (const std::string& directory : known)
    for (const char* name : {"modules", "worktrees"})
      open.push_back(JoinPath(directory, name));
  for (size_t i = 0; i < open.size(); ++i) {
    if (i >= kMaxSweptModules) {
      EndSearch(
          workspace_,
          "after " + std::to_string(kMaxSweptModules) + " git directories",
          open.size() - i, open[i]);
      break;
    }
    const Directory list = OpenDirectory(open[i]);
    if (!list) {
      Unopened(open[i]);
      continue;
    }
    while (const dirent* entry = readdir(list.get())) {
      const std::string name = entry->d_name;
      if (entry->d_type != DT_DIR || name == "." || name == "..") continue;
      const std::string below = JoinPath(open[i], name);
      struct stat info = {};
      if (StatPath(JoinPath(below, "HEAD"), &info)) {
        SweepGitDirectory(below);
        open.push_back(JoinPath(below, "modules"));
      } else {
        open.push_back(below);
      }
    }
  }
}

bool ProtectedPaths::IsKept(const std::string& path) const {
  return std::any_of(saved_files_.begin(), saved_files_.end(),
                     [&](const KeptPlace& place) {
                       return path == JoinPath(place.base, place.name);
                     });
}

bool ProtectedPaths::HasOlder(const std::string& directory) const {
  const Directory list = OpenDirectory(directory);
  if (!list) return true;
  while (const dirent* entry = readdir(list.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && name != ".git" &&
        !CreatedSince(JoinPath(directory, entry->d_name)))
      return true;
  }
  return false;
}

bool ProtectedPaths::FindProtected(const std::string& path,
                                   const std::string& lower,
                                   std::map<std::string, std::string>* found) {
  struct stat info = {};
  bool named = false;
  const size_t above = path.rfind('/') + 1;
  const auto add = [&](const std::string& one) {
    (*found)[one] = one.substr(above);
  };
  for (const Pattern& pattern : patterns_) {
    if (pattern.first != lower) continue;
    named = true;
    const std::string full = path + pattern.rest;
    if (bound_.contains(full) || IsKept(full)) continue;
    if (!StatPath(full, &info)) {
      if (errno != ELOOP) {
        Unopened(full);
        continue;
      }
      // A link instead of a directory on the way.
      for (size_t end = path.size(); end < full.size();
           end = std::min(full.find('/', end + 1), full.size())) {
        const std::string part = full.substr(0, end);
        if (!StatPath(part, &info)) break;
        if (!S_ISLNK(info.st_mode)) continue;
        if (Changed(info) && !bound_.contains(part)) add(part);
        break;
      }
      continue;
    }
    // A directory on the way, or the last one, that got its name in this run
    // brings what is older than the run. What of it was here before cannot be
    // told: git's index is the command's to write.
    const bool moved = MovedOnTheWay(path, full);
    if (!S_ISDIR(info.st_mode) || CreatedSince(full)) {
      if (moved || Changed(info)) add(full);
      continue;
    }
    // A directory that was there before: only what changed in it.
    const Directory list = OpenDirectory(full);
    if (!list) {
      Unopened(full);
      continue;
    }
    while (const dirent* entry = readdir(list.get())) {
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      const std::string child = JoinPath(full, name);
      if (StatPath(child, &info) && (moved || Changed(info))) add(child);
    }
  }
  return named;
}

bool ProtectedPaths::MovedOnTheWay(const std::string& path,
                                   const std::string& full) const {
  // Renaming changes the directory itself and the one it is in; making
  // something in it leaves the latter alone.
  struct stat above = {}, here = {};
  if (!StatPath(std::string(DirName(path)), &above)) return true;
  for (size_t end = path.size();; above = here) {
    if (!StatPath(full.substr(0, end), &here)) return true;
    if (S_ISDIR(here.st_mode) && Changed(here) && Changed(above)) return true;
    if (end == full.size()) return false;
    end = std::min(full.find('/', end + 1), full.size());
  }
}

bool ProtectedPaths::MovedBelow(const std::string& top,
                                const std::string& full) const {
  return MovedOnTheWay(full.substr(0, full.find('/', top.size() + 1)), full);
}

ProtectedPaths::Own ProtectedPaths::IsOwn(const std::string& directory,
                                          const std::string& git) const {
  // A repository that the run made may hold what it tracks, except in the
  // places that were already protected before it was made. So may a submodule
  // that the run brought. A linked worktree is another place of a repository
  // that was there.
  if (std::find(bases_.begin(), bases_.end(), directory) != bases_.end() ||
      !CreatedSince(git))
    return Own::kNo;
  std::string repository = git;
  if (!IsDirectory(git)) {
    constexpr size_t kMaxPointer = 4096;
    const Result<std::string> text = ReadRegular(git, kMaxPointer);
    const std::string_view aim = text ? GitDirIn(*text) : "";
    if (aim.find("/modules/") == std::string_view::npos) return Own::kNo;
    repository = ResolveSymlinks(PathFrom(directory, aim)).place;
  }
  if (RootOf(repository) == nullptr || !IsRepository(repository) ||
      HasOlder(directory))
    return Own::kNo;
  return MadeAfter(git, start_) ? Own::kYes : Own::kEarlier;
}

bool ProtectedPaths::IsPlainStore(int parent, const char* name,
                                  bool fan) const {
  // Nothing in it was made, renamed or removed, no directory is in it, and it
  // is no git directory: so nothing in it, and it itself, is git's business.
  // Of a fan's the last is known: see SweepFan.
  struct stat info = {}, other = {};
  const auto has = [&](const char* entry) {
    const std::string path = std::string(name) + entry;
    return fstatat(parent, path.c_str(), &other, AT_SYMLINK_NOFOLLOW) == 0 ||
           errno != ENOENT;
  };
  return fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(info.st_mode) && info.st_nlink == 2 && !Changed(info) &&
         (fan || (!has("/HEAD") && !has("/.git")));
}

void ProtectedPaths::SweepFan(const std::string& directory) {
  // With these a directory of objects would lead git elsewhere, and what they
  // lead to may change later without a trace in the directory.
  for (const char* name : {"HEAD", ".git"}) {
    const std::string path = JoinPath(directory, name);
    struct stat info = {};
    if (StatPath(path, &info) && !S_ISDIR(info.st_mode))
      Quarantine(path, ViolationKind::kGitConfig,
                 "not git's, among its objects");
  }
}

void ProtectedPaths::SweepDirectory(const std::string& directory, Own own,
                                    bool store, Walk* walk, Listed* listed) {
  listed->own = own;
  const Directory list = OpenDirectory(directory);
  if (!list) {
    Unopened(directory);
    return;
  }
  listed->opened = true;
  if (store && IsFan(DirName(directory), BaseName(directory)))
    SweepFan(directory);
  struct stat info = {};
  const std::string git = JoinPath(directory, ".git");
  if (StatPath(git, &info)) {
    listed->named = true;
    SweepWorkTree(directory, info);
    const bool known = git_directories_.contains(git);
    if (S_ISDIR(info.st_mode)) {
      if (!known) {
        if (own != Own::kYes) own = std::max(own, IsOwn(directory, git));
        SweepGitDirectory(git);
      }
      walk->stores.push_back({git, Own::kNo, IsRepository(git),
                              TreeIndex::kNone, TreeIndex::kNone});
    } else if (S_ISREG(info.st_mode)) {
      SweepGitFile(git);
      if (own != Own::kYes) own = std::max(own, IsOwn(directory, git));
    } else if (!bound_.contains(git) &&
               (Changed(info) || LeadsToPrivate(directory, ".git"))) {
      Quarantine(git, ViolationKind::kGitConfig, "a link to a git directory");
    }
  } else {
    Unopened(git);
  }
  bool head = false, objects = false, refs = false, hooks = false;
  bool common = false, described = false, strange = false;
  std::map<std::string, std::string> found;
  const bool leaves = store && CountsDirectories(dirfd(list.get()));
  while (const dirent* entry = readdir(list.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || name == ".git") continue;
    head |= name == "HEAD";
    objects |= name == "objects";
    refs |= name == "refs";
    hooks |= name == "hooks";
    common |= name == "commondir";
    described |= name == "description";
    strange |= std::any_of(name.begin(), name.end(),
                           [](char c) { return (c & 0x80) != 0; });
    // In what git keeps, a name without a dot may be a branch's.
    const bool named = first_letters_[static_cast<unsigned char>(name[0])] &&
                       (!store || name[0] == '.');
    if (!named && entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)
      continue;
    const std::string path = JoinPath(directory, entry->d_name);
    if (named) listed->named |= FindProtected(path, LowerAscii(name), &found);
    if (entry->d_type != DT_DIR &&
        (entry->d_type != DT_UNKNOWN || !IsDirectory(path)))
      continue;
    if (leaves &&
        IsPlainStore(dirfd(list.get()), entry->d_name, IsFan(directory, name)))
      continue;
    if (store)
      walk->stores.push_back(
          {path, own, true, TreeIndex::kNone, TreeIndex::kNone});
    else
      listed->below.emplace_back(name);
  }
  listed->own = own;
  // There a name may be spelled with letters that no table of ours folds, or
  // with signs that count for nothing: the kernel is asked for each.
  if (strange && FoldsCase(dirfd(list.get()))) {
    listed->named = true;
    for (const Pattern& pattern : patterns_)
      if (fstatat(dirfd(list.get()), pattern.first.c_str(), &info,
                  AT_SYMLINK_NOFOLLOW) == 0)
        FindProtected(JoinPath(directory, pattern.first), pattern.first,
                      &found);
  }
  const bool whole = head && ((objects && refs) || common);
  const bool partly = (refs || head || described) && (hooks || objects);
  listed->named |= whole || partly;
  // A known one's entries are compared with what they were.
  if (whole) {
    SweepGitDirectory(directory);
  } else if (partly && !git_directories_.contains(directory)) {
    // What lacks little to be a git directory: what came to it in this run may
    // be all that IsFresh and PredatesRun would have seen later.
    bool fresh = IsFresh(directory);
    for (const char* name : {"HEAD", "description", "hooks"})
      fresh |= StatPath(JoinPath(directory, name), &info) && Changed(info);
    if (hooks) SweepHookNames(JoinPath(directory, "hooks"), fresh);
    if (const std::string config = JoinPath(directory, "config");
        StatPath(config, &info) && (fresh || Changed(info)))
      CleanConfig(config);
  }
  if (found.empty()) return;
  // Taking away is not looking: else a run could end the search by what it is
  // there to find.
  const int64_t begin = NowNs();
  for (const auto& [path, relative] : found)
    TakeNamed(path, relative, "created or changed by the run", own);
  walk->deadline += NowNs() - begin;
}

}  // namespace gate::backends
